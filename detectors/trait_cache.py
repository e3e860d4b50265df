"""The traits of lessons, and what two texts differ in, kept from run to run by what they were read from.

One SQLite file: a row a text, with what every lesson is looked at for (keys) apart from what only those are that share
something (traits); a row for two texts that were set against each other. Reading a lesson takes half a millisecond,
reading its row a tenth of that. The file can be deleted at any time, and starts anew when one of the modules that read
traits has changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import orjson

import detectors.traits
import index.bullets
import index.literals
import index.signature
from detectors.traits import Keys, Traits, make_traits, read_keys, read_traits
from index.literals import Difference, differs
from index.records import Solution

DATABASE = "traits.db"
_READERS = (detectors.traits, index.bullets, index.literals, index.signature)
_SCHEMA = (
    "create table if not exists made_by(version text)",
    "create table if not exists lessons(name blob primary key, keys blob, traits blob) without rowid",
    "create table if not exists differences(name blob primary key, found blob) without rowid",
)
_BUSY_SECONDS = 5.0
_WASTE = 1.5  # rows for each lesson there is, from which on the others are deleted

_STALE = 4  # kept comparisons for each of the last run, from which on only those are kept

Row = tuple[bytes, bytes | None]


class TraitCache:
    """Keys and traits by content, as a context manager; with `folder` None, or where that cannot be used, in memory."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._db: sqlite3.Connection | None = None
        self._rows: dict[bytes, Row] = {}
        self._names: dict[int, tuple[Solution, bytes]] = {}  # with the solution itself, so that no other takes its id
        self._changed: set[bytes] = set()
        self._compared: dict[bytes, bytes] = {}

    def __enter__(self) -> Self:
        if self._folder is not None:
            try:
                self._open(self._folder / DATABASE)
            except (sqlite3.Error, OSError, ValueError):
                self._close()
                with contextlib.suppress(OSError):
                    (self._folder / DATABASE).unlink(missing_ok=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self._db is not None:
            with contextlib.suppress(sqlite3.Error):
                self._write(self._db)
        self._close()

    def keys(self, solutions: Sequence[Solution]) -> list[Keys]:
        """The keys of each solution; what no longer belongs to one is forgotten when there is much of it."""
        names = [content_name(solution) for solution in solutions]
        self._names.update((id(solution), (solution, name)) for solution, name in zip(solutions, names, strict=True))
        found: list[Keys] = []
        for name, solution in zip(names, solutions, strict=True):
            row = self._rows.get(name)
            if row is None or not row[0]:
                keys = read_keys(solution)
                self._keep(name, (_dump(keys.title, keys.literals, keys.errors, keys.triggers), None))
                found.append(keys)
            else:
                found.append(Keys(*map(frozenset, orjson.loads(row[0]))))
        live = set(names)
        if len(self._rows) > _WASTE * len(live) + 100:
            dead = self._rows.keys() - live
            if self._db is not None:
                self._db.executemany("delete from lessons where name = ?", [(name,) for name in dead])
            for name in dead:
                del self._rows[name]
                self._changed.discard(name)
        return found

    def traits(self, solution: Solution, keys: Keys) -> Traits:
        """The traits of a solution whose keys were asked for."""
        _, name = self._names[id(solution)]
        first, second = self._rows[name]
        if not second:
            traits = read_traits(solution, keys)
            self._keep(
                name, (first, _dump(traits.words, traits.symptom, traits.fix, traits.reversal, [traits.foreign]))
            )
            return traits
        words, symptom, fix, reversal, (foreign,) = orjson.loads(second)
        return make_traits(
            solution,
            keys,
            words=frozenset(words),
            symptom=frozenset(symptom),
            fix=frozenset(fix),
            reversal=frozenset(reversal),
            foreign=foreign,
        )

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
        if self._db is None:
            return b""
        try:
            row = self._db.execute("select found from differences where name = ?", (name,)).fetchone()
        except sqlite3.Error:
            return b""
        return row[0] if row and isinstance(row[0], bytes) else b""

    def _keep(self, name: bytes, row: Row) -> Row:
        self._rows[name] = row
        self._changed.add(name)
        return row

    def _open(self, place: Path) -> None:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._db = sqlite3.connect(place, timeout=_BUSY_SECONDS, isolation_level=None)
        self._db.execute("pragma synchronous = normal")
        self._db.execute("begin immediate")
        for statement in _SCHEMA:
            self._db.execute(statement)
        version = _version()
        if self._db.execute("select version from made_by").fetchall() != [(version,)]:
            self._db.execute("delete from made_by")
            self._db.execute("delete from lessons")
            self._db.execute("delete from differences")
            self._db.execute("insert into made_by values (?)", (version,))
        for name, keys, traits in self._db.execute("select name, keys, traits from lessons"):
            self._rows[name] = (keys, traits)

    def _write(self, db: sqlite3.Connection) -> None:
        rows = [(name, *self._rows[name]) for name in sorted(self._changed)]
        db.executemany("insert or replace into lessons values (?, ?, ?)", rows)
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


def _dump(*sets: object) -> bytes:
    """Sets as JSON; empty where a text cannot be written (half a surrogate), which is then read each time."""
    with contextlib.suppress(orjson.JSONEncodeError):
        return orjson.dumps([sorted(one) if isinstance(one, frozenset) else one for one in sets])
    return b""


def _version() -> str:
    whole = hashlib.sha256()
    for module in _READERS:
        whole.update(Path(str(module.__file__)).read_bytes())
    return whole.hexdigest()
