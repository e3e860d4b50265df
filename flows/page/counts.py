"""What the report page counts: lessons by week, trust and age; use, repeats, empty questions, moves, spending."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from curate.effects import read_effects, tally
from flows.context import World
from flows.stages import NO_SESSION
from index.errors import HotwashError
from index.files import read_bytes
from index.journal import journal_path, read_journal
from index.records import CATEGORIES, TRUSTS, Solution
from index.store import ARCHIVE, QUARANTINE, Store
from reflect.budget import read_spend

WEEKS = 26
SPEND_DAYS = 30
MOST_QUESTIONS = 10
GIVEN = ".cache/given"
_ID = re.compile(r"[0-9A-Z]{26}\Z")


@dataclass(frozen=True, slots=True)
class Moved:
    """A file that a run took out of the live store: when, by which stage, and why."""

    day: str
    stage: str
    path: str
    why: str


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


def count_given(root: Path) -> Counter[str]:
    """In how many sessions of the last week a trigger or a prompt gave each lesson, by id; kept by the hooks."""
    counts: Counter[str] = Counter()
    for path in sorted((root / GIVEN).glob("*")):
        text = (read_bytes(path) or b"").decode("utf-8", "replace") if path.is_file() else ""
        names = {line.partition(" ")[0] for line in text.split("\n") if " pack " not in line}
        counts.update(name for name in names if _ID.match(name))
    return counts


def count_repeats(root: Path, solutions: Sequence[Solution]) -> dict[str, tuple[int, int, int, int]]:
    """What came of each lesson that a session met, in sessions: those that met its error without it, were given it, met
    its error no more after that, and met it again. A session the lesson rests on met the error without it."""
    tallies = tally(read_effects(root))
    counts = {}
    for one in solutions:
        if found := tallies.get(one.id):
            taught = sum(not key.startswith(NO_SESSION) for key in one.sessions)
            counts[one.id] = (taught + found.without, found.given, found.helped, found.again)
    return counts


def count_empty(entries: Iterable[Mapping[str, object]]) -> Iterator[tuple[str, str, int, str]]:
    """(kind, what was asked, how often, last day) of the questions that found nothing, most asked first."""
    counts: Counter[tuple[str, str]] = Counter()
    last: dict[tuple[str, str], float] = {}
    for entry in entries:
        key = (str(entry.get("kind", "")), str(entry.get("asked", ""))[:200])
        time = entry.get("time")
        counts[key] += 1
        last[key] = max(last.get(key, 0.0), float(time) if isinstance(time, int | float) else 0.0)
    for key, count in sorted(counts.items(), key=lambda item: (-item[1], -last[item[0]], item[0]))[:MOST_QUESTIONS]:
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


def read_spending(root: Path, today: date) -> Iterator[tuple[str, float, int]]:
    """(day, US dollars, tokens) of the last 30 days; a day whose ledger cannot be read is left out."""
    for back in range(SPEND_DAYS - 1, -1, -1):
        day = today - timedelta(days=back)
        try:
            spend = read_spend(root, day)
        except HotwashError:
            continue
        yield day.isoformat(), spend.usd, spend.tokens
