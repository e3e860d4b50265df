"""Hold each lesson against the rest of the store: what a text alone cannot tell may be told by its neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from curate.dedup import text_differences
from detectors.poison_store import StoreFinding, raise_verdicts, scan_store
from index.records import Solution, Verdict

CONTRADICTION = "store.contradiction"
INSTEAD = "**Instead:**"


def judge_neighbours(
    solutions: Sequence[Solution], alone: Mapping[str, Verdict], pulled: Iterable[Solution] = ()
) -> dict[str, Verdict]:
    """The verdicts by path with the store's findings taken in; `alone` are those on the single texts.

    Only what a lesson advises is held against others: the frame in which it tells what happened says otherwise of every
    session. What the agent's own work has shown, with its lines, is evidence and no claim; and where two texts differ
    in no value, the same lesson was met again.
    """
    by_path = {solution.path: solution for solution in solutions}
    advised = [replace(solution, body=advice_of(solution.body), text="") for solution in solutions]
    found = scan_store(advised, alone, quarantined=pulled)
    doubted = [one for one in found if not is_shown(by_path[one.path]) and not _agrees(one, by_path)]
    return raise_verdicts(solutions, alone, doubted)


def is_shown(solution: Solution) -> bool:
    """Whether every source of a lesson is work that the agent did and that the transcript shows."""
    return bool(solution.sources) and all(source.origin == "agent" and source.lines for source in solution.sources)


def advice_of(body: str) -> str:
    """What a lesson tells the reader to do: the part from **Instead:** on, or all of a text in another form."""
    _, found, advice = body.partition(INSTEAD)
    return advice.strip() + "\n" if found else body


def _agrees(found: StoreFinding, by_path: Mapping[str, Solution]) -> bool:
    others = [by_path[path] for path in found.others if path in by_path]
    if found.finding.rule != CONTRADICTION or not others:
        return False
    return not any(text_differences(other, by_path[found.path]) for other in others)
