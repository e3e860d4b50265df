"""What the front matter of a store's lessons says, kept from run to run by its very text.

A header is found by all of its characters, so nothing here goes by a file's times: a checkout or a copy reads as quick.
The file lies where no repository can bring its own (the caller sees to that), holds what the store holds and nothing
else, and can be deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

import orjson

from index.files import read_bytes, write_atomic
from index.records import Solution, Source, Triggers

VERSION = b"1"  # of the rows; another one where front matter is read in another way

Rows = Mapping[str, list[Any]]
_NONE = Triggers()


def read_rows(place: Path) -> Rows:
    """The rows by header; none where there is no file, or it is damaged or of another version."""
    with contextlib.suppress(OSError, ValueError):
        digest, _, content = (read_bytes(place) or b"").partition(b"\n")
        if digest == _digest(content):
            rows: Rows = orjson.loads(content)
            return rows
    return {}


def write_rows(place: Path, rows: Rows) -> None:
    """Keep these rows and no others; where that cannot be done, the next run reads the lessons themselves."""
    content = orjson.dumps(rows)
    with contextlib.suppress(OSError):
        write_atomic(place, _digest(content) + b"\n" + content)


def _digest(content: bytes) -> bytes:
    """A damaged row must not be taken for a lesson's words."""
    return hashlib.blake2b(content, digest_size=16, person=VERSION).hexdigest().encode()


def row_of(one: Solution) -> list[Any] | None:
    """What a solution's header says; None where JSON cannot hold all of it."""
    triggers = one.triggers
    row = [
        one.id, one.title, one.category, one.type, one.importance, one.confidence, one.trust, one.tags, one.project,
        one.branch, [triggers.paths, triggers.commands, triggers.errors] if triggers else None,
        [[each.session, each.lines, each.origin, each.ref, each.sha256] for each in one.sources],
        one.created.isoformat(), one.verified and one.verified.isoformat(), one.priority, one.supersedes,
        one.superseded_by, one.helpful, one.harmful, one.expires and one.expires.isoformat(), dict(one.extra),
    ]  # fmt: skip
    with contextlib.suppress(TypeError, ValueError):
        kept = orjson.dumps(row)
        # A key that we do not know may have a value that JSON has not.
        return row if not one.extra or repr(orjson.loads(kept)[-1]) == repr(row[-1]) else None
    return None


def solution_of(row: list[Any], path: str, text: str, body: str) -> Solution:
    """The solution of a file whose header has this row."""
    (
        identity, title, category, kind, importance, confidence, trust, tags, project, branch, triggers, sources,
        created, verified, priority, supersedes, superseded_by, helpful, harmful, expires, extra,
    ) = row  # fmt: skip
    return Solution(
        identity, title, category, body, kind, importance, confidence, trust, tuple(tags), project, branch,
        Triggers(*map(tuple, triggers)) if triggers else _NONE,
        tuple([_source(*each) for each in sources]) if sources else (),
        datetime.fromisoformat(created), date.fromisoformat(verified) if verified else None, priority,
        tuple(supersedes), superseded_by, helpful, harmful, date.fromisoformat(expires) if expires else None,
        dict(extra), path, text,
    )  # fmt: skip


def _source(session: str, lines: list[int] | None, origin: Any, ref: str, sha256: str) -> Source:
    return Source(session, (lines[0], lines[1]) if lines else None, origin, ref, sha256)
