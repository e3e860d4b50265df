"""Which lessons have to do with one: by the names, words, triggers and origins that few others share.

An index over the whole store. What a lesson can be found by is read once (about half a millisecond) and kept from run
to run by its text; the index itself is made anew from that in a few passes over arrays. What a lesson is held against
is bounded, however large the store is.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

import index.frontmatter
import index.known
import index.literals
import index.records
from index.code_version import code_version
from index.files import read_bytes, write_atomic
from index.known import Known
from index.literals import STOPWORDS
from index.records import Solution

NEAREST = 32
# A key that more lessons have tells nothing of which belong together; names are rarer than words.
COMMON = 300
# Read of each lesson: what it says first, and so many keys.
READ = 6_000
MOST_KEYS = 400
ALIKE = 20  # more keys of one lesson never have the numbers of others
KEY = re.compile(r"[a-z0-9@][\w@./:+-]{2,80}")
PART = re.compile(r"[^\W_]{3,40}")

FILE = "neighbours.bin"
HEAD = 200  # bytes that the first line has at most
NAME = 16  # bytes that name a lesson's text
BLOCK = 4_000_000  # keys that are looked at in one go
WASTE = 2  # kept rows for each one in use, and so many beside, from which on the others are dropped
SPARE = 1_000
FEW = 1_000  # where fewer than one lesson in so many is new, reading it again is cheaper than keeping all anew

_READERS = (sys.modules[__name__], index.frontmatter, index.known, index.literals, index.records)

Numbers = NDArray[np.intp]


def keys_of(solution: Solution) -> set[str]:
    """What a lesson can be found by: its words and whole names, in lower case, its ids and its origins."""
    return {*sorted(_keys_in(_read_of(solution)))[:MOST_KEYS], *_marks_of(solution)}


def codes_of(solution: Solution) -> NDArray[np.uint32]:
    """The keys of a lesson as numbers, each once, in order."""
    # A key holds no blank, so that what a run between blanks gives can be remembered.
    codes = set[int]().union(*map(_codes_in.__getitem__, set(_read_of(solution).split())))
    if len(codes) < MOST_KEYS - ALIKE:
        codes.update(map(_code, _marks_of(solution)))
    else:  # two keys may have one number, so that near the bound the keys themselves are counted
        codes = {_code(key) for key in keys_of(solution)}
    return np.array(sorted(codes), np.uint32)


def _read_of(solution: Solution) -> str:
    triggers = solution.triggers
    said = (solution.title, *triggers.commands, *triggers.errors, *triggers.paths, solution.body[:READ])
    return "\n".join(said).lower()


def _keys_in(low: str) -> set[str]:
    names = {name.rstrip(".,:;") for name in KEY.findall(low)}
    return names | {word[:6] for word in PART.findall(low)} - STOPWORDS  # a stem, near enough to find what to look at


def _marks_of(solution: Solution) -> set[str]:
    origins = {f"\0{source.ref or source.session}" for source in solution.sources}
    return origins | {f"\1{one}" for one in (solution.id, *solution.supersedes)}


def _code(key: str) -> int:
    return zlib.crc32(key.encode("utf-8", "replace"))


_codes_in: Known[frozenset[int]] = Known(lambda run: frozenset(map(_code, _keys_in(run))))


def name_of(solution: Solution) -> bytes:
    """Sixteen bytes that name all that the keys are read from: the file's text, or the record where it has none."""
    read = solution.text or repr(solution)
    return hashlib.sha256(read.encode("utf-8", "surrogatepass")).digest()[:NAME]


class KeyRows:
    """The keys of lessons, a row for each text, as the numbers of their codes in a vocabulary.

    With a folder, `save` keeps them in a file there, unless it is `frozen`. The file can be deleted at any time, is not
    believed where it is damaged, and starts anew when the code that reads keys has changed. `ids` are the rows laid end
    to end, each in the order of the codes; `lengths` those of the rows.
    """

    def __init__(self, folder: Path | None = None, frozen: bool = False) -> None:
        self._frozen = frozen
        self._place = None if folder is None else folder / FILE
        self._row_of: dict[bytes, int] = {}
        self._unsaved = 0
        self.vocabulary = np.zeros(0, np.uint32)
        self.ids = np.zeros(0, np.int32)
        self.lengths = np.zeros(0, np.int32)
        if self._place is not None:
            with contextlib.suppress(OSError, ValueError, TypeError):
                self._load(read_bytes(self._place) or b"")

    def rows(self, solutions: Sequence[Solution], names: Sequence[bytes]) -> Numbers:
        """The row of each solution, named by what it was read from; those that are new are read. Rows that are used no
        more are forgotten when there are many, and then the others have new numbers."""
        rows = np.empty(len(solutions), np.intp)
        told: dict[bytes, None] = {}
        missing: list[int] = []
        for place, given in enumerate(names):
            name = given
            while name in told:  # a second file with the same text counts as one of its own
                name = hashlib.sha256(name).digest()[:NAME]
            told[name] = None
            row = self._row_of.setdefault(name, len(self._row_of))
            if row == len(self.lengths) + len(missing):
                missing.append(place)
            rows[place] = row
        self._add([codes_of(solutions[place]) for place in missing])
        if len(self._row_of) <= WASTE * len(rows) + SPARE:
            return rows
        self._keep(rows)
        self._row_of = {name: row for row, name in enumerate(told)}
        return np.arange(len(rows))

    def save(self) -> None:
        """Keep what was read; where that was little, the next run reads it again."""
        if self._place is None or self._frozen or self._unsaved * FEW <= len(self._row_of):
            return
        head = orjson.dumps([code_version(*_READERS), len(self.lengths), len(self.vocabulary), len(self.ids)])
        parts = [b"".join(self._row_of), self.lengths.tobytes(), self.vocabulary.tobytes(), self.ids.tobytes()]
        content = b"".join((head, b"\n", *parts))
        with contextlib.suppress(OSError):
            self._place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomic(self._place, content + zlib.crc32(content).to_bytes(4, "little"))
            self._unsaved = 0

    def _load(self, raw: bytes) -> None:
        head, _, _ = raw[:HEAD].partition(b"\n")
        version, rows, words, keys = orjson.loads(head)
        if version != code_version(*_READERS) or zlib.crc32(memoryview(raw)[:-4]) != int.from_bytes(raw[-4:], "little"):
            raise ValueError("of another version, or damaged")
        names = raw[len(head) + 1 : len(head) + 1 + NAME * rows]
        at = len(head) + 1 + len(names)
        self.lengths = np.frombuffer(raw, np.int32, rows, at)
        self.vocabulary = np.frombuffer(raw, np.uint32, words, at + 4 * rows)
        self.ids = np.frombuffer(raw, np.int32, keys, at + 4 * (rows + words))
        self._row_of = {names[NAME * row : NAME * (row + 1)]: row for row in range(rows)}

    def _add(self, codes: Sequence[NDArray[np.uint32]]) -> None:
        if not codes:
            return
        distinct, inverse = np.unique(np.concatenate(codes), return_inverse=True)
        order = np.argsort(self.vocabulary)
        at = np.searchsorted(self.vocabulary, distinct, sorter=order)
        known = at < len(order)
        known[known] = self.vocabulary[order[at[known]]] == distinct[known]
        number = np.empty(len(distinct), np.int32)
        number[known] = order[at[known]]
        number[~known] = len(order) + np.arange(np.count_nonzero(~known))
        self.vocabulary = np.concatenate((self.vocabulary, distinct[~known]))
        self.ids = np.concatenate((self.ids, number[inverse]))
        self.lengths = np.concatenate((self.lengths, np.array([len(one) for one in codes], np.int32)))
        self._unsaved += len(codes)

    def _keep(self, rows: Numbers) -> None:
        """Forget all rows but these, and the codes that only others had."""
        stops = np.cumsum(self.lengths, dtype=np.intp)
        starts = stops - self.lengths
        kept = [self.ids[starts[row] : stops[row]] for row in rows.tolist()]
        used, ids = np.unique(np.concatenate((self.ids[:0], *kept)), return_inverse=True)
        self.vocabulary, self.ids = self.vocabulary[used], ids.astype(np.int32)
        self.lengths = self.lengths[rows]
        self._unsaved = len(rows)


class Neighbours:
    """An index of lessons by their keys; `near` gives the places of those that share most with one.

    `known` holds the keys that earlier runs read, and takes those that are read now; `names` are those of `name_of`,
    where the caller has them. Only keys of a few lessons are indexed.
    """

    def __init__(
        self, solutions: Sequence[Solution], known: KeyRows | None = None, names: Sequence[bytes] | None = None
    ) -> None:
        known = KeyRows() if known is None else known
        self._rows = known.rows(solutions, [name_of(one) for one in solutions] if names is None else names)
        self._ids, self._stops = known.ids, np.cumsum(known.lengths, dtype=np.intp)
        self._starts = self._stops - known.lengths
        place_of = np.full(len(known.lengths), -1, np.int32)
        place_of[self._rows] = np.arange(len(solutions))
        used = np.zeros(len(known.vocabulary), np.intp)
        for _, ids in self._blocks(place_of):
            used += np.bincount(ids, minlength=len(used))
        self._few = (used > 1) & (used <= COMMON)
        self._count = np.where(self._few, used, 0)
        self._first = np.cumsum(self._count) - self._count
        self._whose = self._listed(place_of)
        self._score = np.zeros(len(solutions))
        self._mark = np.zeros(len(solutions), np.intp)

    def _blocks(self, place_of: NDArray[np.int32]) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32]]]:
        """The place and the id of every key of the lessons, so many at a time."""
        first = 0
        while first < len(place_of):
            last = max(first + 1, int(np.searchsorted(self._stops, self._starts[first] + BLOCK, "right")))
            begin, end = self._starts[first], self._stops[last - 1]
            ids = self._ids[begin:end]
            places = np.repeat(place_of[first:last], self._stops[first:last] - self._starts[first:last])
            live = places >= 0
            yield (places, ids) if live.all() else (places[live], ids[live])
            first = last

    def _listed(self, place_of: NDArray[np.int32]) -> NDArray[np.int32]:
        """The places of the lessons by the ids of their keys, those of one key side by side."""
        kept = [(places[few], ids[few]) for places, ids in self._blocks(place_of) for few in [self._few[ids]]]
        if not kept:
            return np.zeros(0, np.int32)
        places, ids = (np.concatenate(some) for some in zip(*kept, strict=True))
        # Sorted by the lower and then by the upper half of the ids, which numpy does by counting.
        order = np.argsort((ids & 0xFFFF).astype(np.uint16), kind="stable")
        order = order[np.argsort((ids[order] >> 16).astype(np.uint16), kind="stable")]
        return places[order]

    def near(self, place: int, most: int = NEAREST) -> tuple[int, ...]:
        """The places of at most so many other lessons, those that share the rarer keys first."""
        row = self._rows[place]
        own = self._ids[self._starts[row] : self._stops[row]]
        own = own[self._few[own]]
        if not len(own) or most < 1:
            return ()
        count, first = self._count[own], self._first[own]
        at = np.repeat(first - np.cumsum(count) + count, count) + np.arange(count.sum())
        others, score = self._whose[at], self._score
        np.add.at(score, others, np.repeat(1.0 / count, count))
        self._mark[others] = np.arange(len(others))
        others = others[(self._mark[others] == np.arange(len(others))) & (others != place)]
        shared = score[others]
        score[others] = score[place] = 0.0
        if len(others) > most:
            least = np.partition(shared, -most)[-most]
            others, shared = others[shared >= least], shared[shared >= least]
            others = others[np.lexsort((others, -shared))[:most]]
        return tuple(sorted(others.tolist()))
