"""The report in short as markdown, for an artifact of a run: the figures of the page, without its charts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from curate.audit_findings import ADVICE
from flows.page.facts import PageFacts
from index.plural import plural

MOST_ROWS = 10
_MARKS = re.compile(r"([\\`*_{}\[\]<>()#+!|~-])")


def render_page_markdown(facts: PageFacts, page: Path) -> str:
    """The facts as headings and tables; `page` is where the whole report lies. No text of a lesson can be markup."""
    read = sum(one.read for one in facts.coverage)
    found = sum(one.read + one.skipped + one.failed + one.new for one in facts.coverage)
    lines = [
        f"{plural(facts.lessons, 'live lesson')}, {facts.archived:,} archived; {read:,} of {plural(found, 'session')} "
        f"read; {facts.given:,} given back this week; {plural(len(facts.drafts), 'draft waits', 'drafts wait')} for a "
        "person.",
        "",
        f"The whole report, with charts: {_text(str(page))}",
        "",
        *_table("Sessions", ("agent", "read", "skipped", "failed", "not read yet"), _coverage(facts)),
        *_table("Most useful", ("lesson", "given", "helpful", "harmful"), _useful(facts)),
        *_table(
            "Repeats before and after",
            ("lesson", "without it", "given", "came no more", "came again"),
            ((row.title, *map(str, (row.before, row.gave, row.cured, row.after))) for row in facts.repeats),
        ),
        *_table("Suspect", ("lesson", "verdict"), ((title, why) for _, title, why in facts.suspect)),
        *_table("Poison found", ("day", "file", "why"), ((m.day, Path(m.path).name, m.why) for m in facts.poison)),
        *_table("Merged away", ("day", "file", "why"), ((m.day, Path(m.path).name, m.why) for m in facts.merged)),
        *_table("Archived", ("day", "file", "why"), ((m.day, Path(m.path).name, m.why) for m in facts.decayed)),
        *_table("Asked and not found", ("asked by", "what", "times", "last"), _empty(facts)),
        *_table("Files that do not parse", ("file",), ((problem,) for problem in facts.problems)),
        *_table("Audit", ("of", "what", "what to do"), _audit(facts)),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"


def _table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A heading and a table, cut to its first rows; nothing where there are none."""
    all_rows = list(rows)
    if not all_rows:
        return
    yield f"### {title}"
    yield ""
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"
    yield from (f"| {' | '.join(_text(cell) for cell in row)} |" for row in all_rows[:MOST_ROWS])
    yield ""
    if len(all_rows) > MOST_ROWS:
        yield f"and {len(all_rows) - MOST_ROWS:,} more"
        yield ""


def _text(text: str) -> str:
    """A text that shows as it is in a cell: no markup, one line, what does not show made visible."""
    shown = "".join(char if char.isprintable() else f"[U+{ord(char):04X}]" for char in " ".join(text.split()))
    return _MARKS.sub(r"\\\1", shown)


def _coverage(facts: PageFacts) -> Iterator[tuple[str, ...]]:
    for one in facts.coverage:
        yield one.agent, f"{one.read:,}", f"{one.skipped:,}", f"{one.failed:,}", f"{one.new:,}"


def _useful(facts: PageFacts) -> Iterator[tuple[str, ...]]:
    for row in facts.useful:
        yield row.title, f"{row.given:,}", f"{row.helpful:,}", f"{row.harmful:,}"


def _empty(facts: PageFacts) -> Iterator[tuple[str, ...]]:
    for kind, asked, count, day in facts.empty:
        yield kind, asked, f"{count:,}", day


def _audit(facts: PageFacts) -> Iterator[tuple[str, ...]]:
    for finding in facts.audit.findings if facts.audit is not None else ():
        yield finding.name or finding.path, finding.text, ADVICE[finding.kind]
