"""What was read of each session: `spool/read/<agent>-<id>.json`, one small file each, so that runs never collide."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from index.changes import Change
from index.decode import load_json
from index.files import read_bytes
from index.store import SPOOL, slug

READ = f"{SPOOL}/read"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a session was read, and what came of it.

    `size`, `mtime_ns` and `sha256` are those of the transcript up to `offset`, which lies behind `lines` lines; up to
    line `concluded` it has taught. `began` is the first line that is no copied history, where there is some. `given`
    holds the lessons that stand for the session, by id, with the digest of what was written: one that a person changed
    has another. `status` is read, failed or skipped, with the `reason`. `reported` says whether a hook's event spoke of
    the session; None in records from before that was kept.
    """

    key: str
    path: str
    size: int = 0
    mtime_ns: int = 0
    offset: int = 0
    lines: int = 0
    concluded: int = 0
    began: int = 0
    sha256: str = ""
    status: str = "read"
    reason: str = ""
    tries: int = 0
    given: Mapping[str, str] = field(default_factory=dict)
    redacted: int = 0
    version: str = ""
    project: str = ""
    finished: str = ""
    unread: Mapping[str, int] = field(default_factory=dict)
    reported: bool | None = None


_NAMES = tuple(one.name for one in fields(Progress))


def progress_path(key: str, file: str) -> str:
    """Where the progress of a session in one file lies, relative to the store.

    One session may lie in several files (a copy, a backup, two databases): each has a record of its own. Unique also
    where ids hold odd characters.
    """
    agent, _, session = key.partition(":")
    tail = hashlib.sha256(f"{key}\0{file}".encode()).hexdigest()[:8]
    return f"{READ}/{slug(agent)}-{slug(session)[:48]}-{tail}.json"


def render_progress(progress: Progress) -> bytes:
    """The progress file's bytes."""
    return (json.dumps(asdict(progress), ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode(
        "utf-8", "replace"
    )


def parse_progress(raw: bytes) -> Progress | None:
    """A progress file's record, or None where it cannot be used: the session is then read again, which adds nothing."""
    try:
        values = load_json(raw)
        return Progress(**{name: values[name] for name in _NAMES if name in values})
    except (ValueError, TypeError):
        return None


def read_places(root: Path) -> tuple[Progress, ...]:
    """The progress in every file that was read."""
    found = (parse_progress(raw) for path in sorted((root / READ).glob("*.json")) if (raw := read_bytes(path)))
    return tuple(progress for progress in found if progress is not None)


def read_ledger(root: Path) -> dict[str, Progress]:
    """Every session that the store has seen, by key; of one in several files the record that says most."""
    ledger: dict[str, Progress] = {}
    for progress in sorted(read_places(root), key=lambda one: (one.status == "read", one.lines, one.path)):
        ledger[progress.key] = progress
    return ledger


def drop_progress(root: Path, progress: Progress, why: str) -> Change | None:
    """The change that takes a record out; None where there is none."""
    path = progress_path(progress.key, progress.path)
    before = read_bytes(root / path)
    return None if before is None else Change(path, before, None, why)


def change_progress(root: Path, progress: Progress) -> Change | None:
    """The change that records a session's progress; None where it says nothing new."""
    path = progress_path(progress.key, progress.path)
    before = read_bytes(root / path)
    after = render_progress(progress)
    unit = f"session {progress.key}"
    return None if before == after else Change(path, before, after, f"read {progress.key}", unit)
