"""What a read session adds to the store: new solutions, the episode they cite, and how far it was read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from index.changes import Change, Plan
from index.files import read_bytes
from index.frontmatter import render_solution
from index.records import Episode, Session, Solution
from index.store import path_for
from reflect.custody import episode_path, render_episode
from reflect.ledger import Progress, change_progress


def plan_session(
    root: Path,
    session: Session,
    episodes: Sequence[Episode],
    lessons: Sequence[Solution],
    progress: Progress,
    known: Collection[str],
) -> Plan:
    """New files only: each lesson whose id the store does not know, the episode behind them, and the progress.

    All of it lands together, so that a session is either wholly read or not at all.
    """
    unit = f"session {session.key}"
    changes: list[Change] = []
    skipped: list[tuple[str, str]] = []
    for lesson in lessons:
        path = path_for(lesson)
        if lesson.id in known:
            skipped.append((path, f"{lesson.id} is known already"))
            continue
        why = f"learned from {session.key}"
        changes.append(Change(path, None, render_solution(lesson).encode("utf-8", "replace"), why, unit))
    if changes:
        place = episode_path(session)
        before = read_bytes(root / place)
        after = render_episode(session, episodes, before)
        if before != after:
            changes.append(Change(place, before, after, f"the record behind {len(changes)} lessons", unit))
    read = change_progress(root, progress)
    if read:
        changes.append(read)
    return Plan("ingest", tuple(changes), tuple(skipped))
