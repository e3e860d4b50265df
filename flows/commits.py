"""The commits that an agent made, where its hook notes them: message and diffstat become an episode and may teach."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from curate.git import run_git
from detectors.registry import detect_episodes
from flows.context import Pass
from flows.ingest import is_forgotten
from index.changes import Change, Note, Plan
from index.decode import load_json
from index.files import read_bytes
from index.frontmatter import render_solution
from index.records import Episode, Session, Turn
from index.store import SPOOL, path_for
from reflect.custody import episode_path, render_episode
from reflect.lessons import write_lessons
from reflect.redact import map_texts, redact_session
from reflect.transcripts.project import project_of

COMMITS = f"{SPOOL}/commits"
LONGEST_MESSAGE = 8_000
LONGEST_STAT = 8_000
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
# Nothing that the repository's own settings name is run: no pager, no external diff, no text conversion, no gpg.
_SHOW = (
    "show",
    "--no-ext-diff",
    "--no-textconv",
    "--no-show-signature",
    "--no-color",
    "--stat=120",
    "--format=%aI%x00%B%x00",
)


@dataclass(frozen=True, slots=True)
class Noted:
    """A commit as the hook noted it, in which repository, and in which session it was made."""

    path: str
    content: bytes
    top: str
    commit: str
    session: str


def read_noted(root: Path) -> tuple[list[Noted], list[Change]]:
    """The commits that wait, and the changes that drop what is no note of one."""
    found: list[Noted] = []
    broken: list[Change] = []
    for place in sorted((root / COMMITS).glob("*.json")):
        path, raw = place.relative_to(root).as_posix(), read_bytes(place) or b""
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            values = load_json(raw)
            top, commit = str(values["top"]), str(values["commit"])
            if _COMMIT.match(commit) and top.startswith("/"):
                found.append(Noted(path, raw, top, commit, f"{values.get('agent')}:{values.get('session_id')}"))
                continue
        broken.append(Change(path, raw, None, "is no note of a commit"))
    return found, broken


def read_commit(noted: Noted) -> Session | None:
    """A commit as a session of two turns, what was said and what was changed; None where git does not know it."""
    done = run_git(Path(noted.top), *_SHOW, noted.commit, "--")
    if done is None or done.returncode != 0:
        return None
    when, _, rest = done.stdout.decode("utf-8", "replace").partition("\0")
    message, _, stat = rest.partition("\0")
    with suppress(ValueError):
        time = datetime.fromisoformat(when.strip()).astimezone(UTC)
        short = noted.commit[:12]
        said = Turn(1, 1, "agent", message.strip()[:LONGEST_MESSAGE], time=time, cwd=noted.top)
        changed = Turn(
            2, 2, "tool", stat.strip()[:LONGEST_STAT], time=time, tool="git", action="shell", cwd=noted.top,
            command=f"git show --stat {short}", outcome="passed",
        )  # fmt: skip
        return Session(
            "git", noted.commit, noted.top, (said, changed), lines=2, project=project_of(noted.top), cwd=noted.top,
            started=time, finished=time,
        )  # fmt: skip
    return None


def take_commits(run: Pass) -> None:
    """Keep each noted commit as an episode, with what it teaches; each once, and the note goes with it."""
    noted, broken = read_noted(run.world.root)
    if broken:
        run.land(Plan("commits", tuple(broken)))
    for one in noted:
        run.land(plan_commit(run, one))


def plan_commit(run: Pass, noted: Noted) -> Plan:
    """One commit's episode and lessons, without its secrets."""
    unit = f"commit {noted.commit[:12]}"
    session = read_commit(noted)
    drop = Change(noted.path, noted.content, None, "the commit was read", unit)
    if session is None:
        note = Note("unreadable", noted.path, f"git does not know {noted.commit[:12]} in {noted.top}")
        return Plan("commits", (drop,), notes=(note,))
    reflect = run.world.settings.reflect
    off = session.project in reflect.projects_off or (
        reflect.projects_only and session.project not in reflect.projects_only
    )
    session, _ = redact_session(session, run.world.settings.redact)
    if off or is_forgotten(run.forgotten, session) or run.forgotten.forgets("session", noted.session):
        return Plan("commits", (drop,), ((noted.path, "its project or session is not kept"),))
    session = map_texts(session, run.forgotten.redact) if run.forgotten.strings else session
    detected = detect_episodes(session)
    made = Episode("commit", session.key, (1, 2), (0, 1), f"a commit of {noted.session}")
    place = episode_path(session)
    before = read_bytes(run.world.root / place)
    changes = [
        Change(place, before, render_episode(session, (made, *detected), before), "the record of a commit", unit)
    ]
    known = run.known()
    for lesson in write_lessons(session, detected, reflect.lessons_per_session):
        if lesson.id not in known and not run.forgotten.forgets("lesson", lesson.id):
            text = render_solution(lesson).encode("utf-8", "replace")
            changes.append(Change(path_for(lesson), None, text, f"learned from {session.key[:16]}", unit))
    return Plan("commits", (*(one for one in changes if one.before != one.after), drop))
