"""Transcripts in, lessons out: which files to read, how each session is concluded, and what is kept of a failure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from curate.effects import plan_effects, read_given
from curate.tombstones import Tombstones
from detectors.registry import detect_episodes
from flows.context import Pass, World
from flows.report import SessionLine
from index.changes import Change, Plan
from index.records import Episode, Problem, Session
from index.store import SPOOL
from reflect.extract import Extraction, reflect_with
from reflect.ledger import Progress, change_progress, drop_progress, read_places
from reflect.lessons import write_lessons
from reflect.plan import Known, plan_session
from reflect.redact import map_texts, redact_session
from reflect.spool import Event, drop_events, events_for
from reflect.transcripts.known import session_keys, without_known
from reflect.transcripts.protocol import Mark
from reflect.transcripts.registry import file_stamp, find_sessions, read_sessions

MOST_TRIES = 5
STILL_RUNNING = "still running"
EVENT_DAYS = 1
PACKED = "codex/zstd"  # it may be read once the library for it is there
FILE_KEY = "file:"


def choose_files(world: World, paths: Sequence[Path] | None, events: Sequence[Event], from_spool: bool) -> list[Path]:
    """The transcript files to look at, each once, in a fixed order."""
    if paths is not None:
        files = {file for path in paths for file in _files_below(path)}
        # A folder that holds the store too: what hotwash writes is no transcript.
        return sorted(file for file in files if file in paths or not file.is_relative_to(world.root))
    found = [path for _, path in find_sessions(world.home, world.env)]
    named = [Path(event.transcript) for event in events if event.transcript]
    if not from_spool:
        return list(dict.fromkeys([*found, *(path for path in named if path.is_file())]))
    # An agent that does not say where its transcript lies: the session's id is in the file's name, or in a database.
    unnamed = {event.session for event in events if not event.transcript and event.session}
    named += [path for path in found if any(session in path.name for session in unnamed) or path.suffix == ".db"]
    return list(dict.fromkeys(path for path in named if path.is_file()))


def _files_below(path: Path) -> Iterable[Path]:
    if path.is_dir():
        return (file for file in path.rglob("*") if file.is_file() and not file.is_symlink())
    return (path,)


def same_file(progress: Progress, size: int, mtime_ns: int) -> bool:
    """Whether a file is as it was when it was read, and nothing of it waits for another try."""
    waits = progress.reason == STILL_RUNNING or (progress.status == "failed" and progress.tries < MOST_TRIES)
    waits = waits or (progress.status == "skipped" and PACKED in progress.unread)
    return progress.size == size and progress.mtime_ns == mtime_ns and not waits


def ingest(run: Pass, files: Sequence[Path], events: Sequence[Event], asked: bool) -> None:
    """Read each file's new part and write what it taught, one session at a time; a file that fails stops no other."""
    root = run.world.root
    places = read_places(root)
    keys = {progress.key for progress in places}
    known = set(run.known())
    by_file: dict[str, list[Progress]] = {}
    for progress in places:
        by_file.setdefault(progress.path, []).append(progress)
    seen: set[str] = set()
    names = "\n".join(file.name for file in files)
    for position, file in enumerate(files, 1):
        run.world.say(f"reading {position} of {len(files)}: {file.name}")
        earlier = by_file.get(str(file), [])
        try:
            size, mtime_ns = file_stamp(file)
            if earlier and all(same_file(progress, size, mtime_ns) for progress in earlier):
                run.report.unchanged += len(earlier)
                _drop_used(run, events, earlier)
                continue
            blank = Progress("", str(file), size, mtime_ns)
            if not asked and _goes_on(run, file, blank, earlier, events):
                continue
            for session in read_sessions(file):
                before = next((progress for progress in earlier if progress.key == session.key), None)
                if before is not None and before.status == "read" and before.sha256 == session.sha256 != "":
                    # Another session of the same database went on, or the file was only touched.
                    seen |= session_keys(session)
                    _keep_place(run, events, replace(before, **_place_of(blank)))
                    continue
                # A fork or an older resume repeats the history of another file.
                own = without_known(_from_line(session, before.began if before else 0), seen)
                seen |= session_keys(session)
                # What an agent puts in by itself is the same in many sessions and copied from none.
                copied = sum(turn.who != "injected" for turn in own.turns) < sum(
                    turn.who != "injected" for turn in session.turns
                )
                began = (own.turns[0].line if own.turns else session.lines + 1) if copied else 0
                has_parent = session.parent in keys or session.parent.partition(":")[2] in names
                start = replace(before or Progress("", "", began=began), **_place_of(blank))
                claims = before is None and session.key not in keys
                known |= _ingest_session(run, own, start, events, known, asked, has_parent, claims)
                keys.add(session.key)
            _clear_failure(run, earlier)
        except Exception as error:
            _keep_failure(run, file, earlier, error)


def _place_of(blank: Progress) -> dict[str, Any]:
    return {"path": blank.path, "size": blank.size, "mtime_ns": blank.mtime_ns}


def _keep_place(run: Pass, events: Sequence[Event], progress: Progress) -> None:
    """Count a session whose text is as it was when it was read as unchanged."""
    run.report.unchanged += 1
    change = change_progress(run.world.root, progress)
    if change:
        run.land(Plan("ingest", (change,)))
    _drop_used(run, events, [progress])


def _from_line(session: Session, line: int) -> Session:
    return replace(session, turns=tuple(turn for turn in session.turns if turn.line >= line)) if line else session


def _goes_on(run: Pass, file: Path, blank: Progress, earlier: Sequence[Progress], events: Sequence[Event]) -> bool:
    """Whether a session that was running still is: only what was added is read to tell, and where it ends is kept.

    One that is over is read as a whole: its beginning may be told otherwise by its end.
    """
    if len(earlier) != 1 or earlier[0].reason != STILL_RUNNING or blank.size < earlier[0].offset:
        return False
    before = earlier[0]
    mine = events_for(events, before.key, before.path)
    if any(event.moment == "end" for event in mine):
        return False
    for session in read_sessions(file, Mark(before.offset, before.lines)):
        reason = why_not(run.world, session, mine, False, blank.mtime_ns, False)
        if session.key != before.key or reason != STILL_RUNNING:
            return False
        _ingest_session(run, session, replace(before, **_place_of(blank)), mine, (), False, False, False)
    return True


def drop_dead_events(run: Pass, events: Sequence[Event]) -> None:
    """Take out of the spool what can lead to no transcript: events that name none, or one that never came."""
    waiting = {path.name for path in (run.world.root / SPOOL).glob("*.json")}
    dead: list[Change] = []
    for event in events:
        if Path(event.path).name not in waiting:
            continue
        if not event.session and not event.transcript:
            dead += drop_events([event], "names no session")
        elif event.transcript and not Path(event.transcript).exists() and _is_old(run, event):
            # A session without a prompt writes no transcript: that is no error.
            dead += drop_events([event], f"its transcript {event.transcript} never came")
    if dead:
        run.land(Plan("spool", tuple(dead)))


def _is_old(run: Pass, event: Event) -> bool:
    written = (run.world.root / event.path).stat().st_mtime
    return run.world.now.timestamp() - written > EVENT_DAYS * 86_400


def _drop_used(run: Pass, events: Sequence[Event], earlier: Sequence[Progress]) -> None:
    used: list[Event] = []
    told: list[Change | None] = []
    for progress in earlier:
        if mine := events_for(events, progress.key, progress.path):
            used += mine
            told.append(change_progress(run.world.root, replace(progress, reported=True)))
    if used:
        changes = (*filter(None, told), *drop_events(used, "the session was read before"))
        run.land(Plan("spool", changes))


def _ingest_session(
    run: Pass,
    session: Session,
    start: Progress,
    events: Sequence[Event],
    known: Collection[str],
    asked: bool,
    has_parent: bool,
    claims: bool,
) -> set[str]:
    """Land what one session taught; returns the ids of its new lessons. `start` is its progress so far."""
    mine = events_for(events, session.key, session.path)
    if is_forgotten(run.forgotten, session):
        return _pass_over(run, session, mine)
    reason = why_not(run.world, session, mine, asked, start.mtime_ns, has_parent)
    redacted: Counter[str] = Counter()
    episodes: tuple[Episode, ...] = ()
    taught = Extraction()
    if not reason:
        session, redacted = redact_session(session, run.world.settings.redact)
        if is_forgotten(run.forgotten, session):  # its project may be known without the home folder's name
            return _pass_over(run, session, mine)
        if run.forgotten.strings:
            session = map_texts(session, run.forgotten.redact)
        episodes = tuple(detect_episodes(session))
        fresh = tuple(episode for episode in episodes if episode.lines[1] > start.concluded)
        run.errors += [turn.text for turn in session.turns if turn.outcome == "failed" and turn.line > start.concluded]
        _weigh(run, session, start.concluded)
        plain = write_lessons(session, episodes, run.world.settings.reflect.lessons_per_session)
        taught = (
            reflect_with(run.ask, session, fresh, plain, run.world.settings.redact) if run.ask else Extraction(plain)
        )
    forgotten = [lesson for lesson in taught.lessons if run.forgotten.forgets("lesson", lesson.id)]
    if forgotten:
        known = {*known, *(lesson.id for lesson in forgotten)}
        spans = {source.lines for lesson in forgotten for source in lesson.sources}
        episodes = tuple(episode for episode in episodes if episode.lines not in spans)
    progress = _progress(session, start, reason, sum(redacted.values()), bool(mine))
    live = Known(known, {one.id: one for one in run.store.solutions})
    today = run.world.now.date()
    plan = (
        Plan("ingest", tuple(filter(None, [change_progress(run.world.root, progress)])))
        if reason
        else plan_session(run.world.root, session, episodes, taught.lessons, progress, live, today, claims)
    )
    used = () if reason == STILL_RUNNING else drop_events(mine, f"{session.key} was read", f"session {session.key}")
    line = run.land(replace(plan, changes=plan.changes + used))
    written = {change.path for change in line.changes}
    new = tuple(solution for solution in run.store.solutions if solution.path in written)
    run.report.sessions.append(
        SessionLine(
            session.key,
            session.path,
            "skipped" if reason else "read",
            reason,
            len(session.turns),
            session.lines,
            tuple(solution.id for solution in new),
            dict(redacted),
            dict(session.unread),
            (*session.problems, *taught.problems),
            dict(taught.dropped),
        )
    )
    return {solution.id for solution in new}


def is_forgotten(tombstones: Tombstones, session: Session) -> bool:
    """Whether a person had this session or its project forgotten."""
    return tombstones.forgets("session", session.key) or tombstones.forgets("project", session.project)


def _weigh(run: Pass, session: Session, concluded: int) -> None:
    """Keep what a session shows of the lessons it was given, and of those whose error it met. It lands before the
    session counts as read: a run that is killed between the two finds the same again, and counts nothing twice."""
    run.causes.add(run.store.solutions)
    live = {one.id: one for one in run.store.solutions}
    root = run.world.root
    plan = plan_effects(root, session, read_given(root, session.id), run.causes, live, run.store.mtimes, concluded)
    if plan.changes:
        run.land(plan)


def _pass_over(run: Pass, session: Session, events: Sequence[Event]) -> set[str]:
    """Leave a forgotten session alone: no progress is kept of it, and no journal keeps its events."""
    if not run.dry_run:
        for event in events:
            (run.world.root / event.path).unlink(missing_ok=True)
    run.report.sessions.append(
        SessionLine(session.key, session.path, "skipped", "it was forgotten", len(session.turns), session.lines)
    )
    return set()


def why_not(
    world: World, session: Session, events: Sequence[Event], asked: bool, mtime_ns: int, parent_known: bool
) -> str:
    """Why a session teaches nothing for now or for ever; "" when it is to be concluded.

    `mtime_ns` is that of its file, for agents that write no times; `parent_known` says of a sub-agent's session
    whether the one that started it is read too.
    """
    reflect = world.settings.reflect
    if not session.turns and session.unread:
        return "nothing in it was understood"
    if session.own:
        return "a run of hotwash itself"
    if session.subagent and (parent_known or not session.parent):
        return "a sub-agent's session; its parent tells the story"
    if session.scheduled:
        return "started by a timer"
    if session.project in reflect.projects_off:
        return "its project is switched off"
    if reflect.projects_only and session.project not in reflect.projects_only:
        return "its project is not among those to read"
    ended = asked or any(event.moment == "end" for event in events)
    quiet_since = world.now - timedelta(minutes=reflect.quiet_minutes)
    finished = session.finished or datetime.fromtimestamp(mtime_ns / 1e9, UTC)
    return STILL_RUNNING if not ended and quiet_since < finished <= world.now else ""


def _progress(session: Session, start: Progress, reason: str, redacted: int, reported: bool) -> Progress:
    return replace(
        start,
        key=session.key,
        offset=session.ended_at,
        lines=session.lines,
        concluded=start.concluded if reason else session.lines,
        sha256=session.sha256,
        status="skipped" if reason else "read",
        reason=reason,
        tries=0,
        redacted=redacted,
        version=session.version,
        project=session.project,
        finished=session.finished.isoformat() if session.finished else "",
        unread=dict(session.unread),
        reported=reported or bool(start.reported),
    )


def _clear_failure(run: Pass, earlier: Sequence[Progress]) -> None:
    """A file that was read is no failure any more."""
    gone = [drop_progress(run.world.root, one, "read at last") for one in earlier if one.key.startswith(FILE_KEY)]
    if any(gone):
        run.land(Plan("ingest", tuple(change for change in gone if change)))


def _keep_failure(run: Pass, file: Path, earlier: Sequence[Progress], error: Exception) -> None:
    """Record that a file could not be read, with the reason and the count, so that a later run tries again."""
    if isinstance(error, FileNotFoundError) and not file.exists():
        # An agent cleans up: what has gone since it was found is no failure, and no later run could mend it.
        run.report.sessions.append(SessionLine(f"file:{file}", str(file), "skipped", "it has gone since it was found"))
        return
    reason = f"{type(error).__name__}: {error}"
    failed = [replace(progress, status="failed", reason=reason, tries=progress.tries + 1) for progress in earlier]
    if not failed:
        size, mtime_ns = file_stamp(file)
        failed = [Progress(f"{FILE_KEY}{file}", str(file), size, mtime_ns, status="failed", reason=reason, tries=1)]
    for progress in failed:
        change = change_progress(run.world.root, progress)
        if change:
            run.land(Plan("ingest", (change,)))
        run.report.sessions.append(SessionLine(progress.key, str(file), "failed", reason))
    run.report.problems.append(Problem(str(file), None, f"could not be read ({reason}). It is tried again next time."))
