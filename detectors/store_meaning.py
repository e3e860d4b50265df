"""The judgements on all lessons of a store, with what can be known of them before kept from run to run.

How much a word weighs depends on all lessons, so that one that changed may turn the judgement on any two: the whole is
kept for as long as nothing changes, and else only what two texts contradict each other in, which is theirs alone.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

import detectors.candidates
import detectors.lesson_table
import detectors.meaning
import detectors.traits
import index.bullets
import index.literals
import index.signature
from detectors.embedding import Embed
from detectors.meaning import Judged, Judgement, find_same, is_translated, value_conflicts
from detectors.result_cache import ResultCache, result_name
from detectors.trait_cache import TraitCache
from detectors.traits import Written
from index.literals import Difference
from index.records import Solution

DATABASE = "meaning.db"
_WHOLE = result_name("whole")
_CONFLICTS = result_name("conflicts")
_JUDGES = (
    sys.modules[__name__],
    detectors.meaning,
    detectors.traits,
    detectors.lesson_table,
    detectors.candidates,
    index.bullets,
    index.literals,
    index.signature,
)


def judge_store(
    solutions: Sequence[Solution], embed: Embed | None = None, folder: Path | None = None
) -> tuple[Judged, ...]:
    """The judgements on the pairs that are the same or contradict each other, not only related; sorted by place.

    What was found is kept in `folder`.
    """
    with ResultCache(folder and folder / DATABASE, _JUDGES) as results:
        with TraitCache(folder) as known:
            # A model may be exchanged for another one, so that what was found by vectors is not kept.
            state = "" if embed or not folder else _state(solutions, known)
            kept = results.find([_WHOLE]).get(_WHOLE) if state else None
            if kept and kept["state"] == state:
                return tuple(_judged(row) for row in kept["judged"])
            conflicts = _Conflicts(results.find([_CONFLICTS]).get(_CONFLICTS, {}))
            found = find_same(solutions, embed, known=known, conflicts=conflicts.find, related=False)
        results.keep(_CONFLICTS, conflicts.asked)
        if state:
            results.keep(_WHOLE, {"state": state, "judged": [_row(one) for one in found]})
        results.forget_others()
    return found


def _state(solutions: Sequence[Solution], known: TraitCache) -> str:
    """A name for all that the judgements follow from."""
    created = "\n".join([str(solution.created) for solution in solutions])
    return result_name(b"".join(known.names(solutions)), created).hex()


class _Conflicts:
    """The values in which two lessons contradict each other, as they were found in the last run or are found now."""

    def __init__(self, kept: dict[str, list[list[Any]]]) -> None:
        self._kept = kept
        self.asked: dict[str, list[list[Any]]] = {}

    def find(self, a: Written, b: Written) -> tuple[Difference, ...]:
        """These values; what JSON cannot hold (half a surrogate) is found each time."""
        name = result_name(a.title, a.body, b.title, b.body, "translated" if is_translated(a, b) else "").hex()
        kept = self._kept.get(name)
        if kept is not None:
            self.asked[name] = kept
            return tuple(Difference(*fields) for fields in kept)
        found = value_conflicts(a, b)
        fields = [_fields(difference) for difference in found]
        with contextlib.suppress(orjson.JSONEncodeError):
            orjson.dumps(fields)
            self.asked[name] = fields
        return found


def _fields(difference: Difference) -> list[str]:
    return [difference.kind, difference.a, difference.b, difference.in_a, difference.in_b]


def _row(judged: Judged) -> list[Any]:
    one = judged.judgement
    return [judged.a, judged.b, one.answer, one.score, one.reasons, [_fields(found) for found in one.differences]]


def _judged(row: list[Any]) -> Judged:
    a, b, answer, score, reasons, differences = row
    found = tuple(Difference(*fields) for fields in differences)
    return Judged(a, b, Judgement(answer, score, tuple(reasons), found))
