"""What lessons are compared by, and what two texts differ in, kept from run to run by what they were read from.

A table of the lessons (`lesson_table`), and an SQLite file with a row for two texts that were set against each other.
Both can be deleted at any time, and start anew when one of the modules that read lessons has changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import orjson

import detectors.traits
import index.bullets
import index.literals
import index.signature
from index.code_version import code_version
from index.literals import Difference, differs
from index.records import Solution

if TYPE_CHECKING:
    from detectors.lesson_table import LessonTable

DATABASE = "differences.db"
TABLE = "lessons.bin"
_READERS = (detectors.traits, index.bullets, index.literals, index.signature)
_SCHEMA = (
    "create table if not exists made_by(version text)",
    "create table if not exists differences(name blob primary key, found blob) without rowid",
)
_BUSY_SECONDS = 5.0
_STALE = 4  # kept comparisons for each of the last run, from which on only those are kept


class TraitCache:
    """Both by content, as a context manager; with `folder` None, or where that cannot be used, in memory."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._names: dict[int, tuple[Solution, bytes]] = {}  # with the solution itself, so that no other takes its id
        self._opened = False
        self._db: sqlite3.Connection | None = None
        self._compared: dict[bytes, bytes] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self._db is not None:
            with contextlib.suppress(sqlite3.Error):
                self._write(self._db)
        self._close()

    def names(self, solutions: Sequence[Solution]) -> list[bytes]:
        """`content_name` of each solution, which is worked out once."""
        for one in solutions:
            if id(one) not in self._names:
                self._names[id(one)] = (one, content_name(one))
        return [self._names[id(one)][1] for one in solutions]

    def table(self, solutions: Sequence[Solution]) -> LessonTable:
        """The table of these lessons; only what is new is read, and only of these something is kept."""
        # numpy, of which nothing is needed to compare two texts
        from detectors import lesson_table

        if self._folder is None:
            return lesson_table.read_table(solutions)
        version = code_version(*_READERS, lesson_table)
        return lesson_table.find_table(solutions, self.names(solutions), self._folder / TABLE, version)

    def differ(self, a: str, b: str) -> tuple[Difference, ...]:
        """`index.literals.differs` of two texts."""
        name = _name(a, b)
        kept = self._compared.get(name) or self._kept(name)
        if kept:
            self._compared[name] = kept
            return tuple(Difference(*fields) for fields in orjson.loads(kept))
        found = differs(a, b)
        self._compared[name] = _dump(*([d.kind, d.a, d.b, d.in_a, d.in_b] for d in found))
        return found

    def _kept(self, name: bytes) -> bytes:
        self._open_once()
        if self._db is None:
            return b""
        try:
            row = self._db.execute("select found from differences where name = ?", (name,)).fetchone()
        except sqlite3.Error:
            return b""
        return row[0] if row and isinstance(row[0], bytes) else b""

    def _open_once(self) -> None:
        if self._folder is None or self._opened:
            return
        self._opened = True
        try:
            self._open(self._folder / DATABASE)
        except (sqlite3.Error, OSError, ValueError):
            self._close()
            with contextlib.suppress(OSError):
                (self._folder / DATABASE).unlink(missing_ok=True)

    def _open(self, place: Path) -> None:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._db = sqlite3.connect(place, timeout=_BUSY_SECONDS, isolation_level=None)
        self._db.execute("pragma synchronous = normal")
        self._db.execute("begin immediate")
        for statement in _SCHEMA:
            self._db.execute(statement)
        version = code_version(*_READERS)
        if self._db.execute("select version from made_by").fetchall() != [(version,)]:
            self._db.execute("delete from made_by")
            self._db.execute("delete from differences")
            self._db.execute("insert into made_by values (?)", (version,))

    def _write(self, db: sqlite3.Connection) -> None:
        if self._compared:
            (count,) = db.execute("select count(*) from differences").fetchone()
            if count > _STALE * (len(self._compared) + 100):
                db.execute("delete from differences")
            db.executemany("insert or replace into differences values (?, ?)", sorted(self._compared.items()))
        db.execute("commit")

    def _close(self) -> None:
        if self._db is not None:
            with contextlib.suppress(sqlite3.Error):
                self._db.rollback()
            self._db.close()
            self._db = None


def content_name(solution: Solution) -> bytes:
    """Sixteen bytes that name all that keys and traits are read from."""
    triggers = solution.triggers
    return _name(solution.title, solution.body, *triggers.paths, "", *triggers.commands, "", *triggers.errors)


def _name(*parts: str) -> bytes:
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _dump(*found: object) -> bytes:
    """JSON; empty where a text cannot be written (half a surrogate), which is then compared each time."""
    with contextlib.suppress(orjson.JSONEncodeError):
        return orjson.dumps(found)
    return b""
