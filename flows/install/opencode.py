"""OpenCode: it has no shell hooks, so a small plugin of ours calls the hook script."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from flows.install.base import Installer

SOURCE = Path(__file__).resolve().parent.parent / "opencode_plugin.js"
FIRST, LAST = "// hotwash: records", "// hotwash: end\n"


def config_path(environ: Mapping[str, str], user: Path) -> Path:
    """Our plugin's file in the user's plugin folder."""
    root = environ.get("XDG_CONFIG_HOME", "").strip()
    return (Path(root) if root else user / ".config") / "opencode" / "plugins" / "hotwash.js"


def plan_install(text: str | None, command: Sequence[str]) -> str:
    """The plugin with the command in it; refuses a file of that name that is not ours."""
    if text and text.strip():
        raise ValueError("it is not ours")
    return SOURCE.read_text("utf-8").replace("__COMMAND__", json.dumps(list(command), ensure_ascii=False))


def plan_uninstall(text: str, before: str | None) -> str:
    """What others wrote around our part of the file."""
    start = text.find(FIRST)
    end = text.find(LAST, start)
    return text if start < 0 or end < 0 else text[:start] + text[end + len(LAST) :]


INSTALLER = Installer(
    agent="opencode",
    title="OpenCode",
    config_path=config_path,
    plan_install=plan_install,
    plan_uninstall=plan_uninstall,
    gives="at the session's start and with a tool's answer; OpenCode lets a plugin say nothing before a tool call",
    notes=("OpenCode loads plugins at its start. Its version 2 needs 1.18.29 or later of the plugin loader.",),
)
