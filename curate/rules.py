"""Standing rules: one line for each lesson in a managed block of a project's AGENTS.md or CLAUDE.md.

Only the block between the markers is written, and lines are only added to it: whatever else stands in the file, the
person's principles above all, is read, to know what is said already, and never written.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from curate.drafts import Draft
from curate.improve import is_known
from index.bullets import parse_bullets, parse_headings
from index.files import read_bytes
from index.records import Problem

BEGIN = "<!-- hotwash:rules:begin - added by hotwash after review; edit outside these markers -->"
END = "<!-- hotwash:rules:end -->"
OPENING = "What sessions in several projects taught; `hotwash why ID` shows the evidence:"
FILES = ("AGENTS.md", "CLAUDE.md")
MAX_LINE = 300


@dataclass(frozen=True, slots=True)
class RuleFile:
    """A file that a rule may be added to, its bytes as read, and the project it belongs to."""

    project: str
    path: Path
    before: bytes


def rule_line(draft: Draft) -> str:
    """A draft as one line: what it is about and the first things to do, with the id of a lesson behind it; "" where it
    has no such line."""
    skill = draft.skill()
    if isinstance(skill, Problem):
        return ""
    title = next(iter(parse_headings(skill.body)), "")
    steps = parse_bullets(skill.body.partition("\n## Steps\n")[2].partition("\n## ")[0])
    identity = next(iter(sorted(draft.solutions)), "")
    line = f"- {title.rstrip('.')}."
    for step in steps:
        if "\n" in step or is_known(step, [title]):
            continue
        longer = f"{line} {step}"
        if len(longer) + len(identity) + 3 > MAX_LINE:
            break
        line = longer
    return f"{line} ({identity})" if title and identity and "<!--" not in line else ""


def rule_files(folders: Mapping[str, Sequence[Path]], line: str) -> tuple[RuleFile, ...]:
    """The files that exist in the projects' folders and do not say it yet; each once, links followed inside the folder.

    A CLAUDE.md that takes in AGENTS.md needs no line of its own.
    """
    found: dict[Path, RuleFile] = {}
    for project, places in sorted(folders.items()):
        for folder in places:
            for path in _agent_files(folder):
                raw = read_bytes(path)
                if raw is not None and path not in found and line and not _says(raw, line):
                    found[path] = RuleFile(project, path, raw)
    return tuple(found[path] for path in sorted(found))


def _agent_files(folder: Path) -> list[Path]:
    files: list[Path] = []
    top = folder.resolve()
    for name in FILES:
        path = (folder / name).resolve()
        if path.is_file() and path.is_relative_to(top) and path not in files:
            if name == "CLAUDE.md" and files and b"@AGENTS.md" in (read_bytes(path) or b""):
                continue
            files.append(path)
    return files


def _says(raw: bytes, line: str) -> bool:
    """Whether a file says it already, in the block or anywhere else; one that is not UTF-8 is left alone."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return True
    identity = line.rpartition("(")[2]
    statement = line.removeprefix("- ").rpartition(" (")[0]
    return f"({identity}" in text or is_known(statement, parse_bullets(text))


def add_rule(before: bytes, line: str) -> bytes:
    """The file with the line in its block, which comes to the end where there is none; every other byte stays."""
    text = before.decode("utf-8")
    end = "\r\n" if "\r\n" in text else "\n"
    start = text.find(BEGIN)
    stop = text.find(END, start) if start >= 0 else -1
    if stop >= 0:
        gap = "" if text[:stop].endswith("\n") else end
        return f"{text[:stop]}{gap}{line}{end}{text[stop:]}".encode()
    gap = "" if not text else end if text.endswith("\n") else end + end
    return f"{text}{gap}{end.join([BEGIN, OPENING, '', line, END])}{end}".encode()


def render_rule_diff(file: RuleFile, line: str) -> str:
    """The unified diff of one file."""
    after = add_rule(file.before, line).decode("utf-8")
    lines = difflib.unified_diff(
        file.before.decode("utf-8").splitlines(), after.splitlines(), str(file.path), f"{file.path} proposed",
        lineterm="",
    )  # fmt: skip
    return "\n".join(lines)
