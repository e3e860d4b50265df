"""Codex: `hooks.json`, which takes only "description" and "hooks" at its top and hands the command to a shell."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from flows.install.base import Installer
from flows.install.hooksjson import Hook, add_hooks, remove_hooks

# (event, moment, matcher, timeout in seconds). Codex kills a SessionEnd hook after 3 s and warns of a larger number.
EVENTS = (
    ("SessionEnd", "end", "", 3),
    ("Stop", "turn", "", 5),
    ("SessionStart", "start", "", 10),
    ("UserPromptSubmit", "prompt", "", 5),
    ("PreToolUse", "tool", "Bash|apply_patch", 5),
    ("PostToolUse", "error", "Bash", 5),
)
COMMIT = ("PostToolUse", "commit", "Bash", 5)


def config_path(environ: Mapping[str, str], user: Path) -> Path:
    """The user's hooks file."""
    root = environ.get("CODEX_HOME", "").strip()
    return (Path(root) if root else user / ".codex") / "hooks.json"


def hooks(command: Sequence[str]) -> list[Hook]:
    """Our hooks, one group an event; the entry never changes between versions, since a change asks for trust anew."""
    return [make_hook(*event, command) for event in EVENTS]


def make_hook(event: str, moment: str, matcher: str, timeout: int, command: Sequence[str]) -> Hook:
    """One event's group."""
    run = {"type": "command", "command": shlex.join([*command, "codex", moment]), "timeout": timeout}
    return Hook(event, {**({"matcher": matcher} if matcher else {}), "hooks": [run]})


def plan_commits(text: str, command: Sequence[str]) -> str:
    """The hooks file with the hook that notes commits."""
    return add_hooks(text, [make_hook(*COMMIT, command)])


def plan_install(text: str | None, command: Sequence[str]) -> str:
    """The hooks file with our hooks."""
    return add_hooks(text, hooks(command))


INSTALLER = Installer(
    agent="codex",
    title="Codex",
    config_path=config_path,
    plan_install=plan_install,
    plan_uninstall=remove_hooks,
    gives="at the session's start, at each prompt, after an error, and before a command or a patch (since May 2026)",
    plan_commits=plan_commits,
    notes=("Codex runs a new hook only after you trusted it: start codex, type /hooks and trust the hotwash entries.",),
)
