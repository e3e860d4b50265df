"""Session-end events that hooks left in `spool/`: which transcripts they point at, and which entries a run used up."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from index.changes import Change
from index.decode import load_json
from index.files import read_bytes
from index.store import SPOOL

START_MARK = f"{SPOOL}/.start"


@dataclass(frozen=True, slots=True)
class Event:
    """One event as a hook wrote it. `transcript` is "" where the agent did not say; `moment` is end or turn."""

    path: str
    content: bytes
    agent: str = ""
    session: str = ""
    transcript: str = ""
    moment: str = ""
    cwd: str = ""
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The key of the session it speaks of."""
        return f"{self.agent}:{self.session}"


def read_spool(root: Path) -> tuple[Event, ...]:
    """Every event that waits, oldest first. The start mark goes first, so that an event written from now on starts a
    run of its own."""
    (root / START_MARK).unlink(missing_ok=True)
    for draft in (root / SPOOL).glob(".*.tmp"):
        if not _is_alive(draft.name[1:].partition("-")[0]):
            draft.unlink(missing_ok=True)
    return peek_spool(root)


def _is_alive(pid: str) -> bool:
    """Whether the hook that is writing a draft still runs; one that was killed never finishes it."""
    if not pid.isdigit():
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass  # it is another user's
    return True


def peek_spool(root: Path) -> tuple[Event, ...]:
    """Every event that waits, oldest first; changes nothing."""
    events = []
    for path in sorted((root / SPOOL).glob("*.json")):
        raw = read_bytes(path)
        if raw is None:
            continue
        name = path.relative_to(root).as_posix()
        try:
            values = load_json(raw)
            events.append(
                Event(
                    name,
                    raw,
                    str(values.get("agent", "")),
                    str(values.get("session_id", "")),
                    str(values.get("agent_transcript_path") or values.get("transcript_path") or ""),
                    str(values.get("moment", "")),
                    str(values.get("cwd", "")),
                    {str(key): str(value) for key, value in (values.get("env") or {}).items()},
                )
            )
        except (ValueError, AttributeError):
            events.append(Event(name, raw))
    return tuple(events)


def events_for(events: Sequence[Event], key: str, path: str) -> tuple[Event, ...]:
    """The events that speak of a session: by its key, or by the file that was named."""
    return tuple(event for event in events if event.key == key or (event.transcript and event.transcript == path))


def drop_events(events: Sequence[Event], why: str, unit: str = "") -> tuple[Change, ...]:
    """The changes that take used-up entries out of the spool."""
    return tuple(Change(event.path, event.content, None, why, unit or f"event {event.path}") for event in events)
