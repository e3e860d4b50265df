"""What the report page shows, as plain records: from the store, the journal, the logs and the agents' folders."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from curate.audit import Audit
from curate.drafts import read_drafts
from curate.verdicts import Verdicts
from flows.context import World
from index.changes import journal_path, read_bytes, read_journal, read_runs
from index.errors import HotwashError
from index.recall import read_empty
from index.records import CATEGORIES, TRUSTS, Solution
from index.store import ARCHIVE, EPISODES, QUARANTINE, Store, read_store
from reflect.budget import read_spend
from reflect.custody import read_episode
from reflect.ledger import Progress, read_ledger
from reflect.transcripts.registry import find_sessions

WEEKS = 26
SPEND_DAYS = 30
MOST_ROWS = 10
GIVEN = ".cache/given"
_ID = re.compile(r"[0-9A-Z]{26}\Z")


@dataclass(frozen=True, slots=True)
class LessonRow:
    """A lesson as a table shows it. `given` counts the sessions of the last week that were given it by a trigger or a
    prompt; `before` and `after` the sessions that met its error until it was learned, and since."""

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


@dataclass(frozen=True, slots=True)
class Coverage:
    """The sessions of one agent on this machine, and what became of them."""

    agent: str
    read: int = 0
    skipped: int = 0
    failed: int = 0
    new: int = 0


@dataclass(frozen=True, slots=True)
class Moved:
    """A file that a run took out of the live store: when, by which stage, and why."""

    day: str
    stage: str
    path: str
    why: str


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
    repeats = count_repeats(root, store.solutions, ledger)
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


def by_week(solutions: Iterable[Solution], today: date) -> Iterator[tuple[str, tuple[int, ...]]]:
    """(Monday, lessons of each category learned in that week), from the first lesson's week on, 26 weeks at most."""
    counts: Counter[tuple[date, str]] = Counter()
    for solution in solutions:
        day = solution.created.date()
        counts[day - timedelta(days=day.weekday()), solution.category] += 1
    this = today - timedelta(days=today.weekday())
    first = min((week for week, _ in counts), default=this)
    week = max(first, this - timedelta(weeks=WEEKS - 1))
    while week <= this:
        yield week.isoformat(), tuple(counts[week, category] for category in CATEGORIES)
        week += timedelta(weeks=1)


def by_trust(solutions: Sequence[Solution]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """(category, lessons of each trust)."""
    for category in CATEGORIES:
        own = Counter(solution.trust for solution in solutions if solution.category == category)
        yield category, tuple(own[trust] for trust in TRUSTS)


def by_age(world: World, store: Store) -> Iterator[tuple[str, int]]:
    """Lessons by days since their newest date (verified, else made): fresh, stale, due for the archive."""
    settings, today = world.settings.decay, world.now.date()
    ages = [(today - max(s.verified or date.min, s.created.date())).days for s in store.solutions]
    stale, due = settings.stale_days, settings.archive_days
    yield f"under {stale} days", sum(age < stale for age in ages)
    yield f"{stale} to {due} days: stale", sum(stale <= age < due for age in ages)
    yield f"over {due} days", sum(age >= due for age in ages)


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


def count_given(root: Path) -> Counter[str]:
    """In how many sessions of the last week each lesson was given, by id; kept by the hooks."""
    counts: Counter[str] = Counter()
    for path in sorted((root / GIVEN).glob("*")):
        text = (read_bytes(path) or b"").decode("utf-8", "replace") if path.is_file() else ""
        names = {line.partition(" ")[0] for line in text.split("\n")}
        counts.update(name for name in names if _ID.match(name))
    return counts


def count_repeats(
    root: Path, solutions: Sequence[Solution], ledger: Mapping[str, Progress]
) -> dict[str, tuple[int, int]]:
    """(sessions that met its error until it was learned, sessions since) of each lesson with an error trigger.

    The trigger is looked for as it stands in the failed turns of the kept episodes; a session the lesson rests on
    counts as before.
    """
    wanted = [(one, [e.strip().lower() for e in one.triggers.errors if len(e.strip()) >= 8]) for one in solutions]
    wanted = [(one, errors) for one, errors in wanted if errors]
    counts: dict[str, list[int]] = {one.id: [0, 0] for one, _ in wanted}
    for path in sorted((root / EPISODES).rglob("*.jsonl.gz")) if wanted else ():
        head, turns = read_episode(read_bytes(path) or b"")
        failed = "\n".join(str(turn.get("text", "")) for turn in turns if turn.get("outcome") == "failed").lower()
        session, started = str(head.get("session", "")), str(head.get("started", ""))
        for one, errors in wanted if failed else ():
            if any(error in failed for error in errors):
                later = session not in one.sessions and started[:19] > one.created.isoformat()[:19]
                counts[one.id][later] += 1
    return {key: (before, after) for key, (before, after) in counts.items()}


def _repeat_rows(rows: Mapping[str, LessonRow], repeats: Mapping[str, tuple[int, int]]) -> Iterator[LessonRow]:

    met = sorted(((key, pair) for key, pair in repeats.items() if any(pair)), key=lambda item: (-sum(item[1]), item[0]))
    for key, (before, after) in met[:MOST_ROWS]:
        yield replace(rows[key], before=before, after=after)


def count_empty(entries: Iterable[Mapping[str, object]]) -> Iterator[tuple[str, str, int, str]]:
    """(kind, what was asked, how often, last day) of the questions that found nothing, most asked first."""
    counts: Counter[tuple[str, str]] = Counter()
    last: dict[tuple[str, str], float] = {}
    for entry in entries:
        key = (str(entry.get("kind", "")), str(entry.get("asked", ""))[:200])
        time = entry.get("time")
        counts[key] += 1
        last[key] = max(last.get(key, 0.0), float(time) if isinstance(time, int | float) else 0.0)
    for key, count in sorted(counts.items(), key=lambda item: (-item[1], -last[item[0]], item[0]))[:MOST_ROWS]:
        day = datetime.fromtimestamp(min(last[key], 4e9), UTC).date().isoformat() if last[key] > 0 else ""
        yield *key, count, day


def find_moves(root: Path, runs: Sequence[Mapping[str, Any]]) -> Iterator[Moved]:
    """Every file that a run, not undone since, moved into the archive or into quarantine; newest first."""
    for run in reversed(runs):
        if run.get("undone_by") or not run.get("run"):
            continue
        _, stages, _ = read_journal(journal_path(root, str(run["run"])))
        for stage in stages:
            for line in stage.changes if stage.done else ():
                if line["before"] is None and str(line["path"]).startswith((f"{ARCHIVE}/", f"{QUARANTINE}/")):
                    yield Moved(str(run.get("at", ""))[:10], stage.name, str(line["path"]), str(line["why"]))


def _suspects(store: Store, verdicts: Verdicts) -> Iterator[tuple[str, str, str]]:
    for solution in store.solutions:
        verdict = verdicts.of(solution)
        if verdict is not None and verdict.answer != "clean":
            yield solution.id, solution.title, f"{verdict.answer}: {', '.join(verdict.rules) or 'by its whole'}"


def read_spending(root: Path, today: date) -> Iterator[tuple[str, float, int]]:
    """(day, US dollars, tokens) of the last 30 days; a day whose ledger cannot be read is left out."""
    for back in range(SPEND_DAYS - 1, -1, -1):
        day = today - timedelta(days=back)
        try:
            spend = read_spend(root, day)
        except HotwashError:
            continue
        yield day.isoformat(), spend.usd, spend.tokens


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
