"""What the lessons of a store are compared by, as columns of numbers: words, words of the title, literals, triggers.

A word or literal is read once and is a number from then on, so that what depends on all lessons (how often each stands,
who shares one) takes a few passes of numpy over the whole store. The table is kept from run to run in one file, from
which the lessons that did not change are taken; it can be lost or damaged at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from detectors.traits import (
    Traits,
    Written,
    error_keys,
    find_code,
    find_words,
    foreign_share,
    run_literals,
    title_of,
    trigger_keys,
    word_parts,
)
from index.files import read_bytes, write_parts
from index.records import Solution

Int = NDArray[np.int64]
Float = NDArray[np.float64]
_AT_ONCE = 8_000_000  # characters that are read before their numbers are sorted
_MOST_RUNS = 60_000  # runs of characters that are remembered from there on to the next ones
_CHECK = 32
_WASTE = 1.5  # kept rows for each that is of use, from which on the others are left out


class Column(NamedTuple):
    """Sets of names, one a lesson: `ids[starts[i]:starts[i + 1]]` are the numbers of lesson i in `names`, ascending."""

    names: Sequence[str]
    ids: Int
    starts: Int

    def counts(self) -> Int:
        """In how many lessons each name stands."""
        return np.bincount(self.ids, minlength=len(self.names))

    def rows(self) -> Int:
        """The lesson of each of `ids`."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def of(self, row: int) -> frozenset[str]:
        """The names of one lesson."""
        return frozenset(map(self.names.__getitem__, self.ids[self.starts[row] : self.starts[row + 1]].tolist()))

    def take(self, rows: Int) -> Column:
        """The column of these lessons in this order."""
        if np.array_equal(rows, np.arange(len(self.starts) - 1)):
            return self
        places, sizes = spans(self.starts, rows)
        return Column(self.names, self.ids[places], starts_of(sizes))


@dataclass(frozen=True, slots=True)
class LessonTable:
    """The columns of some lessons. `titles` counts in the names of `words`; `foreign` is `Traits.foreign`."""

    words: Column
    titles: Column
    literals: Column
    errors: Column
    triggers: Column
    foreign: Float

    def traits(self, row: int, solution: Solution) -> Traits:
        """The traits of the lesson in one row."""
        return Traits(
            title=title_of(solution),
            title_words=self.titles.of(row),
            words=self.words.of(row),
            literals=self.literals.of(row),
            errors=self.errors.of(row),
            triggers=self.triggers.of(row),
            foreign=float(self.foreign[row]),
            created=solution.created,
            body=solution.body,
        )

    def written(self, row: int, solution: Solution) -> Written:
        """The lesson in one row as it is written."""
        return Written(title_of(solution), solution.body, solution.created, float(self.foreign[row]))

    def take(self, rows: Int) -> LessonTable:
        """The table of these lessons in this order."""
        return _table([column.take(rows) for column in self.columns], self.foreign[rows])

    @property
    def columns(self) -> tuple[Column, Column, Column, Column, Column]:
        """All columns of names."""
        return self.words, self.titles, self.literals, self.errors, self.triggers


def spans(starts: Int, rows: Int) -> tuple[Int, Int]:
    """The places of all that belongs to these rows, one after the other, and how many belong to each."""
    sizes = starts[rows + 1] - starts[rows]
    before = np.cumsum(sizes) - sizes
    return np.arange(int(sizes.sum())) + np.repeat(starts[rows] - before, sizes), sizes


def starts_of(sizes: Int) -> Int:
    """Where each of parts of these sizes begins, and the end of the last."""
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


class _Numbers(dict[str, int]):
    """Names by number, in the order in which they were first met."""

    def __missing__(self, name: str) -> int:
        self[name] = number = len(self)
        return number


class _Lists:
    """Lists of numbers one after the other."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.starts = [0]

    def add(self, ids: Iterable[int]) -> None:
        """One more list."""
        self.ids.extend(ids)
        self.starts.append(len(self.ids))

    def arrays(self) -> tuple[Int, Int]:
        """All numbers, and where each list begins."""
        return (
            np.fromiter(self.ids, dtype=np.int64, count=len(self.ids)),
            np.fromiter(self.starts, dtype=np.int64, count=len(self.starts)),
        )


class _Words(dict[str, tuple[int, ...]]):
    """Words as they are written, with the numbers of what each is compared by."""

    def __init__(self, numbers: _Numbers) -> None:
        super().__init__()
        self._numbers = numbers

    def __missing__(self, word: str) -> tuple[int, ...]:
        self[word] = found = tuple(map(self._numbers.__getitem__, word_parts(word)))
        return found


class _Spans(dict[str, int]):
    """Code spans as they are written, with the number of the literal that each is."""

    def __init__(self, numbers: _Numbers) -> None:
        super().__init__()
        self._numbers = numbers

    def __missing__(self, code: str) -> int:
        self[code] = number = self._numbers[" ".join(code.split())]
        return number


class _Runs(dict[str, int]):
    """Runs of characters without a space by number, with the words and the literals in each."""

    def __init__(self, words: _Numbers, literals: _Numbers) -> None:
        super().__init__()
        self.span = _Spans(literals).__getitem__
        self.words, self.literals = _Lists(), _Lists()
        self._literal = literals.__getitem__
        self._word = _Words(words).__getitem__

    def __missing__(self, run: str) -> int:
        self[run] = number = len(self)
        self.words.add(chain.from_iterable(map(self._word, find_words(run.lower()))))
        self.literals.add(map(self._literal, run_literals(run)))
        return number


class _Part(NamedTuple):
    """The numbers of one column for some lessons, and how many each lesson has."""

    ids: Int
    sizes: Int


def read_table(solutions: Sequence[Solution], known: LessonTable | None = None) -> LessonTable:
    """The table of these lessons; where `known` is given, its rows first, with which they share their names."""
    words, literals, errors, triggers = (_number(known.columns[at].names if known else ()) for at in (0, 2, 3, 4))
    runs = _Runs(words, literals)
    parts: tuple[list[_Part], ...] = ([], [], [], [], [])
    for some in _batches(solutions):
        if len(runs) > _MOST_RUNS:
            runs = _Runs(words, literals)
        for column, part in zip(parts, _read_some(some, runs, errors, triggers), strict=True):
            column.append(part)
    names = [list(names) for names in (words, words, literals, errors, triggers)]
    columns = [_column(*given) for given in zip(names, parts, known.columns if known else (None,) * 5, strict=True)]
    foreign = np.array([foreign_share(one.body) for one in solutions], dtype=np.float64)
    return _table(columns, np.concatenate([known.foreign, foreign]) if known else foreign)


def _table(columns: Sequence[Column], foreign: Float) -> LessonTable:
    words, titles, literals, errors, triggers = columns
    return LessonTable(words, titles, literals, errors, triggers, foreign)


def _batches(solutions: Sequence[Solution]) -> Iterator[Sequence[Solution]]:
    """Lessons of so many characters, or one that has more."""
    ends = np.cumsum(np.array([len(one.body) for one in solutions], dtype=np.int64))
    start, read = 0, 0
    while start < len(solutions):
        end = max(start + 1, int(np.searchsorted(ends, read + _AT_ONCE, side="right")))
        yield solutions[start:end]
        start, read = end, int(ends[end - 1])


def _number(names: Sequence[str]) -> _Numbers:
    return _Numbers(zip(names, range(len(names)), strict=True))


def _column(names: list[str], parts: Sequence[_Part], known: Column | None) -> Column:
    ids = [known.ids] if known else []
    sizes = [np.diff(known.starts)] if known else []
    none = np.empty(0, dtype=np.int64)
    return Column(
        names,
        np.concatenate([none, *ids, *(part.ids for part in parts)]),
        starts_of(np.concatenate([none, *sizes, *(part.sizes for part in parts)])),
    )


def _read_some(solutions: Sequence[Solution], runs: _Runs, errors: _Numbers, triggers: _Numbers) -> list[_Part]:
    """Words, words of the title, literals, errors and triggers of some lessons."""
    body, title, named = _Lists(), _Lists(), _Lists()
    spoken, failed, at = _Lists(), _Lists(), _Lists()
    for one in solutions:
        body.add(map(runs.__getitem__, one.body.split()))
        in_title = [runs[run] for run in title_of(one).split()]
        title.add(in_title)
        # The first heading of a lesson without a title stands in its body already.
        named.add(in_title if one.title else ())
        spoken.add(map(runs.span, (*find_code(one.title), *find_code(one.body))))
        failed.add(map(errors.__getitem__, error_keys(one)))
        at.add(map(triggers.__getitem__, trigger_keys(one)))
    words, found = runs.words.arrays(), runs.literals.arrays()
    count = len(solutions)
    # The same runs come again and again in a text.
    texts, titles, headed = (_distinct(count, _each(lists)) for lists in (body, title, named))
    return [
        _distinct(count, _within(words, texts), _within(words, titles)),
        _distinct(count, _within(words, titles)),
        _distinct(count, _within(found, texts), _within(found, headed), _each(spoken)),
        _distinct(count, _each(failed)),
        _distinct(count, _each(at)),
    ]


def _each(lists: _Lists) -> _Part:
    ids, starts = lists.arrays()
    return _Part(ids, np.diff(starts))


def _within(inner: tuple[Int, Int], outer: _Part) -> _Part:
    """What stands in the inner lists that the outer ones name, by outer list."""
    ids, starts = inner
    there = np.diff(starts)[outer.ids] > 0
    rows = np.repeat(np.arange(len(outer.sizes)), outer.sizes)[there]
    places, sizes = spans(starts, outer.ids[there])
    found = np.bincount(rows, weights=sizes, minlength=len(outer.sizes))
    return _Part(ids[places], found.astype(np.int64))


def _distinct(count: int, *found: _Part) -> _Part:
    """Each number once in each of `count` lessons."""
    rows = np.arange(count) << 32
    both = np.concatenate([np.repeat(rows, part.sizes) | part.ids for part in found])
    both.sort()
    kept = both[np.diff(both, prepend=-1) != 0]
    return _Part(kept & 0xFFFFFFFF, np.bincount(kept >> 32, minlength=count))


def write_table(place: Path, table: LessonTable, keys: Sequence[bytes], version: str) -> None:
    """Keep a table, with the key (16 bytes) of each row; names that no row has are left out."""
    words, titles, literals, errors, triggers = table.columns
    used = np.concatenate([words.ids, titles.ids])
    columns = [
        *_renumber([words, titles], used),
        *(_renumber([one], one.ids)[0] for one in (literals, errors, triggers)),
    ]
    parts = [b"".join(keys), table.foreign.astype("<f8").tobytes()]
    for number, column in enumerate(columns):
        parts += [column.ids.astype("<i4").tobytes(), np.diff(column.starts).astype("<i4").tobytes()]
        if number != 1:
            sizes = np.fromiter(map(len, column.names), dtype="<i4", count=len(column.names))
            parts += [sizes.tobytes(), "".join(column.names).encode("utf-8", "surrogatepass")]
    head = orjson.dumps([version, list(map(len, parts))])
    parts = [b"%d\n" % len(head), head, *parts]
    with contextlib.suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_parts(place, [_digest(parts), *parts])


def _renumber(columns: Sequence[Column], used: Int) -> list[Column]:
    """Columns of one set of names without those that are not used."""
    names = columns[0].names
    seen = np.bincount(used, minlength=len(names)) > 0
    if seen.all():
        return list(columns)
    left = [name for name, there in zip(names, seen.tolist(), strict=True) if there]
    number = np.cumsum(seen) - 1
    return [Column(left, number[column.ids], column.starts) for column in columns]


def load_table(place: Path, version: str) -> tuple[LessonTable, dict[bytes, int]] | None:
    """A kept table, and the row of each key; None where there is none, it is damaged, or of another version."""
    with contextlib.suppress(OSError, ValueError):
        whole = memoryview(read_bytes(place) or b"")
        if bytes(whole[:_CHECK]) != _digest([whole[_CHECK:]]):
            return None
        first, _, _ = bytes(whole[_CHECK : _CHECK + 20]).partition(b"\n")
        start = _CHECK + len(first) + 1
        end = start + int(first)
        made_by, sizes = orjson.loads(whole[start:end])
        if made_by == version:
            edges = [end + int(edge) for edge in starts_of(np.array(sizes))]
            return _parse(iter([whole[one:other] for one, other in pairwise(edges)]))
    return None


def _parse(parts: Any) -> tuple[LessonTable, dict[bytes, int]]:
    raw = bytes(next(parts))
    keys = {raw[start : start + 16]: start // 16 for start in range(0, len(raw), 16)}
    foreign = np.frombuffer(next(parts), dtype="<f8")
    columns: list[Column] = []
    for number in range(5):
        ids = np.frombuffer(next(parts), dtype="<i4").astype(np.int64)
        starts = starts_of(np.frombuffer(next(parts), dtype="<i4"))
        if number == 1:
            names = columns[0].names
        else:
            edges = starts_of(np.frombuffer(next(parts), dtype="<i4")).tolist()
            text = str(next(parts), "utf-8", "surrogatepass")
            names = [text[one:other] for one, other in pairwise(edges)]
        columns.append(Column(names, ids, starts))
    return _table(columns, foreign), keys


def _digest(parts: Iterable[bytes | memoryview]) -> bytes:
    """A damaged number must not be taken for a lesson's word."""
    whole = hashlib.blake2b(digest_size=_CHECK)
    for part in parts:
        whole.update(part)
    return whole.digest()


def find_table(solutions: Sequence[Solution], keys: Sequence[bytes], place: Path, version: str) -> LessonTable:
    """The table of these lessons, in their order; those whose key (16 bytes) is kept at `place` are not read again."""
    known, rows = load_table(place, version) or (None, {})
    new = {key: one for key, one in zip(keys, solutions, strict=True) if key not in rows}
    before = len(known.foreign) if known else 0
    whole = known if known and not new else read_table(list(new.values()), known)
    rows |= {key: before + number for number, key in enumerate(new)}
    table = whole.take(np.array([rows[key] for key in keys], dtype=np.int64))
    if new or before > _WASTE * len(keys) + 100:
        write_table(place, table, keys, version)
    return table
