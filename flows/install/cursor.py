"""Cursor: `hooks.json`, handlers straight in the event's list, commands through a shell."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from flows.install.base import Installer
from flows.install.hooksjson import Hook, add_hooks, remove_hooks

EVENTS = (("sessionEnd", "end", 10), ("stop", "turn", 5), ("sessionStart", "start", 10))  # timeouts in seconds


def config_path(environ: Mapping[str, str], user: Path) -> Path:
    """The user's hooks file."""
    return user / ".cursor" / "hooks.json"


def plan_install(text: str | None, command: Sequence[str]) -> str:
    """The hooks file with our hooks; a new one names the version that Cursor asks for."""
    hooks = [
        Hook(event, {"command": shlex.join([*command, "cursor", moment]), "timeout": timeout})
        for event, moment, timeout in EVENTS
    ]
    return add_hooks(text, hooks, top='{\n  "version": 1\n}\n')


INSTALLER = Installer(
    agent="cursor",
    title="Cursor",
    config_path=config_path,
    plan_install=plan_install,
    plan_uninstall=remove_hooks,
    notes=("Cursor's command-line version does not name the transcript; it is found by the session's id.",),
)
