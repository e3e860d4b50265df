"""How long the records behind lessons are kept: an old episode that no lesson cites any more goes."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from index.changes import Change, Plan
from index.store import EPISODES
from reflect.custody import episode_name, name_tail, read_episode

_MONTH = re.compile(rf"{EPISODES}/([0-9]{{4}})/(0[1-9]|1[0-2])/([^/]*)")
# A month begins earlier in some places than in others.
_ZONES = timedelta(days=1)


def plan_retention(
    paths: Iterable[str], read: Callable[[str], bytes], cited: Collection[str], now: datetime, keep_days: int
) -> Plan:
    """Remove each episode file that is older than `keep_days` and whose session is not in `cited`.

    A session's age counts from its start; one without a date stays. A file is `read` only where its name does not tell
    that it stays: by the month that it lies in, and by the session it is named after.
    """
    oldest = now - timedelta(days=keep_days)
    changes: list[Change] = []
    skipped: list[tuple[str, str]] = []
    by_tail: dict[str, list[str]] | None = None
    for path in sorted(paths):
        found = _MONTH.fullmatch(path)
        month = datetime(int(found[1]), int(found[2]), 1, tzinfo=UTC) if found and found[1] != "0000" else None
        if month is not None and month - _ZONES >= oldest:
            skipped.append((path, "young enough"))
            continue
        by_tail = _by_tail(cited) if by_tail is None else by_tail
        # The whole month is past, whatever the zone.
        if found and month is not None and month + timedelta(days=31) + _ZONES < oldest:
            tail = found[3].partition(".")[0].rpartition("-")[2]
            if found[3] in [episode_name(session) for session in by_tail.get(tail, ())]:
                skipped.append((path, "a lesson cites it"))
                continue
        content = read(path)
        head, _ = read_episode(content)
        try:
            started = datetime.fromisoformat(head.get("started") or "")
        except ValueError:
            skipped.append((path, "its date is not known"))
            continue
        if started >= oldest:
            skipped.append((path, "young enough"))
        elif head["session"] in cited:
            skipped.append((path, "a lesson cites it"))
        else:
            changes.append(Change(path, content, None, f"older than {keep_days} days, and no lesson cites it"))
    return Plan("retention", tuple(changes), tuple(skipped))


def list_episodes(root: Path) -> list[str]:
    """The paths of all episode files of a store, relative to it."""
    base = str(root)
    return [
        f"{folder[len(base) + 1 :]}/{name}".replace(os.sep, "/")
        for folder, _, names in os.walk(root / EPISODES)
        for name in names
        if name.endswith(".jsonl.gz")
    ]


def _by_tail(sessions: Iterable[str]) -> dict[str, list[str]]:
    """Sessions by the part of their files' names that is made of their keys alone."""
    found: dict[str, list[str]] = defaultdict(list)
    for session in sessions:
        found[name_tail(session)].append(session)
    return found
