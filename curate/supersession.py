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
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import curate.dedup
import curate.guard
import curate.replaced
import detectors.traits
import index.bullets
import index.literals
import index.signature
from curate.dedup import KeptApart, pair_key, whole_text
from curate.guard import statements, uncovered
from curate.replaced import strip_replaced, whole
from curate.retire import supersede_changes
from detectors.result_cache import ResultCache, result_name
from detectors.trait_cache import content_name
from detectors.traits import content_words
from index.changes import Change, Note, Plan
from index.literals import Difference, find_differences, literal_set
from index.records import TRUST_RANK, Solution
from index.signature import command_key, error_signature

STAGE = "newer"
DATABASE = "superseded.db"
UNSAID = "the newer does not say that it replaces the older"
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
_SAYS = re.compile(
    r"(?:\b(?:is|are|uses?|needs?|requires?|wants?|takes?|has|have|equals?|defaults? to"
    r"|(?:set|pinned|bound|limited) to"
    r"|(?:listens?|runs?|starts?|stays?|lives?|binds?|waits?) (?:on|at|for|to)|must be|should be|lasts?|expects?"
    r"|allows?)"
    r"|[=:])[\s`\"']{1,3}(?:(?!(?:on|for|in|with|under|if|when|at|by|from|of)\b)[A-Za-z-]{1,20}[\s`\"']{1,3}){0,3}$",
    re.IGNORECASE,
)
# In Chinese the verb stands before its value, which ends the sentence: what follows ("时", "的") makes it a case.
_SAYS_CHINESE = re.compile(
    r"(?:(?<![不还還而要若])是|(?<![因作认認以])[为為]|等[于於]|(?<!不)(?:使用|采用|採用|改用|需要|要求)"
    r"|(?<!不)(?:监听|監聽|运行|運行)[在于於]?|设(?:置)?成|默认|固定在|：)[\s`\"'“「]{0,3}"
    r"(?:[^\W\d_A-Za-z在对對于於当當若从從每第和与與或的\u3040-\u30ff]{1,6}[\s`\"'“「]{0,3})?"
    r"(?:[A-Za-z-]{1,20}[\s`\"']{1,3}){0,2}$"
)
_ENDS_CHINESE = re.compile(
    r"[\s`\"'”」]{0,3}(?:毫秒|秒|分钟|分鐘|小时|小時|天|次|个|個|条|條|字节|[KMGT]i?B|ms|s)?[\s`\"'）)]{0,3}(?:[。；！;!]|$)"
)
# In Japanese the value stands between its topic and the verb that ends the sentence.
_SAYS_JAPANESE = re.compile(
    r"は[\s`\"'「]{0,3}(?:[\u30a0-\u30ff\u4e00-\u9fff]{1,12}[\s`\"'「]{0,3})?(?:[A-Za-z-]{1,20}[\s`\"']{1,3}){0,2}$"
)
_ENDS_JAPANESE = re.compile(
    r"[\s`\"'」]{0,3}(?:ミリ秒|秒|分|時間|日|回|個|件|番|[KMGT]i?B|ms|s)?[\s`\"'」]{0,3}"
    r"(?:を(?:使う|使います|使用する|使用します|用いる|待ち受ける|待ち受けます|指定する|指定します)|が?必要(?:です|だ|である)?"
    r"|です|だ|である|とする|にする|に設定(?:する|します)|で(?:待ち受ける|待ち受けます|動く|動きます|動作する|動作します))?"
    r"\s?(?:[。！!]|$)"
)
_CASE = re.compile(r"如果|假如|要是|一旦|除非|只有|若|[当當](?!前|时|時)|もし|なら|場合|とき|たら|れば|時(?![間刻点])")
# The modules that what two texts say of each other follows from.
_JUDGES = (
    sys.modules[__name__],
    curate.dedup,
    curate.guard,
    curate.replaced,
    detectors.traits,
    index.bullets,
    index.literals,
    index.signature,
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


def judge_supersession(
    a: Solution, b: Solution, now: datetime, known: ResultCache | None = None
) -> tuple[tuple[str, str], ...] | str:
    """The values (old, new) that the newer of two contradicting lessons replaces, or why time does not settle it.

    `known` keeps what was found of their texts.
    """
    older, newer = sorted((a, b), key=_age)
    return _not_alone(older, newer, now) or _known_values(older, newer, known or ResultCache())


def find_superseded(
    pairs: Iterable[tuple[int, int]],
    solutions: Sequence[Solution],
    kept_apart: KeptApart,
    now: datetime,
    folder: Path | None = None,
) -> tuple[tuple[Replaced, ...], dict[tuple[int, int], str]]:
    """Of the pairs (places in `solutions`) that contradict each other, those that are settled by time, each older one
    with the newest that replaces it; and why the others are not.

    What their texts say is kept from run to run in `folder`.
    """
    newest: dict[int, Replaced] = {}
    open_pairs: dict[tuple[int, int], str] = {}
    with ResultCache(folder and folder / DATABASE, _JUDGES) as known:
        for pair in sorted(pairs):
            a, b = solutions[pair[0]], solutions[pair[1]]
            apart = pair_key(a, b) in kept_apart
            found = "a person keeps both" if apart else judge_supersession(a, b, now, known)
            if isinstance(found, str):
                open_pairs[pair] = found
                continue
            older, newer = sorted(pair, key=lambda number: _age(solutions[number]))
            other = newest.get(older)
            if other is None or _age(solutions[other.newer]) < _age(solutions[newer]):
                newest[older] = Replaced(older, newer, found)
        known.forget_others()
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


def _known_values(older: Solution, newer: Solution, known: ResultCache) -> tuple[tuple[str, str], ...] | str:
    """What `_replaced_values` finds, or what it found when these texts were held against each other before."""
    name = result_name(content_name(older), content_name(newer), "of a project" if older.project else "")
    kept = known.find([name]).get(name)
    if kept is None:
        found = _replaced_values(older, newer)
        known.keep(name, found)
        return found
    return kept if isinstance(kept, str) else tuple((old, new) for old, new in kept)


def _replaced_values(older: Solution, newer: Solution) -> tuple[tuple[str, str], ...] | str:
    """The values (old, new) that the newer replaces by what the two say, or why it does not: a question of their
    titles, bodies and triggers, and of whether they are of a project."""
    if not _one_subject(older, newer):
        return "they share no trigger and no title"
    corrects = bool(_CORRECTS.search(_head(newer))) and not _CORRECTS.search(_head(older))
    named, bare = _without_replaced(older, newer)
    if not older.project and not corrects and not named:
        return UNSAID  # without the values in which they differ, which are dear to find
    differences: dict[Difference, None] = {}
    told = True
    for one in find_differences(whole_text(older), whole_text(bare)):
        differences[one] = None
        told = told and (one.a.lower() in named or (corrects and _may_be_corrected(one)))
        # What is left untold must be one changed value and nothing else; the other differences are dear to find.
        if not told and not _is_one_value(older, differences):
            return UNSAID
    if not differences and not corrects:
        return UNSAID
    if not told and not _is_changed_value(tuple(differences), older, bare):
        return UNSAID
    if lost := _lost(older, newer, differences):
        return f"the newer does not say {lost!r}"
    return tuple(dict.fromkeys((d.a, d.b) for d in differences))


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

    def values() -> set[str]:
        return _words(older) | literal_set(f"{older.title}\n{older.body}")

    named, (title, body) = strip_replaced(values, (newer.title, newer.body))
    return named, replace(newer, title=title, body=body)


def _may_be_corrected(difference: Difference) -> bool:
    """Whether a correction may change this without naming the old value: values and turned statements, never names."""
    if difference.kind in _WORDED:
        return not {difference.a.lower(), difference.b.lower()} & _CASES
    return _is_value(difference)


def _is_one_value(older: Solution, differences: Collection[Difference]) -> bool:
    """Whether differences are all one value that changed, in a lesson of a project."""
    one = len({(d.a, d.b) for d in differences}) == 1
    return one and bool(older.project) and _is_value(next(iter(differences)))


def _is_changed_value(differences: Sequence[Difference], older: Solution, newer: Solution) -> bool:
    """Whether one value, and nothing else, was changed to another one as what is said of the subject."""
    if not _is_one_value(older, differences):
        return False
    old, new = differences[0].a, differences[0].b
    if not old or not new or any(old in trigger or new in trigger for trigger in _triggers(older) | _triggers(newer)):
        return False
    sides = [side for d in differences for side in ((d.in_a, old), (d.in_b, new))]
    if not all(_is_said(*side) for side in sides):
        return False
    return not _unsaid(older, newer, differences)


def _is_said(statement: str, value: str) -> bool:
    """Whether a statement has a value as what it says of its subject, not as the case that it speaks of."""
    before, _, after = statement.partition(value)
    if _SAYS.search(before):
        return True
    chinese = _SAYS_CHINESE.search(before) and _ENDS_CHINESE.match(after)
    japanese = _SAYS_JAPANESE.search(before) and _ENDS_JAPANESE.match(after)
    return bool(chinese or japanese) and not _CASE.search(before)


def _is_value(difference: Difference) -> bool:
    """Whether two values differ, not two names; a number beside a Chinese or Japanese word is read as a name."""
    return difference.kind in _VALUES or (
        difference.kind == "identifier" and difference.a.isdecimal() and difference.b.isdecimal()
    )


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
            text = re.sub(whole(old), new.replace("\\", r"\\"), text, flags=re.IGNORECASE)
    return text


def _words(solution: Solution) -> set[str]:
    return {word.strip("`\"'.,;:()。，") for word in f"{solution.title}\n{solution.body}".split()}


def _age(solution: Solution) -> tuple[datetime, str]:
    return solution.created, solution.id
