"""Newer wins: of two lessons that contradict each other in time the newer stays live, where the evidence is strong.

Strong means: of one project and one subject (a trigger that both have, or titles with the same words), the newer at
least as trusted and neither from outside, nothing that a person approved or floated, and in every value that differs a
sign that the newer *replaces* it rather than speaks of another case:

- the newer names the old value as replaced ("5433, not 5432", "instead of `pip`"); or
- the newer says that it corrects ("was wrong", "no longer", "as of 2026-05-02"), where the value is no name; or
- one value alone changed, from the same old to the same new one wherever it stands, as what is said of the subject
  ("listens on port 5432"), not as the case it is said for ("on Node 18 run ..."), and all else is the same.

All else stays a conflict for a person. What of the older the newer does not say besides the replaced values keeps the
older live too: a command, a path or a number that would vanish refuses the supersession.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from curate.dedup import KeptApart, pair_key, text_differences
from curate.guard import statements, uncovered
from curate.retire import supersede_changes
from detectors.traits import content_words
from index.changes import Change, Note, Plan
from index.literals import STOPWORDS, Difference, literal_set
from index.records import TRUST_RANK, Solution
from index.signature import command_key, error_signature

STAGE = "newer"
HEAD = 1_200  # characters in which a text says of itself that it corrects an older one
_VALUES = frozenset({"number", "version", "path", "flag", "url"})
_WORDED = frozenset({"negation", "opposite"})
# Opposites that name two places or parts, of which each may have a value of its own.
_CASES = frozenset(
    "staging production prod dev development debug release local remote client server primary replica secondary master "
    "slave source target destination sender receiver request response internal external public private first last "
    "input output read write upload download import export left right top bottom upper lower before after global "
    "本番 開発 検証 生产 测试 开发 生產 測試".split()
)
_CORRECTS = re.compile(
    r"\bno longer\b|\bnot any ?more\b|\banymore\b|\bwas(?: \w{1,12})? (?:wrong|incorrect|mistaken|outdated)\b"
    r"|\bturn(?:s|ed) out (?:to be )?(?:wrong|false|incorrect)\b|\bcorrect(?:s|ed|ion)\b|\bsupersed\w{1,4}\b"
    r"|\breplaces? (?:the|an?|this|our)\b|\bobsolete\b|\boutdated\b|\bhas (?:been )?(?:changed|moved|renamed)\b"
    r"|\b(?:since|as of|updated?(?: on)?) \d{4}-\d{2}\b"
    r"|不再|已改|已更改|更正|已被取代|已废弃|訂正|廃止|もはや|に変わった|に変更",
    re.IGNORECASE,
)
_REPLACED = (
    r"(?:\bnot|\bno longer|\binstead of|\brather than|\bformerly|\bpreviously|\bused to (?:be|say|use|listen on|run on)"
    r"|\breplac(?:es|ed|ing)|\b(?:changed|moved|migrated|switched|renamed|upgraded|raised|lowered|bumped) from"
    r"|不再(?:是|使用)?|而不是|而非|代替|取代|ではなく|の代わりに)"
)
# "the old value に代わり" stands before its mark, in Japanese and Chinese.
_REPLACED_AFTER = r"(?:ではなく|の代わりに|に代わ|から(?:変更|移行)|改为|改成)"
_MARK = re.compile(f"{_REPLACED}|{_REPLACED_AFTER}", re.IGNORECASE)
# Characters on either side of a mark within which the value that it speaks of begins and ends.
REACH = 160
_SAYS = re.compile(
    r"(?:\b(?:is|are|uses?|needs?|requires?|wants?|takes?|has|have|equals?|defaults? to"
    r"|(?:set|pinned|bound|limited) to"
    r"|(?:listens?|runs?|starts?|stays?|lives?|binds?|waits?) (?:on|at|for|to)|must be|should be|lasts?|expects?"
    r"|allows?)"
    r"|[=:])[\s`\"']{1,3}(?:(?!(?:on|for|in|with|under|if|when|at|by|from|of)\b)[A-Za-z-]{1,20}[\s`\"']{1,3}){0,3}$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Replaced:
    """A lesson that another replaces, both by place, and the values in which they differ: (old, new)."""

    older: int
    newer: int
    values: tuple[tuple[str, str], ...]

    def describe(self) -> str:
        """The replaced values in one line."""
        return ", ".join(f'"{old}" by "{new}"' if old and new else f'"{old or new}"' for old, new in self.values[:5])


def judge_supersession(a: Solution, b: Solution, now: datetime) -> tuple[tuple[str, str], ...] | str:
    """The values (old, new) that the newer of two contradicting lessons replaces, or why time does not settle it."""
    older, newer = sorted((a, b), key=lambda one: (one.created, one.id))
    if reason := _not_alone(older, newer, now):
        return reason
    if not _one_subject(older, newer):
        return "they share no trigger and no title"
    named, bare = _without_replaced(older, newer)
    differences = text_differences(older, bare)
    corrects = bool(_CORRECTS.search(_head(newer))) and not _CORRECTS.search(_head(older))
    if not differences and not corrects:
        return "the newer does not say that it replaces the older"
    told = all(d.a.lower() in named or (corrects and _may_be_corrected(d)) for d in differences)
    if not told and not _is_changed_value(differences, older, bare):
        return "the newer does not say that it replaces the older"
    values = tuple(dict.fromkeys((d.a, d.b) for d in differences))
    if lost := _lost(older, newer, differences):
        return f"the newer does not say {lost!r}"
    return values


def find_superseded(
    pairs: Iterable[tuple[int, int]], solutions: Sequence[Solution], kept_apart: KeptApart, now: datetime
) -> tuple[tuple[Replaced, ...], dict[tuple[int, int], str]]:
    """Of the pairs (places in `solutions`) that contradict each other, those that are settled by time, each older one
    with the newest that replaces it; and why the others are not."""
    newest: dict[int, Replaced] = {}
    open_pairs: dict[tuple[int, int], str] = {}
    for pair in sorted(pairs):
        a, b = solutions[pair[0]], solutions[pair[1]]
        apart = pair_key(a, b) in kept_apart
        found = "a person keeps both" if apart else judge_supersession(a, b, now)
        if isinstance(found, str):
            open_pairs[pair] = found
            continue
        older, newer = sorted(pair, key=lambda place: (solutions[place].created, solutions[place].id))
        known = newest.get(older)
        if known is None or _age(solutions[known.newer]) < _age(solutions[newer]):
            newest[older] = Replaced(older, newer, found)
    return tuple(newest[older] for older in sorted(newest)), open_pairs


def plan_supersessions(
    replaced: Sequence[Replaced], solutions: Sequence[Solution], mtimes: Mapping[str, int] | None = None
) -> Plan:
    """The older lessons to the archive, named by what replaces them; the newer ones name them and take in their
    triggers. Nothing is refreshed: every file keeps its mtime."""
    times = mtimes or {}
    leaving = {one.older for one in replaced}
    by_newer: dict[int, list[Replaced]] = {}
    for one in replaced:
        by_newer.setdefault(one.newer, []).append(one)
    changes: list[Change] = []
    notes: list[Note] = []
    for newer, olds in sorted(by_newer.items()):
        pairs = [(solutions[one.older], f"replaced by {solutions[newer].path}: {one.describe()}") for one in olds]
        changes += supersede_changes(solutions[newer], pairs, times, goes_too=newer in leaving, triggers=True)
        notes += [
            Note("superseded", solutions[newer].path, f"replaces {solutions[one.older].path}: {one.describe()}")
            for one in olds
        ]
    return Plan(STAGE, tuple(changes), notes=tuple(notes))


def _not_alone(older: Solution, newer: Solution, now: datetime) -> str:
    """Why two lessons are not the pipeline's to settle, whatever they say; "" where nothing stands against it."""
    for one in (older, newer):
        if one.trust == "reviewed" or one.type == "principle" or one.priority >= 1:
            return "a person vouches for one of them"
        if one.trust == "external":
            return "one of them derives from external text"
    if TRUST_RANK[newer.trust] < TRUST_RANK[older.trust]:
        return "the newer is less trusted"
    if older.project != newer.project:
        return "they are of two projects"
    if older.created == newer.created or newer.created > now + timedelta(days=1):
        return "their dates do not tell which is newer"
    if newer.sources and older.sessions >= newer.sessions:
        return "both come from one session"
    return ""


def _one_subject(a: Solution, b: Solution) -> bool:
    """Whether two lessons are about one thing: a trigger that both have, or titles of the same words."""
    words = [content_words(one.title) for one in (a, b)]
    return bool(_triggers(a) & _triggers(b)) or (words[0] == words[1] and len(words[0]) > 1)


def _triggers(one: Solution) -> frozenset[str]:
    errors = (error_signature(error) or error for error in one.triggers.errors)
    return frozenset((*errors, *map(command_key, one.triggers.commands), *one.triggers.paths))


def _head(solution: Solution) -> str:
    return f"{solution.title}\n{solution.body}"[:HEAD]


def _without_replaced(older: Solution, newer: Solution) -> tuple[frozenset[str], Solution]:
    """The values of the older that the newer names only as replaced (", not 5432"), and the newer without that."""
    title, body = newer.title, newer.body
    named: set[str] = set()
    # Most words stand near no such mark, and a pattern for each of them would cost more than all the rest.
    near = _near_marks(f"{title}\n{body}")
    if not near:
        return frozenset(), newer
    values = _words(older) | literal_set(f"{older.title}\n{older.body}")
    for value in sorted(values, key=lambda one: (-len(one), one)):
        if value.lower() in STOPWORDS or not value.strip() or value not in f"{title}\n{body}":
            continue
        if value not in near and len(value) < REACH - 80:
            continue
        found = _replaced(value)
        stripped = found.sub("", title), found.sub("", body)
        if stripped != (title, body) and not re.search(_whole(value), "\n".join(stripped), re.IGNORECASE):
            named.add(value.lower())
            title, body = stripped
    return frozenset(named), replace(newer, title=title, body=body)


def _near_marks(text: str) -> str:
    """The parts of a text in which a value can be called replaced; "" where nothing is."""
    marks = _MARK.finditer(text)
    return "\n".join(text[max(0, mark.start() - REACH) : mark.end() + REACH] for mark in marks)


def _replaced(value: str) -> re.Pattern[str]:
    """Where a text says of a value that something else stands in its place."""
    whole = rf"[`\"'“「]?{_whole(value)}[`\"'”」]?"
    before = rf"[\s,;，、；(（]{{0,3}}{_REPLACED}[\s:]{{0,2}}(?:[A-Za-z-]{{1,20}}\s{{1,3}}){{0,3}}{whole}[)）]?"
    return re.compile(rf"{before}|{whole}\s{{0,2}}{_REPLACED_AFTER}", re.IGNORECASE)


def _whole(value: str) -> str:
    """A value that is no part of a longer one."""
    return rf"(?<![\w.]){re.escape(value)}(?![\w])" if value.isascii() else re.escape(value)


def _may_be_corrected(difference: Difference) -> bool:
    """Whether a correction may change this without naming the old value: values and turned statements, never names."""
    if difference.kind in _WORDED:
        return not {difference.a.lower(), difference.b.lower()} & _CASES
    return difference.kind in _VALUES


def _is_changed_value(differences: Sequence[Difference], older: Solution, newer: Solution) -> bool:
    """Whether one value, and nothing else, was changed to another one as what is said of the subject."""
    if not older.project or len({(d.a, d.b) for d in differences}) != 1 or differences[0].kind not in _VALUES:
        return False
    old, new = differences[0].a, differences[0].b
    if not old or not new or any(old in trigger or new in trigger for trigger in _triggers(older) | _triggers(newer)):
        return False
    for difference in differences:
        for statement, value in ((difference.in_a, old), (difference.in_b, new)):
            at = statement.find(value)
            if not _SAYS.search(statement[:at]):
                return False
    return not _unsaid(older, newer, differences)


def _unsaid(older: Solution, newer: Solution, differences: Iterable[Difference]) -> tuple[str, ...]:
    """What the older states and the newer does not, also not with the new values in place of the old."""
    values = {(d.a, d.b) for d in differences}
    return uncovered([_with_new(text, values) for text in statements(older)], statements(newer))


def _lost(older: Solution, newer: Solution, differences: Iterable[Difference]) -> str:
    """A literal of the older that would be found nowhere in the newer; "" where there is none."""
    values = {(d.a, d.b) for d in differences}
    replaced = {word.lower() for old, _ in values for word in (old, "".join(old.split()), *old.split())}
    text = f"{newer.title}\n{newer.body}".lower()
    missing = literal_set(f"{older.title}\n{older.body}") - literal_set(text)
    for literal in sorted(missing):
        low = literal.lower()
        if low not in replaced and low not in text and _with_new(low, values).lower() not in text:
            return literal
    return ""


def _with_new(text: str, values: Iterable[tuple[str, str]]) -> str:
    """A text with the new values in place of the old."""
    for old, new in sorted(values):
        if old:
            text = re.sub(_whole(old), new.replace("\\", r"\\"), text, flags=re.IGNORECASE)
    return text


def _words(solution: Solution) -> set[str]:
    return {word.strip("`\"'.,;:()。，") for word in f"{solution.title}\n{solution.body}".split()}


def _age(solution: Solution) -> tuple[datetime, str]:
    return solution.created, solution.id
