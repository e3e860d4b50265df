"""Hermes Agent: shell hooks in `config.yaml`, edited line by line so that comments, order and quoting stay."""

from __future__ import annotations

import copy
import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from flows.install.base import Installer
from flows.install.hooksjson import SCRIPT
from index.decode import safe_yaml

# (event, moment, timeout in seconds). on_session_end fires at each turn's end; the true end is on_session_finalize.
EVENTS = (
    ("on_session_finalize", "end", 10),
    ("on_session_reset", "end", 10),
    ("on_session_end", "turn", 5),
    ("on_session_start", "start", 5),
    ("pre_llm_call", "prompt", 5),
)


def config_path(environ: Mapping[str, str], user: Path) -> Path:
    """The user's configuration."""
    root = environ.get("HERMES_HOME", "").strip()
    return (Path(root) if root else user / ".hermes") / "config.yaml"


def plan_install(text: str | None, command: Sequence[str]) -> str:
    """The configuration with our hooks; refuses a `hooks:` that is not written as an indented block."""
    old = text or ""
    wanted = read_yaml(old)
    lines = old.splitlines(keepends=True)
    for event, moment, timeout in EVENTS:
        line = shlex.join([*command, "hermes", moment])
        lines = add_entry(lines, event, line, timeout)
        hooks = wanted.get("hooks") or {}
        wanted["hooks"] = {**hooks, event: [*(hooks.get(event) or []), {"command": line, "timeout": timeout}]}
    new = "".join(lines)
    if read_yaml(new) != wanted:
        raise ValueError("its hooks are written in a form that cannot be extended safely; add them by hand")
    return new


def plan_uninstall(text: str, before: str | None) -> str:
    """The configuration without our entries, and without keys that only they needed."""
    kept = read_yaml(before or "").get("hooks") or {}
    wanted = without_ours(read_yaml(text), kept, had_hooks="hooks" in read_yaml(before or ""))
    lines = text.splitlines(keepends=True)
    while (spot := find_ours(lines)) is not None:
        del lines[spot : block_end(lines, spot)]
    for event, _, _ in EVENTS:
        spot = find_key(lines, event, inside=find_key(lines, "hooks"))
        if spot is not None and event not in kept and block_end(lines, spot) == spot + 1:
            del lines[spot]
    top = find_key(lines, "hooks")
    if top is not None and "hooks" not in read_yaml(before or "") and block_end(lines, top) == top + 1:
        del lines[top]
    new = "".join(lines)
    if read_yaml(new) != wanted:
        raise ValueError("our hooks cannot be taken out safely; remove the lines that name hotwash_hook.py by hand")
    return new


def read_yaml(text: str) -> dict[str, Any]:
    """The configuration as data; raises ValueError for what is no YAML mapping."""
    try:
        value = safe_yaml(text)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error
    if value is not None and not isinstance(value, dict):
        raise ValueError("it is no mapping of keys")
    hooks = (value or {}).get("hooks")
    if hooks is not None and not isinstance(hooks, dict):
        raise ValueError('"hooks" is no mapping of events')
    return value or {}


def without_ours(data: dict[str, Any], kept: Mapping[str, Any], had_hooks: bool) -> dict[str, Any]:
    """The data without our entries."""
    data = copy.deepcopy(data)
    hooks = data.get("hooks") or {}
    for event in list(hooks):
        entries = hooks[event] or []
        left = [entry for entry in entries if SCRIPT not in str(entry)]
        if len(left) < len(entries):
            hooks[event] = left or None
            if not left and event not in kept:
                del hooks[event]
    if "hooks" in data and not hooks:
        if had_hooks:
            data["hooks"] = None
        else:
            del data["hooks"]
    return data


def add_entry(lines: list[str], event: str, command: str, timeout: int) -> list[str]:
    """The lines with one more entry at the end of an event's list; keys that are missing are added last."""
    newline = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    if lines and not lines[-1].endswith("\n"):
        lines = [*lines[:-1], lines[-1] + newline]
    top = find_key(lines, "hooks")
    if top is None:
        lines, top = [*lines, f"hooks:{newline}"], len(lines)
    elif lines[top].split("#")[0].strip() != "hooks:":
        raise ValueError('"hooks" is not written as an indented block; add the hooks by hand')
    spot = find_key(lines, event, inside=top)
    end = block_end(lines, top)
    inner = next((indent(line) for line in lines[top + 1 : end] if is_content(line)), "  ")
    if spot is None:
        lines, spot = [*lines[:end], f"{inner}{event}:{newline}", *lines[end:]], end
    elif lines[spot].split("#")[0].strip() != f"{event}:":
        raise ValueError(f'"hooks.{event}" is not written as an indented list; add the hook by hand')
    last = block_end(lines, spot)
    item = next((indent(line) for line in lines[spot + 1 : last] if is_content(line)), inner + "  ")
    entry = [
        f"{item}- command: {json.dumps(command, ensure_ascii=False)}{newline}",
        f"{item}  timeout: {timeout}{newline}",
    ]
    return [*lines[:last], *entry, *lines[last:]]


def find_key(lines: list[str], key: str, inside: int | None = None) -> int | None:
    """The line of a top-level key, or of a key one level below the line `inside`."""
    if inside is None:
        return next((n for n, line in enumerate(lines) if line.startswith(f"{key}:")), None)
    end = block_end(lines, inside)
    inner = next((indent(line) for line in lines[inside + 1 : end] if is_content(line)), "")
    return next((n for n in range(inside + 1, end) if lines[n].startswith(f"{inner}{key}:")), None)


def find_ours(lines: list[str]) -> int | None:
    """The first line of the first list entry that runs our script."""
    for number, line in enumerate(lines):
        if SCRIPT in line and not line.lstrip().startswith("#"):
            while number > 0 and not lines[number].lstrip().startswith("- "):
                number -= 1
            return number
    return None


def block_end(lines: list[str], start: int) -> int:
    """The line after the last that belongs to a key or list entry: deeper ones, and a key's list at its own depth."""
    own = indent(lines[start])
    listed = not lines[start].lstrip().startswith("- ")
    end = start + 1
    for number in range(start + 1, len(lines)):
        if not is_content(lines[number]):
            continue
        deeper = len(indent(lines[number])) > len(own)
        same_list = listed and indent(lines[number]) == own and lines[number].lstrip().startswith("- ")
        if not deeper and not same_list:
            break
        end = number + 1
    return end


def indent(line: str) -> str:
    """The white space a line starts with."""
    return line[: len(line) - len(line.lstrip(" "))]


def is_content(line: str) -> bool:
    """Whether a line is neither blank nor a comment."""
    return bool(line.strip()) and not line.lstrip().startswith("#")


INSTALLER = Installer(
    agent="hermes",
    title="Hermes Agent",
    config_path=config_path,
    plan_install=plan_install,
    gives="with each prompt, the first one bringing the pack; Hermes lets no hook say anything around a tool call",
    plan_uninstall=plan_uninstall,
    notes=(
        "Hermes asks once for each hook, in its terminal; `hermes hooks list` shows them. Without a terminal it needs "
        "HERMES_ACCEPT_HOOKS=1.",
    ),
)
