"""When each lesson last had evidence, from dates that a copy, a clone or a wrong clock cannot make fresh.

In this order, the first that is known counts (design contract, invariant 10):

1. the newest of `verified` in the front matter and the last confirmed recall;
2. for a file that git tracks unchanged, the time of the newest commit that touched it on any branch, so that neither a
   clone nor the checkout of an old branch moves it; where the text that was committed is one that we wrote ourselves
   (a count, a merge), the time that the file had before that, if it is earlier: our own writes refresh nothing;
3. the file's mtime, or the earlier one that these same bytes were seen with before: a copy or a restored backup
   changes times, not texts;
4. `created`, then the time in the id.

A date later than tomorrow is unknown. Where many files were touched in one moment (a copy, a shallow clone, one big
first commit), that moment says nothing of each: the lesson counts as old as it was made, but is not archived before
the moment itself is old enough (`Evidence.latest`).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path

from curate.git import run_git
from curate.verdicts import text_hash
from index.changes import digest
from index.decode import load_json
from index.files import write_derived
from index.journal import read_journal
from index.records import Solution
from index.store import CACHE, CROCKFORD, JOURNAL, SOLUTIONS

BURST_SECONDS = 60  # files touched within one such span were touched together
BURST_LEAST = 3  # fewer may be a person's evening of edits
BURST_SHARE = 0.2  # and no less than this share of the store
SEEN_FILE = "evidence-seen.json"
OWN_STAGES = frozenset({"effects", "dedup", "newer"})  # that change a live lesson without evidence for it

_EPOCH = date(1970, 1, 1).toordinal()
Day = date  # inside Evidence, `date` is a field


@dataclass(frozen=True, slots=True)
class Evidence:
    """The day of a lesson's newest evidence and where it comes from; None where nothing is known.

    `latest` is the last day on which there may have been evidence, where that is later than `date`.
    """

    date: Day | None
    how: str
    latest: Day | None = None


def find_evidence(
    solutions: Iterable[Solution],
    mtimes: Mapping[str, int],
    today: date,
    recalled: Mapping[str, date] | None = None,
    committed: Mapping[str, int] | None = None,
    seen: Mapping[str, int] | None = None,
    own: Mapping[str, OwnWrite] | None = None,
) -> dict[str, Evidence]:
    """Each lesson's evidence by path.

    `mtimes` are in nanoseconds by path, `recalled` the last confirmed recall by id, `committed` the commit times in
    seconds by path from `read_git_times`, `seen` the earliest known mtimes by text from `read_seen`, `own` our own
    writes by path from `read_own_writes`.
    """
    live = list(solutions)
    times: dict[str, tuple[int, str]] = {}
    for solution in live:
        if committed and solution.path in committed:
            times[solution.path] = _committed(solution, committed[solution.path], (own or {}).get(solution.path))
        elif solution.path in mtimes:
            mtime = mtimes[solution.path]
            first = _first_seen(seen, solution.text) if seen else None
            times[solution.path] = (mtime if first is None else min(first, mtime)) // 1_000_000_000, "modified"
    together = _touched_together([time for time, _ in times.values()])
    recalled, last = recalled or {}, today + timedelta(days=1)
    return {
        solution.path: _evidence(solution, recalled.get(solution.id), times.get(solution.path), together, last)
        for solution in live
    }


@dataclass(frozen=True, slots=True)
class OwnWrite:
    """A lesson's file as one of our stages left it: the SHA-256 of its bytes, and the mtime in nanoseconds before."""

    sha256: str
    mtime_ns: int


def read_own_writes(root: Path) -> dict[str, OwnWrite]:
    """The last change that a stage of ours made to each lesson in place, by path, from the journals."""
    found: dict[str, OwnWrite] = {}
    for journal in sorted((root / JOURNAL).glob("*.jsonl")):
        for stage in read_journal(journal)[1]:
            for line in stage.changes if stage.name in OWN_STAGES and stage.done else ():
                path, before, after, time = (line[key] for key in ("path", "before", "after", "mtime"))
                if before and after and time is not None and path.startswith(f"{SOLUTIONS}/"):
                    known = found.get(path)
                    # A row of our own writes counts from before the first.
                    found[path] = OwnWrite(
                        after, min(time, known.mtime_ns) if known and known.sha256 == before else time
                    )
    return found


def _committed(solution: Solution, time: int, own: OwnWrite | None) -> tuple[int, str]:
    """The time of a committed file, and how it is known."""
    if own is None or own.mtime_ns // 1_000_000_000 >= time or digest(solution.text.encode()) != own.sha256:
        return time, "committed"
    made = int(solution.created.timestamp())  # a clock that was wrong makes no lesson older than itself
    return min(max(own.mtime_ns // 1_000_000_000, made), time), "modified"


def read_git_times(root: Path) -> dict[str, int]:
    """Commit times in seconds, by path below `root`, of the files that git tracks and that are as committed.

    Three git calls for the whole store; {} where there is no repository, no git, or git fails.
    """
    tracked = _git(root, "ls-files", "-z", "--", ".")
    if not tracked:
        return {}
    changed = _git(root, "diff", "--no-ext-diff", "--name-only", "-z", "--relative", "HEAD", "--", ".")
    if changed is None:
        return {}
    unchanged = set(tracked.split("\0")) - set(changed.split("\0")) - {""}
    log = _git(root, "log", "--all", "-z", "--format=%x01%ct", "--name-only", "--relative", "--no-renames", "--", ".")
    times: dict[str, int] = {}
    now = 0
    for part in (log or "").split("\0"):
        name = part.lstrip("\n")
        if name.startswith("\x01"):
            stamp, _, name = name[1:].partition("\n")
            now = int(stamp) if stamp.strip().isdigit() else 0
        if name in unchanged:
            times[name] = max(times.get(name, 0), now)
    return times


def read_seen(root: Path) -> dict[str, int]:
    """The earliest mtime that each text was seen with, by `text_key`; {} where nothing was kept or it is damaged."""
    try:
        kept = load_json((root / CACHE / SEEN_FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(kept, dict):
        return {}
    return {key: value for key, value in kept.items() if isinstance(value, int)}


def update_seen(seen: Mapping[str, int], solutions: Iterable[Solution], mtimes: Mapping[str, int]) -> dict[str, int]:
    """What `read_seen` should give next time: the texts of today, each with the earliest time known."""
    kept: dict[str, int] = {}
    for solution in solutions:
        if solution.path in mtimes:
            key, mtime = text_key(solution.text), mtimes[solution.path]
            first = _first_seen(seen, solution.text) if seen else None
            kept[key] = min(mtime, mtime if first is None else first, kept.get(key, mtime))
    return kept


def _first_seen(seen: Mapping[str, int], text: str) -> int | None:
    """The earliest mtime that a text was seen with, under whichever name it was kept."""
    first = seen.get(text_key(text))
    return seen.get(_former_key(text)) if first is None else first


def write_seen(root: Path, seen: Mapping[str, int]) -> None:
    """Keep the earliest mtimes; written only where they differ."""
    text = "{\n" + ",\n".join(f'"{key}": {seen[key]}' for key in sorted(seen)) + "\n}\n"
    write_derived(root / CACHE / SEEN_FILE, text.encode())


def text_key(text: str) -> str:
    """A short name of a whole file's text: the beginning of the hash that a pass has of it anyway."""
    return text_hash(text)[:32]


def _former_key(text: str) -> str:
    """The name that earlier versions kept."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def id_time(identifier: str) -> date | None:
    """The day in a ULID's first ten characters; None where there is none."""
    number = 0
    for character in identifier[:10].upper():
        place = CROCKFORD.find(character)
        if place < 0:
            return None
        number = number << 5 | place
    return _day(number // 1000)


def _evidence(
    solution: Solution, recalled: date | None, time: tuple[int, str] | None, together: frozenset[int], last: date
) -> Evidence:
    if recalled or solution.verified:
        given = ((solution.verified, "verified"), (recalled, "recalled"))
        dated = [(day, how) for day, how in given if day and day <= last]
        if dated:
            return Evidence(*max(dated, key=lambda pair: pair[0]))
    touched = _day(time[0]) if time else None
    if time is None or touched is None or touched > last:
        return _made(solution, last)
    if time[0] // BURST_SECONDS in together:
        made = _made(solution, last)
        if made.date is not None and made.date < touched:
            return Evidence(made.date, made.how, touched)
    return _plain(touched, time[1])


@lru_cache(maxsize=1 << 12)
def _plain(day: date, how: str) -> Evidence:
    """Evidence of one day; many lessons have the same."""
    return Evidence(day, how)


def _made(solution: Solution, last: date) -> Evidence:
    """When the lesson was made, by its own word, else by its id."""
    created = solution.created.date()
    if date(1970, 1, 1) < created <= last:
        return _plain(created, "created")
    day = id_time(solution.id)
    return Evidence(day, "id") if day and date(1970, 1, 1) < day <= last else Evidence(None, "unknown")


def _touched_together(times: list[int]) -> frozenset[int]:
    """The spans in which so many files were touched that each one's time says nothing."""
    spans = Counter(time // BURST_SECONDS for time in times)
    least = max(BURST_LEAST, BURST_SHARE * len(times))
    # A copy that runs over the edge of a span is one copy.
    full = {span for span in spans if spans[span] + max(spans[span - 1], spans[span + 1]) >= least}
    return frozenset(full)


def _day(seconds: int) -> date | None:
    try:
        return date.fromordinal(_EPOCH + seconds // 86_400)
    except (OverflowError, ValueError):
        return None


def _git(root: Path, *arguments: str) -> str | None:
    """What a git command prints; None where it cannot run."""
    done = run_git(root, *arguments)
    return done.stdout.decode("utf-8", "surrogateescape") if done is not None and done.returncode == 0 else None
