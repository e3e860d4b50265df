"""What the report page shows, as plain records: from the store, the journal, the logs and the agents' folders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from curate.audit import Audit
from curate.drafts import read_drafts
from curate.verdicts import Verdicts
from flows.context import World
from flows.page.counts import (
    Moved,
    by_age,
    by_trust,
    by_week,
    count_empty,
    count_given,
    count_repeats,
    find_moves,
    read_spending,
)
from index.journal import read_runs
from index.recall import read_empty
from index.records import Solution
from index.store import ARCHIVE, CACHE, QUARANTINE, Store, read_store
from reflect.ledger import Progress, read_ledger
from reflect.transcripts.registry import find_sessions

REPORT_FILE = f"{CACHE}/report.html"
MOST_ROWS = 10


@dataclass(frozen=True, slots=True)
class LessonRow:
    """A lesson as a table shows it. `given` counts the sessions of the last week that were given it by a trigger or a
    prompt; of all sessions that were read, `before` met its error without it, `gave` were given it, and of these
    `cured` met its error no more and `after` met it again."""

    id: str
    title: str
    category: str
    trust: str
    created: str
    helpful: int
    harmful: int
    given: int = 0
    before: int = 0
    after: int = 0
    gave: int = 0
    cured: int = 0


@dataclass(frozen=True, slots=True)
class Coverage:
    """The sessions of one agent on this machine, and what became of them."""

    agent: str
    read: int = 0
    skipped: int = 0
    failed: int = 0
    new: int = 0


@dataclass(frozen=True, slots=True)
class PageFacts:
    """Everything on the page. `weeks` are (first day, lessons of each category that were learned in it); `given` counts
    lessons given to sessions in the last week, `unscanned` lessons without a verdict of the current rules."""

    store: str
    made: datetime
    lessons: int
    archived: int
    weeks: tuple[tuple[str, tuple[int, ...]], ...] = ()
    grid: tuple[tuple[str, tuple[int, ...]], ...] = ()
    coverage: tuple[Coverage, ...] = ()
    reasons: tuple[tuple[str, int], ...] = ()
    useful: tuple[LessonRow, ...] = ()
    unused: tuple[LessonRow, ...] = ()
    unused_total: int = 0
    repeats: tuple[LessonRow, ...] = ()
    empty: tuple[tuple[str, str, int, str], ...] = ()
    merged: tuple[Moved, ...] = ()
    decayed: tuple[Moved, ...] = ()
    ages: tuple[tuple[str, int], ...] = ()
    poison: tuple[Moved, ...] = ()
    suspect: tuple[tuple[str, str, str], ...] = ()
    spend: tuple[tuple[str, float, int], ...] = ()
    cap: float = 0.0
    drafts: tuple[dict[str, Any], ...] = ()
    runs: tuple[dict[str, Any], ...] = ()
    problems: tuple[str, ...] = ()
    audit: Audit | None = None
    unscanned: int = 0
    given: int = 0


def read_page(world: World, verdicts: Verdicts, audit: Audit | None) -> PageFacts:
    """Gather the facts; writes nothing."""
    root, today = world.root, world.now.date()
    store, archive = read_store(root), read_store(root, ARCHIVE)
    runs = read_runs(root)
    moved = tuple(find_moves(root, runs))
    given = count_given(root)
    rows = {one.id: lesson_row(one, given) for one in store.solutions}
    ledger = read_ledger(root)
    repeats = count_repeats(root, store.solutions)
    unused = [row for row in rows.values() if not (row.given or row.helpful or row.harmful)]
    useful = [row for row in rows.values() if row.given or row.helpful > row.harmful]
    return PageFacts(
        store=str(root),
        made=world.now,
        lessons=len(store.solutions),
        archived=len(archive.solutions),
        weeks=tuple(by_week([*store.solutions, *archive.solutions], today)),
        grid=tuple(by_trust(store.solutions)),
        coverage=tuple(read_coverage(world, ledger)),
        reasons=tuple(_reasons(ledger.values())),
        useful=tuple(sorted(useful, key=lambda row: (-row.helpful + row.harmful, -row.given, row.id))[:MOST_ROWS]),
        unused=tuple(sorted(unused, key=lambda row: row.created)[:MOST_ROWS]),
        unused_total=len(unused),
        repeats=tuple(_repeat_rows(rows, repeats)),
        empty=tuple(count_empty(read_empty(root))),
        merged=tuple(one for one in moved if one.stage in {"dedup", "consolidate"}),
        decayed=tuple(one for one in moved if one.stage == "decay"),
        ages=tuple(by_age(world, store)),
        poison=tuple(one for one in moved if one.path.startswith(f"{QUARANTINE}/")),
        suspect=tuple(_suspects(store, verdicts)),
        spend=tuple(read_spending(root, today)),
        cap=world.settings.model.daily_cap_usd if world.settings.model.name else 0.0,
        drafts=tuple(_drafts(root)),
        runs=tuple(reversed(runs[-MOST_ROWS:])),
        problems=tuple(str(problem) for problem in store.problems),
        audit=audit,
        unscanned=sum(verdicts.of(solution) is None for solution in store.solutions),
        given=given.total(),
    )


def lesson_row(solution: Solution, given: Mapping[str, int]) -> LessonRow:
    """A lesson's row, without the repeats of its error."""
    return LessonRow(
        solution.id,
        solution.title,
        solution.category,
        solution.trust,
        solution.created.date().isoformat(),
        solution.helpful,
        solution.harmful,
        given.get(solution.id, 0),
    )


def read_coverage(world: World, ledger: Mapping[str, Progress]) -> Iterator[Coverage]:
    """Each agent's sessions: those in the store by what became of them, and the files not read yet."""
    seen = {progress.path for progress in ledger.values()}
    counts: Counter[tuple[str, str]] = Counter()
    for progress in ledger.values():
        counts[progress.key.partition(":")[0], progress.status] += 1
    for agent, path in find_sessions(world.home, world.env):
        counts[agent, "new"] += str(path) not in seen
    for agent in sorted({agent for (agent, _), count in counts.items() if count}):
        yield Coverage(agent, *(counts[agent, status] for status in ("read", "skipped", "failed", "new")))


def _reasons(ledger: Iterable[Progress]) -> Iterator[tuple[str, int]]:
    counts = Counter(f"{progress.status}: {progress.reason}" for progress in ledger if progress.status != "read")
    yield from sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _repeat_rows(
    rows: Mapping[str, LessonRow], repeats: Mapping[str, tuple[int, int, int, int]]
) -> Iterator[LessonRow]:
    met = sorted(repeats.items(), key=lambda item: (-item[1][1], -sum(item[1]), item[0]))
    for key, (before, gave, cured, after) in met[:MOST_ROWS]:
        yield replace(rows[key], before=before, gave=gave, cured=cured, after=after)


def _suspects(store: Store, verdicts: Verdicts) -> Iterator[tuple[str, str, str]]:
    for solution in store.solutions:
        verdict = verdicts.of(solution)
        if verdict is not None and verdict.answer != "clean":
            yield solution.id, solution.title, f"{verdict.answer}: {', '.join(verdict.rules) or 'by its whole'}"


def _drafts(root: Path) -> Iterator[dict[str, Any]]:
    for draft in read_drafts(root)[0]:
        yield {
            "name": draft.name,
            "why": draft.why,
            "created": draft.created.isoformat(),
            "sessions": len(draft.sessions),
            "projects": list(draft.projects),
            "days": list(draft.days),
            "tainted": draft.tainted,
            "improves": draft.improves.path if draft.improves else "",
        }
