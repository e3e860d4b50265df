"""What one transcript record shows of skills, slash commands and memory files; pure, the same for every agent.

All agents write a call as a mapping of a name and its arguments; only the names of the keys differ. What a tool gave
back is not looked into, but for the word that a skill is not known: transcripts quote other transcripts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

import orjson

from reflect.transcripts.calls import action_of, argv_command

UseKind = Literal["load", "command", "shown", "read", "memory", "unknown"]

# A record without one of these says nothing about use: told from its bytes, before it is parsed. Plain searches: one
# expression of them all takes five times as long.
_SIGNS = (b"kill", b"SKILL", b"<command-", b"lashCommand", b"CLAUDE.", b"AGENTS.", b"GEMINI.", b"MEMORY.", b"USER.")
MEMORY_NAMES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md", "MEMORY.md", "USER.md")
LONGEST_NAME = 200
LONGEST_PATH = 1000
MAX_DEPTH = 12

_LOADERS = frozenset({"skill", "skillview", "activateskill", "loadskill", "useskill", "invokeskill", "readskill"})
_SLASH = frozenset({"slashcommand"})
_NAME_KEYS = ("skill", "name", "skill_name", "skillName", "command")
_ARGUMENT_KEYS = ("input", "arguments", "args", "rawInput")
# A tuple: what stands under "type" may be anything, also what has no hash.
_RESULTS = ("tool_result", "function_call_output", "custom_tool_call_output", "toolResult", "tool_response")
_RESULT_KEYS = frozenset(
    {"toolUseResult", "output", "result", "aggregated_output", "resultDisplay", "functionResponse"}
)
# Texts that the harness puts in when a skill or a command runs stand at the start of a message.
_SHOWN = re.compile(r"\s{0,20}Base directory for this skill: ([^\n]{1,1000})")
_COMMAND = re.compile(
    r"\s{0,80}(?:<command-message>[^<]{0,500}</command-message>\s{0,80})?<command-name>\s{0,20}/?([^<\s]{1,200})"
)
_CODEX = re.compile(r"\s{0,20}<skill>\s{0,20}<name>([^<]{1,200})</name>\s{0,20}(?:<path>([^<]{1,1000})</path>)?")
_UNKNOWN = re.compile(r"(?:<tool_use_error>)?(?:Error: )?(?:Unknown skill|Skill not found): ?[\"'`]?([\w:.@+-]{1,200})")
_SKILL_FILE = re.compile(r"[^\s\"'`;|&<>*?]{0,800}?([\w.@+-]{1,100})[/\\]SKILL\.md\b")
_MEMORY_FILE = re.compile(
    r"(?:[^\s\"'`;|&<>*?]{0,800}/)?(?:" + "|".join(re.escape(name) for name in MEMORY_NAMES) + r")(?![\w.])"
)
_SHOWERS = re.compile(r"(?:^|[\s;&|(])(?:cat|bat|less|more|head|tail|sed|awk|nl|view|type|Get-Content)\s")


class Mark(NamedTuple):
    """One sign of use: what kind, which skill, command or file, where it lies if told, and the call's id."""

    kind: UseKind
    name: str
    path: str = ""
    call: str = ""


def may_hold_marks(raw: bytes) -> bool:
    """Whether a record's bytes can hold a sign of use; false for most, which then need not be parsed."""
    return any(sign in raw for sign in _SIGNS)


def find_marks(record: Any) -> Iterator[Mark]:
    """Every sign of use in a parsed record, in order."""
    yield from _walk(record, 0, result=False)


def _walk(value: Any, depth: int, result: bool) -> Iterator[Mark]:
    if depth > MAX_DEPTH:
        return
    if isinstance(value, str):
        yield from _text_marks(value, result)
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item, depth + 1, result)
    elif isinstance(value, dict):
        result = result or value.get("type") in _RESULTS or "tool" in (value.get("role"), value.get("from"))
        call = None if result else _call_of(value)
        if call is not None:
            yield from _call_marks(*call)
            return
        if value.get("type") == "nested_memory" and isinstance(path := value.get("path"), str):
            yield Mark("memory", path[:LONGEST_PATH], path[:LONGEST_PATH])
            return
        for key, item in value.items():
            yield from _walk(item, depth + 1, result or key in _RESULT_KEYS)


def _text_marks(text: str, result: bool) -> Iterator[Mark]:
    if result:
        if found := _UNKNOWN.match(text):
            yield Mark("unknown", found[1])
    elif found := _SHOWN.match(text):
        path = found[1].strip().rstrip("/\\")
        yield Mark("shown", path.replace("\\", "/").rpartition("/")[2][:LONGEST_NAME], path)
    elif found := _COMMAND.match(text):
        yield Mark("command", found[1])
    elif found := _CODEX.match(text):
        yield Mark("load", found[1].strip(), (found[2] or "").strip().removesuffix("/SKILL.md"))
    elif "<tool_call>" in text:
        for part in text.split("<tool_call>")[1:]:
            value = _arguments(part.partition("</tool_call>")[0].strip())
            if isinstance(value, dict) and (call := _call_of(value)) is not None:
                yield from _call_marks(*call)


def _call_of(value: Mapping[str, Any]) -> tuple[str, Any, str] | None:
    """(tool, arguments, call id) where a mapping is a tool call."""
    name = value.get("name") or value.get("tool") or value.get("toolName")
    if not isinstance(name, str):
        return None
    state = value.get("state")
    holders = (value, state) if isinstance(state, dict) else (value,)
    for holder in holders:
        for key in _ARGUMENT_KEYS:
            if key in holder:
                ids = (value.get(key) for key in ("id", "call_id", "callID", "tool_call_id"))
                return name, _arguments(holder[key]), next((one for one in ids if isinstance(one, str)), "")
    return None


def _arguments(given: Any) -> Any:
    if isinstance(given, str) and given[:1] in {"{", "["}:
        try:
            return orjson.loads(given)
        except ValueError:
            return given
    return given


def _call_marks(tool: str, given: Any, call: str) -> Iterator[Mark]:
    short = tool.rsplit(".", 1)[-1].lower().replace("_", "").replace("-", "")
    values = given if isinstance(given, dict) else {}
    if short in _LOADERS | _SLASH:
        name = next((values[key] for key in _NAME_KEYS if isinstance(values.get(key), str)), "")
        words = name.split()
        if words:
            kind: UseKind = "command" if short in _SLASH else "load"
            yield Mark(kind, words[0].lstrip("/")[:LONGEST_NAME], call=call)
        return
    action = action_of(tool)
    if action not in {"read", "shell"} and not (action == "mcp" and "read" in short):
        return
    for text in _strings(given, 0):
        if action == "shell" and not _SHOWERS.search(text[:4000]):
            continue
        yield from _file_marks(text[:4000], call)


def _file_marks(text: str, call: str) -> Iterator[Mark]:
    for found in _SKILL_FILE.finditer(text):
        yield Mark("read", found[1], found[0].removesuffix("SKILL.md").rstrip("/\\"), call)
    for found in _MEMORY_FILE.finditer(text):
        yield Mark("memory", found[0], found[0], call)


def _strings(given: Any, depth: int) -> Iterator[str]:
    if isinstance(given, str):
        yield given
    elif isinstance(given, list) and depth < 3:
        if given and all(isinstance(item, str) for item in given):
            yield argv_command(given)
        else:
            for item in given:
                yield from _strings(item, depth + 1)
    elif isinstance(given, dict) and depth < 3:
        for item in given.values():
            yield from _strings(item, depth + 1)
