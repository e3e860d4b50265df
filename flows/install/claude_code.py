"""Claude Code: `settings.json`, program and arguments apart, so that no shell reads them (from 2.1.139 on)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from flows.install.base import Installer
from flows.install.hooksjson import Hook, add_hooks, remove_hooks

# (event, moment, matcher, timeout in seconds). SessionEnd's hooks share 1.5 s, unless settings name a larger timeout.
EVENTS = (
    ("SessionEnd", "end", "", 10),
    ("Stop", "turn", "", 5),
    ("SubagentStop", "turn", "", 5),
    ("SessionStart", "start", "", 10),
    ("UserPromptSubmit", "prompt", "", 5),
    ("PreToolUse", "tool", "Bash|Edit|MultiEdit|Write|NotebookEdit", 5),
    ("PostToolUseFailure", "error", "", 5),
)


COMMIT = ("PostToolUse", "commit", "Bash", 5)


def config_path(environ: Mapping[str, str], user: Path) -> Path:
    """The user's settings file."""
    root = environ.get("CLAUDE_CONFIG_DIR", "").strip()
    return (Path(root) if root else user / ".claude") / "settings.json"


def hooks(command: Sequence[str], agent: str = "claude-code") -> list[Hook]:
    """Our hooks, one group an event."""
    return [make_hook(*event, command, agent) for event in EVENTS]


def make_hook(event: str, moment: str, matcher: str, timeout: int, command: Sequence[str], agent: str) -> Hook:
    """One event's group."""
    run = {"type": "command", "command": command[0], "args": [*command[1:], agent, moment], "timeout": timeout}
    return Hook(event, {**({"matcher": matcher} if matcher else {}), "hooks": [run]})


def plan_commits(text: str, command: Sequence[str]) -> str:
    """The settings with the hook that notes commits."""
    return add_hooks(text, [make_hook(*COMMIT, command, "claude-code")])


def plan_install(text: str | None, command: Sequence[str]) -> str:
    """The settings with our hooks."""
    return add_hooks(text, hooks(command))


def plan_plugin(command: Sequence[str], version: str) -> dict[str, str]:
    """The files of a plugin folder by their path in it; there SessionEnd's 1.5 s stay, whatever timeout is named."""
    manifest = {
        "name": "hotwash",
        "version": version,
        "description": "Keeps and gives back the lessons of every session.",
    }
    groups = {hook.event: [hook.group] for hook in hooks(command)}
    listed = {"description": "Records sessions for hotwash and gives its lessons back.", "hooks": groups}
    return {
        ".claude-plugin/plugin.json": json.dumps(manifest, indent=2) + "\n",
        "hooks/hooks.json": json.dumps(listed, indent=2, ensure_ascii=False) + "\n",
    }


INSTALLER = Installer(
    agent="claude-code",
    title="Claude Code",
    config_path=config_path,
    plan_install=plan_install,
    plan_uninstall=remove_hooks,
    gives="at the session's start, at each prompt, before a command or an edit, and after an error",
    plan_commits=plan_commits,
    notes=("Sessions that are already open keep their old settings until they start again.",),
)
