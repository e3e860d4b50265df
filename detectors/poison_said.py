"""What the text of a lesson tells the checks across lessons, read once and kept from run to run.

One SQLite file with a row for each text. It can be deleted at any time, and starts anew when one of the modules that
read texts has changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import orjson

import detectors.poison_claims
import index.bullets
import index.known
import index.literals
from detectors.poison_claims import Claim, Swap, claims, is_reference, swaps, trusted_words
from index.code_version import code_version
from index.literals import content

DATABASE = "said.db"
WASTE = 2  # kept rows for each lesson there is, and so many beside, from which on the others are deleted
SPARE = 1_000
_READERS = (sys.modules[__name__], detectors.poison_claims, index.bullets, index.known, index.literals)
_BUSY_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Said:
    """The words of a text, what its first sentences claim, the names of which it leads one to another, and whether it
    claims an approval (`approved`) or names something to look up (`referred`)."""

    words: frozenset[str]
    claims: tuple[Claim, ...]
    swaps: tuple[Swap, ...]
    approved: bool
    referred: bool


def read_said(text: str) -> Said:
    """Read a text: title and body, or a part of it."""
    words = frozenset(content(text))
    return Said(words, tuple(claims(text)), tuple(swaps(text)), trusted_words(text), is_reference(text))


class SaidRows:
    """What texts say, as a context manager; with `folder` None, or where that cannot be used, everything is read. Where
    the rows are `frozen`, nothing is written."""

    def __init__(self, folder: Path | None = None, frozen: bool = False) -> None:
        self._place = None if folder is None else folder / DATABASE
        self._frozen = frozen
        self._db: sqlite3.Connection | None = None
        self._new: dict[bytes, bytes] = {}
        self._asked: set[bytes] = set()

    def __enter__(self) -> Self:
        if self._place is not None and (not self._frozen or self._place.exists()):
            try:
                self._open(self._place)
            except (sqlite3.Error, OSError):
                self._close()
                with contextlib.suppress(OSError):
                    if not self._frozen:
                        self._place.unlink(missing_ok=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def said(self, text: str) -> Said:
        """What a text says."""
        name = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        self._asked.add(name)
        kept = self._kept(name)
        if kept is None:
            kept = read_said(text)
            with contextlib.suppress(orjson.JSONEncodeError):  # half a surrogate: read each time
                self._new[name] = _dump(kept)
        return kept

    def save(self, lessons: int) -> None:
        """Keep what was read; where that is much for so many lessons, only what was asked for lately."""
        if self._db is None or self._frozen or not self._new:
            return
        with contextlib.suppress(sqlite3.Error):
            self._db.execute("begin immediate")
            self._db.executemany("insert or replace into said values (?, ?)", sorted(self._new.items()))
            (count,) = self._db.execute("select count(*) from said").fetchone()
            if count > WASTE * lessons + SPARE:
                known = {name for (name,) in self._db.execute("select name from said")}
                self._db.executemany("delete from said where name = ?", [(name,) for name in known - self._asked])
            self._db.execute("commit")
            self._new.clear()

    def _kept(self, name: bytes) -> Said | None:
        row = self._new.get(name)
        if row is None and self._db is not None:
            with contextlib.suppress(sqlite3.Error):
                found = self._db.execute("select said from said where name = ?", (name,)).fetchone()
                row = None if found is None else found[0]
        if row is None:
            return None
        with contextlib.suppress(ValueError, TypeError):
            return _load(row)
        return None

    def _open(self, place: Path) -> None:
        if self._frozen:
            self._db = sqlite3.connect(f"{place.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
            if self._db.execute("select version from made_by").fetchall() != [(code_version(*_READERS),)]:
                self._close()
            return
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._db = sqlite3.connect(place, timeout=_BUSY_SECONDS, isolation_level=None)
        self._db.execute("pragma synchronous = normal")
        self._db.execute("begin immediate")
        self._db.execute("create table if not exists made_by(version text)")
        self._db.execute("create table if not exists said(name blob primary key, said blob) without rowid")
        if self._db.execute("select version from made_by").fetchall() != [(code_version(*_READERS),)]:
            self._db.execute("delete from made_by")
            self._db.execute("delete from said")
            self._db.execute("insert into made_by values (?)", (code_version(*_READERS),))
        self._db.execute("commit")

    def _close(self) -> None:
        if self._db is not None:
            with contextlib.suppress(sqlite3.Error):
                self._db.rollback()
            self._db.close()
            self._db = None


def _dump(said: Said) -> bytes:
    told = [[sorted(one.about), one.off, sorted(one.values)] for one in said.claims]
    led = [[one.old, one.new] for one in said.swaps]
    return orjson.dumps([sorted(said.words), told, led, said.approved, said.referred])


def _load(row: bytes) -> Said:
    words, told, led, approved, referred = orjson.loads(row)
    return Said(
        frozenset(words),
        tuple(
            Claim(frozenset(about), off, frozenset((kind, value) for kind, value in values))
            for about, off, values in told
        ),
        tuple(Swap(old, new) for old, new in led),
        approved,
        referred,
    )
