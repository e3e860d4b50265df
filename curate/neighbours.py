"""Hold each lesson against the rest of the store: what a text alone cannot tell may be told by its neighbours."""

from __future__ import annotations

import hashlib
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path

import curate.dedup
import detectors.poison_claims
import detectors.poison_neighbours
import detectors.poison_store
import index.bullets
import index.frontmatter
import index.literals
import index.records
from curate.dedup import text_differences
from curate.verdicts import Verdicts, text_hash, unchecked, with_raised
from detectors.poison_episode import Row, episode_findings
from detectors.poison_neighbours import NAME, READ, KeyRows, Neighbours, name_of
from detectors.poison_said import SaidRows
from detectors.poison_store import CHAIN, STOP, Note, StoreFinding, alarm, raise_verdicts, scan_notes
from index.code_version import code_version
from index.literals import Difference, find_differences
from index.records import Solution, Verdict

CONTRADICTION = "store.contradiction"
SHORTENING = "store.shortening_chain"
INSTEAD = "**Instead:**"
# What a judgement rests on beside the texts: the code that finds a group, reads it and judges.
_JUDGES = (
    sys.modules[__name__],
    curate.dedup,
    detectors.poison_claims,
    detectors.poison_neighbours,
    detectors.poison_store,
    index.bullets,
    index.frontmatter,
    index.literals,
    index.records,
)


@dataclass(frozen=True, slots=True)
class Judged:
    """Verdicts by path, and the lessons that the group of a raised one would have raised too: they are judged again
    whenever their own groups change."""

    verdicts: Mapping[str, Verdict]
    watched: frozenset[str]


class Read:
    """What runs have read of lessons: what each is found by, and what its advice says. Kept in a folder where one is
    given, unless it is `frozen`; each is looked up when it is first asked for."""

    def __init__(self, folder: Path | None = None, frozen: bool = False) -> None:
        self._folder, self._frozen = folder, frozen
        self.said = SaidRows(folder, frozen)

    @cached_property
    def keys(self) -> KeyRows:
        """What lessons are found by."""
        return KeyRows(self._folder, self._frozen)


class Groups:
    """Each lesson with those that share most with it, live or quarantined: all that a judgement of it rests on.

    `alone` are the verdicts by path on the single texts; `keys` and `said` are what earlier runs read of lessons. What
    is read or compared here is read and compared once.
    """

    def __init__(
        self,
        solutions: Sequence[Solution],
        alone: Mapping[str, Verdict],
        pulled: Iterable[Solution] = (),
        keys: KeyRows | None = None,
        said: SaidRows | None = None,
    ) -> None:
        self.solutions, self.alone = solutions, alone
        self._place_of = {solution.path: place for place, solution in enumerate(solutions)}
        self._every = (*solutions, *pulled)
        names = [bytes.fromhex(text_hash(one.text))[:NAME] if one.text else name_of(one) for one in self._every]
        self._index = Neighbours(self._every, keys, names)
        self._said = SaidRows() if said is None else said
        self._names = names
        self._near: dict[int, tuple[int, ...]] = {}
        self._notes: dict[int, Note] = {}
        self._differ: dict[tuple[str, str], bool] = {}

    def solution(self, path: str) -> Solution:
        """The live lesson at a path."""
        return self.solutions[self._place_of[path]]

    def live(self, paths: Iterable[str]) -> list[Solution]:
        """Those of some lessons that are live."""
        return [self.solution(path) for path in paths if path in self._place_of]

    def findings(self, path: str, about: Collection[str]) -> tuple[StoreFinding, ...]:
        """What the group of one lesson tells about those of it at the paths `about`."""
        group = self._group(path)
        return scan_notes(
            [self._note(one) for one in group if one < len(self.solutions)],
            self.alone,
            quarantined=[self._note(one) for one in group if one >= len(self.solutions)],
            about=about,
        )

    def others(self, path: str) -> list[str]:
        """The paths of the live lessons in the group of one."""
        near = self._group(path)[1:]
        return [self.solutions[one].path for one in near if one < len(self.solutions)]

    def digest(self, path: str) -> str:
        """What changes whenever something does that the judgement of a lesson rests on."""
        whole = hashlib.sha256(code_version(*_JUDGES).encode())
        for place in self._group(path):
            one = self._every[place]
            verdict = self.alone.get(one.path) if place < len(self.solutions) else None
            said = f"{one.path}\0{one.id}\0{verdict and (verdict.answer, verdict.score)}\0"
            whole.update(said.encode("utf-8", "surrogatepass") + self._names[place])
        return whole.hexdigest()[:32]

    def agree(self, path: str, others: Iterable[str]) -> bool:
        """Whether the whole text of a lesson differs in no value from any of the others."""
        for other in others:
            if (other, path) not in self._differ:
                found = text_differences(self.solution(other), self.solution(path), first_difference)
                self._differ[other, path] = bool(found)
            if self._differ[other, path]:
                return False
        return True

    def _group(self, path: str) -> tuple[int, ...]:
        place = self._place_of[path]
        if place not in self._near:
            self._near[place] = (place, *self._index.near(place))
        return self._near[place]

    def _note(self, place: int) -> Note:
        """Only what a lesson advises is held against others: its frame tells what happened, otherwise every time."""
        if place not in self._notes:
            one = self._every[place]
            part = replace(one, body=advice_of(one.body)[:READ], text="")
            self._notes[place] = Note(part, self._said.said(Note(part).said))
        return self._notes[place]


def held_against_store(
    solutions: Sequence[Solution],
    verdicts: Verdicts,
    pulled: Callable[[], Iterable[Solution]],
    turns: Callable[[], Callable[[str], Sequence[Row]]] | None = None,
    read: Read | None = None,
) -> Verdicts:
    """The verdicts with what the store tells against its lessons: those that were not yet held against it, and those
    that it raised, where anything has changed in what spoke against them.

    `pulled` gives the quarantined lessons and `turns` the kept turns, each asked for where there is something to judge;
    `read` is what earlier runs read of lessons.
    """
    changed = unchecked(solutions, verdicts)
    if not changed:
        return verdicts
    alone = {one.path: verdicts.by_hash[text_hash(one.text)] for one in solutions}
    read = Read() if read is None else read
    with read.said as said:
        groups = Groups(solutions, alone, pulled(), read.keys, said)
        settled = _settled(groups, verdicts, changed)
        again = {path for path in changed - settled if verdicts.is_watched(groups.solution(path))}
        new = {path for path in changed if text_hash(groups.solution(path).text) not in verdicts.raised}
        judged = judge_neighbours(groups, new, changed - new - settled - again, again, settled)
        read.keys.save()
        said.save(len(solutions))
    found = judged.verdicts
    if turns is not None:
        found = {**found, **judge_episodes(solutions, found, turns())}
    # What its turns tell is no part of a lesson's group: a lesson that they speak against is judged again each time.
    held = {path for path, verdict in judged.verdicts.items() if verdict != alone[path]} | judged.watched | again
    rested = {path: groups.digest(path) for path in held if judged.verdicts[path] is found[path]}
    return with_raised(verdicts, solutions, found, rested)


def _settled(groups: Groups, verdicts: Verdicts, changed: Collection[str]) -> frozenset[str]:
    """Of lessons that were judged before, those that would be judged as they were: their groups are the same. Files
    with one text share one verdict, so they are judged together."""
    by_text: dict[str, list[str]] = defaultdict(list)
    for path in changed:
        by_text[text_hash(groups.solution(path).text)].append(path)
    alone = [(paths[0], verdicts.groups.get(key)) for key, paths in by_text.items() if len(paths) == 1]
    return frozenset(path for path, digest in alone if digest is not None and digest == groups.digest(path))


def judge_neighbours(
    groups: Groups,
    new: Collection[str] | None = None,
    raised: Collection[str] = (),
    again: Collection[str] = (),
    settled: Collection[str] = (),
) -> Judged:
    """The verdicts with the store's findings taken in.

    `new` are the paths to judge, all where it is None; those that a finding about one of their groups names are judged
    too, but for what a lesson tells by itself. `raised` were judged before, and name only what their groups would have
    raised; `again` name nothing; of `settled` ones nothing has changed. Each is held against its group, and so against
    a bounded number.

    That the agent's own work, with its lines, says otherwise than older lessons is evidence and no mere claim; and
    where two texts differ in no value, the same lesson was met again.
    """
    asked = None if new is None else {*new, *raised}
    wanted = dict.fromkeys(one.path for one in groups.solutions if asked is None or one.path in asked)
    judged: dict[str, Verdict] = {}
    known = {*settled, *again}
    named, watched = {*again}, set[str]()
    for path in wanted:
        others = [one for one in groups.others(path) if one not in known and one not in watched]
        told = _told(groups, path, [path, *(one for one in others if one not in wanted)])
        verdict = _raised(groups, path, told.pop(path, ()))
        judged |= verdict
        unknown = told
        if _is_raised(groups, verdict):
            told = told | _told(groups, path, [one for one in others if one in wanted])
        grave = {other for other, about in told.items() if _is_raised(groups, _raised(groups, other, about))}
        named |= grave.difference(wanted)
        if new is None or path in new:
            named |= {other for other in unknown if other not in named and _is_doubted(groups, told[other])}
        if _is_raised(groups, verdict):
            watched |= grave
    for path in sorted(named):
        judged |= _raised(groups, path, _told(groups, path, [path]).get(path, ()))
    return Judged(judged, frozenset(watched))


def _told(groups: Groups, path: str, about: Iterable[str]) -> dict[str, list[StoreFinding]]:
    """What the group of a lesson tells about some of it, by path: about those whose answer that may change."""
    told: dict[str, list[StoreFinding]] = {}
    clean = {one for one in about if _is_clean(groups, one)}
    for found in groups.findings(path, clean) if clean else ():
        told.setdefault(found.path, []).append(found)
    return told


def _is_clean(groups: Groups, path: str) -> bool:
    """Whether what others tell could change the answer on a lesson."""
    return path in groups.alone and groups.alone[path].answer == "clean"


def _raised(groups: Groups, path: str, about: Sequence[StoreFinding]) -> dict[str, Verdict]:
    """The verdict on one lesson by path, with what its group tells about it; none where it was not scanned.

    Texts are compared, which is dear, only where all that is told would raise the verdict.
    """
    solution, verdict = groups.solution(path), groups.alone.get(path)
    kept = [one for one in about if not _is_explained_chain(groups, one)]
    if verdict is None or alarm(solution, verdict, kept) < STOP:
        kept = []
    return raise_verdicts([solution], groups.alone, [one for one in kept if not _is_no_contradiction(groups, one)])


def _is_raised(groups: Groups, judged: Mapping[str, Verdict]) -> bool:
    """Whether a verdict is graver than that on the text alone."""
    return any(verdict != groups.alone[path] for path, verdict in judged.items())


def _is_doubted(groups: Groups, about: Sequence[StoreFinding]) -> bool:
    """Whether something stays of what is told about a lesson by others; what is dear to see is looked at last. What it
    tells by itself was so when it was judged."""
    by_others = [one for one in about if one.others]
    for one in sorted(by_others, key=lambda found: found.finding.rule == CONTRADICTION):
        if not _is_explained_chain(groups, one) and not _is_no_contradiction(groups, one):
            return True
    return False


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


def _is_explained_chain(groups: Groups, found: StoreFinding) -> bool:
    """Whether a chain is one by our own merges alone, each of which holds the texts that it was made of."""
    if found.finding.rule != SHORTENING:
        return False
    chain = groups.live((found.path, *found.others))
    merged = [one for one in chain if _is_own_merge(one)]
    return bool(merged) and len(chain) - len(merged) < CHAIN


def _is_no_contradiction(groups: Groups, found: StoreFinding) -> bool:
    """Whether a contradiction is none: the work shows it, or both say the same."""
    if found.finding.rule != CONTRADICTION:
        return False
    if is_shown(groups.solution(found.path)):
        return True
    others = [one.path for one in groups.live(found.others)]
    return bool(others) and groups.agree(found.path, others)


def _is_own_merge(solution: Solution) -> bool:
    """Whether a lesson was consolidated from the agent's own work in several sessions, all of which it cites."""
    merged = solution.type == "reflective" and bool(solution.supersedes)
    return merged and len(solution.sessions) > 1 and is_shown(solution)


def is_shown(solution: Solution) -> bool:
    """Whether a lesson tells in our own frame of work that the agent did and that the transcript shows: what failed,
    and what was done instead. A bare claim that the agent wrote down is not shown."""
    sources = solution.sources
    return INSTEAD in solution.body and bool(sources) and all(one.origin == "agent" and one.lines for one in sources)


def first_difference(a: str, b: str) -> tuple[Difference, ...]:
    """The first of the values in which two texts differ, if there is one."""
    return tuple(islice(find_differences(a, b), 1))


def advice_of(body: str) -> str:
    """What a lesson tells the reader to do: the part from **Instead:** on, or all of a text in another form."""
    _, found, advice = body.partition(INSTEAD)
    return advice.strip() + "\n" if found else body
