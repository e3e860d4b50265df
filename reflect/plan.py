"""What a read session adds to the store: new solutions, the episode they cite, and how far it was read.

A session that goes on after it was read is read again as a whole. What it then teaches is what it would have taught
in one reading: a lesson says more, or gives way to one that knows the end of the story.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from index.changes import Change, Plan
from index.files import read_bytes
from index.frontmatter import edit_frontmatter, parse_solution, render_solution
from index.plural import plural
from index.records import Episode, Problem, Session, Solution
from index.store import ARCHIVE, path_for, retired_path
from reflect.custody import episode_path, render_episode
from reflect.ledger import Progress, change_progress
from reflect.lessons import lesson_id

# How a lesson that a model worded is known; it stays as long as its episode is there.
BY_MODEL = "reflective"


@dataclass(frozen=True, slots=True)
class Known:
    """What the store knows: every id, archived ones too, and the live lessons by id."""

    ids: Collection[str]
    live: Mapping[str, Solution]


def digest(lesson: Solution) -> str:
    """The hash of all that a lesson says but its use: it changes with a person's edit, and not with a count."""
    said = replace(lesson, path="", text="", helpful=0, harmful=0, verified=None)
    return hashlib.sha256(repr(said).encode("utf-8", "replace")).hexdigest()[:32]


def plan_session(
    root: Path,
    session: Session,
    episodes: Sequence[Episode],
    lessons: Sequence[Solution],
    progress: Progress,
    known: Known,
    today: date,
    claims: bool = False,
) -> Plan:
    """Each lesson that the store does not know, what an earlier reading gave brought up to date, the episode behind
    them, and the progress, whose `given` is that of the earlier reading.

    All of it lands together, so that a session is either wholly read or not at all. `claims` says that the progress
    was lost: lessons that stand as they are then count as given. What a person changed, took out or reviewed is left.
    """
    unit = f"session {session.key}"
    standing = {name: known.live[name] for name, was in progress.given.items() if _is_ours(known.live.get(name), was)}
    told = {lesson_id(session, episode) for episode in episodes}
    changes: list[Change] = []
    skipped: list[tuple[str, str]] = []
    given = {name: was for name, was in progress.given.items() if name not in standing}
    for lesson in lessons:
        path, after = path_for(lesson), render_solution(lesson).encode("utf-8", "replace")
        ours, now = standing.pop(lesson.id, None), _read_back(lesson, path, after)
        if ours is not None:
            if ours.type == BY_MODEL != lesson.type:
                now = ours
            given[lesson.id] = digest(now)
            if digest(now) != progress.given[lesson.id]:
                changes += _amend(ours, now, f"{session.key} went on", unit)
        elif lesson.id in known.ids or lesson.id in progress.given:
            if claims and lesson.id in known.live and digest(known.live[lesson.id]) == digest(now):
                given[lesson.id] = digest(now)
            skipped.append((path, f"{lesson.id} is known already"))
        else:
            given[lesson.id] = digest(now)
            changes.append(Change(path, None, after, f"learned from {session.key}", unit))
    for name, ours in standing.items():
        if ours.type == BY_MODEL and name in told:
            given[name] = progress.given[name]
        else:
            changes += _retire(ours, lessons, today, unit)
    if changes:
        place = episode_path(session)
        before = read_bytes(root / place)
        record = render_episode(session, episodes, before)
        if before != record:
            changes.append(Change(place, before, record, f"the record behind {plural(len(given), 'lesson')}", unit))
    read = change_progress(root, replace(progress, given=dict(sorted(given.items()))))
    if read:
        changes.append(read)
    return Plan("ingest", tuple(changes), tuple(skipped))


def _is_ours(live: Solution | None, was: str) -> bool:
    return live is not None and digest(live) == was


def _read_back(lesson: Solution, path: str, written: bytes) -> Solution:
    """A lesson as the store will read it; as it is, where the store will not."""
    read = parse_solution(path, written.decode())
    return lesson if isinstance(read, Problem) else read


def _amend(ours: Solution, now: Solution, why: str, unit: str) -> list[Change]:
    """The lesson as it reads now, with what its use has shown so far, at the place that its title gives."""
    kept = replace(now, helpful=ours.helpful, harmful=ours.harmful)
    path, after = path_for(now), render_solution(kept).encode("utf-8", "replace")
    if path == ours.path:
        return [Change(path, ours.text.encode(), after, why, unit)]
    return [Change(path, None, after, why, unit), Change(ours.path, ours.text.encode(), None, why, unit)]


def _retire(ours: Solution, lessons: Sequence[Solution], today: date, unit: str) -> list[Change]:
    """Archive what the session, once it went on, teaches no more; it is not called back by its error."""
    place = ours.sources[0].lines or (0, 0)
    spans = [(lesson, lesson.sources[0].lines or (0, 0)) for lesson in lessons if lesson.id != ours.id]
    better = next((lesson.id for lesson, lines in spans if lines[0] <= place[1] and place[0] <= lines[1]), None)
    why = "the session went on and shows more" if better else "the session went on and does not bear it out"
    values = {"archived": {"date": today, "why": why}, **({"superseded_by": better} if better else {"priority": -1})}
    after = edit_frontmatter(ours.text, values).encode("utf-8", "replace")
    return [
        Change(retired_path(ARCHIVE, ours.path), None, after, why, unit),
        Change(ours.path, ours.text.encode(), None, why, unit),
    ]
