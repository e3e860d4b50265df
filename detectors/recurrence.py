"""Find what recurs: groups of solutions with one root, and which of them enough independent sessions have shown.

Two solutions are linked by a near-duplicate or same-meaning text (given by the caller), the same error signature, or
the same trigger. A tag alone never links. A group is a solution and what is linked to it closely enough that no two
members are strangers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import combinations

from index.records import Solution
from index.signature import command_key, error_signature

# A trigger that so large a share of the store has says where one works, not what one met.
COMMON_SHARE = 0.05
COMMON_LEAST = 10


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
) -> tuple[Pattern, ...]:
    """Groups of at least `least` solutions with one root; a single one that several sessions taught is a group too.

    `links` are those that the caller knows (near-duplicates, same meaning). `counts` says of a session key whether it
    is independent evidence: no replay, recalled text, run of our own, sub-agent or scheduled job. `dates` are the days
    of sessions where known; else a solution's own day stands for them. Strongest first, then by name.
    """
    every = [*links, *shared_links(solutions)]
    patterns = [
        _pattern([solutions[place] for place in group], why, strength, counts, dates or {})
        for group, why, strength in _groups(len(solutions), every)
        if len(group) >= least
    ]
    return tuple(sorted(patterns, key=lambda pattern: (-len(pattern.sessions), -pattern.strength, pattern.name)))


def shared_links(solutions: Sequence[Solution]) -> tuple[Link, ...]:
    """Links by the same error signature and by the same command or path trigger."""
    holders: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, solution in enumerate(solutions):
        for key in sorted(_keys(solution)):
            holders[key].append(place)
    limit = max(COMMON_LEAST, int(COMMON_SHARE * len(solutions)))
    return tuple(
        Link(a, b, f"{kind} {value}", 1.0)
        for (kind, value), places in sorted(holders.items())
        if 2 <= len(places) <= limit
        for a, b in combinations(places, 2)
    )


def _keys(solution: Solution) -> set[tuple[str, str]]:
    keys = {("error", signature) for text in solution.triggers.errors if (signature := error_signature(text))}
    # One word such as "pytest" is a tool, not a situation; a glob over folders is a place.
    keys |= {("command", key) for text in solution.triggers.commands if " " in (key := command_key(text))}
    keys |= {("file", glob) for glob in solution.triggers.paths if "*" not in glob and "/" in glob}
    return keys


def _groups(count: int, links: Iterable[Link]) -> list[tuple[tuple[int, ...], str, float]]:
    """Groups that do not chain: each member is linked to at least half of the others; those alone stand alone."""
    near: dict[int, dict[int, Link]] = defaultdict(dict)
    for link in links:
        for a, b in ((link.a, link.b), (link.b, link.a)):
            if b not in near[a] or near[a][b].strength < link.strength:
                near[a][b] = link
    taken: set[int] = set()
    groups: list[tuple[tuple[int, ...], str, float]] = []
    for seed in sorted(range(count), key=lambda place: (-len(near[place]), place)):
        if seed in taken:
            continue
        group = [seed]
        for other in sorted(near[seed], key=lambda place: (-near[seed][place].strength, place)):
            if other not in taken and 2 * sum(other in near[member] for member in group) >= len(group):
                group.append(other)
        taken.update(group)
        inner = [near[a][b] for a, b in combinations(group, 2) if b in near[a]]
        reasons = sorted({link.why for link in inner}, key=lambda why: (-sum(x.why == why for x in inner), why))
        strength = sum(link.strength for link in inner) / len(inner) if inner else 1.0
        groups.append((tuple(sorted(group)), "; ".join(reasons[:3]) or "one lesson, several sessions", strength))
    return groups


def _pattern(
    members: Sequence[Solution], why: str, strength: float, counts: Callable[[str], bool], dates: Mapping[str, date]
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
        why=why,
        sessions=tuple(sorted({session for session, _ in shown})),
        projects=tuple(sorted({solution.project for _, solution in shown if solution.project})),
        days=tuple(sorted({dates.get(session) or solution.created.date() for session, solution in shown})),
        strength=strength,
    )
