"""Results kept from run to run by the name of all that they were found from.

One SQLite file for each kind of result, of which only the rows that are asked for are read. It can be lost or damaged
at any time: every row carries its own check, and the file starts anew when one of the modules that find such results
has changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Self

import orjson

from index.code_version import code_version

_SCHEMA = (
    "create table if not exists made_by(version text)",
    # Not without rowid: rows are counted on the narrow index of the names.
    "create table if not exists results(name blob primary key, found blob)",
)
_BUSY_SECONDS = 5.0
_WASTE = 1.5  # rows for each that is of use, from which on the others are deleted
_AT_ONCE = 500
_CHECK = 8


class ResultCache:
    """Results by name, as a context manager; with `place` None, or where that cannot be used, nothing is kept.

    A result is what JSON can hold. `modules` are those that it follows from.
    """

    def __init__(self, place: Path | None = None, modules: Sequence[ModuleType] = ()) -> None:
        self._place = place
        self._modules = modules
        self._db: sqlite3.Connection | None = None
        self._new: dict[bytes, bytes] = {}
        self._asked: set[bytes] = set()
        self._live: Collection[bytes] | None = None

    def __enter__(self) -> Self:
        if self._place is not None:
            try:
                self._db = self._open(self._place)
            except (sqlite3.Error, OSError):
                self._give_up()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._db is None:
            return
        try:
            if kind is None and self._new:
                self._write(self._db)
            self._db.close()
        except sqlite3.Error:
            self._give_up()
        self._db = None

    def find(self, names: Iterable[bytes]) -> dict[bytes, Any]:
        """The results that are kept under these names."""
        wanted = list(dict.fromkeys(names))
        self._asked.update(wanted)
        found: dict[bytes, Any] = {}
        for start in range(0, len(wanted), _AT_ONCE):
            part = wanted[start : start + _AT_ONCE]
            for name, row in self._select(part):
                if (read := _read(name, row)) is not None:
                    found[name] = read[0]
        return found

    def keep(self, name: bytes, result: object) -> None:
        """Have a result found under a name by later runs; one that JSON cannot hold (half a surrogate) is not kept."""
        if self._db is not None:
            with contextlib.suppress(orjson.JSONEncodeError):
                self._new[name] = _packed(name, orjson.dumps([result]))

    def forget_others(self, live: Collection[bytes] | None = None) -> None:
        """Have all results forgotten, where they have become many, but those of these names, else but those that were
        asked for in this run."""
        self._live = self._asked if live is None else live

    def _select(self, names: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
        if self._db is None:
            return []
        marks = ",".join("?" * len(names))
        try:
            return self._db.execute(f"select name, found from results where name in ({marks})", names).fetchall()  # noqa: S608
        except sqlite3.Error:
            self._give_up()
            return []

    def _open(self, place: Path) -> sqlite3.Connection:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        version = code_version(*self._modules)
        db = sqlite3.connect(place, timeout=_BUSY_SECONDS, isolation_level=None)
        self._db = db
        db.execute("pragma synchronous = normal")
        for statement in _SCHEMA:
            db.execute(statement)
        if db.execute("select version from made_by").fetchall() != [(version,)]:
            db.execute("begin immediate")
            db.execute("delete from made_by")
            db.execute("delete from results")
            db.execute("insert into made_by values (?)", (version,))
            db.execute("commit")
        return db

    def _write(self, db: sqlite3.Connection) -> None:
        db.execute("begin immediate")
        db.executemany("insert or replace into results values (?, ?)", sorted(self._new.items()))
        if self._live is not None:
            (count,) = db.execute("select count(*) from results").fetchone()
            if count > _WASTE * len(self._live) + 100:
                db.execute("create temp table live(name blob primary key) without rowid")
                db.executemany("insert or ignore into live values (?)", ((name,) for name in self._live))
                db.execute("delete from results where name not in (select name from live)")
        db.execute("commit")

    def _give_up(self) -> None:
        """Do without the file from here on, and have the next run make a new one."""
        if self._db is not None:
            with contextlib.suppress(sqlite3.Error):
                self._db.close()
            self._db = None
        if self._place is not None:
            with contextlib.suppress(OSError):
                self._place.unlink(missing_ok=True)


def result_name(*parts: str | bytes) -> bytes:
    """Sixteen bytes that name these parts in this order."""
    whole = hashlib.blake2b(digest_size=16)
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        whole.update(b"%d:" % len(raw))
        whole.update(raw)
    return whole.digest()


def _packed(name: bytes, raw: bytes) -> bytes:
    return hashlib.blake2b(name + raw, digest_size=_CHECK).digest() + raw


def _read(name: object, row: object) -> list[Any] | None:
    """The result in a row, in a list; None where the row is not as it was written."""
    if not isinstance(name, bytes) or not isinstance(row, bytes) or _packed(name, row[_CHECK:]) != row:
        return None
    read: list[Any] = orjson.loads(row[_CHECK:])
    return read
