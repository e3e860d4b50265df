"""Bands joined on arrays give the pairs that datasketch gives."""

from __future__ import annotations

import numpy as np
import pytest
from datasketch import LeanMinHash, MinHashLSH
from hypothesis import given, settings
from hypothesis import strategies as st

from index import bands
from index.signatures import SCHEME, U32, U64


def random_signatures(seed: int, count: int) -> U32:
    """Rows of which many are copies of an earlier one with some values changed, as near-duplicates are."""
    random = np.random.default_rng(seed)
    rows = random.integers(0, 1 << 32, size=(count, 128), dtype=np.uint32)
    for i in range(1, count):
        if random.random() < 0.6:
            rows[i] = rows[random.integers(0, i)]
            changed = random.random(128) < random.random() * 0.6
            rows[i, changed] = random.integers(0, 1 << 32, size=int(changed.sum()), dtype=np.uint32)
    return rows


def pairs_of_datasketch(rows: U32, shape: tuple[int, int]) -> set[tuple[int, int]]:
    lsh = MinHashLSH(num_perm=128, params=shape)
    sketches = [LeanMinHash(seed=1, hashvalues=row, scheme=SCHEME) for row in rows]
    for i, sketch in enumerate(sketches):
        lsh.insert(i, sketch)
    return {(i, j) for i, sketch in enumerate(sketches) for j in lsh.query(sketch) if i < j}


def pairs_of(codes: U64) -> set[tuple[int, int]]:
    a, b = bands.rows_of(codes)
    return set(zip(a.tolist(), b.tolist(), strict=True))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1 << 30), st.integers(1, 60), st.sampled_from([(21, 6), (42, 3), (14, 9), (2, 64)]))
def test_candidates_are_those_of_a_full_index(seed: int, count: int, shape: tuple[int, int]) -> None:
    """Sorting band hashes finds the same pairs as inserting and querying every row."""
    rows = random_signatures(seed, count)
    found = bands.candidates(bands.band_hashes(rows, *shape))
    assert pairs_of(found) == pairs_of_datasketch(rows, shape)
    assert np.array_equal(found, np.unique(found))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1 << 30), st.integers(1, 60), st.data())
def test_new_rows_find_exactly_their_pairs(seed: int, count: int, data: st.DataObject) -> None:
    """Joining some new rows with all gives those pairs of the whole join in which one of them is."""
    hashes = bands.band_hashes(random_signatures(seed, count), 21, 6)
    new = data.draw(st.sets(st.integers(0, count - 1), min_size=1))
    expected = {pair for pair in pairs_of(bands.candidates(hashes)) if new & {*pair}}
    assert pairs_of(bands.candidates_with(hashes, np.array(sorted(new)))) == expected


def test_alike_keeps_pairs_that_agree_enough() -> None:
    """The estimate is the share of equal values, and a pair at the bound stays."""
    rows = np.arange(4 * 128, dtype=np.uint32).reshape(4, 128)
    rows[1, :64] = rows[0, :64]
    rows[2, :63] = rows[0, :63]
    pairs = bands.pair_codes(np.array([0, 0, 0]), np.array([1, 2, 3]))
    assert pairs_of(bands.alike(rows, pairs, 0.5)) == {(0, 1)}
    assert not len(bands.alike(rows, pairs[:0], 0.5))


def test_a_long_run_is_joined_without_growing_squared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of very many equal rows each meets its neighbours, so that all hang together, and the pairs stay few."""
    monkeypatch.setattr(bands, "LONGEST_RUN", 10)
    monkeypatch.setattr(bands, "NEIGHBOURS", 2)
    pairs = pairs_of(bands.candidates(np.full((50, 3), 7, dtype=np.uint64)))
    assert pairs == {(i, j) for i in range(50) for j in (i + 1, i + 2) if j < 50}


def test_no_rows_no_pairs() -> None:
    """An empty store and a store of one have no pairs."""
    for count in (0, 1):
        assert not len(bands.candidates(np.zeros((count, 21), dtype=np.uint64)))
