"""Plain markdown lessons dropped in `inbox/` become solutions; what cannot be used stays there, with the reason."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from index.changes import Change, Note, Plan
from index.frontmatter import BadValue, load_yaml, parse_time, render_solution, split_frontmatter
from index.records import Problem, Solution, Source, Triggers
from index.settings import RedactSettings
from index.store import INBOX, path_for, read_text, solution_id, walk_markdown
from reflect.classify import classify
from reflect.redact import redact_text

MAX_TITLE = 120
SCOPE_KEYS = ("paths", "globs", "applyTo", "applies_to")


def read_header(text: str) -> tuple[dict[str, Any], str]:
    """(front matter, body) of a foreign lesson; raises BadValue with the line where the header is no mapping."""
    header, body = split_frontmatter(text)
    if header is None:
        if text.startswith("---\n"):
            raise BadValue("wanted a second `---` line after the front matter, found none", 0)
        return {}, text
    values = load_yaml(header)
    if not isinstance(values, dict):
        raise BadValue(f"wanted `key: value` lines, found {type(values).__name__}", 0)
    return {str(key): value for key, value in values.items()}, body


def split_title(header: Mapping[str, Any], body: str, fallback: str) -> tuple[str, str]:
    """(title, the body without it): the header's title, else the first heading, else the first sentence."""
    lines = body.strip("\n").split("\n")
    if isinstance(header.get("title"), str) and header["title"].strip():
        return header["title"].strip(), body.strip("\n") + "\n"
    for position, line in enumerate(lines):
        if line.startswith("#") and line.lstrip("#").strip():
            return line.lstrip("#").strip(), "\n".join(lines[position + 1 :]).strip("\n") + "\n"
        if line.strip():
            break
    sentence = next((line.strip() for line in lines if line.strip()), fallback)
    return sentence[:MAX_TITLE].rstrip(" ."), body.strip("\n") + "\n"


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


def find_triggers(header: Mapping[str, Any]) -> Triggers:
    """The triggers that a foreign header declares: our own `triggers`, or another client's path scope."""
    given = header.get("triggers")
    own = given if isinstance(given, dict) else {}
    scope = next((_texts(header[key]) for key in SCOPE_KEYS if header.get(key)), ())
    return Triggers(_texts(own.get("paths")) or scope, _texts(own.get("commands")), _texts(own.get("errors")))


def adopt_lesson(name: str, text: str, mtime_ns: int) -> Solution | Problem:
    """A foreign markdown lesson as a solution. What it says of its own trust, review or use is not believed."""
    try:
        header, body = read_header(text)
        given = header.get("date") or header.get("created")
        created = parse_time(given, "date") if given else datetime.fromtimestamp(mtime_ns // 10**9, UTC)
    except BadValue as error:
        line = (error.line or 0) + 2
        return Problem(name, line, f"{error}. Mend it; the file stays in the inbox.", "frontmatter")
    if not body.strip():
        return Problem(name, 1, "wanted a lesson's text, found an empty file. Write it or delete the file.", "empty")
    title, body = split_title(header, body, Path(name).stem.replace("-", " "))
    judged = classify(title, body, header)
    content = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Solution(
        id=solution_id(created, f"inbox:{content}"),
        title=title[:MAX_TITLE],
        category=judged.category,
        body=body,
        type=judged.type,
        confidence=judged.confidence,
        trust="external" if header.get("trust") == "external" else "observed",
        tags=tuple(tag.lower() for tag in _texts(header.get("tags"))),
        project=str(header.get("project") or ""),
        triggers=find_triggers(header),
        sources=(Source(f"inbox:{Path(name).name}", origin="import", sha256=content),),
        created=created,
        verified=created.date(),
    )


def plan_inbox(root: Path, known: Collection[str], adopted: Collection[str], redact: RedactSettings) -> Plan:
    """Move each usable file of the inbox into solutions/; `adopted` holds the SHA-256 of every text taken before."""
    changes: list[Change] = []
    skipped: list[tuple[str, str]] = []
    notes: list[Note] = []
    for entry in walk_markdown(root / INBOX):
        name = Path(entry.path).relative_to(root).as_posix()
        text = read_text(Path(entry.path))
        if isinstance(text, Problem):
            notes.append(Note("unusable", name, text.reason))
            continue
        clean, found = redact_text(text, redact)
        lesson = adopt_lesson(name, clean, entry.stat().st_mtime_ns)
        if isinstance(lesson, Problem):
            notes.append(Note("unusable", name, str(lesson).removeprefix(f"{name}:")))
            continue
        kept = clean.encode() if found else None
        drop = Change(name, text.encode(), None, "filed", f"inbox {name}", kept=kept)
        if lesson.id in known or lesson.sources[0].sha256 in adopted:
            changes.append(drop)
            skipped.append((name, "the same text was filed before"))
            continue
        why = f"filed from {name} as {lesson.category}"
        changes.append(Change(path_for(lesson), None, render_solution(lesson).encode(), why, f"inbox {name}"))
        changes.append(drop)
        if found:
            notes.append(Note("redacted", name, f"{sum(found.values())} secrets: {', '.join(sorted(found))}"))
    return Plan("inbox", tuple(changes), tuple(skipped), tuple(notes))
