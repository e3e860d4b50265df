"""Reports as text for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from flows.report import Report, SessionLine, StageLine
from index.changes import Change
from index.plural import by_category, plural
from index.records import Solution, Verdict
from index.store import ARCHIVE, QUARANTINE

# Stages whose single changes a person wants to see; the others are told by their numbers.
SHOWN = (
    "inbox",
    "quarantine",
    "decay",
    "dedup",
    "newer",
    "consolidate",
    "promote",
    "undo",
    "return",
    "restore",
    "supersede",
    "release",
    "keep-both",
    "publish",
)
MOST_LINES = 12


def render_report(report: Report) -> str:
    """A run's report: sessions, lessons with their evidence, each stage, and where to look further."""
    parts: list[str] = []
    heading = f"hotwash {report.command}" + (" (dry run: nothing was written)" if report.dry_run else "")
    parts.append(f"{heading}\nstore {report.store}\n")
    parts += ["\n".join(part) + "\n" for part in _sections(report) if part]
    return "\n".join(parts)


def _sections(report: Report) -> Iterator[list[str]]:
    yield list(_session_lines(report))
    yield list(_lesson_lines(report.solutions))
    for stage in report.stages:
        yield list(_stage_lines(stage))
    yield _draft_lines(report)
    if report.problems:
        yield ["Problems", *(f"  {problem}" for problem in report.problems)]
    yield list(_closing_lines(report))


def _session_lines(report: Report) -> Iterator[str]:
    if not report.sessions and not report.unchanged:
        if report.command == "run":
            yield "Sessions: none found. `hotwash run PATH` reads transcripts that lie elsewhere than agents keep them."
        return
    counts = report.counts()
    yield (
        f"Sessions: {counts['read']} read, {counts['skipped']} skipped, {counts['failed']} failed"
        + (f" ({report.unchanged} unchanged since they were read)" if report.unchanged else "")
    )
    for line in report.sessions:
        yield f"  {_session_line(line)}"
    unread = report.unread()
    if unread:
        yield "  Not understood: " + ", ".join(
            f"{plural(count, 'line')} {kind}" for kind, count in sorted(unread.items())
        )
    problems = [problem for line in report.sessions for problem in line.problems]
    yield from (f"    {problem}" for problem in problems[:MOST_LINES])
    if len(problems) > MOST_LINES:
        yield f"    ... and {len(problems) - MOST_LINES} more (--format json lists them)"


def _session_line(line: SessionLine) -> str:
    if line.status != "read":
        return f"{line.key}: {line.status}, {line.reason}"
    parts = [
        plural(line.turns, "turn"),
        plural(len(line.lessons), "lesson") if line.lessons else "nothing worth keeping",
    ]
    if line.redacted:
        kinds = ", ".join(f"{kind} ×{count}" if count > 1 else kind for kind, count in sorted(line.redacted.items()))
        parts.append(f"redacted {kinds}")
    if line.unread:
        parts.append(f"{plural(sum(line.unread.values()), 'line')} not understood")
    if line.dropped:
        parts.append("dropped " + ", ".join(f"{count} {why}" for why, count in sorted(line.dropped.items())))
    return f"{line.key}: " + ", ".join(parts)


def _lesson_lines(solutions: Iterable[tuple[Solution, Verdict | None]]) -> Iterator[str]:
    solutions = list(solutions)
    if not solutions:
        return
    counts = Counter(solution.category for solution, _ in solutions)
    yield f"Lessons: {len(solutions)} ({by_category(counts)})"
    for solution, verdict in solutions:
        yield f"  {solution.title}"
        state = (
            "" if verdict is None or verdict.answer == "clean" else f", {verdict.answer}: {', '.join(verdict.rules)}"
        )
        yield f"    {solution.id}  {solution.category}/{solution.type} {solution.confidence:g}, {solution.trust}{state}"
        for source in solution.sources:
            lines = f" lines {source.lines[0]}-{source.lines[1]}" if source.lines else ""
            yield f"    from {source.session}{lines}" + (f" ({source.origin})" if source.origin else "")


def _stage_lines(stage: StageLine) -> Iterator[str]:
    lines: list[str] = []
    if stage.stage in SHOWN:
        shown = list(_change_lines(stage.changes))
        lines += [f"  {line}" for line in shown[:MOST_LINES]]
        if len(shown) > MOST_LINES:
            lines.append(f"  ... and {len(shown) - MOST_LINES} more (--format json lists them)")
    lines += [f"  refused {path}: {reason}" for path, reason in stage.refused]
    if stage.stage == "import":
        lines += [f"  skipped {line}" for line in _skipped_lines(stage.skipped)]
    lines += [f"  {f'{note.kind} {note.path}'.rstrip()}: {note.text}" for note in stage.notes]
    if lines:
        yield f"{stage.stage.capitalize()}: " + ", ".join(
            f"{n} {what}" for what, n in stage.counts().items() if n or what == "written"
        )
        yield from lines


def _skipped_lines(skipped: Iterable[tuple[str, str]]) -> Iterator[str]:
    """One line a reason, with the first place that it holds for."""
    places: dict[str, list[str]] = {}
    for path, reason in skipped:
        places.setdefault(reason, []).append(path)
    for reason, paths in places.items():
        yield paths[0] + (f" and {len(paths) - 1} more" if len(paths) > 1 else "") + f": {reason}"


def _change_lines(changes: Iterable[Change]) -> Iterator[str]:
    """One line a change; a file that moves into the archive or into quarantine is one line, not two."""
    changes = list(changes)
    moved = {
        change.path.partition("/")[2]: change
        for change in changes
        if change.before is None and change.path.startswith((f"{ARCHIVE}/", f"{QUARANTINE}/"))
    }
    for change in changes:
        if change.path in moved and change.after is None:
            continue
        folder, _, path = change.path.partition("/")
        if moved.get(path) is change:
            yield f"> {path} goes to {folder}/: {change.why}"
        else:
            yield change.describe()


def _draft_lines(report: Report) -> list[str]:
    if not report.drafts:
        return []
    return ["Drafts that wait for a person", *(f"  {name}" for name in report.drafts)]


def _closing_lines(report: Report) -> Iterator[str]:
    counts = report.counts()
    live = by_category(report.live)
    verb = "would be written" if report.dry_run else "written"
    yield f"{plural(counts['written'], 'file')} {verb}, {counts['refused']} refused." + (
        f" Live: {live}." if live else ""
    )
    if report.spent:
        calls = plural(int(report.spent["calls"]), "call")
        tokens, usd = report.spent["tokens"], report.spent["usd"]
        yield f"Model {report.model}: {calls}, {tokens:,.0f} tokens, {usd:.4f} US dollars."
    elif report.model and report.dry_run:
        yield f"Model {report.model}: not asked in a dry run; its lessons are shown in plain words."
    if counts["written"] and not report.dry_run:
        yield f"Undo all of it: hotwash undo {report.run}"
