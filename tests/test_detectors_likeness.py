"""detectors/likeness.py: lessons on one subject come together, and no chain of strangers."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from detectors.likeness import LARGEST, common_words, cosines, group_alike, group_lessons, read_words, term_counts

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
    return cosines([term_counts(read_words(*lesson)) for lesson in lessons])


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
    assert {"mock", "mocks"} & set(common_words([read_words(*lesson) for lesson in MOCKS]))
    slates = [("Slates of a replica are not cached", "A slate is made anew: replicas of slates lag. Slates move.")] * 3
    words = common_words([read_words(*lesson) for lesson in slates])
    assert words[0] == "slates"
    assert "not" not in words
    assert set(words) <= set("slates of a replica are not cached is made anew replicas lag move".split())
    assert common_words([read_words("", "")]) == ()


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


WORD = st.sampled_from("lock pool cache mock slate port retry queue proxy index 缓存 価格 the of".split())
LESSONS = st.lists(st.tuples(st.lists(WORD, max_size=4), st.lists(WORD, max_size=14)), max_size=14)
PAIRS = st.lists(st.tuples(st.integers(0, 13), st.integers(0, 13)), max_size=5)


@given(LESSONS, PAIRS, PAIRS, st.sampled_from([0.12, 0.3, 0.6]))
def test_groups_are_those_of_all_lessons_at_once(
    said: list[tuple[list[str], list[str]]], near: list[tuple[int, int]], equal: list[tuple[int, int]], least: float
) -> None:
    """To look for groups only among what is tied together finds the same ones, as alike."""
    terms = [term_counts(read_words(" ".join(title), " ".join(body))) for title, body in said]
    nearer = {(a, b): 0.05 for a, b in near if a < b < len(said)}
    one = [(a, b) for a, b in equal if a < b < len(said)]
    likeness = cosines(terms)
    for (a, b), more in nearer.items():
        likeness[a, b] += more
        likeness[b, a] += more
    for a, b in one:
        likeness[a, b] = likeness[b, a] = 1.0
    found = group_lessons(terms, least, nearer, one)
    assert [rows for rows, _ in found] == group_alike(likeness, least)
    for rows, strength in found:
        inner = [float(likeness[a, b]) for a, b in combinations(rows, 2)]
        assert strength == (pytest.approx(min(1.0, sum(inner) / len(inner)), abs=1e-5) if inner else 1.0)


@given(st.lists(st.tuples(st.text("aBs ſ中文é", max_size=8), st.text("aBc sing中文ß.\n", max_size=30)), max_size=4))
def test_words_are_counted_as_they_are_written(lessons: list[tuple[str, str]]) -> None:
    """A title counts three times, and the counts of words give what the texts give."""
    for title, body in lessons:
        words = re.findall(r"[^\W\d_]{1,60}", body.lower()) + 3 * re.findall(r"[^\W\d_]{1,60}", title.lower())
        singles: Counter[str] = Counter()
        for word in words:
            singles.update(term_counts(read_words("", word)))
        assert term_counts(read_words(title, body)) == singles
