"""Signatures of files, kept between runs: only what changed is read and signed again.

A file is known by path, mtime, ctime and size; beneath that a body by its content hash, so that a checkout, which moves
every time, signs nothing anew, and equal bodies share one row. SQLite holds files, bodies and pairs; plain arrays hold
signatures, band hashes and shingle counts by row number. Everything can be deleted at any time.

Row 0 of the counts bears the number of the last run that finished. It is cleared before a row is written and set again
before SQLite commits; where the two differ, a run was cut off, and the cache starts anew. A cache that is locked or
cannot be written is not used: the run keeps everything in memory.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import sqlite3
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from index.similarity import VERSION, strip_front_matter

_SCHEMA = (
    "create table if not exists meta(key text primary key, value text)",
    "create table if not exists files(path text primary key, mtime int, ctime int, size int, row int) without rowid",
    "create table if not exists bodies(hash blob primary key, row int) without rowid",
    "create table if not exists pairs(a int, b int, jaccard real, ratio real, primary key(a, b)) without rowid",
)
DATABASE = "signatures.db"
SPARE = 1.1  # room for so many times the rows, so that new ones seldom move the arrays
RACY_NS = 2_000_000_000  # a file touched so shortly before the scan may change again within the same tick
_BUSY_SECONDS = 5.0

Read = Callable[[str], bytes]
Known = dict[tuple[int, int], tuple[float, float | None]]


class Stamp(NamedTuple):
    """A file as a directory listing shows it; `path` is relative to the folder scanned, with `/`."""

    path: str
    mtime_ns: int
    ctime_ns: int
    size: int


class Scheme(NamedTuple):
    """All that rows depend on beside the texts; `pairs` is any text that known pairs depend on."""

    permutations: int
    seed: int
    bands: int
    rows: int
    pairs: str = ""


class Refreshed(NamedTuple):
    """The row of each file (0: it could not be read), the rows that are new, and files that failed with the reason."""

    rows: list[int]
    new: list[int]
    changed: bool
    failed: tuple[tuple[str, str], ...] = ()


def scan_markdown(root: Path) -> list[Stamp]:
    """Every `*.md` file below `root`, sorted by path; names that start with a dot and symbolic links are left out."""
    found: list[Stamp] = []
    waiting = [(str(root), "")]
    while waiting:
        folder, prefix = waiting.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name.startswith("."):
                    continue
                if name.endswith(".md") and entry.is_file(follow_symlinks=False):
                    stat = entry.stat(follow_symlinks=False)
                    found.append(Stamp(prefix + name, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size))
                elif entry.is_dir(follow_symlinks=False):
                    waiting.append((entry.path, f"{prefix}{name}/"))
    found.sort()
    return found


def read_below(root: Path) -> Read:
    """A function that gives the bytes of a file below `root`; links are not followed."""
    base = str(root) + os.sep
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

    def read(path: str) -> bytes:
        handle = os.open(base + path, flags)
        try:
            data = os.read(handle, os.fstat(handle).st_size + 1)
            more = [data]
            while len(data) > 0 and (data := os.read(handle, 1 << 16)):
                more.append(data)
            return more[0] if len(more) == 1 else b"".join(more)
        finally:
            os.close(handle)

    return read


class SignatureCache:
    """Rows of signatures for the files of one folder, as a context manager; with `folder` None only in memory.

    `signatures`, `bands` and `counts` are arrays by row number; a row whose count is 0 is not in use.
    """

    signatures: Any
    bands: Any
    counts: Any

    def __init__(self, folder: Path | None, scheme: Scheme) -> None:
        self._folder = folder
        self._scheme = scheme
        self._db: sqlite3.Connection | None = None
        self._generation = 0
        self._height = 1
        self._capacity = 0
        self._slot = 0
        self._pairs: Known | None = None
        self._unpaired = False

    def __enter__(self) -> Self:
        for _ in range(2):
            try:
                self._open()
                return self
            except sqlite3.OperationalError:
                break
            except (sqlite3.DatabaseError, ValueError, KeyError):
                self._close()
                self._drop_files()
            except OSError:
                break
        self._close()
        self._folder = None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and not self._unpaired:
            self._finish()
        self._close()

    def refresh(self, stamps: Sequence[Stamp], read: Read, now_ns: int) -> Refreshed:
        """Bring the rows up to date with `stamps`, reading only unknown files; `now_ns` is the time of the scan.

        Once for each cache opened.
        """
        known = self._db.execute("select path, mtime, ctime, size, row from files").fetchall() if self._db else []
        if known and [row[:4] for row in known] == stamps:
            return Refreshed([row[4] for row in known], [], changed=False)
        return self._update(known, stamps, read, now_ns)

    def pairs(self) -> Known:
        """Known similarities by pair of rows: the Jaccard index, and rapidfuzz' ratio where it was asked for."""
        if self._pairs is None:
            rows = self._db.execute("select a, b, jaccard, ratio from pairs").fetchall() if self._db else []
            self._pairs = {(a, b): (jaccard, ratio) for a, b, jaccard, ratio in rows}
        return self._pairs

    def add_pairs(self, found: Mapping[tuple[int, int], tuple[float, float | None]]) -> None:
        """Remember similarities until one of the two bodies changes; new rows are kept only once this was called."""
        self._unpaired = False
        self.pairs().update(found)
        if self._db is not None:
            rows = [(a, b, jaccard, ratio) for (a, b), (jaccard, ratio) in sorted(found.items())]
            self._db.executemany("insert or replace into pairs values (?, ?, ?, ?)", rows)

    def _open(self) -> None:
        if self._folder is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._db = sqlite3.connect(self._folder / DATABASE, timeout=_BUSY_SECONDS, isolation_level=None)
        self._db.execute("pragma synchronous = normal")
        self._db.execute("begin immediate")
        for statement in _SCHEMA:
            self._db.execute(statement)
        meta = dict(self._db.execute("select key, value from meta").fetchall())
        if meta.get("scheme") == self._key():
            self._generation, self._slot = int(meta["generation"]), int(meta["slot"])
            self._height, self._capacity = int(meta["height"]), int(meta["capacity"])
            if self._sound():
                return
        for table in ("meta", "files", "bodies", "pairs"):
            self._db.execute(f"delete from {table}")  # noqa: S608 - names from the line above
        self._generation, self._height, self._capacity = 0, 1, 0

    def _key(self) -> str:
        return f"{VERSION} {tuple(self._scheme)}"

    def _widths(self) -> dict[str, int]:
        """Bytes a row in each array."""
        return {"signatures": 4 * self._scheme.permutations, "bands": 8 * self._scheme.bands, "counts": 8}

    def _path(self, name: str, slot: int) -> Path:
        return (self._folder or Path()) / f"{name}-{slot}.bin"

    def _sound(self) -> bool:
        """Whether the arrays are whole and of the run that SQLite knows."""
        try:
            for name, width in self._widths().items():
                if self._path(name, self._slot).stat().st_size != width * self._capacity:
                    return False
            with self._path("counts", self._slot).open("rb") as file:
                return struct.unpack("<q", file.read(8)) == (-self._generation,)
        except (OSError, struct.error):
            return False

    def _update(self, known: list[tuple[Any, ...]], stamps: Sequence[Stamp], read: Read, now_ns: int) -> Refreshed:
        from index import signatures as make  # numpy is not needed where nothing changed

        old = {row[0]: row for row in known}
        rows = [0] * len(stamps)
        todo: list[int] = []
        for place, stamp in enumerate(stamps):
            before = old.pop(stamp.path, None)
            if before is not None and before[:4] == stamp:
                rows[place] = before[4]
            else:
                todo.append(place)
        used = {row[4] for row in known}
        free = iter(sorted(set(range(1, self._height)) - used) if len(used) < self._height - 1 else ())
        self._load(self._height if known else self._height + len(todo))
        fresh: dict[bytes, int] = {}
        new: list[int] = []
        failed: list[tuple[str, str]] = []

        def bodies() -> Iterator[bytes]:
            for place in todo:
                try:
                    body = strip_front_matter(read(stamps[place].path))
                except OSError as error:
                    failed.append((stamps[place].path, error.strerror or "cannot be read"))
                    continue
                name = make.body_hash(body)
                row = fresh.get(name) or (self._row_of(name) if known else None)
                if row is None:
                    row = next(free, self._height)
                    self._height = max(self._height, row + 1)
                    fresh[name] = row
                    new.append(row)
                    yield body
                rows[place] = row

        self._write_rows(make, bodies(), new)
        self._unpaired = bool(new)
        self._forget(used - set(rows))
        self._store(stamps, rows, todo, old, fresh, now_ns)
        return Refreshed(rows, new, changed=True, failed=tuple(failed))

    def _row_of(self, name: bytes) -> int | None:
        if self._db is None:
            return None
        found = self._db.execute("select row from bodies where hash = ?", (name,)).fetchone()
        return None if found is None else int(found[0])

    def _write_rows(self, make: Any, bodies: Iterable[bytes], new: list[int]) -> None:
        from index.bands import band_hashes

        factors, summands = make.permutations(self._scheme.permutations, self._scheme.seed)
        done = 0
        for signatures, counts in make.sign_all(bodies, factors, summands):
            rows = new[done : done + len(counts)]
            done += len(counts)
            if self._height > self._capacity:
                self._load(self._height)
            self._mark(0)
            # Rows of a first run follow one another, and a slice is written without a copy.
            at: Any = slice(rows[0], rows[-1] + 1) if rows[-1] - rows[0] == len(rows) - 1 else rows
            self.signatures[at] = signatures
            self.bands[at] = band_hashes(signatures, self._scheme.bands, self._scheme.rows)
            self.counts[at] = counts

    def _forget(self, gone: set[int]) -> None:
        """Free rows whose body no file has any more, with their pairs."""
        if not gone:
            return
        self._mark(0)
        self.counts[sorted(gone)] = 0
        self._pairs = None
        if self._db is not None:
            self._db.execute("create temp table gone(row integer primary key)")
            self._db.executemany("insert into gone values (?)", ((row,) for row in sorted(gone)))
            self._db.execute("delete from bodies where row in (select row from gone)")
            self._db.execute("delete from pairs where a in (select row from gone) or b in (select row from gone)")
            self._db.execute("drop table gone")

    def _store(
        self,
        stamps: Sequence[Stamp],
        rows: list[int],
        todo: list[int],
        vanished: Iterable[str],
        fresh: Mapping[bytes, int],
        now_ns: int,
    ) -> None:
        if self._db is None:
            return
        racy = now_ns - RACY_NS
        self._db.executemany("delete from files where path = ?", ((path,) for path in vanished))
        self._db.executemany(
            "insert or replace into files values (?, ?, ?, ?, ?)",
            (
                (stamp.path, -1 if max(stamp[1], stamp[2]) > racy else stamp.mtime_ns, stamp.ctime_ns, stamp.size, row)
                for stamp, row in ((stamps[place], rows[place]) for place in todo)
                if row
            ),
        )
        # A file that could be read before and cannot now is looked at again next time.
        lost = ((stamps[place].path,) for place in todo if not rows[place])
        self._db.executemany("delete from files where path = ?", lost)
        self._db.executemany("insert into bodies values (?, ?)", sorted(fresh.items()))

    def load(self) -> None:
        """Map the arrays where a refresh that found nothing changed did not need them."""
        if self._capacity and not hasattr(self, "counts"):
            self._load(0)

    def _load(self, needed: int) -> None:
        import numpy as np

        kinds = {"signatures": np.uint32, "bands": np.uint64, "counts": np.int64}
        columns = {"signatures": self._scheme.permutations, "bands": self._scheme.bands, "counts": 1}
        kept, old_slot = self._capacity, self._slot
        grows = needed > self._capacity
        if grows:
            self._capacity = int(SPARE * needed) + 16
            self._slot += 1
        for name, kind in kinds.items():
            shape = (self._capacity, columns[name])
            if self._folder is None:
                array: Any = np.zeros(shape, dtype=kind)
            else:
                array = np.memmap(self._path(name, self._slot), kind, "w+" if grows else "r+", shape=shape)
                if grows and kept:
                    array[:kept] = np.memmap(self._path(name, old_slot), kind, "r", shape=(kept, columns[name]))
            setattr(self, name, array[:, 0] if name == "counts" else array)
        if grows:
            self._mark(0)

    def _mark(self, generation: int) -> None:
        """Write the run's number into row 0, negative so that it never counts as a row in use."""
        if self.counts[0] != -generation:
            self._flush()
            self.counts[0] = -generation
            self._flush()

    def _flush(self) -> None:
        for name in ("signatures", "bands", "counts"):
            base = getattr(self, name).base
            while base is not None and not isinstance(base, mmap.mmap):
                base = getattr(base, "base", None)
            if base is not None:
                base.flush()

    def _finish(self) -> None:
        """Commit; what a run cut off before this line left behind is dropped by the next one."""
        if self._db is None:
            return
        if hasattr(self, "counts") and self.counts[0] == 0:
            self._generation += 1
            self._mark(self._generation)
            state = {
                "scheme": self._key(),
                "generation": self._generation,
                "slot": self._slot,
                "height": self._height,
                "capacity": self._capacity,
            }
            values = [(key, str(value)) for key, value in state.items()]
            self._db.executemany("insert or replace into meta values (?, ?)", values)
        self._db.execute("commit")
        if self._folder is not None and self._capacity:
            for path in self._folder.glob("*-*.bin"):
                if not path.name.endswith(f"-{self._slot}.bin"):
                    path.unlink(missing_ok=True)

    def _close(self) -> None:
        if self._db is not None:
            with contextlib.suppress(sqlite3.Error):
                self._db.rollback()
            self._db.close()
            self._db = None

    def _drop_files(self) -> None:
        if self._folder is not None:
            for path in (*self._folder.glob("*-*.bin"), *self._folder.glob(f"{DATABASE}*")):
                path.unlink(missing_ok=True)
