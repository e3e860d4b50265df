"""How long the records behind lessons are kept: an old episode that no lesson cites any more goes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

from index.changes import Change, Plan
from reflect.custody import read_episode


def plan_retention(episodes: Mapping[str, bytes], cited: Collection[str], now: datetime, keep_days: int) -> Plan:
    """Remove each episode file (path to bytes) that is older than `keep_days` and whose session is not in `cited`.

    A session's age counts from its start; one without a date stays.
    """
    changes: list[Change] = []
    skipped: list[tuple[str, str]] = []
    for path, content in sorted(episodes.items()):
        head, _ = read_episode(content)
        try:
            started = datetime.fromisoformat(head.get("started") or "")
        except ValueError:
            skipped.append((path, "its date is not known"))
            continue
        if now - started <= timedelta(days=keep_days):
            skipped.append((path, "young enough"))
        elif head["session"] in cited:
            skipped.append((path, "a lesson cites it"))
        else:
            changes.append(Change(path, content, None, f"older than {keep_days} days, and no lesson cites it"))
    return Plan("retention", tuple(changes), tuple(skipped))
