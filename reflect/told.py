"""A lesson that an agent tells in so many words becomes a solution, by the same gate as one dropped in the inbox."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from index.changes import Change, Note, Plan
from index.errors import UsageError
from index.frontmatter import render_solution
from index.globs import problem_of
from index.records import Solution, Source
from index.settings import RedactSettings
from index.store import path_for
from reflect.adopt import MAX_TITLE, Foreign, adopt_lesson, content_hash, one_line
from reflect.redact import redact_text

LONGEST_LESSON = 8_000  # characters: one lesson is one short text
LONGEST_TRIGGER = 300
MOST_TRIGGERS = 10  # of each kind


@dataclass(frozen=True, slots=True)
class Told:
    """What an agent told: one lesson, and when it applies. `outside` says that some of it came from a web page, an
    issue or another's tool: it is then kept out of reach until a person releases it."""

    title: str
    lesson: str
    paths: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    project: str = ""
    outside: bool = False


def check_told(told: Told) -> None:
    """Raise UsageError for what cannot be kept as one lesson, with what to do instead."""
    if not told.title.strip() or not told.lesson.strip():
        raise UsageError("A lesson wants a title and a text; one of them is empty.")
    if len(told.title) > MAX_TITLE:
        raise UsageError(f"The title has {len(told.title)} characters, at most {MAX_TITLE} are kept. Say it shorter.")
    if len(told.lesson) > LONGEST_LESSON:
        raise UsageError(
            f"The text has {len(told.lesson)} characters, at most {LONGEST_LESSON} are kept. Tell one fact a lesson."
        )
    for kind in ("paths", "commands", "errors", "tags"):
        values = getattr(told, kind)
        if len(values) > MOST_TRIGGERS:
            raise UsageError(
                f"{len(values)} {kind} were given, at most {MOST_TRIGGERS} are kept. Name the telling ones."
            )
        if any(not value.strip() or len(value) > LONGEST_TRIGGER for value in values):
            raise UsageError(f"Each of the {kind} wants 1 to {LONGEST_TRIGGER} characters.")
    for path in told.paths:
        if fault := problem_of(path):
            raise UsageError(f"The path {path!r} {fault}.")
        if not path.strip("*/?.! "):
            raise UsageError(f"The path {path!r} takes in every file, which says nothing. Name a folder or a file.")


def plan_told(
    told: Told,
    source: str,
    now: datetime,
    known: Collection[str],
    adopted: Collection[str],
    redact: RedactSettings,
    forget: Callable[[str], str] = str,
    is_forgotten: Callable[[Solution], bool] = lambda lesson: False,
) -> Plan:
    """One new solution without its secrets; nothing where the same was told before or a person had it forgotten.

    `source` names who told it; `adopted` holds the hashes of every text that was taken before.
    """
    check_told(told)
    found = 0

    def clean(text: str) -> str:
        nonlocal found
        without, counts = redact_text(text, redact)
        found += sum(counts.values())
        return forget(without)

    header: dict[str, object] = {
        "triggers": {kind: [clean(one) for one in getattr(told, kind)] for kind in ("paths", "commands", "errors")},
        "tags": [clean(one) for one in told.tags],
        "project": clean(told.project),
        "trust": "external" if told.outside else "observed",
    }
    title, body = one_line(clean(told.title)), clean(told.lesson).strip() + "\n"
    sha256 = content_hash(json.dumps([title, body, header["triggers"]], ensure_ascii=False))
    lesson = adopt_lesson(Foreign("", 1, title, body, header, sha256), source, now.astimezone(UTC))
    origin = Source(source, None, "web" if told.outside else "agent", sha256=sha256)
    lesson = replace(lesson, sources=(origin,))
    path = path_for(lesson)
    if sha256 in adopted or lesson.id in known:
        return Plan("remember", skipped=((path, "the same lesson was told before"),))
    if is_forgotten(lesson):
        return Plan("remember", skipped=((path, "it was forgotten on purpose"),))
    notes = (Note("redacted", path, f"{found} secrets"),) if found else ()
    change = Change(path, None, render_solution(lesson).encode("utf-8", "replace"), f"told by {source}")
    return Plan("remember", (change,), notes=notes)
