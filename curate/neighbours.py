"""Hold each lesson against the rest of the store: what a text alone cannot tell may be told by its neighbours."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from curate.dedup import text_differences
from detectors.poison_episode import Row, episode_findings
from detectors.poison_neighbours import READ, Neighbours
from detectors.poison_store import CHAIN, Note, StoreFinding, raise_verdicts, scan_notes
from index.records import Solution, Verdict

CONTRADICTION = "store.contradiction"
SHORTENING = "store.shortening_chain"
INSTEAD = "**Instead:**"


def judge_neighbours(
    solutions: Sequence[Solution],
    alone: Mapping[str, Verdict],
    pulled: Iterable[Solution] = (),
    changed: Collection[str] | None = None,
) -> dict[str, Verdict]:
    """The verdicts by path with the store's findings taken in; `alone` are those on the single texts.

    `changed` are the paths to judge, all where it is None; those that a finding about one of them names are judged
    too. Each is held against the lessons that share most with it, live or quarantined, and so against a bounded number.

    Only what a lesson advises is held against others: the frame in which it tells what happened says otherwise of every
    session. That the agent's own work, with its lines, says otherwise than older lessons is evidence and no mere claim;
    and where two texts differ in no value, the same lesson was met again.
    """
    every = (*solutions, *pulled)
    live = len(solutions)
    index = Neighbours(every)
    notes: dict[int, Note] = {}

    def note(place: int) -> Note:
        if place not in notes:
            notes[place] = Note(replace(every[place], body=advice_of(every[place].body)[:READ], text=""))
        return notes[place]

    place_of = {solution.path: place for place, solution in enumerate(solutions)}
    by_path = {solution.path: solution for solution in solutions}
    wanted = [place for place, one in enumerate(solutions) if changed is None or one.path in changed]
    judged: dict[str, Verdict] = {}
    for turn in range(2):
        named: set[str] = set()
        for place in wanted:
            path = every[place].path
            group = [place, *index.near(place)]
            found = scan_notes(
                [note(one) for one in group if one < live],
                alone,
                quarantined=[note(one) for one in group if one >= live],
            )
            doubted = [one for one in found if not _explained(one, by_path)]
            judged.update(raise_verdicts([every[place]], alone, [one for one in doubted if one.path == path]))
            named |= {one.path for one in doubted if one.path != path}
        wanted = sorted(place_of[path] for path in named if path not in judged) if turn == 0 else []
    return judged


def judge_episodes(
    solutions: Iterable[Solution],
    judged: Mapping[str, Verdict],
    kept: Callable[[str], Sequence[Row]],
) -> dict[str, Verdict]:
    """The verdicts by path with what the kept turns of the cited sessions tell against a lesson; `kept` gives those of
    a session's key, none where they are no longer kept: then nothing is known, and nothing is said."""
    raised: dict[str, Verdict] = {}
    for solution in solutions:
        if solution.path in judged:
            rows = [kept(session) for session in dict.fromkeys(source.session for source in solution.sources)]
            told = [row for some in rows for row in some] if all(rows) else []
            found = episode_findings(solution, advice_of(solution.body), told)
            about = [StoreFinding(solution.path, one) for one in found]
            raised |= raise_verdicts([solution], judged, about)
    return raised


def _explained(found: StoreFinding, by_path: Mapping[str, Solution]) -> bool:
    """Whether a contradiction is none: the work shows it, or both say the same; or a chain one by our own merges alone,
    each of which holds the texts that it was made of."""
    others = [by_path[path] for path in found.others if path in by_path]
    if found.finding.rule == SHORTENING:
        chain = [by_path[found.path], *others]
        merged = [one for one in chain if _is_own_merge(one)]
        return bool(merged) and len(chain) - len(merged) < CHAIN
    if found.finding.rule != CONTRADICTION:
        return False
    return is_shown(by_path[found.path]) or (
        bool(others) and not any(text_differences(other, by_path[found.path]) for other in others)
    )


def _is_own_merge(solution: Solution) -> bool:
    """Whether a lesson was consolidated from the agent's own work in several sessions, all of which it cites."""
    merged = solution.type == "reflective" and bool(solution.supersedes)
    return merged and len(solution.sessions) > 1 and is_shown(solution)


def is_shown(solution: Solution) -> bool:
    """Whether a lesson tells in our own frame of work that the agent did and that the transcript shows: what failed,
    and what was done instead. A bare claim that the agent wrote down is not shown."""
    sources = solution.sources
    return INSTEAD in solution.body and bool(sources) and all(one.origin == "agent" and one.lines for one in sources)


def advice_of(body: str) -> str:
    """What a lesson tells the reader to do: the part from **Instead:** on, or all of a text in another form."""
    _, found, advice = body.partition(INSTEAD)
    return advice.strip() + "\n" if found else body
