"""Group lessons on one subject by the words they share: cosines of weighted words, and average linkage.

Words weigh by how seldom lessons of the same scope use them (Sparck Jones, "A statistical interpretation of term
specificity", 1972), titles count more than bodies, and of a body only its beginning is read: what follows is mostly
examples. Average linkage (Sokal and Michener, 1958) does not chain: a lesson joins a group that it resembles as a
whole.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations
from typing import Any

import numpy as np

from index.literals import STOPWORDS, stem
from index.words import STOP, USUAL

READ = 3_000  # characters of a body
TITLE = 3  # so often a title's words count
SHARED = 4  # words that two lessons must have in common: short ones reach any cosine by one or two
LARGEST = 15  # members of a group, unless they are as alike as copies
COPIES = 0.5
SLACK = 1e-6  # of figures that are rounded
_WORD = re.compile(r"[^\W\d_]{1,60}")

Matrix = np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True, slots=True)
class Words:
    """How often a lesson's title and the beginning of its body say each word, in lower case, in order of first use."""

    title: Mapping[str, int]
    body: Mapping[str, int]


def read_words(title: str, body: str) -> Words:
    """The words of a lesson."""
    return Words(Counter(_WORD.findall(title.lower())), Counter(_WORD.findall(body[:READ].lower())))


def term_counts(words: Words) -> dict[str, int]:
    """How often a lesson says each word, by stem; scripts without spaces count by neighbouring characters."""
    counts: dict[str, int] = {}
    for said, worth in ((words.body, 1), (words.title, TITLE)):
        for word, times in said.items():
            for term in _terms(word):
                counts[term] = counts.get(term, 0) + worth * times
    return counts


def cosines(lessons: Sequence[Mapping[str, int]]) -> Matrix:
    """The likeness (0..1) of each two lessons of one scope, by their terms; 0 for two that share fewer than SHARED."""
    weighted, scaled = _weigh(lessons)
    return _likeness(weighted, scaled @ scaled.T)


def group_lessons(
    lessons: Sequence[Mapping[str, int]],
    least: float,
    nearer: Mapping[tuple[int, int], float],
    one: Iterable[tuple[int, int]],
) -> list[tuple[list[int], float]]:
    """Groups of lessons that are on average `least` alike by their terms, and how alike the members of each are.

    `nearer` is what is added to the likeness of pairs, `one` are the pairs that count as equal. A group lies within the
    lessons that are tied together by pairs of that likeness: only among those is it looked for.
    """
    weighted, scaled = _weigh(lessons)
    products: Matrix = scaled @ scaled.T
    tied: np.ndarray[Any, np.dtype[np.bool_]] = np.greater_equal(products, least - SLACK, dtype=np.bool_)
    known: dict[tuple[int, int], float | None] = {**nearer, **dict.fromkeys(one)}
    for a, b in known:
        tied[a, b] = tied[b, a] = True
    parts = _components(tied)
    part_of = {row: part for part, rows in enumerate(parts) for row in rows}
    within: defaultdict[int, list[tuple[int, int, float | None]]] = defaultdict(list)
    for (a, b), more in known.items():
        within[part_of[a]].append((a, b, more))
    found: list[tuple[list[int], float]] = []
    for part, rows in enumerate(parts):
        if len(rows) == 1:
            found.append((rows, 1.0))
            continue
        likeness = _likeness(weighted[rows], products[np.ix_(rows, rows)])
        place = {row: n for n, row in enumerate(rows)}
        for a, b, more in within[part]:
            pair = (place[a], place[b])
            likeness[pair] = likeness[pair[::-1]] = 1.0 if more is None else likeness[pair] + more
        for group in group_alike(likeness, least):
            pairs = [float(likeness[a, b]) for a, b in combinations(group, 2)]
            found.append(([rows[n] for n in group], min(1.0, sum(pairs) / len(pairs)) if pairs else 1.0))
    return sorted(found)


def _weigh(lessons: Sequence[Mapping[str, int]]) -> tuple[Matrix, Matrix]:
    """The weights of the terms that several lessons share, a row a lesson, and the same by the length of all terms."""
    columns: defaultdict[str, int] = defaultdict()
    columns.default_factory = columns.__len__
    terms = np.fromiter(map(columns.__getitem__, chain.from_iterable(lessons)), dtype=np.int64)
    counts = np.fromiter(chain.from_iterable(counts.values() for counts in lessons), dtype=np.int64)
    rows = np.repeat(np.arange(len(lessons)), np.array([len(counts) for counts in lessons], dtype=np.int64))
    spread = np.bincount(terms, minlength=len(columns))
    seldom = [max(0.0, math.log((len(lessons) + 1) / (count + 0.5))) for count in range(len(lessons) + 1)]
    often = [1 + math.log(max(1, count)) for count in range(int(counts.max(initial=0)) + 1)]
    weights = np.array(often)[counts] * np.array(seldom)[spread[terms]]
    lengths = np.bincount(rows, weights * weights, minlength=len(lessons)).astype(np.float32)[:, None]
    shared = spread > 1
    column = np.cumsum(shared) - 1
    used = shared[terms]
    weighted = np.zeros((len(lessons), max(1, int(shared.sum()))), dtype=np.float32)
    weighted[rows[used], column[terms[used]]] = weights[used]
    lengths[lengths == 0] = 1
    return weighted, (weighted / np.sqrt(lengths)).astype(np.float32, copy=False)


def _likeness(weighted: Matrix, products: Matrix) -> Matrix:
    said = (weighted > 0).astype(np.float32)
    likeness: Matrix = np.where(said @ said.T >= SHARED, products, 0).astype(np.float32)
    return likeness


def _components(tied: np.ndarray[Any, np.dtype[np.bool_]]) -> list[list[int]]:
    """The rows that are tied to each other, directly or through others; `tied` is the same from both sides."""
    np.fill_diagonal(tied, val=False)
    left = np.asarray(tied.any(axis=1))
    found = [[row] for row in np.flatnonzero(~left).tolist()]
    for row in np.flatnonzero(left).tolist():
        if not left[row]:
            continue
        reached = np.zeros(len(tied), dtype=np.bool_)
        reached[row] = True
        edge = np.array([row])
        while len(edge):
            new = tied[edge].any(axis=0) & ~reached
            reached |= new
            edge = np.flatnonzero(new)
        left &= ~reached
        found.append(np.flatnonzero(reached).tolist())
    return found


def group_alike(likeness: Matrix, least: float) -> list[list[int]]:
    """Groups of rows, joined from the most alike on while two groups' members are on average `least` alike; sorted."""
    scores = likeness.astype(np.float64)
    np.fill_diagonal(scores, -1.0)
    members = {row: [row] for row in range(len(scores))}
    best = scores.argmax(axis=1) if len(scores) else np.empty(0, dtype=np.int64)
    top = scores[np.arange(len(scores)), best] if len(scores) else np.empty(0)
    while len(members) > 1:
        a = int(top.argmax())
        b = int(best[a])
        if top[a] < least:
            break
        if len(members[a]) + len(members[b]) > LARGEST and top[a] < COPIES:
            scores[a, b] = scores[b, a] = -1.0
            _renew(scores, best, top, (a, b))
            continue
        sizes = len(members[a]), len(members[b])
        joined = np.where(
            (scores[a] < 0) | (scores[b] < 0), -1.0, (sizes[0] * scores[a] + sizes[1] * scores[b]) / sum(sizes)
        )
        joined[[a, b]] = -1.0
        scores[a], scores[:, a] = joined, joined
        scores[b], scores[:, b] = -1.0, -1.0
        members[a] += members.pop(b)
        _renew(scores, best, top, [a, b, *np.flatnonzero((best == a) | (best == b)).tolist()])
        closer = scores[a] > top
        best[closer], top[closer] = a, scores[closer, a]
    return sorted(sorted(group) for group in members.values())


def common_words(
    lessons: Sequence[Words], terms: Sequence[Mapping[str, int]] | None = None, most: int = 5
) -> tuple[str, ...]:
    """The words that most of the lessons say, those said by more first; to show a person why they are a group. Each in
    the form that is written most often, without those that turn up in any talk about programs.

    `terms` are those of the lessons, where they are known.
    """
    every = terms if terms is not None else [term_counts(words) for words in lessons]
    counted = Counter(chain.from_iterable(every))
    shared = [
        term
        for term, count in counted.items()
        if 2 * count > len(every) and len(term) > 2 and term not in USUAL and term not in STOP
    ]
    said = {term: sum(counts.get(term, 0) for counts in every) for term in shared}
    best = sorted(shared, key=lambda term: (-counted[term], -said[term], term))[:most]
    written: Counter[str] = Counter()
    for words in lessons:
        for part in (words.title, words.body):
            for word, times in part.items():
                if len(word) > 2 and word.isascii() and stem(word) in best:
                    written[word] += times
    forms: dict[str, str] = {}
    for word, _ in sorted(written.items(), key=lambda item: (-item[1], item[0])):
        forms.setdefault(stem(word), word)
    return tuple(forms.get(term, term) for term in best)


def _renew(scores: np.ndarray[Any, Any], best: Any, top: Any, rows: Iterable[int]) -> None:
    for row in rows:
        best[row] = scores[row].argmax()
        top[row] = scores[row, best[row]]


@lru_cache(maxsize=65536)
def _terms(word: str) -> tuple[str, ...]:
    """The terms of a word in lower case."""
    if not word.isascii():
        return tuple(word[i : i + 2] for i in range(max(1, len(word) - 1)))
    return (stem(word),) if len(word) > 1 and word not in STOPWORDS else ()
