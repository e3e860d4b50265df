"""Find what recurs: groups of solutions with one root, and which of them enough independent sessions have shown.

Two solutions have one root when they are near-duplicates or say the same (given by the caller), have the same error
signature or the same trigger; and, within one project, when they are on one subject by the words, names and references
they share as wholes. A tag alone never links. No two members of a group are strangers.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import combinations
from pathlib import PurePosixPath

from index.records import Solution
from index.signature import command_key, error_signature

# A trigger that so large a share of the store has says where one works, not what one met.
COMMON_SHARE = 0.05
COMMON_LEAST = 10
COMMON_MOST = 100
# Average likeness from which lessons of one project are one subject. Against groups that a reader made, 20 of 24 were
# found at .12 with 955 of 1,000 pairs right, 10 at .18 (977), 4 at .30 (all); see benchmarks/patterns.py. The low one
# is for a person who looks for what recurs, the high one for a draft that nobody asked for.
SUBJECT = 0.12
ROOT = 0.3
REFERENCE = 0.05  # what it adds to the likeness that one names the other's file or id
SINGLE = "one lesson, several sessions"
_NAMED = re.compile(r"[\w.-]{6,200}\.md\b|\b[0-9A-Z]{26}\b")
MOST = 3_000  # lessons of one project up to which all are compared; above, only what the caller and triggers link


@dataclass(frozen=True, slots=True)
class Link:
    """Two solutions, by their places, that show the same: why, and how strongly (0..1)."""

    a: int
    b: int
    why: str
    strength: float = 1.0


@dataclass(frozen=True, slots=True)
class Pattern:
    """Solutions with one root. `sessions` are the independent ones that show it, `days` those on which they did."""

    name: str
    ids: tuple[str, ...]
    paths: tuple[str, ...]
    why: str
    sessions: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    days: tuple[date, ...] = ()
    strength: float = 1.0

    @property
    def cross_project(self) -> bool:
        """Whether two or more projects show it."""
        return len(self.projects) > 1

    def promotable(self, sessions: int = 3, days: int = 2) -> bool:
        """Whether enough independent sessions, on enough days, show it."""
        return len(self.sessions) >= sessions and len(self.days) >= days


def find_patterns(
    solutions: Sequence[Solution],
    links: Iterable[Link] = (),
    counts: Callable[[str], bool] = lambda session: True,
    dates: Mapping[str, date] | None = None,
    least: int = 1,
    subject: float = ROOT,
    places: Mapping[str, str] | None = None,
) -> tuple[Pattern, ...]:
    """Groups of at least `least` solutions with one root; a single one that several sessions taught is a group too.

    `links` are those that the caller knows (near-duplicates, same meaning). `counts` says of a session key whether it
    is independent evidence: no replay, recalled text, run of our own, sub-agent or scheduled job. `dates` are the days
    of sessions where known; else a solution's own day stands for them. `subject` is the least likeness of lessons on
    one subject (SUBJECT for a person who looks, ROOT to act upon); above 1 only links count. Most sessions first, then
    the strongest.
    """
    linked = _linked_groups(len(solutions), [*links, *shared_links(solutions)])
    patterns = [
        _pattern([solutions[place] for place in group.places], group, counts, dates or {}, places or {})
        for group in _join_subjects(solutions, linked, subject)
        if len(group.places) >= least
    ]
    return tuple(sorted(patterns, key=lambda p: (-len(p.sessions), -p.strength, -len(p.ids), p.name, p.ids)))


def shared_links(solutions: Sequence[Solution]) -> tuple[Link, ...]:
    """Links by the same error signature and by the same command or path trigger."""
    holders: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, solution in enumerate(solutions):
        for key in sorted(_keys(solution)):
            holders[key].append(place)
    limit = min(COMMON_MOST, max(COMMON_LEAST, int(COMMON_SHARE * len(solutions))))
    return tuple(
        Link(a, b, f"{kind} {value}", 1.0)
        for (kind, value), places in sorted(holders.items())
        if 2 <= len(places) <= limit
        for a, b in combinations(places, 2)
    )


def _keys(solution: Solution) -> set[tuple[str, str]]:
    keys = {("error", signature) for text in solution.triggers.errors if (signature := error_signature(text))}
    # A linter or a test suite fails in a hundred ways: with an error known, the error tells the root, not the command.
    # One word such as "pytest" is a tool, not a situation; a glob over folders is a place.
    if not keys:
        keys |= {("command", key) for text in solution.triggers.commands if " " in (key := command_key(text))}
    keys |= {("file", glob) for glob in solution.triggers.paths if "*" not in glob and "/" in glob}
    return keys


def scopes_of(solutions: Sequence[Solution]) -> list[str]:
    """Among which lessons each one's words are weighed: those of its project; else those below one folder of a tree.

    Folders are counted from the deepest one that holds all files; one directly above the files (a category) parts
    nothing, one above other folders (a repository among several) does.
    """
    folders = [PurePosixPath(solution.path).parent.parts for solution in solutions if not solution.project]
    shared = 0
    while folders and all(len(parts) > shared and parts[shared] == folders[0][shared] for parts in folders):
        shared += 1

    def scope(solution: Solution) -> str:
        parts = PurePosixPath(solution.path).parent.parts[shared:]
        return solution.project or (parts[0] if len(parts) > 1 else "")

    return [scope(solution) for solution in solutions]


@dataclass(frozen=True, slots=True)
class _Group:
    places: tuple[int, ...]
    why: str
    strength: float


def _linked_groups(count: int, links: Iterable[Link]) -> list[_Group]:
    """Groups that do not chain: each member is linked to at least half of the others; those alone are in none."""
    near: dict[int, dict[int, Link]] = defaultdict(dict)
    for link in links:
        for a, b in ((link.a, link.b), (link.b, link.a)):
            if b not in near[a] or near[a][b].strength < link.strength:
                near[a][b] = link
    taken: set[int] = set()
    groups: list[_Group] = []
    for seed in sorted(near, key=lambda place: (-len(near[place]), place)):
        if seed in taken or seed >= count:
            continue
        group = [seed]
        for other in sorted(near[seed], key=lambda place: (-near[seed][place].strength, place)):
            if other not in taken and 2 * sum(other in near[member] for member in group) >= len(group):
                group.append(other)
        if len(group) > 1:
            taken.update(group)
            inner = [near[a][b] for a, b in combinations(group, 2) if b in near[a]]
            reasons = Counter(link.why for link in inner)
            why = "; ".join(sorted(reasons, key=lambda reason: (-reasons[reason], reason))[:3])
            groups.append(_Group(tuple(sorted(group)), why, sum(link.strength for link in inner) / len(inner)))
    return groups


def _join_subjects(solutions: Sequence[Solution], linked: Sequence[_Group], subject: float) -> list[_Group]:
    """Linked groups, joined with lessons on their subject in their scope, subjects without a link, and single lessons.

    A linked group over several scopes stays as it is.
    """
    scopes: dict[str, list[int]] = defaultdict(list)
    own = scopes_of(solutions)
    for place, scope in enumerate(own):
        scopes[scope].append(place)
    found: list[_Group] = []
    inside: dict[str, list[_Group]] = defaultdict(list)
    for group in linked:
        named = {own[place] for place in group.places}
        if len(named) == 1 and len(scopes[min(named)]) <= MOST and subject <= 1:
            inside[min(named)].append(group)
        else:
            found.append(group)
    done = {place for group in found for place in group.places}
    for scope, places in sorted(scopes.items()):
        free = [place for place in places if place not in done]
        if len(free) > MOST or subject > 1:
            found += [_Group((place,), SINGLE, 1.0) for place in free]
        else:
            found += _subjects([solutions[place] for place in free], free, inside[scope], subject)
    return found


def _subjects(
    solutions: Sequence[Solution], places: Sequence[int], linked: Sequence[_Group], subject: float
) -> list[_Group]:
    """The groups of one scope by likeness; members of a linked group count as equal."""
    from detectors.likeness import common_words, cosines, group_alike, term_counts

    terms = [term_counts(solution.title, solution.body) for solution in solutions]
    likeness = cosines(terms)
    for a, b in _references(solutions):
        likeness[a, b] += REFERENCE
        likeness[b, a] += REFERENCE
    row = {place: n for n, place in enumerate(places)}
    for group in linked:
        for a, b in combinations(group.places, 2):
            likeness[row[a], row[b]] = likeness[row[b], row[a]] = 1.0
    found: list[_Group] = []
    for rows in group_alike(likeness, subject):
        members = tuple(places[n] for n in rows)
        reasons = [group.why for group in linked if set(group.places) <= set(members)]
        if len(rows) > 1:
            words = common_words([(solutions[n].title, solutions[n].body) for n in rows])
            reasons.append("one subject: " + ", ".join(words) if words else "one subject")
        pairs = [float(likeness[a, b]) for a, b in combinations(rows, 2)]
        strength = min(1.0, sum(pairs) / len(pairs)) if pairs else 1.0
        found.append(_Group(members, "; ".join(reasons) or SINGLE, strength))
    return found


def _references(solutions: Sequence[Solution]) -> list[tuple[int, int]]:
    """Pairs of which one names the other's file or id, each once."""
    by_name: dict[str, list[int]] = defaultdict(list)
    for place, solution in enumerate(solutions):
        for name in {PurePosixPath(solution.path).stem, solution.id} - {""}:
            by_name[name].append(place)
    pairs = {
        (min(a, place), max(a, place))
        for a, solution in enumerate(solutions)
        for name in set(_NAMED.findall(solution.body))
        for place in by_name.get(name.removesuffix(".md"), [])[:2]
        if place != a
    }
    return sorted(pairs)


def _pattern(
    members: Sequence[Solution],
    group: _Group,
    counts: Callable[[str], bool],
    dates: Mapping[str, date],
    places: Mapping[str, str],
) -> Pattern:
    shown = [
        (source.session, solution) for solution in members for source in solution.sources if counts(source.session)
    ]
    best = max(
        members, key=lambda solution: (len(solution.sources), solution.confidence, solution.created, solution.id)
    )
    return Pattern(
        name=best.title,
        ids=tuple(solution.id for solution in members),
        paths=tuple(solution.path for solution in members),
        why=group.why,
        # A sub-agent and the session that started it are one.
        sessions=tuple(sorted({session.partition("+")[0] for session, _ in shown})),
        projects=tuple(sorted({places.get(session) or solution.project for session, solution in shown} - {""})),
        days=tuple(sorted({dates.get(session) or solution.created.date() for session, solution in shown})),
        strength=group.strength,
    )
