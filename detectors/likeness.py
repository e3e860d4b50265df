"""Group lessons on one subject by the words they share: cosines of weighted words, and average linkage.

Words weigh by how seldom lessons of the same scope use them (Sparck Jones, "A statistical interpretation of term
specificity", 1972), titles count more than bodies, and of a body only its beginning is read: what follows is mostly
examples. Average linkage (Sokal and Michener, 1958) does not chain: a lesson joins a group that it resembles as a
whole.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from index.literals import STOPWORDS, stem
from index.words import STOP, USUAL

READ = 3_000  # characters of a body
TITLE = 3  # so often a title's words count
SHARED = 4  # words that two lessons must have in common: short ones reach any cosine by one or two
LARGEST = 15  # members of a group, unless they are as alike as copies
COPIES = 0.5
_WORD = re.compile(r"[^\W\d_]{1,60}")

Matrix = np.ndarray[Any, np.dtype[np.float32]]


def term_counts(title: str, body: str) -> Counter[str]:
    """How often a lesson says each word, by stem; scripts without spaces count by neighbouring characters."""
    counts = Counter(_terms(body[:READ]))
    for term in _terms(title):
        counts[term] += TITLE
    return counts


def cosines(lessons: Sequence[Counter[str]]) -> Matrix:
    """The likeness (0..1) of each two lessons of one scope; 0 for two that share fewer than SHARED words."""
    spread = Counter(term for counts in lessons for term in counts)
    columns = {term: n for n, term in enumerate(term for term, count in spread.items() if count > 1)}
    rarity = {term: max(0.0, math.log((len(lessons) + 1) / (count + 0.5))) for term, count in spread.items()}
    weighted = np.zeros((len(lessons), max(1, len(columns))), dtype=np.float32)
    lengths = np.zeros((len(lessons), 1), dtype=np.float32)
    for row, counts in enumerate(lessons):
        weights = [(1 + math.log(count)) * rarity[term] for term, count in counts.items()]
        lengths[row] = sum(weight * weight for weight in weights)
        shared = [(columns[term], weight) for term, weight in zip(counts, weights, strict=True) if term in columns]
        if shared:
            weighted[row, [column for column, _ in shared]] = [weight for _, weight in shared]
    scaled = weighted / np.sqrt(np.where(lengths == 0, 1, lengths))
    said = (weighted > 0).astype(np.float32)
    likeness: Matrix = np.where(said @ said.T >= SHARED, scaled @ scaled.T, 0).astype(np.float32)
    return likeness


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
        closer = scores[:, a] > top
        best[closer], top[closer] = a, scores[closer, a]
    return sorted(sorted(group) for group in members.values())


def common_words(lessons: Sequence[tuple[str, str]], most: int = 5) -> tuple[str, ...]:
    """The words that most of the lessons (title, body) say, those said by more first; to show a person why they are a
    group. Each in the form that is written most often, without those that turn up in any talk about programs."""
    every = [term_counts(*lesson) for lesson in lessons]
    counted = Counter(term for counts in every for term in counts)
    said = {term: sum(counts[term] for counts in every) for term in counted}
    shared = [
        term
        for term, count in counted.items()
        if 2 * count > len(every) and len(term) > 2 and term not in USUAL and term not in STOP
    ]
    best = sorted(shared, key=lambda term: (-counted[term], -said[term], term))[:most]
    written = Counter(
        word for title, body in lessons for word in _WORD.findall(f"{title} {body[:READ]}".lower()) if word.isascii()
    )
    forms: dict[str, str] = {}
    for word, _ in sorted(written.items(), key=lambda item: (-item[1], item[0])):
        forms.setdefault(stem(word), word)
    return tuple(forms.get(term, term) for term in best)


def _renew(scores: np.ndarray[Any, Any], best: Any, top: Any, rows: Iterable[int]) -> None:
    for row in rows:
        best[row] = scores[row].argmax()
        top[row] = scores[row, best[row]]


def _terms(text: str) -> list[str]:
    found: list[str] = []
    for word in _WORD.findall(text.lower()):
        if word.isascii():
            if len(word) > 1 and word not in STOPWORDS:
                found.append(stem(word))
        else:
            found += [word[i : i + 2] for i in range(max(1, len(word) - 1))]
    return found
