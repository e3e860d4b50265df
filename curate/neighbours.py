"""Hold each lesson against the rest of the store: what a text alone cannot tell may be told by its neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from curate.dedup import text_differences
from detectors.poison_store import StoreFinding, raise_verdicts, scan_store
from index.records import Solution, Verdict

CONTRADICTION = "store.contradiction"


def judge_neighbours(
    solutions: Sequence[Solution], alone: Mapping[str, Verdict], pulled: Iterable[Solution] = ()
) -> dict[str, Verdict]:
    """The verdicts by path with the store's findings taken in; `alone` are those on the single texts.

    The same lesson met again in another session is told in nearly the same words: where two texts differ in no value,
    there is no contradiction between them.
    """
    by_path = {solution.path: solution for solution in solutions}
    findings = [found for found in scan_store(solutions, alone, quarantined=pulled) if not _agrees(found, by_path)]
    return raise_verdicts(solutions, alone, findings)


def _agrees(found: StoreFinding, by_path: Mapping[str, Solution]) -> bool:
    others = [by_path[path] for path in found.others if path in by_path]
    if found.finding.rule != CONTRADICTION or not others:
        return False
    return not any(text_differences(other, by_path[found.path]) for other in others)
