"""Signatures on arrays say what the plain code and datasketch say."""

from __future__ import annotations

import numpy as np
from datasketch import MinHash
from hypothesis import given, settings
from hypothesis import strategies as st

from index import signatures
from index.similarity import shingles

PIECES = st.sampled_from(
    [
        "word", "Word_2", "x", "a" * 8, "b" * 9, "c" * 17, "d" * 33, "e" * 70, "Ünïcode", "İ", "中文字", "サーバ",
        "서버", "รีส", "မြန်", "ខ្មែ", "—", "“q”", "，", "Ａｂ", "✅️", "🚀", "𠀀", "\U000e0041", "é", "²", "\ufeff",
        "\x00", "\x85", " ", " ", " ", "\n", "\n", "\r\n", "\t", "## Head ", "# One ", "**Why:** ", "**Why**: ",
        "- **Fix:** ",
        "* **x**", "**", "***", "*", "-", ":", "#",
    ]
)  # fmt: skip
BODIES = st.lists(st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=40), max_size=6)
FACTORS, SUMMANDS = signatures.permutations(128, 1)


@settings(max_examples=300, deadline=None)
@given(BODIES)
def test_shingles_on_arrays_are_those_of_the_plain_code(bodies: list[str]) -> None:
    """For any texts, batched in any way, each body has exactly the shingles that `index.similarity` finds."""
    found = signatures.shingle([signatures.encode(body) for body in bodies])
    for i, body in enumerate(bodies):
        assert set(found.of(i).tolist()) == {signatures.shingle_hash(one) for one in shingles(body)}, body


def test_permutations_are_those_of_datasketch() -> None:
    """Factors and summands are equal for any number and seed."""
    for count, seed in ((128, 1), (64, 7), (256, 42)):
        theirs = MinHash(num_perm=count, seed=seed).permutations
        assert np.array_equal(np.array(signatures.permutations(count, seed)), theirs)


@settings(max_examples=60, deadline=None)
@given(BODIES)
def test_signatures_equal_bulk_bit_for_bit(bodies: list[str]) -> None:
    """The rows are the hash values of `MinHash.bulk` over the same shingles, empty bodies included."""
    rows = signatures.sign(signatures.shingle([signatures.encode(body) for body in bodies]), FACTORS, SUMMANDS)
    tokens = [[one.encode() for one in shingles(body)] for body in bodies]
    theirs = MinHash.bulk(tokens, num_perm=128, seed=1, hashfunc=signatures.shingle_hash32, scheme=signatures.SCHEME)
    assert len(rows) == len(theirs)
    for row, sketch in zip(rows, theirs, strict=True):
        assert np.array_equal(row, sketch.hashvalues)


def test_batches_do_not_change_signatures() -> None:
    """A stream cut into many batches gives the rows that one batch gives."""
    bodies = [signatures.encode(f"lesson {i} " + "says 行 more words " * (i % 7 * 300)) for i in range(40)]
    rows = np.concatenate([rows for rows, _ in signatures.sign_all(iter(bodies), FACTORS, SUMMANDS)])
    assert np.array_equal(rows, signatures.sign(signatures.shingle(bodies), FACTORS, SUMMANDS))
    assert list(signatures.sign_all([], FACTORS, SUMMANDS)) == []
