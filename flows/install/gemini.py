"""Gemini CLI: `settings.json`, timeouts in milliseconds, commands through a shell."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from flows.install.base import Installer
from flows.install.hooksjson import Hook, add_hooks, remove_hooks

# (event, moment, matcher, timeout in milliseconds). BeforeTool can only decide, so what fits a file comes after it was
# read, which mostly is before it is changed.
EVENTS = (
    ("SessionEnd", "end", "", 2000),
    ("AfterAgent", "turn", "", 5000),
    ("SessionStart", "start", "", 10000),
    ("BeforeAgent", "prompt", "", 5000),
    ("AfterTool", "error", "run_shell_command", 5000),
    ("AfterTool", "tool", "read_file|replace|write_file", 5000),
)
COMMIT = ("AfterTool", "commit", "run_shell_command", 5000)


def config_path(environ: Mapping[str, str], user: Path) -> Path:
    """The user's settings file."""
    return user / ".gemini" / "settings.json"


def hooks(command: Sequence[str]) -> list[Hook]:
    """Our hooks, one group an event."""
    return [make_hook(*event, command) for event in EVENTS]


def make_hook(event: str, moment: str, matcher: str, timeout: int, command: Sequence[str]) -> Hook:
    """One event's group."""
    line = shlex.join([*command, "gemini-cli", moment])
    run = {"name": f"hotwash-{moment}", "type": "command", "command": line, "timeout": timeout}
    return Hook(event, {**({"matcher": matcher} if matcher else {}), "hooks": [run]})


def plan_commits(text: str, command: Sequence[str]) -> str:
    """The settings with the hook that notes commits."""
    return add_hooks(text, [make_hook(*COMMIT, command)])


def plan_install(text: str | None, command: Sequence[str]) -> str:
    """The settings with our hooks."""
    return add_hooks(text, hooks(command))


INSTALLER = Installer(
    agent="gemini-cli",
    title="Gemini CLI",
    config_path=config_path,
    plan_install=plan_install,
    plan_uninstall=remove_hooks,
    gives="at the session's start, at each prompt, after an error and after a file was read or written; "
    "Gemini CLI lets no hook say anything before a tool call",
    plan_commits=plan_commits,
)
