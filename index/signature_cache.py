"""Signatures of files, kept between runs: only what changed is read and signed again.

A file is known by path, mtime, ctime and size; beneath that a body by its content hash, so that a checkout, which moves
every time, signs nothing anew, and equal bodies share one row. Plain arrays hold hashes, signatures, bands and shingle
counts by row number; SQLite holds the listing, known pairs and the last answer. It can be deleted at any time.

Row 0 of the counts bears the number of the last run that finished. It is cleared before a row is written and set again
before SQLite commits; where the two differ, a run was cut off, and the cache starts anew. A cache that is locked or
cannot be written is not used: the run keeps everything in memory.
"""

from __future__ import annotations

import bisect
import contextlib
import mmap
import os
import sqlite3
import struct
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from stat import S_ISREG
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from index.bands import band_hashes
from index.signatures import Int, body_hash, permutations, sign_all
from index.similarity import VERSION, strip_front_matter

_SCHEMA = (
    "create table if not exists state(key text primary key, value blob) without rowid",
    "create table if not exists pairs(a int, b int, jaccard real, ratio real, primary key(a, b)) without rowid",
)
DATABASE = "signatures.db"
SPARE = 1.1  # room for so many times the rows, so that new ones seldom move the arrays
RACY_NS = 2_000_000_000  # a file touched so shortly before the scan may change again within the same tick
_BUSY_SECONDS = 5.0

Read = Callable[[str], bytes]
Known = dict[tuple[int, int], tuple[float, float | None]]


class Listing(NamedTuple):
    """Files as a walk found them, in no special order; `times` holds mtime, ctime (ns) and size of each in turn.

    Paths are relative to the folder, with `/`.
    """

    paths: list[str]
    times: array[int]


class Scheme(NamedTuple):
    """All that rows depend on beside the texts; `answers` is any text that pairs and answers depend on."""

    permutations: int
    seed: int
    bands: int
    rows: int
    answers: str = ""


class Refreshed(NamedTuple):
    """The row of each file (0: it could not be read), the rows that are new, and files that failed with the reason."""

    rows: Int
    new: Int
    failed: tuple[tuple[str, str], ...] = ()


_times_of = attrgetter("st_mtime_ns", "st_ctime_ns", "st_size")


def scan_markdown(root: Path) -> Listing:
    """Every `*.md` file below `root`; names that start with a dot and symbolic links are left out."""
    paths: list[str] = []
    times = array("q")
    waiting = [(str(root), "")]
    while waiting:
        folder, prefix = waiting.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name[0] == ".":
                    continue
                if name.endswith(".md") and S_ISREG((found := entry.stat(follow_symlinks=False)).st_mode):
                    paths.append(prefix + name)
                    times.extend(_times_of(found))
                elif entry.is_dir(follow_symlinks=False):
                    waiting.append((entry.path, f"{prefix}{name}/"))
    return Listing(paths, times)


def read_below(root: Path) -> Read:
    """A function that gives the bytes of a file below `root`; links are not followed."""
    base = str(root) + os.sep
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

    def read(path: str) -> bytes:
        handle = os.open(base + path, flags)
        try:
            wanted = os.fstat(handle).st_size + 1
            data = os.read(handle, wanted)
            if len(data) == wanted - 1:
                return data
            more = [data]
            while data := os.read(handle, 1 << 16):
                more.append(data)
            return b"".join(more)
        finally:
            os.close(handle)

    return read


class SignatureCache:
    """Rows of signatures for the files of one folder, as a context manager; with `folder` None only in memory.

    `signatures`, `bands` and `counts` are arrays by row number, of which those from `height` on are spare; a row whose
    count is not above 0 is not in use or has no words.
    """

    hashes: NDArray[np.uint64]
    signatures: NDArray[np.uint32]
    bands: NDArray[np.uint64]
    counts: Int

    def __init__(self, folder: Path | None, scheme: Scheme) -> None:
        self._folder = folder
        self._scheme = scheme
        self._db: sqlite3.Connection | None = None
        self._generation = 0
        self.height = 1
        self._capacity = 0
        self._slot = 0
        self._pairs: Known | None = None
        self._unpaired = False

    def __enter__(self) -> Self:
        for _ in range(2):
            try:
                self._open()
                return self
            except (sqlite3.OperationalError, OSError):
                break
            except (sqlite3.DatabaseError, ValueError, KeyError):
                self._close()
                self._drop_files()
        self._close()
        self._folder = None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and not self._unpaired:
            self._finish()
        self._close()

    def unchanged(self, listing: Listing) -> bool:
        """Whether every file is as the last run found it."""
        times = self._state("times")
        return times is not None and times == listing.times.tobytes() and self._state("paths") == _pack(listing.paths)

    def answer(self) -> bytes | None:
        """What `keep_answer` was given by the last run."""
        return self._state("answer")

    def keep_answer(self, answer: bytes) -> None:
        """Keep what was found, for as long as no file changes."""
        self._keep({"answer": answer})

    def refresh(self, listing: Listing, read: Read, now_ns: int) -> Refreshed:
        """Bring the rows up to date, reading only unknown files; `now_ns` is the time of the scan.

        Once for each cache opened.
        """
        known = self._known()
        rows, todo = _match(known, listing)
        used = _marked(known[2], self.height)
        # A first run knows how many rows it may need; later ones grow when they must.
        self._load(self.height if used.any() else self.height + len(todo))
        names = self._names(np.flatnonzero(used))
        free = iter((1 + np.flatnonzero(~used[1:])).tolist())
        new: list[int] = []
        hashes: list[bytes] = []  # of the new rows, in order
        fresh: dict[bytes, int] = {}
        failed: list[tuple[str, str]] = []

        def bodies() -> Iterator[bytes]:
            for place in todo:
                try:
                    body = strip_front_matter(read(listing.paths[place]))
                except OSError as error:
                    failed.append((listing.paths[place], error.strerror or "cannot be read"))
                    continue
                name = body_hash(body)
                row = fresh.get(name) or self._row_of(name, names)
                if not row:
                    row = fresh[name] = next(free, self.height)
                    self.height = max(self.height, row + 1)
                    new.append(row)
                    hashes.append(name)
                    yield body
                rows[place] = row

        self._write_rows(bodies(), new, hashes)
        self._unpaired = bool(new)
        self._forget(np.flatnonzero(used & ~_marked(rows, self.height)[: len(used)]))
        self._keep_listing(listing, rows, now_ns, same_paths=known[0] == listing.paths)
        return Refreshed(rows, np.array(new, dtype=np.int64), tuple(failed))

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
        if self._state("scheme") == self._key():
            numbers = struct.unpack("<4q", self._state("numbers") or b"")
            self._generation, self._slot, self.height, self._capacity = numbers
            if self._sound():
                return
        self._db.execute("delete from state")
        self._db.execute("delete from pairs")
        self._generation, self.height, self._capacity = 0, 1, 0

    def _key(self) -> bytes:
        return f"{VERSION} {tuple(self._scheme)}".encode()

    def _state(self, key: str) -> bytes | None:
        if self._db is None:
            return None
        found = self._db.execute("select value from state where key = ?", (key,)).fetchone()
        return None if found is None else bytes(found[0])

    def _keep(self, values: Mapping[str, bytes]) -> None:
        if self._db is not None:
            self._db.executemany("insert or replace into state values (?, ?)", values.items())

    def _shapes(self) -> dict[str, tuple[type[np.generic], int]]:
        """The kind and the number of values a row in each array."""
        return {
            "hashes": (np.uint64, 2),
            "signatures": (np.uint32, self._scheme.permutations),
            "bands": (np.uint64, self._scheme.bands),
            "counts": (np.int64, 1),
        }

    def _path(self, name: str, slot: int) -> Path:
        return (self._folder or Path()) / f"{name}-{slot}.bin"

    def _sound(self) -> bool:
        """Whether the arrays are whole and of the run that SQLite knows."""
        try:
            for name, (kind, columns) in self._shapes().items():
                if self._path(name, self._slot).stat().st_size != np.dtype(kind).itemsize * columns * self._capacity:
                    return False
            with self._path("counts", self._slot).open("rb") as file:
                return struct.unpack("<q", file.read(8)) == (-self._generation,)
        except (OSError, struct.error):
            return False

    def _known(self) -> tuple[list[str], Int, Int]:
        """The paths, times (three columns) and rows of the files that the last run found."""
        paths, times, rows = self._state("paths"), self._state("times"), self._state("rows")
        if paths is None or times is None or rows is None or not rows:
            return [], np.empty((0, 3), dtype=np.int64), np.empty(0, dtype=np.int64)
        names = paths.decode("utf-8", "surrogateescape").split("\0")
        return names, np.frombuffer(times, dtype=np.int64).reshape(-1, 3), np.frombuffer(rows, dtype=np.int64)

    def _keep_listing(self, listing: Listing, rows: Int, now_ns: int, *, same_paths: bool) -> None:
        times = np.array(listing.times, dtype=np.int64).reshape(-1, 3)
        # What is too young, or could not be read, is looked at again next time.
        times[(times[:, :2].max(axis=1, initial=0) > now_ns - RACY_NS) | (rows == 0)] = -1
        self._keep({"times": times.tobytes(), "rows": rows.tobytes()})
        if not same_paths:
            self._keep({"paths": _pack(listing.paths)})

    def _names(self, used: Int) -> tuple[list[int], list[int]]:
        """The rows in use, ordered by the first half of their body's hash, and those halves."""
        halves = self.hashes[used, 0]
        order = np.argsort(halves)
        return halves[order].tolist(), used[order].tolist()

    def _row_of(self, name: bytes, names: tuple[list[int], list[int]]) -> int:
        """The row of a body that the last run knew, 0 for none."""
        halves, rows = names
        half = int.from_bytes(name[:8], sys.byteorder)
        at = bisect.bisect_left(halves, half)
        while at < len(halves) and halves[at] == half:
            if self.hashes[rows[at]].tobytes() == name:
                return rows[at]
            at += 1
        return 0

    def _write_rows(self, bodies: Iterable[bytes], new: list[int], hashes: Sequence[bytes]) -> None:
        factors, summands = permutations(self._scheme.permutations, self._scheme.seed)
        done = 0
        for signatures, counts in sign_all(bodies, factors, summands):
            rows = new[done : done + len(counts)]
            if self.height > self._capacity:
                self._load(self.height)
            self._mark(0)
            # Rows of a first run follow one another, and a slice is written without a copy.
            at: Any = slice(rows[0], rows[-1] + 1) if rows[-1] - rows[0] == len(rows) - 1 else rows
            names = b"".join(hashes[done : done + len(counts)])
            self.hashes[at] = np.frombuffer(names, dtype=np.uint64).reshape(-1, 2)
            self.signatures[at] = signatures
            self.bands[at] = band_hashes(signatures, self._scheme.bands, self._scheme.rows)
            self.counts[at] = counts
            done += len(counts)

    def _forget(self, gone: Int) -> None:
        """Free rows whose body no file has any more, with their pairs."""
        if not gone.size:
            return
        self._mark(0)
        self.counts[gone] = 0
        lost = set(gone.tolist())
        dead = [pair for pair in self.pairs() if pair[0] in lost or pair[1] in lost]
        for pair in dead:
            del self.pairs()[pair]
        if self._db is not None:
            self._db.executemany("delete from pairs where a = ? and b = ?", dead)

    def _load(self, needed: int) -> None:
        """Open the arrays, with room for `needed` rows."""
        kept, old_slot = self._capacity, self._slot
        grows = needed > kept
        if grows:
            self._capacity = int(SPARE * needed) + 16
            self._slot += 1
        for name, (kind, columns) in self._shapes().items():
            shape = (self._capacity, columns)
            if self._folder is None:
                rows: Any = np.zeros(shape, dtype=kind)
            else:
                rows = np.memmap(self._path(name, self._slot), kind, "w+" if grows else "r+", shape=shape)
                if grows and kept:
                    rows[:kept] = np.memmap(self._path(name, old_slot), kind, "r", shape=(kept, columns))
            setattr(self, name, rows[:, 0] if columns == 1 else rows)

    def _mark(self, generation: int) -> None:
        """Write the run's number into row 0, negative so that it never counts as a row in use."""
        if self.counts[0] != -generation:
            self._flush()
            self.counts[0] = -generation
            self._flush()

    def _flush(self) -> None:
        for name in self._shapes():
            base: Any = getattr(self, name).base
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
            numbers = struct.pack("<4q", self._generation, self._slot, self.height, self._capacity)
            self._keep({"scheme": self._key(), "numbers": numbers})
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


def _pack(paths: list[str]) -> bytes:
    return "\0".join(paths).encode("utf-8", "surrogateescape")


def _match(known: tuple[list[str], Int, Int], listing: Listing) -> tuple[Int, list[int]]:
    """The row of each file that is as it was (0 for the others), and the places of the others."""
    paths, times, rows = known
    now = np.frombuffer(listing.times, dtype=np.int64).reshape(-1, 3)
    if paths == listing.paths:
        same = (times == now).all(axis=1)
        return np.where(same, rows, 0), np.flatnonzero(~same).tolist()
    before = dict(zip(paths, range(len(paths)), strict=True))
    place = np.fromiter((before.get(path, -1) for path in listing.paths), dtype=np.int64, count=len(listing.paths))
    if not len(paths):
        return np.zeros(len(place), dtype=np.int64), list(range(len(place)))
    same = (place >= 0) & (times[place] == now).all(axis=1)
    return np.where(same, rows[place], 0), np.flatnonzero(~same).tolist()


def _marked(rows: Int, height: int) -> NDArray[np.bool_]:
    """True at the number of each row that a file has; row 0 is no row."""
    marked = np.zeros(height, dtype=bool)
    marked[rows] = True
    marked[0] = False
    return marked
