"""Cursor: `hooks.json`, handlers straight in the event's list, commands through a shell."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from flows.install.base import Installer
from flows.install.hooksjson import Hook, add_hooks, remove_hooks

# (event, moment, matcher, timeout in seconds). preToolUse decides on permissions: a hook there could stop a tool.
EVENTS = (
    ("sessionEnd", "end", "", 10),
    ("stop", "turn", "", 5),
    ("sessionStart", "start", "", 10),
    ("postToolUseFailure", "error", "Shell", 5),
    ("postToolUse", "tool", "Read|Write", 5),
)
COMMIT = ("postToolUse", "commit", "Shell", 5)


def config_path(environ: Mapping[str, str], user: Path) -> Path:
    """The user's hooks file."""
    return user / ".cursor" / "hooks.json"


def plan_install(text: str | None, command: Sequence[str]) -> str:
    """The hooks file with our hooks; a new one names the version that Cursor asks for."""
    return add_hooks(text, [make_hook(*event, command) for event in EVENTS], top='{\n  "version": 1\n}\n')


def make_hook(event: str, moment: str, matcher: str, timeout: int, command: Sequence[str]) -> Hook:
    """One event's handler."""
    run = {"command": shlex.join([*command, "cursor", moment]), "timeout": timeout}
    return Hook(event, {**run, **({"matcher": matcher} if matcher else {})})


def plan_commits(text: str, command: Sequence[str]) -> str:
    """The hooks file with the hook that notes commits."""
    return add_hooks(text, [make_hook(*COMMIT, command)])


INSTALLER = Installer(
    agent="cursor",
    title="Cursor",
    config_path=config_path,
    plan_install=plan_install,
    plan_uninstall=remove_hooks,
    gives="at the session's start, after a failed command and after a file was read or written, where the version has "
    "these events; Cursor lets no hook add to a prompt, nor say anything before a tool call without deciding on it",
    plan_commits=plan_commits,
    notes=("Cursor's command-line version does not name the transcript; it is found by the session's id.",),
)
