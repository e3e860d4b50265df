"""Hold every merge to its sources: nothing they state is lost, nothing they do not state gets in.

The guard is code, not a prompt. A statement of a source counts as covered when its words, literals and operators stand
in one output bullet, in their order and with nothing in between; only articles and auxiliaries are free. Anything
looser lets through what models do: swapped values, spliced sentences, a lost negation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from index.bullets import parse_bullets, parse_headings
from index.literals import Difference, differs, statement_differences, stem, tokens
from index.records import Solution

DISPUTED = "**Disputed**"
_FREE = frozenset("a an the is are was were be been being do does did that also just very please".split())
_JOINING = frozenset({"and"})
_OPERATOR = re.compile(r"[=!<>|&+^~]{1,20}|(?<=\w)[#%]")
_SIDE = re.compile(r"^(\d{4}-\d{2}-\d{2}) ([0-9A-Z]{26}): ", re.MULTILINE)
_WORDED = frozenset({"word", "name", "opposite"})
_HEADING_WORDS = 5  # shorter headings without a literal are template: Problem, Root cause, What fixed it


@dataclass(frozen=True, slots=True)
class Bullet:
    """One statement of a merged text and the ids of the solutions it comes from."""

    text: str
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conflict:
    """Statements of different sources that contradict each other, the newest first, and the words in which they do."""

    sides: tuple[Bullet, ...]
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Guarded:
    """A merge after the guard: what stands in it, and what was done to get there.

    `appended` are source statements that the output had lost, `dropped` output bullets that no source supports, with
    the reason.
    """

    bullets: tuple[Bullet, ...]
    appended: tuple[Bullet, ...] = ()
    dropped: tuple[tuple[Bullet, str], ...] = ()
    conflicts: tuple[Conflict, ...] = ()


def statements(solution: Solution) -> tuple[str, ...]:
    """All that a solution states: its title, headings that say something, and the bullets of its body."""
    headings = (text for text in parse_headings(solution.body) if _telling(text))
    return tuple(dict.fromkeys(text for text in (solution.title, *headings, *parse_bullets(solution.body)) if text))


def covers(text: str, statement: str) -> bool:
    """Whether `text` holds all that `statement` says: its words, literals and operators in order, without a gap.

    Of code and tables every line must stand there as it is.
    """
    if "\n" in statement and ("```" in statement or "~~~" in statement or statement.lstrip().startswith("|")):
        wanted = [line.rstrip() for line in statement.splitlines()]
        return _place([line.rstrip() for line in text.splitlines()], wanted) >= 0
    return _place(atoms(text), atoms(statement)) >= 0


def uncovered(wanted: Iterable[str], texts: Sequence[str]) -> tuple[str, ...]:
    """The statements that none of the texts covers, each once and none that another of them covers."""
    known = {atoms(text) for text in texts}
    missing = [
        text
        for text in dict.fromkeys(wanted)
        if not (atoms(text) in known and "\n" not in text) and not any(covers(other, text) for other in texts)
    ]
    kept: list[str] = []
    for place, text in enumerate(missing):
        rest = (*kept, *missing[place + 1 :])
        if not any(covers(other, text) and (other in kept or not covers(text, other)) for other in rest):
            kept.append(text)
    return tuple(kept)


def union_bullets(sources: Sequence[Solution]) -> tuple[Bullet, ...]:
    """What the sources state, in their order, without what another statement covers: a merge without a model."""
    ordered = [text for source in sources for text in statements(source)]
    return tuple(_cited(text, sources) for text in uncovered(ordered, ()))


def check_merge(sources: Sequence[Solution], bullets: Sequence[Bullet]) -> Guarded:
    """The bullets that may stand, with what they lost appended and contradictions set side by side.

    Each source statement is covered by an output bullet or appended verbatim; an output bullet that is not made of
    source statements alone is dropped; statements of two sources that contradict each other become one bullet with both
    sides, dates and ids. The ids of every bullet are those it really rests on, whatever the output claimed.
    """
    conflicts = find_conflicts(sources)
    disputed = {side.text for conflict in conflicts for side in conflict.sides}
    free = [text for source in sources for text in statements(source) if text not in disputed]
    judged = list(zip(bullets, reasons_to_drop([bullet.text for bullet in bullets], free, disputed), strict=True))
    kept = [_cited(bullet.text, sources) for bullet, reason in judged if not reason]
    dropped = [(bullet, reason) for bullet, reason in judged if reason]
    settled = [render_conflict(conflict, sources) for conflict in conflicts]
    missing = uncovered(free, [bullet.text for bullet in (*kept, *settled)])
    appended = tuple(_cited(text, sources) for text in missing)
    return Guarded((*kept, *appended, *settled), appended, tuple(dropped), conflicts)


def find_conflicts(sources: Sequence[Solution]) -> tuple[Conflict, ...]:
    """Statements of different sources that are alike but for a value, grouped, each group's newest first."""
    rank = {source.id: (source.created, source.id) for source in sources}
    groups: list[tuple[dict[str, Bullet], list[Difference]]] = []
    for place, a in enumerate(sources):
        for b in sources[place + 1 :]:
            for difference in differs(a.title + ".\n\n" + a.body, b.title + ".\n\n" + b.body):
                left, right = _stating(a, difference.in_a), _stating(b, difference.in_b)
                if left is None or right is None or _settled(left, right):
                    continue
                _join(groups, (Bullet(left, (a.id,)), Bullet(right, (b.id,))), difference)
    _join_disputes(groups, sources)
    return tuple(
        Conflict(
            tuple(sorted(sides.values(), key=lambda side: (rank[side.ids[0]], side.text), reverse=True)),
            tuple(dict.fromkeys(differences)),
        )
        for sides, differences in groups
    )


def render_conflict(conflict: Conflict, sources: Sequence[Solution]) -> Bullet:
    """A contradiction as one bullet: the differing words, then each side with date and id, the newest first.

    A side that is itself such a bullet, from an earlier merge, gives its sides rather than being nested.
    """
    created = {source.id: source.created.date().isoformat() for source in sources}
    sides: dict[str, tuple[str, str]] = {}
    for side in conflict.sides:
        for day, identifier, text in _split_sides(side, created):
            sides[text] = max(sides.get(text, ("", "")), (day, identifier))
    ordered = sorted(sides.items(), key=_newest)
    lines = [f"{day} {identifier}: {text}" for text, (day, identifier) in ordered]
    found = [d for text, _ in ordered[1:] for d in statement_differences(ordered[0][0], text)]
    words = "; ".join(f'"{difference.a}" against "{difference.b}"' for difference in found[:5])
    ids = tuple(dict.fromkeys(identifier for side in conflict.sides for identifier in side.ids))
    return Bullet("\n".join([f"{DISPUTED}, the newest first ({words}):", *lines]), ids)


@lru_cache(maxsize=16384)
def atoms(text: str) -> tuple[str, ...]:
    """What counts of a statement, in order: stems of words, literals as they are, operators."""
    found: list[str] = []
    last = 0
    for token in tokens(text):
        found.extend(_OPERATOR.findall(text, last, token.span[0]))
        last = token.span[1]
        if token.norm not in _FREE:
            found.append(stem(token.norm) if token.kind in _WORDED else token.norm)
    found.extend(_OPERATOR.findall(text, last))
    return tuple(found)


def _place(whole: Sequence[str], part: Sequence[str]) -> int:
    """Where `part` begins in `whole`; -1 where it does not stand there. Nothing stands everywhere."""
    if not part:
        return 0
    ends = len(whole) - len(part) + 1
    return next((i for i in range(ends) if whole[i] == part[0] and tuple(whole[i : i + len(part)]) == tuple(part)), -1)


def reasons_to_drop(
    texts: Sequence[str], wanted: Sequence[str], disputed: Iterable[str] = frozenset()
) -> tuple[str, ...]:
    """For each output text why it may not stand; "" where it is made of whole `wanted` statements and says more than
    the texts before it."""
    kept: list[str] = []
    reasons: list[str] = []
    for text in texts:
        reasons.append(_reason_to_drop(text, wanted, kept, disputed))
        if not reasons[-1]:
            kept.append(text)
    return tuple(reasons)


def _reason_to_drop(text: str, free: Sequence[str], kept: Sequence[str], disputed: Iterable[str]) -> str:
    """Why an output bullet may not stand; "" where it may: made of whole source statements, and not said before."""
    output = atoms(text)
    if not output:
        return "it says nothing"
    if any(covers(other, text) for other in kept):
        return "another bullet says it"
    held = [statement for statement in free if covers(text, statement) and atoms(statement)]
    marked = [atom in _JOINING for atom in output]
    for statement in held:
        part = atoms(statement)
        for i in range(len(output) - len(part) + 1):
            if output[i : i + len(part)] == part:
                marked[i : i + len(part)] = [True] * len(part)
    if held and all(marked):
        return ""
    if any(covers(text, statement) or covers(statement, text) for statement in disputed):
        return "sources disagree on it"
    return "no source says it" if not held else "no source says all of it"


def _cited(text: str, sources: Sequence[Solution]) -> Bullet:
    """A statement with the ids of the sources that it holds a statement of, or that hold it."""
    ids = [
        source.id
        for source in sources
        if any((atoms(own) and covers(text, own)) or covers(own, text) for own in statements(source))
    ]
    return Bullet(text, tuple(ids))


def _telling(heading: str) -> bool:
    found = tokens(heading)
    return len(found) >= _HEADING_WORDS or any(
        t.fixed and t.kind not in ("name", "opposite", "negation") for t in found
    )


def _stating(source: Solution, sentence: str) -> str | None:
    """The statement of a source that a sentence of it stands in."""
    squeezed = " ".join(sentence.split())
    return next((text for text in statements(source) if squeezed.rstrip(".") in " ".join(text.split())), None)


def _settled(a: str, b: str) -> bool:
    """Whether one of two statements already holds the other as a side of a dispute."""
    return any(x.startswith(DISPUTED) and covers(x, y) for x, y in ((a, b), (b, a)))


def _join(
    groups: list[tuple[dict[str, Bullet], list[Difference]]], sides: Sequence[Bullet], *differences: Difference
) -> None:
    """Put two sides into the group that one of them is in already, or into a new one; groups that meet become one."""
    said = {text for side in sides for text in dispute_sides(side.text)}
    touched = [group for group in groups if said & _said(group[0])]
    home = touched[0] if touched else ({}, [])
    if not touched:
        groups.append(home)
    for other in touched[1:]:
        home[0].update(other[0])
        home[1].extend(other[1])
        groups.remove(other)
    for side in sides:
        home[0].setdefault(side.text, side)
    home[1].extend(differences)


def _join_disputes(groups: list[tuple[dict[str, Bullet], list[Difference]]], sources: Sequence[Solution]) -> None:
    """Join a dispute of an earlier merge with the group or the source that states one of its sides again.

    So disputes do not multiply, and a side that comes back is dated anew.
    """
    for source in sources:
        for text in statements(source):
            if not text.startswith(DISPUTED):
                continue
            sides = set(dispute_sides(text))
            again = [
                Bullet(own, (other.id,))
                for other in sources
                for own in statements(other)
                if other.id != source.id and own in sides
            ]
            if again or any(sides & _said(group[0]) for group in groups):
                _join(groups, (Bullet(text, (source.id,)), *again))


def _said(group: Iterable[str]) -> set[str]:
    return {side for text in group for side in dispute_sides(text)}


def dispute_sides(text: str) -> tuple[str, ...]:
    """The texts of the sides of a dispute; of any other statement the text itself."""
    return tuple(side for _, _, side in _parse_dispute(text)) if text.startswith(DISPUTED) else (text,)


def _parse_dispute(text: str) -> Iterator[tuple[str, str, str]]:
    """Day, id and text of each side of a dispute."""
    marks = list(_SIDE.finditer(text))
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        end = following.start() if following else len(text)
        yield mark[1], mark[2], text[mark.end() : end].strip()


def _split_sides(side: Bullet, created: dict[str, str]) -> Iterable[tuple[str, str, str]]:
    if side.text.startswith(DISPUTED):
        return _parse_dispute(side.text)
    return [(created[side.ids[0]], side.ids[0], side.text)]


def _newest(item: tuple[str, tuple[str, str]]) -> tuple[object, ...]:
    """A sort key: later days first, then by id and text."""
    day, identifier = item[1]
    return (-int(day.replace("-", "")), identifier, item[0])
