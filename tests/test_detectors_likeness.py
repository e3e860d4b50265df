"""detectors/likeness.py: lessons on one subject come together, and no chain of strangers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from detectors.likeness import LARGEST, common_words, cosines, group_alike, term_counts

MOCKS = [
    ("Module mocks leak between specs", "A mock of the session module stays when the spec ends; restore the mock."),
    ("Restore module mocks after each spec", "The suite order breaks when a spec leaves its module mock behind."),
    ("Helpers that mock a module leak too", "A helper of the spec mocks the module; every later spec sees the mock."),
]
CACHE = [
    ("Invalidate the price cache on write", "The price cache answers with the old price after the product was saved."),
    ("Price cache must hear product writes", "Saving a product leaves the old price in the cache until it expires."),
    ("Old prices come from the cache", "After a write of the product the cache still has the old price."),
]


def matrix(lessons: list[tuple[str, str]]) -> np.ndarray:
    """Their likeness."""
    return cosines([term_counts(*lesson) for lesson in lessons])


def test_two_subjects_are_two_groups() -> None:
    """Mixed up, they are told apart."""
    mixed = [MOCKS[0], CACHE[0], MOCKS[1], CACHE[1], MOCKS[2], CACHE[2]]
    assert group_alike(matrix(mixed), 0.12) == [[0, 2, 4], [1, 3, 5]]


def test_two_words_in_common_are_no_likeness() -> None:
    """Short lessons that share a word or two are not alike, however seldom these are."""
    assert not matrix([("Zebra port", "zebra"), ("Zebra port", "port"), *MOCKS])[0, 1]


def test_a_chain_of_neighbours_is_no_group() -> None:
    """Each like the next, the first unlike the last: not all together."""
    n = 8
    chain = np.zeros((n, n), dtype=np.float32)
    for i in range(n - 1):
        chain[i, i + 1] = chain[i + 1, i] = 0.4
    assert max(len(group) for group in group_alike(chain, 0.3)) == 2


def test_a_group_stays_readable_unless_it_is_of_copies() -> None:
    """A subject has at most LARGEST members; copies of one lesson may be more."""
    size = 2 * LARGEST
    assert max(len(group) for group in group_alike(np.full((size, size), 0.3, dtype=np.float32), 0.12)) <= LARGEST
    assert len(group_alike(np.full((size, size), 0.9, dtype=np.float32), 0.12)) == 1


def test_terms_in_common_say_why() -> None:
    """The words that most members say, as they are written, and none that says nothing."""
    assert {"mock", "mocks"} & set(common_words(MOCKS))
    slates = [("Slates of a replica are not cached", "A slate is made anew: replicas of slates lag. Slates move.")] * 3
    words = common_words(slates)
    assert words[0] == "slates"
    assert "not" not in words
    assert set(words) <= set("slates of a replica are not cached is made anew replicas lag move".split())
    assert common_words([("", "")]) == ()


def test_chinese_and_japanese_lessons_are_compared_too() -> None:
    """Scripts without spaces count by neighbouring characters."""
    lessons = [
        ("缓存失效", "保存商品之后缓存仍然返回旧的价格。"),
        ("价格缓存", "写入商品之后缓存返回旧的价格，直到过期。"),
        ("端口冲突", "启动服务时提示端口已被占用。"),
    ]
    found = matrix(lessons)
    assert found[0, 1] > found[0, 2]


@given(st.integers(2, 12).flatmap(lambda n: arrays(np.float32, (n, n), elements=st.floats(0, 1, width=32))))
def test_every_row_is_in_exactly_one_group_and_groups_are_as_alike_as_asked(values: np.ndarray) -> None:
    """A partition, whose groups' members are on average at least as alike as the last join asked for."""
    scores = np.maximum(values, values.T)
    groups = group_alike(scores, 0.5)
    assert sorted(row for group in groups for row in group) == list(range(len(values)))
    for group in groups:
        inner = [scores[a, b] for a in group for b in group if a != b]
        assert not inner or sum(inner) / len(inner) >= 0.5 - 1e-5
