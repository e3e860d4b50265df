"""Which lessons have to do with one: by the names, words, triggers and origins that few others share.

An index over the whole store, made anew in one pass over the texts (about 0.1 ms a lesson); what a lesson is held
against is bounded, however large the store is.
"""

from __future__ import annotations

import re
import zlib
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from index.literals import STOPWORDS
from index.records import Solution

NEAREST = 32
# A key that more lessons have tells nothing of which belong together; names are rarer than words.
COMMON = 300
# Read of each lesson: what it says first, and so many keys.
READ = 6_000
MOST_KEYS = 400
KEY = re.compile(r"[a-z0-9@][\w@./:+-]{2,80}")
PART = re.compile(r"[^\W_]{3,40}")


def keys_of(solution: Solution) -> set[str]:
    """What a lesson can be found by: its words and whole names, in lower case, its ids and its origins."""
    triggers = solution.triggers
    said = "\n".join((solution.title, *triggers.commands, *triggers.errors, *triggers.paths, solution.body[:READ]))
    low = said.lower()
    names = {name.rstrip(".,:;") for name in KEY.findall(low)}
    words = {word[:6] for word in PART.findall(low)} - STOPWORDS  # a stem, near enough to find what to look at
    kept = sorted(names | words)[:MOST_KEYS]
    origins = {f"\0{source.ref or source.session}" for source in solution.sources}
    ids = {f"\1{one}" for one in (solution.id, *solution.supersedes)}
    return {*kept, *origins, *ids}


class Neighbours:
    """An index of lessons by their keys; `near` gives the places of those that share most with one."""

    def __init__(self, solutions: Sequence[Solution]) -> None:
        codes: list[NDArray[np.uint32]] = []
        self.own: list[NDArray[np.uint32]] = codes
        for solution in solutions:
            marks = {zlib.crc32(key.encode("utf-8", "replace")) for key in keys_of(solution)}
            codes.append(np.array(sorted(marks), np.uint32))
        lengths = [len(one) for one in codes]
        every = np.concatenate(codes) if codes else np.zeros(0, np.uint32)
        whose = np.repeat(np.arange(len(codes)), lengths)
        order = np.argsort(every, kind="stable")
        self.codes, self.whose = every[order], whose[order]

    def near(self, place: int, most: int = NEAREST) -> tuple[int, ...]:
        """The places of at most so many other lessons, those that share the rarer keys first."""
        shared: dict[int, float] = defaultdict(float)
        own = self.own[place]
        starts = np.searchsorted(self.codes, own, "left").tolist()
        stops = np.searchsorted(self.codes, own, "right").tolist()
        for start, stop in zip(starts, stops, strict=True):
            if 1 < stop - start <= COMMON:
                weight = 1.0 / (stop - start)
                for other in self.whose[start:stop].tolist():
                    shared[other] += weight
        shared.pop(place, None)
        return tuple(sorted(sorted(shared, key=lambda other: (-shared[other], other))[:most]))
