"""Lessons that people or agents wrote become solutions: dropped in `inbox/`, or imported from where they lie.

What cannot be used stays where it is, and is reported with its place and the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from index.changes import Change, Note, Plan
from index.frontmatter import render_solution
from index.plural import plural
from index.records import Problem, Solution
from index.settings import RedactSettings
from index.store import INBOX, path_for, read_text, walk_markdown
from reflect.adopt import Foreign, adopt_lesson, parse_foreign, parse_lesson
from reflect.redact import redact_text

# What a note calls a text that was refused, one that was taken without its header, and one that is none.
REFUSED, MENDED, LEFT_OUT = "unusable", "mended", "left out"
_KINDS = {"no-lesson": LEFT_OUT, "mended": MENDED}
KNOWN, FORGOTTEN = "the same text is in the store", "it was forgotten on purpose"


@dataclass(slots=True)
class _Taking:
    """One pass over foreign texts: what the store knows and has adopted, and what came of the texts so far."""

    stage: str
    ids: set[str]
    adopted: set[str]
    redact: RedactSettings
    forget: Callable[[str], str]
    is_forgotten: Callable[[Solution], bool]
    changes: list[Change] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def read(self, file: Path, name: str) -> tuple[str, str] | None:
        """(a file's text, the same without secrets and what was forgotten), or None where it cannot be read."""
        text = read_text(file)
        if isinstance(text, Problem):
            self.notes.append(Note(REFUSED, name, text.reason))
            return None
        clean, found = redact_text(text, self.redact)
        if found:
            self.notes.append(Note("redacted", name, f"{sum(found.values())} secrets: {', '.join(sorted(found))}"))
        return text, self.forget(clean)

    def report(self, name: str, problems: Iterable[Problem]) -> None:
        """Note what of a file could not be used, and where it stands."""
        for problem in problems:
            where = name if problem.line is None else f"{name}:{problem.line}"
            self.notes.append(Note(_KINDS.get(problem.kind, REFUSED), where, problem.reason))

    def take(self, foreign: Foreign, source: str, file: Path, why: str, unit: str = "") -> Solution | str:
        """File a lesson, or say why it is not new."""
        if foreign.sha256 in self.adopted:  # before it is classified, which costs most
            return KNOWN
        lesson = adopt_lesson(foreign, source, datetime.fromtimestamp(file.stat().st_mtime_ns // 10**9, UTC))
        if self.is_forgotten(lesson):
            return FORGOTTEN
        if lesson.id in self.ids:
            return KNOWN
        self.adopted.add(foreign.sha256)
        self.ids.add(lesson.id)
        after = render_solution(lesson).encode("utf-8", "replace")
        self.changes.append(Change(path_for(lesson), None, after, f"{why} as {lesson.category}", unit))
        return lesson

    def plan(self) -> Plan:
        """All that came of it."""
        return Plan(self.stage, tuple(self.changes), tuple(self.skipped), tuple(self.notes))


def plan_inbox(
    root: Path,
    known: Collection[str],
    adopted: Collection[str],
    redact: RedactSettings,
    forget: Callable[[str], str] = str,
    is_forgotten: Callable[[Solution], bool] = lambda lesson: False,
) -> Plan:
    """Move each usable file of the inbox into solutions/; `adopted` holds the SHA-256 of every text taken before."""
    taking = _Taking("inbox", set(known), set(adopted), redact, forget, is_forgotten)
    for entry in walk_markdown(root / INBOX):
        file, unit = Path(entry.path), f"inbox {Path(entry.path).relative_to(root).as_posix()}"
        name = unit.removeprefix("inbox ")
        texts = taking.read(file, name)
        if texts is None:
            continue
        text, clean = texts
        foreign = parse_lesson(name, clean)
        if isinstance(foreign, Problem):
            taking.report(name, [foreign])
            continue
        taken = taking.take(foreign, f"{INBOX}:{entry.name}", file, f"filed from {name}", unit)
        if taken == FORGOTTEN:
            advice = "was forgotten on purpose; delete the file, or say it in other words"
            taking.notes.append(Note("forgotten", name, advice))
            continue
        if taken == KNOWN:
            taking.skipped.append((name, "the same text was filed before"))
        kept = clean.encode() if clean != text else None
        taking.changes.append(Change(name, text.encode(), None, "filed", unit, kept=kept))
    return taking.plan()


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
    taking = _Taking("import", set(known), set(adopted), redact, forget, is_forgotten)
    lessons: list[Solution] = []
    for file, name in files:
        texts = taking.read(file, name)
        if texts is None:
            continue
        found, problems = parse_foreign(name, texts[1])
        taking.report(name, problems)
        for foreign in found:
            taken = taking.take(foreign, f"import:{name}", file, f"imported from {name}")
            if isinstance(taken, str):
                taking.skipped.append((f"{name}:{foreign.line}", taken))
            else:
                lessons.append(taken)
    taking.notes += _without_trigger(lessons)
    return taking.plan()


def _without_trigger(lessons: Sequence[Solution]) -> list[Note]:
    silent = sum(not lesson.triggers for lesson in lessons)
    advice = "add `triggers:` to those that should fire before a tool call; the others are found by words alone"
    return [Note("no trigger", plural(silent, "lesson"), advice)] if silent else []
