"""Lessons that people or agents wrote become solutions: dropped in `inbox/`, or imported from where they lie.

What cannot be used stays where it is, and is reported with its place and the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from pathlib import Path

from index.changes import Change, Note, Plan
from index.frontmatter import render_solution
from index.records import Problem, Solution
from index.settings import RedactSettings
from index.store import INBOX, path_for, read_text, walk_markdown
from reflect.adopt import adopt_lesson, parse_foreign, parse_lesson
from reflect.redact import redact_text


def plan_inbox(
    root: Path,
    known: Collection[str],
    adopted: Collection[str],
    redact: RedactSettings,
    forget: Callable[[str], str] = str,
    is_forgotten: Callable[[Solution], bool] = lambda lesson: False,
) -> Plan:
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
        clean = forget(clean)
        foreign = parse_lesson(name, clean)
        if isinstance(foreign, Problem):
            notes.append(Note("unusable", f"{name}:{foreign.line}", foreign.reason))
            continue
        written = datetime.fromtimestamp(entry.stat().st_mtime_ns // 10**9, UTC)
        lesson = adopt_lesson(foreign, f"{INBOX}:{entry.name}", written)
        if is_forgotten(lesson):
            notes.append(Note("forgotten", name, "was forgotten on purpose; delete the file, or say it in other words"))
            continue
        kept = clean.encode() if clean != text else None
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


def source_files(paths: Iterable[Path]) -> list[tuple[Path, str]]:
    """(file, its name for people and for ids) of every markdown lesson below the given paths, each once, sorted."""
    found: dict[Path, str] = {}
    for given in paths:
        if not given.is_dir():
            found.setdefault(given, given.name)
            continue
        for file in sorted(given.rglob("*")):
            if file.suffix in (".md", ".mdc", ".markdown") and file.is_file() and not file.is_symlink():
                found.setdefault(file, f"{given.name}/{file.relative_to(given).as_posix()}")
    return sorted(found.items())


def plan_import(
    files: Iterable[tuple[Path, str]],
    known: Collection[str],
    adopted: Collection[str],
    redact: RedactSettings,
    forget: Callable[[str], str] = str,
    is_forgotten: Callable[[Solution], bool] = lambda lesson: False,
) -> Plan:
    """Adopt the lessons of these files; nothing is changed where they lie, and importing twice adds nothing."""
    changes: list[Change] = []
    skipped: list[tuple[str, str]] = []
    notes: list[Note] = []
    taken: set[str] = set(adopted)
    ids: set[str] = set(known)
    silent = 0
    for file, name in files:
        text = read_text(file)
        if isinstance(text, Problem):
            notes.append(Note("unusable", name, text.reason))
            continue
        clean, found = redact_text(text, redact)
        clean = forget(clean)
        if found:
            notes.append(Note("redacted", name, f"{sum(found.values())} secrets: {', '.join(sorted(found))}"))
        lessons, problems = parse_foreign(name, clean)
        for problem in problems:
            where = name if problem.line is None else f"{name}:{problem.line}"
            notes.append(Note("left out" if problem.kind == "no-lesson" else "unusable", where, problem.reason))
        written = datetime.fromtimestamp(int(file.stat().st_mtime), UTC)
        for foreign in lessons:
            lesson = adopt_lesson(foreign, f"import:{name}", written)
            if is_forgotten(lesson):
                skipped.append((f"{name}:{foreign.line}", "it was forgotten on purpose"))
                continue
            if foreign.sha256 in taken or lesson.id in ids:
                skipped.append((f"{name}:{foreign.line}", "the same text is in the store"))
                continue
            taken.add(foreign.sha256)
            ids.add(lesson.id)
            silent += not lesson.triggers
            why = f"imported from {name} as {lesson.category}"
            changes.append(Change(path_for(lesson), None, render_solution(lesson).encode("utf-8", "replace"), why))
    if silent:
        advice = "add `triggers:` to those that should fire before a tool call; the others are found by words alone"
        notes.append(Note("no trigger", f"{silent} lessons", advice))
    return Plan("import", tuple(changes), tuple(skipped), tuple(notes))
