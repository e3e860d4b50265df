"""Find what recurs: groups of solutions with one root, and which of them enough independent sessions have shown.

Two solutions have one root when they are near-duplicates or say the same (given by the caller), have the same error
signature or the same trigger; and, within one project, when they are on one subject by the words, names and references
they share as wholes. A tag alone never links. No two members of a group are strangers.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import combinations
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import TYPE_CHECKING, Any

import index.literals
import index.words
from detectors.result_cache import ResultCache, result_name
from index.records import Solution
from index.signature import command_key, error_signature

if TYPE_CHECKING:
    from detectors.likeness import Words

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
_ID = re.compile(r"\b[0-9A-Z]{26}\b")
_NAMED = re.compile(rf"[\w.-]{{6,200}}\.md\b|{_ID.pattern}")
DATABASE = "subjects.db"
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
    folder: Path | None = None,
    sessions: int = 0,
) -> tuple[Pattern, ...]:
    """Groups of at least `least` solutions with one root; a single one that several sessions taught is a group too.

    `links` are those that the caller knows (near-duplicates, same meaning). `counts` says of a session key whether it
    is independent evidence: no replay, recalled text, run of our own, sub-agent or scheduled job. `dates` are the days
    of sessions where known; else a solution's own day stands for them. `subject` is the least likeness of lessons on
    one subject (SUBJECT for a person who looks, ROOT to act upon); above 1 only links count. What is found of texts and
    of scopes is kept from run to run in `folder`. Groups that cannot have so many `sessions` may be left out. Most
    sessions first, then the strongest.
    """
    linked = _linked_groups(len(solutions), [*links, *shared_links(solutions)])
    with ResultCache(folder and folder / DATABASE, _finders() if folder else ()) as known:
        groups = _join_subjects(solutions, linked, subject, known)
    patterns = [
        _pattern([solutions[place] for place in group.places], group, counts, dates or {}, places or {})
        for group in groups
        if len(group.places) >= least and sum(len(solutions[place].sources) for place in group.places) >= sessions
    ]
    return tuple(sorted(patterns, key=lambda p: (-len(p.sessions), -p.strength, -len(p.ids), p.name, p.ids)))


def _finders() -> tuple[ModuleType, ...]:
    """The modules that the groups of a scope follow from."""
    import detectors.likeness

    return sys.modules[__name__], detectors.likeness, index.literals, index.words


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
    folders = [_folders(solution.path) for solution in solutions if not solution.project]
    shared = 0
    while folders and all(len(parts) > shared and parts[shared] == folders[0][shared] for parts in folders):
        shared += 1

    def scope(solution: Solution) -> str:
        if solution.project:
            return solution.project
        parts = _folders(solution.path)[shared:]
        return parts[0] if len(parts) > 1 else ""

    return [scope(solution) for solution in solutions]


def _folders(path: str) -> list[str]:
    return [part for part in path.split("/")[:-1] if part not in ("", ".")]


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


def _join_subjects(
    solutions: Sequence[Solution], linked: Sequence[_Group], subject: float, known: ResultCache
) -> list[_Group]:
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
    live: set[bytes] = set()
    for scope, places in sorted(scopes.items()):
        free = [place for place in places if place not in done]
        if len(free) > MOST or subject > 1:
            found += [_Group((place,), SINGLE, 1.0) for place in free]
        else:
            one = _Scope(result_name("scope", scope, str(subject)), [solutions[place] for place in free])
            live |= {one.name, *one.texts}
            found += _subjects(one, free, inside[scope], subject, known)
    known.forget_others(live)
    return found


class _Scope:
    """The lessons of one scope, and the names of what is kept of them."""

    def __init__(self, name: bytes, solutions: Sequence[Solution]) -> None:
        self.name = name
        self.solutions = solutions
        self.texts = [result_name("text", solution.title, solution.body) for solution in solutions]
        self.stems = [PurePosixPath(solution.path).stem for solution in solutions]

    def state(self, linked: Sequence[Sequence[int]]) -> str:
        """What changes whenever anything does that the groups of the scope follow from."""
        ids = (solution.id for solution in self.solutions)
        return result_name(*self.texts, *self.stems, *ids, repr([list(rows) for rows in linked])).hex()


def _subjects(
    scope: _Scope, places: Sequence[int], linked: Sequence[_Group], subject: float, known: ResultCache
) -> list[_Group]:
    """The groups of one scope by likeness; members of a linked group count as equal.

    Where nothing of the scope changed since they were found, they are what they were; else what is known of each text
    is used again, and the words of each group that is as it was.
    """
    row = {place: n for n, place in enumerate(places)}
    rows = [[row[place] for place in group.places] for group in linked]
    state = scope.state(rows)
    kept = known.find([scope.name]).get(scope.name) or {"state": "", "groups": []}
    if kept["state"] != state:
        kept = {"state": state, "groups": _alike(scope, rows, subject, known, kept["groups"])}
        known.keep(scope.name, kept)
    at = {place: n for n, group in enumerate(linked) for place in group.places}
    found: list[_Group] = []
    for group_rows, strength, _, words in kept["groups"]:
        members = tuple(places[n] for n in group_rows)
        touched = [linked[n] for n in sorted({at[place] for place in members if place in at})]
        reasons = [group.why for group in touched if set(group.places) <= set(members)]
        if len(members) > 1:
            reasons.append("one subject: " + ", ".join(words) if words else "one subject")
        found.append(_Group(members, "; ".join(reasons) or SINGLE, strength))
    return found


def _alike(
    scope: _Scope, linked: Sequence[Sequence[int]], subject: float, known: ResultCache, before: Sequence[Sequence[Any]]
) -> list[tuple[list[int], float, str, list[str]]]:
    """The rows of each group of lessons on one subject, how alike they are, a name for their texts, and what words most
    of them say; `before` are the groups that were found last."""
    from detectors.likeness import common_words, group_lessons, read_words, term_counts

    fresh: dict[int, Words] = {}
    terms: list[dict[str, int]] = []
    mentioned: list[list[str]] = []
    of_texts = known.find(scope.texts)
    for n, (name, solution) in enumerate(zip(scope.texts, scope.solutions, strict=True)):
        if name not in of_texts:
            fresh[n] = read_words(solution.title, solution.body)
            of_texts[name] = [term_counts(fresh[n]), _mentioned(solution.body)]
            known.keep(name, of_texts[name])
        terms.append(of_texts[name][0])
        mentioned.append(of_texts[name][1])
    nearer = dict.fromkeys(_references(scope, mentioned), REFERENCE)
    one = [pair for rows in linked for pair in combinations(rows, 2)]
    words = {name: said for _, _, name, said in before}
    found: list[tuple[list[int], float, str, list[str]]] = []
    for rows, strength in group_lessons(terms, subject, nearer, one):
        group = result_name(*(scope.texts[n] for n in rows)).hex() if len(rows) > 1 else ""
        if group and group not in words:
            members = [fresh.get(n) or read_words(scope.solutions[n].title, scope.solutions[n].body) for n in rows]
            words[group] = list(common_words(members, [terms[n] for n in rows]))
        found.append((rows, strength, group, words.get(group, [])))
    return found


def _mentioned(body: str) -> list[str]:
    """The file names and ids that a body mentions."""
    # Most bodies mention no file, and to look for its name is dear; the names of those that do hide ids in them.
    return sorted(set((_NAMED if ".md" in body else _ID).findall(body)))


def _references(scope: _Scope, mentioned: Sequence[Iterable[str]]) -> list[tuple[int, int]]:
    """Pairs of which one mentions the other's file or id, each once."""
    by_name: dict[str, list[int]] = defaultdict(list)
    for place, (stem, solution) in enumerate(zip(scope.stems, scope.solutions, strict=True)):
        for name in {stem, solution.id} - {""}:
            by_name[name].append(place)
    pairs = {
        (min(a, place), max(a, place))
        for a, names in enumerate(mentioned)
        for name in names
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
