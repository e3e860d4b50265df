"""Which lessons are worth being held against each other, and what so many pairs share, in a few passes of numpy.

A pair is made from what is rare; all pairs are never made. What is found here in floating point is only ever a bound:
what passes is judged exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from detectors.lesson_table import Column, Float, Int, LessonTable, spans
from detectors.traits import RARE, Weights, seldom

Mask = NDArray[np.bool_]

MOST_PER_KEY = 12  # a key that more lessons share says little; beyond it no pairs are made from it
TITLE_WORDS = 4  # of a title, the rarest ones
SLACK = 1e-9  # of figures that are rounded
_CELLS = 8_000_000  # of the field in which the words of some lessons are marked
_ROWS = 1_000


def candidate_pairs(table: LessonTable) -> Int:
    """Pairs that share an error, a trigger or a title, or twice something weaker: two rare words of a title, a literal.

    Rows of two places, the lower first; sorted, each once.
    """
    strong = [_pairs_by(table, column.ids, column.rows()) for column in (table.errors, table.triggers)]
    strong.append(_pairs_by(table, *_same_titles(table.titles)))
    both = np.concatenate([_pairs_by(table, *_title_words(table)), _rare_pairs(table)])
    weak, times = np.unique(both, return_counts=True)
    return _places(table, np.unique(np.concatenate([*strong, weak[times > 1]])))


def rare_shared(table: LessonTable, pairs: Int) -> Int:
    """How many rare literals each pair shares."""
    codes, times = np.unique(_rare_pairs(table), return_counts=True)
    wanted = pairs[:, 0] * len(table.foreign) + pairs[:, 1]
    if not len(codes):
        return np.zeros(len(wanted), dtype=np.int64)
    at = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
    return np.where(codes[at] == wanted, times[at], 0)


def weigh_table(table: LessonTable, members: Int) -> tuple[Weights, Float]:
    """The weights of a store, those of its words counted in some of its lessons only; and these by their number."""
    lessons = len(table.foreign)
    words = _seldom(table.words.take(members).counts(), lessons)
    literals = table.literals.counts()
    names = table.literals.names
    weights = Weights(
        dict(zip(table.words.names, words.tolist(), strict=True)),
        dict(zip(names, _seldom(literals, lessons).tolist(), strict=True)),
        frozenset(map(names.__getitem__, np.flatnonzero((literals > 0) & (literals <= RARE)).tolist())),
    )
    return weights, words


def _seldom(counts: Int, lessons: int) -> Float:
    """The weights that belong to these counts, each worked out once."""
    found, at = np.unique(counts, return_inverse=True)
    return np.array([seldom(count, lessons) for count in found.tolist()], dtype=np.float64)[at]


class Shared(NamedTuple):
    """The weight of what each of some pairs shares, and of all on each side; but for rounding."""

    both: Float
    one: Float
    other: Float

    @property
    def part(self) -> Float:
        """The weighted Jaccard index."""
        return _divide(self.both, self.one + self.other - self.both)

    @property
    def contained(self) -> Float:
        """The share of one side, whichever is more, that the other has."""
        return _divide(self.both, np.minimum(self.one, self.other))


def share(column: Column, weights: Float, pairs: Int) -> Shared:
    """What these pairs share of the names of a column."""
    count = len(column.starts) - 1
    whole = np.bincount(column.rows(), weights=weights[column.ids], minlength=count).astype(np.float64)
    both = np.zeros(len(pairs))
    for part, marks, rows in _marked(column, pairs):
        places, sizes = spans(column.starts, pairs[part, 1])
        ids = column.ids[places]
        there = marks[np.repeat(rows, sizes), ids]
        pair = np.repeat(np.arange(len(rows)), sizes)[there]
        both[part] = np.bincount(pair, weights=weights[ids[there]], minlength=len(rows))
    return Shared(both, whole[pairs[:, 0]], whole[pairs[:, 1]])


def _divide(some: Float, whole: Float) -> Float:
    """Shares; 1 of what weighs nothing, as it may turn out either way."""
    return np.divide(some, whole, out=np.ones(len(some)), where=whole > SLACK)


def _marked(column: Column, pairs: Int) -> Iterator[tuple[Int, Mask, Int]]:
    """Some pairs after the other, with a field in which the names of their first lessons are marked, and the row of
    each pair in it."""
    firsts, row_of = np.unique(pairs[:, 0], return_inverse=True)
    order = np.argsort(row_of, kind="stable")
    many = max(1, min(_ROWS, _CELLS // max(1, len(column.names))))
    marks = np.zeros((min(many, len(firsts)), len(column.names)), dtype=np.bool_)
    for start in range(0, len(firsts), many):
        places, sizes = spans(column.starts, firsts[start : start + many])
        cells = np.repeat(np.arange(len(sizes)), sizes), column.ids[places]
        marks[cells] = True
        low, high = np.searchsorted(row_of[order], [start, start + many])
        part = order[low:high]
        yield part, marks, row_of[part] - start
        marks[cells] = False


def _rare_pairs(table: LessonTable) -> Int:
    """The pairs that share a rare literal, once for each of these."""
    ids = table.literals.ids
    rare = table.literals.counts()[ids] <= RARE
    return _pairs_by(table, ids[rare], table.literals.rows()[rare])


def _same_titles(titles: Column) -> tuple[Int, Int]:
    """A key for each title that is not empty, and its row."""
    rows = np.flatnonzero(np.diff(titles.starts))
    number: dict[bytes, int] = {}
    keys = [
        number.setdefault(titles.ids[start:end].tobytes(), len(number))
        for start, end in zip(titles.starts[rows].tolist(), titles.starts[rows + 1].tolist(), strict=True)
    ]
    return np.array(keys, dtype=np.int64), rows


def _title_words(table: LessonTable) -> tuple[Int, Int]:
    """A key for every two of the rarest words of each title, and its row."""
    titles, names = table.titles, table.titles.names
    spread = titles.counts()
    order = sorted(np.flatnonzero(spread).tolist(), key=lambda number: (spread[number], names[number]))
    rank = np.zeros(len(names), dtype=np.int64)
    rank[order] = np.arange(len(order))
    ranks = np.sort(titles.rows() << 32 | rank[titles.ids])
    rows = ranks >> 32
    at = np.arange(len(ranks)) - titles.starts[rows]
    first = at < TITLE_WORDS
    words = np.full((len(titles.starts) - 1, TITLE_WORDS), -1, dtype=np.int64)
    words[rows[first], at[first]] = ranks[first] & 0xFFFFFFFF
    keys, places = [], []
    for one, other in zip(*np.triu_indices(TITLE_WORDS, 1), strict=True):
        found = np.flatnonzero(words[:, other] >= 0)
        keys.append(words[found, one] << 32 | words[found, other])
        places.append(found)
    return np.concatenate(keys), np.concatenate(places)


def _pairs_by(table: LessonTable, keys: Int, rows: Int) -> Int:
    """Every two rows that share a key which no more than MOST_PER_KEY have, once for each key, as one number."""
    order = np.lexsort((rows, keys))
    keys, rows = keys[order], rows[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    sizes = np.diff(starts, append=len(keys))
    found = [np.empty(0, dtype=np.int64)]
    for size in range(2, MOST_PER_KEY + 1):
        members = rows[starts[sizes == size][:, None] + np.arange(size)]
        one, other = np.triu_indices(size, 1)
        found.append((members[:, one] * len(table.foreign) + members[:, other]).ravel())
    return np.concatenate(found)


def _places(table: LessonTable, codes: Int) -> Int:
    return np.stack(np.divmod(codes, max(1, len(table.foreign))), axis=1)
