"""What is wrong with single skills and memory files, and which skills a text refers to; pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from curate.places import MemoryFile
from curate.skills import (
    CHARACTERS_PER_TOKEN,
    KEYS,
    LISTED_CHARACTERS,
    MAX_COMPATIBILITY,
    MAX_DESCRIPTION,
    MAX_LINES,
    MAX_NAME,
    MAX_TOKENS,
    Skill,
)
from index.decode import safe_yaml
from index.plural import plural

# What Claude Code alone takes in a skill's front matter, beside the six keys of the specification.
CLAUDE_KEYS = frozenset(
    "argument-hint arguments when_to_use disable-model-invocation user-invocable disallowed-tools model effort context "
    "agent background hooks paths shell".split()
)
# Claude Code loads so much of its own notes (MEMORY.md) at the start, and warns of a larger CLAUDE.md.
AUTO_LINES, AUTO_BYTES = 200, 25 * 1024
CLAUDE_CHARACTERS = 40_000
# Codex cuts all AGENTS.md files of a project together here (project_doc_max_bytes).
CODEX_BYTES = 32 * 1024
# Hermes adds nothing to a file that is full (memory_char_limit, user_char_limit).
HERMES_CHARACTERS = {"memory": 2_200, "profile": 1_375}

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_PATH_REFERENCE = re.compile(r"(?<![\w.@+-])skills/([a-z0-9][a-z0-9-]{1,63})/SKILL\.md\b")
# A name in backticks, bold or quotes right before or after the word: "the `name` skill", "skill: `plugin:name`".
_QUOTED = r"[`\"“*]{1,3}/?((?:[a-z0-9][a-z0-9-]{0,63}:)?[a-z0-9]{1,40}(?:-[a-z0-9]{1,40}){1,8})[`\"”*]{1,3}"
_BEFORE = re.compile(_QUOTED + r" skill\b(?! (?:creator|folder|file|name))")
_AFTER = re.compile(
    r"\b(?:[Uu]se|[Ii]nvoke|[Ll]oad|[Rr]un|[Ss]ee|REQUIRED SUB-SKILL: Use|[Rr]equires) (?:the )?skill:? " + _QUOTED
)
_SUB_SKILL = re.compile(r"SUB-SKILL:\**:? (?:Use )?([a-z0-9][a-z0-9-]{0,63}:[a-z0-9][a-z0-9-]{1,63})\b")
_FENCE = re.compile(r"^(?:```|~~~)[^\n]{0,200}\n.{0,20000}?^(?:```|~~~)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Load:
    """What of a memory file reaches the agent: sizes, and over which limit it is ("" for none)."""

    lines: int
    characters: int
    tokens: int
    over: str = ""


def front_values(text: str) -> dict[str, Any] | None:
    """The front matter of a skill as a mapping; None where there is none or it does not parse."""
    if not text.startswith("---"):
        return None
    front, _, rest = text.removeprefix("---").partition("\n---")
    try:
        values = safe_yaml(front) if rest or front else None
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def skill_faults(skill: Skill) -> list[str]:
    """Why the specification, or a reader that follows it, would refuse this skill; empty if none would.

    Keys that Claude Code takes are no fault among its own skills.
    """
    text = skill.text
    if text.startswith("\ufeff"):
        return ["starts with a byte-order mark"]
    faults = ["has carriage returns; some readers then find no front matter"] if "\r" in text else []
    values = front_values(text.replace("\r\n", "\n"))
    if values is None:
        return [*faults, "its front matter is not valid YAML"]
    allowed = set(KEYS) | (CLAUDE_KEYS if skill.agent == "claude-code" else frozenset())
    unknown = sorted(str(key) for key in values if key not in allowed)
    if unknown:
        faults.append(f"keys that the specification does not know: {', '.join(unknown[:8])}")
    faults += _name_faults(values.get("name"), Path(skill.path).parent.name, skill.agent)
    faults += _value_faults(values)
    return faults


def _name_faults(name: Any, folder: str, agent: str) -> Iterator[str]:
    if name is None and agent == "claude-code":
        return  # Claude Code takes the folder's name
    if not isinstance(name, str) or not name:
        yield "the name is missing or is no text"
    elif len(name) > MAX_NAME or not _NAME.match(name):
        yield f"name {name[:80]!r}: wanted at most {MAX_NAME} of a-z, 0-9 and single hyphens"
    elif name != folder:
        yield f"name {name!r} is not its folder's name {folder!r}"


def _value_faults(values: dict[str, Any]) -> Iterator[str]:
    description = values.get("description")
    if not isinstance(description, str) or not description.strip():
        yield "the description is missing or is no text"
    elif "<" in description or ">" in description:
        yield "the description holds an angle bracket, which some readers refuse"
    compatibility = values.get("compatibility")
    if compatibility is not None and not 1 <= len(str(compatibility)) <= MAX_COMPATIBILITY:
        yield f"compatibility: wanted 1 to {MAX_COMPATIBILITY} characters"
    if any(isinstance(value, str) and "---" in value for value in values.values()):
        yield "a value holds ---, on which some readers split the file"
    metadata = values.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        yield "metadata: wanted a mapping"


def listed_text(skill: Skill) -> str:
    """What the listing of an agent holds of a skill: its description, for Claude Code with `when_to_use`; "" for one
    that the model is not to call by itself."""
    values = front_values(skill.text.replace("\r\n", "\n")) or {}
    if skill.agent != "claude-code":
        return skill.description
    if values.get("disable-model-invocation") is True:
        return ""
    when = values.get("when_to_use")
    return f"{skill.description} {when}".strip() if isinstance(when, str) else skill.description


def too_long(skill: Skill) -> list[str]:
    """In which way a skill's description or body is longer than readers allow or advise."""
    found = []
    length = len(skill.description)
    if length > MAX_DESCRIPTION:
        found.append(f"description of {length:,} characters; the specification allows {MAX_DESCRIPTION:,}")
    cut = LISTED_CHARACTERS.get(skill.agent)
    listed = len(listed_text(skill))
    if cut is not None and listed > cut:
        found.append(f"Claude Code cuts its listing at {cut:,} characters: the last {listed - cut:,} are never seen")
    return found


def long_body(skill: Skill) -> str:
    """Why a skill's body is long for what it is loaded for; "" if it is not."""
    lines, tokens = skill.body.count("\n") + 1, tokens_of(len(skill.body))
    if lines > MAX_LINES or tokens > 2 * MAX_TOKENS:
        return f"body of {plural(lines, 'line')}, about {tokens:,} tokens; advised are {MAX_LINES} and {MAX_TOKENS:,}"
    return ""


def measure_memory(file: MemoryFile) -> Load:
    """The size of a memory file against the limit of the agent that loads it."""
    lines = file.text.count("\n") + (not file.text.endswith("\n") and bool(file.text))
    characters = len(file.text)
    over = ""
    if file.kind == "auto" and (lines > AUTO_LINES or file.size > AUTO_BYTES):
        size = f"{plural(lines, 'line')}, {file.size:,} bytes"
        over = f"{size}: Claude Code loads the first {AUTO_LINES} lines or 25 KB, no more"
    elif file.agent == "claude-code" and file.kind != "auto" and characters > CLAUDE_CHARACTERS:
        over = f"{characters:,} characters: Claude Code warns from {CLAUDE_CHARACTERS:,} on, for it slows every turn"
    elif Path(file.path).name == "AGENTS.md" and file.size > CODEX_BYTES:
        over = f"{file.size:,} bytes: Codex reads 32 KiB of AGENTS.md files in all and drops the rest"
    elif file.agent == "hermes" and characters > HERMES_CHARACTERS.get(file.kind, characters):
        over = f"{characters:,} characters: Hermes adds nothing beyond {HERMES_CHARACTERS[file.kind]:,}"
    loaded = characters
    if file.kind == "auto":
        loaded = min(len("\n".join(file.text.split("\n")[:AUTO_LINES])), AUTO_BYTES)
    return Load(lines, characters, tokens_of(loaded), over)


def tokens_of(characters: int) -> int:
    """An estimate: four characters a token."""
    return math.ceil(characters / CHARACTERS_PER_TOKEN)


def find_references(text: str) -> list[str]:
    """The names of skills that a text tells the agent to use, sorted; examples in fenced blocks do not count."""
    prose = _FENCE.sub("", text)
    names = {
        found[1] for pattern in (_PATH_REFERENCE, _BEFORE, _AFTER, _SUB_SKILL) for found in pattern.finditer(prose)
    }
    return sorted(names)
