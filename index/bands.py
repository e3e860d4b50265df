"""Which signatures share a band: the candidate pairs of locality-sensitive hashing, found by sorting arrays.

`b` bands of `r` values make a pair of Jaccard similarity s a candidate with probability 1 - (1 - s**r)**b (Leskovec,
Rajaraman, Ullman, "Mining of Massive Datasets", chapter 3). With (21, 6) that is .93 at s = .7 and .998 at .8; with
datasketch's own optimum for a threshold of .7, which is (14, 9), it is .44 and .87. Generous bands are cheap here,
because an estimate on whole signatures thins the candidates before any text is read.

A pair is the number `a << 32 | b` with a < b. A band is compared by a 64-bit hash of its values, which can only add
candidates to those of `datasketch.MinHashLSH(params=(b, r))`; a property test holds the two sets equal.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from index.signatures import U32, U64, Int, sorted_unique

LONGEST_RUN = 512  # rows in one bucket that are all paired with one another
NEIGHBOURS = 32  # in a longer run each row is paired with this many that follow it
CHUNK = 8_192  # pairs whose signatures are compared at a time

_TABLE_BITS = 16
_TABLE_ROWS = 2_048  # so many rows' hashes fit into the second-level cache

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def band_hashes(signatures: U32, bands: int, size: int) -> U64:
    """One 64-bit hash for each band of each signature."""
    cut = signatures[:, : bands * size].reshape(len(signatures), bands, size)
    mixed = np.zeros((len(signatures), bands), dtype=np.uint64)
    for i in range(size):
        mixed ^= cut[:, :, i]
        mixed *= _MIX
        mixed ^= mixed >> _SHIFT
    return mixed


def candidates(bands: U64) -> U64:
    """Every pair of rows that shares a band, sorted, each once."""
    found = [pairs for k in range(bands.shape[1]) for pairs in _equal_pairs(np.ascontiguousarray(bands[:, k]))]
    return sorted_unique(np.concatenate(found)) if found else np.empty(0, dtype=np.uint64)


def candidates_with(bands: U64, new: Int) -> U64:
    """The pairs of `candidates` in which at least one row is of `new`, without sorting the others.

    A table of the first bits of the new rows' hashes drops nearly all other rows before anything is compared.
    """
    columns = np.arange(bands.shape[1])
    table = np.zeros((bands.shape[1], 1 << _TABLE_BITS), dtype=bool)
    shift = np.uint64(64 - _TABLE_BITS)
    table[columns, (bands[new] >> shift).astype(np.intp)] = True
    found = [np.empty(0, dtype=np.uint64)]
    hits = [
        np.argwhere(table[columns, (bands[at : at + _TABLE_ROWS] >> shift).astype(np.intp)]) + np.array([at, 0])
        for at in range(0, len(bands), _TABLE_ROWS)
    ]
    entries = np.concatenate(hits)
    for k in range(bands.shape[1]):
        rows = entries[entries[:, 1] == k, 0]
        found += [_code(rows[_high(pairs)], rows[_low(pairs)]) for pairs in _equal_pairs(bands[rows, k])]
    pairs = sorted_unique(np.concatenate(found))
    fresh = np.zeros(len(bands), dtype=bool)
    fresh[new] = True
    return pairs[fresh[_high(pairs)] | fresh[_low(pairs)]]


def pairs_in_buckets(rows: Int, buckets: Int) -> U64:
    """The pairs of rows in one bucket, as `candidates` makes them of one band; `buckets` numbers that of each row."""
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    found = [np.empty(0, dtype=np.uint64)]
    found += [_code(ordered[_high(p)], ordered[_low(p)]) for p in _equal_pairs(buckets[order].astype(np.uint64))]
    return sorted_unique(np.concatenate(found))


def alike(signatures: U32, pairs: U64, least: float) -> U64:
    """The pairs whose signatures agree in at least the share `least` of their values."""
    needed = least * signatures.shape[1]
    kept = [np.empty(0, dtype=np.uint64)]
    for at in range(0, len(pairs), CHUNK):
        part = pairs[at : at + CHUNK]
        agree = np.count_nonzero(signatures[_high(part)] == signatures[_low(part)], axis=1)
        kept.append(part[agree >= needed])
    return np.concatenate(kept)


def rows_of(pairs: U64) -> tuple[Int, Int]:
    """The two rows of each pair, the smaller first."""
    return _high(pairs), _low(pairs)


def pair_codes(a: Int, b: Int) -> U64:
    """The numbers of the pairs (a[i], b[i])."""
    return _code(np.minimum(a, b), np.maximum(a, b))


def _code(a: NDArray[np.int64], b: NDArray[np.int64]) -> U64:
    return (a.astype(np.uint64) << _SHIFT) | b.astype(np.uint64)


def _high(pairs: U64) -> Int:
    return (pairs >> _SHIFT).astype(np.int64)


def _low(pairs: U64) -> Int:
    return (pairs & _LOW).astype(np.int64)


def _equal_pairs(column: U64) -> Iterator[U64]:
    """The pairs of places that hold equal values, run by run of equal length."""
    order = np.argsort(column)
    ordered = column[order]
    edges = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    starts = np.concatenate([[0], edges])
    lengths = np.diff(starts, append=len(column))
    for length in (np.flatnonzero(np.bincount(lengths)[2:]) + 2).tolist():
        runs = starts[lengths == length]
        first, second = _within(length)
        step = max(1, 1_000_000 // len(first))
        for at in range(0, len(runs), step):
            members = np.sort(order[runs[at : at + step, None] + np.arange(length)], axis=1)
            yield _code(members[:, first].ravel(), members[:, second].ravel())


def _within(length: int) -> tuple[Int, Int]:
    """The pairs within a run: all of them, or each place with those that follow where that would be too many."""
    if length <= LONGEST_RUN:
        first, second = np.triu_indices(length, 1)
        return first.astype(np.int64), second.astype(np.int64)
    places = np.arange(length, dtype=np.int64)
    first = np.repeat(places, NEIGHBOURS)
    second = first + np.tile(np.arange(1, NEIGHBOURS + 1, dtype=np.int64), length)
    inside = second < length
    return first[inside], second[inside]
