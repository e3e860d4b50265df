"""SKILL.md: written so that every known reader takes it, checked strictly, found in the agents' folders.

The format is the Agent Skills specification (agentskills.io). Where its validators differ we write what all of them
accept: six keys, an ASCII name equal to the folder's, double-quoted or block scalars, LF line ends, no byte-order
mark, no angle brackets in the front matter, no `---` inside a value.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from slugify import slugify

from index.decode import safe_yaml
from index.records import Problem

SKILL_FILE = "SKILL.md"
KEYS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
MAX_NAME = 64
MAX_DESCRIPTION = 1024
MAX_COMPATIBILITY = 500
MAX_LINES = 500
MAX_TOKENS = 5000
# Characters per token of English prose with code, the usual rule of thumb; a figure for people, not for billing.
CHARACTERS_PER_TOKEN = 4
# What Claude Code keeps of a description in its listing; other agents list it whole.
LISTED_CHARACTERS = {"claude-code": 1536}
MAX_SKILL_BYTES = 1024 * 1024
MAX_DEPTH = 7

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_WHEN = re.compile(r"\b(?:use (?:it |this |this skill |the skill )?(?:when|if|for|before|after|to)|when)\b", re.I)
_RESERVED = ("anthropic", "claude")


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill file: `path` is where it lies, `text` the whole file as read ("" for one not yet written)."""

    name: str
    description: str
    body: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    path: str = ""
    text: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class SkillFolder:
    """A folder in which an agent looks for skills."""

    agent: str
    path: Path


@dataclass(frozen=True, slots=True)
class ListingCost:
    """What one skill adds to every conversation of an agent before it is ever used."""

    agent: str
    characters: int
    tokens: int


def skill_name(title: str) -> str:
    """A valid skill name from a title: ASCII, hyphens, at most 64 characters, no vendor's name. Never empty."""
    name = slugify(title, max_length=MAX_NAME, word_boundary=True)
    for word in _RESERVED:
        name = name.replace(word, "agent")
    return name[:MAX_NAME].strip("-") or "skill"


def plain(text: str) -> str:
    """`text` fit for a front-matter value: one line, no angle brackets, no `---`, no control characters."""
    shown = "".join(char if char.isprintable() else " " for char in text if char not in "<>")
    line = " ".join(shown.split())
    while "---" in line:
        line = line.replace("---", "--")
    return line


def render_skill(skill: Skill) -> str:
    """The file's text. `check_skill` finds nothing in it if the name, description and body are fit."""
    lines = ["---", f"name: {_quoted(skill.name)}", f"description: {_quoted(skill.description)}"]
    if skill.metadata:
        lines.append("metadata:")
        lines += [f"  {key}: {_quoted(value)}" for key, value in sorted(skill.metadata.items())]
    return "\n".join([*lines, "---", "", skill.body.strip("\n"), ""])


def _quoted(text: str) -> str:
    return json.dumps(plain(text), ensure_ascii=False)


def parse_skill(path: str, text: str) -> Skill | Problem:
    """A skill as a lenient reader takes it: what cannot be parsed or has no description is a problem."""
    front, body = _split(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    if front is None:
        return Problem(path, 1, "no front matter between two --- lines", "skill")
    try:
        values = safe_yaml(front)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return Problem(path, _line(error), f"front matter is not valid YAML: {error}", "skill")
    description = values.get("description") if isinstance(values, dict) else None
    if not isinstance(description, str) or not description.strip():
        return Problem(path, 1, "no description in the front matter", "skill")
    metadata = values.get("metadata")
    pairs = metadata.items() if isinstance(metadata, dict) else ()
    known = {str(key): str(value) for key, value in pairs if isinstance(value, str | int | float)}
    name = values.get("name")
    named = name if isinstance(name, str) and name else Path(path).parent.name
    return Skill(named, " ".join(description.split()), body, known, path, text)


def check_skill(text: str, directory: str, path: str = SKILL_FILE) -> tuple[Problem, ...]:
    """Everything that any known reader would refuse in a SKILL.md lying in a folder named `directory`."""
    if text.startswith("\ufeff"):
        return (_problem(path, 1, "starts with a byte-order mark; save it as UTF-8 without one"),)
    if "\r" in text:
        line = text[: text.index("\r")].count("\n") + 1
        return (_problem(path, line, "has a carriage return; use LF line ends"),)
    front, body = _split(text)
    if front is None:
        return (_problem(path, 1, "wanted --- as the first line and --- on a line of its own after the front matter"),)
    try:
        node = yaml.compose(front, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return (_problem(path, _line(error), "front matter is not valid YAML"),)
    if not isinstance(node, yaml.MappingNode):
        return (_problem(path, 2, "front matter is not a mapping of keys"),)
    return (*_check_front(node, directory, path), *_check_body(body, front.count("\n") + 3, path))


def _problem(path: str, line: int | None, reason: str) -> Problem:
    return Problem(path, line, reason, "skill")


def _line(error: Exception) -> int | None:
    mark = getattr(error, "problem_mark", None)
    return mark.line + 2 if mark is not None else None


def _split(text: str) -> tuple[str | None, str]:
    """The front matter and the body; the first `---` line after the opening one ends it."""
    if not text.startswith("---\n"):
        return None, text
    end = text.find("\n---\n", 3)
    if end < 0:
        return (text[4:-4], "") if text.endswith("\n---") else (None, text)
    return text[4 : end + 1], text[end + 5 :]


def _check_front(node: yaml.MappingNode, directory: str, path: str) -> list[Problem]:
    found: dict[str, str] = {}
    problems: list[Problem] = []
    for key_node, value_node in node.value:
        key, line = str(key_node.value), key_node.start_mark.line + 2
        if key not in KEYS:
            problems.append(_problem(path, line, f"unknown key {key!r}; wanted one of {', '.join(KEYS)}"))
        elif key in found:
            problems.append(_problem(path, line, f"the key {key!r} stands twice"))
        elif key == "metadata":
            problems += _check_metadata(value_node, line, path)
        elif not isinstance(value_node, yaml.ScalarNode) or value_node.style not in {'"', "|", ">"}:
            problems.append(_problem(path, line, f"{key}: wanted a text in double quotes or a block"))
        else:
            found[key] = value_node.value
            problems += _check_value(key, value_node.value, line, path)
    for key in ("name", "description"):
        if key not in found and not any(f"{key}:" in problem.reason for problem in problems):
            problems.append(_problem(path, 2, f"the key {key!r} is missing"))
    if "name" in found and found["name"] != directory:
        problems.append(_problem(path, 2, f"name {found['name']!r} is not its folder's name {directory!r}"))
    return problems


def _check_metadata(node: yaml.Node, line: int, path: str) -> list[Problem]:
    texts = isinstance(node, yaml.MappingNode) and all(
        isinstance(value, yaml.ScalarNode) and value.style == '"' for _, value in node.value
    )
    if texts and not getattr(node, "flow_style", False):
        return []
    return [_problem(path, line, "metadata: wanted a block mapping of texts in double quotes")]


def _check_value(key: str, value: str, line: int, path: str) -> list[Problem]:
    reasons: list[str] = []
    if "---" in value:
        reasons.append(f"{key}: holds ---, on which some readers split the file")
    if key == "name":
        reasons += name_problems(value)
    if key == "description":
        reasons += description_problems(value)
    if key == "compatibility" and not 1 <= len(value) <= MAX_COMPATIBILITY:
        reasons.append(f"compatibility: wanted 1 to {MAX_COMPATIBILITY} characters, found {len(value)}")
    return [_problem(path, line, reason) for reason in reasons]


def name_problems(name: str) -> list[str]:
    """Why `name` cannot name a skill; empty if it can."""
    reasons = []
    if not 1 <= len(name) <= MAX_NAME:
        reasons.append(f"name: wanted 1 to {MAX_NAME} characters, found {len(name)}")
    if name and not _NAME.match(name):
        reasons.append(f"name: wanted lower-case letters a-z, digits and single hyphens inside, found {name!r}")
    reasons += [f"name: may not hold the word {word!r}" for word in _RESERVED if word in name]
    return reasons


def description_problems(description: str) -> list[str]:
    """Why `description` cannot describe a skill; empty if it can."""
    reasons = []
    if not description.strip():
        reasons.append("description: is empty")
    if len(description) > MAX_DESCRIPTION:
        reasons.append(f"description: wanted at most {MAX_DESCRIPTION} characters, found {len(description)}")
    if "<" in description or ">" in description:
        reasons.append("description: holds an angle bracket, which some readers refuse")
    if description.strip() and not _WHEN.search(description):
        reasons.append("description: does not say when to use the skill; begin with 'Use when ...'")
    return reasons


def _check_body(body: str, first_line: int, path: str) -> list[Problem]:
    lines, tokens = body.count("\n") + 1, math.ceil(len(body) / CHARACTERS_PER_TOKEN)
    if not body.strip():
        return [_problem(path, first_line, "the body is empty")]
    if lines >= MAX_LINES:
        return [_problem(path, first_line, f"body: wanted under {MAX_LINES} lines, found {lines}; move details out")]
    if tokens > MAX_TOKENS:
        return [_problem(path, first_line, f"body: wanted about {MAX_TOKENS} tokens at most, found about {tokens}")]
    return []


def listing_cost(agent: str, name: str, description: str) -> ListingCost:
    """What the skill's line in an agent's listing costs; tokens are an estimate of 4 characters each."""
    characters = len(name) + 2 + min(len(description), LISTED_CHARACTERS.get(agent, len(description)))
    return ListingCost(agent, characters, math.ceil(characters / CHARACTERS_PER_TOKEN))


def skill_folders(home: Path, project: Path | None = None) -> tuple[SkillFolder, ...]:
    """Where the agents on this machine look for skills: the user's folders, plugins included, then the project's."""
    folders = [
        SkillFolder("claude-code", home / ".claude" / "skills"),
        SkillFolder("claude-code", home / ".claude" / "plugins"),
        SkillFolder("codex", home / ".codex" / "skills"),
        SkillFolder("codex", home / ".codex" / "plugins"),
        SkillFolder("hermes", home / ".hermes" / "skills"),
        SkillFolder("agents", home / ".agents" / "skills"),
    ]
    if project is not None:
        folders += [
            SkillFolder("claude-code", project / ".claude" / "skills"),
            SkillFolder("codex", project / ".codex" / "skills"),
            SkillFolder("agents", project / ".agents" / "skills"),
        ]
    return tuple(folder for folder in folders if folder.path.is_dir())


def agent_of(folder: str) -> str:
    """Which agent reads skills in `folder`, by the folder's well-known name; "agents" where none is known."""
    parts = Path(folder).parts
    known = {".claude": "claude-code", ".codex": "codex", ".hermes": "hermes"}
    return next((agent for part, agent in known.items() if part in parts), "agents")


def read_skills(folders: Iterable[SkillFolder]) -> tuple[tuple[Skill, ...], tuple[Problem, ...]]:
    """Every skill in the folders, with its agent and path, and the files that are none. Links are not followed."""
    skills: list[Skill] = []
    problems: list[Problem] = []
    for folder in folders:
        for path in _skill_files(folder.path, 0):
            read = _read(path)
            if isinstance(read, Problem):
                problems.append(read)
            else:
                skills.append(
                    Skill(read.name, read.description, read.body, read.metadata, read.path, read.text, folder.agent)
                )
    return tuple(sorted(skills, key=lambda skill: skill.path)), tuple(problems)


def _read(path: Path) -> Skill | Problem:
    try:
        if path.stat().st_size > MAX_SKILL_BYTES:
            return Problem(str(path), None, f"larger than {MAX_SKILL_BYTES} bytes", "skill")
        return parse_skill(str(path), path.read_bytes().decode("utf-8"))
    except UnicodeDecodeError:
        return Problem(str(path), None, "not UTF-8", "skill")
    except OSError as error:
        return Problem(str(path), None, f"cannot be read: {error.strerror}", "skill")


def _skill_files(folder: Path, depth: int) -> Iterable[Path]:
    """SKILL.md files below `folder`; a skill's own folder is not searched further."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    here = next((entry for entry in entries if entry.name == SKILL_FILE and entry.is_file()), None)
    if here is not None:
        yield Path(here.path)
        return
    if depth >= MAX_DEPTH:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=depth == 0) and entry.name not in {".git", "node_modules", "data"}:
            yield from _skill_files(Path(entry.path), depth + 1)
