"""Find which values a text names as replaced: "5433, not 5432", "instead of `pip`", "5432 ではなく 5433".

The marks of replacement are looked for once, and only what stands beside one is held against the values; a pattern for
each value would cost a hundred times as much.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from index.literals import STOPWORDS

# The letters looked ahead for are those that one of the words begins with: most words are passed over by them.
_BEFORE = re.compile(
    r"\b(?=[bcfilmnprsu])(?:no(?:t| longer)|instead of|rather than|formerly|previously"
    r"|used to (?:be|say|use|listen on|run on)|replac(?:es|ed|ing)"
    r"|(?:changed|moved|migrated|switched|renamed|upgraded|raised|lowered|bumped) from)(?![a-z])"
    r"|不再(?:是|使用)?|而不是|而非|代替|取代|ではなく|の代わりに",
    re.IGNORECASE,
)
# "the old value に代わり" stands before its mark, in Japanese and Chinese.
_AFTER = re.compile(r"ではなく|の代わりに|に代わ|から(?:変更|移行)|改为|改成")
_SEPARATORS = frozenset(",;，、；(（")
_FILLER = re.compile(r"[A-Za-z-]{1,20}\s{1,3}", re.IGNORECASE)  # "not the old port 5432"
_FILLERS = 3
_OPENING = frozenset("`\"'“「")
_CLOSING = frozenset("`\"'”」")
_BRACKETS = frozenset(")）")
# Of Chinese, Japanese and Korean, which write a number or a name right beside their words.
SCRIPTS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_SCRIPT = re.compile(f"[{SCRIPTS}]")


@dataclass(frozen=True, slots=True)
class _Mark:
    """A mark of replacement, the separators before it, and where the value that it speaks of may begin, or end."""

    start: int
    core: int
    end: int
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Text:
    """A text, the same with one form for each letter, and its marks by the side on which their value stands."""

    raw: str
    folded: str
    before: tuple[_Mark, ...]
    after: tuple[_Mark, ...]


def strip_replaced(
    values: Callable[[], Collection[str]], texts: Sequence[str]
) -> tuple[frozenset[str], tuple[str, ...]]:
    """The values (lower case) that texts name only as replaced, and the texts without what names them so.

    `values` gives those that may be named; it is not called where nothing is called replaced. The longest come first:
    with "not port 5432" taken out nothing is left to be said of 5432.
    """
    marked = tuple(_mark(text) for text in texts)
    if not any(text.before or text.after for text in marked):
        return frozenset(), tuple(texts)
    named: set[str] = set()
    folded = {value: _fold(value) for value in values() if value.strip() and value.lower() not in STOPWORDS}
    last = (-math.inf, "")
    while True:
        for value in sorted(_beside(folded, marked), key=_longest):
            if _longest(value) <= last or not any(value in text.raw for text in marked):
                continue
            stripped = tuple(_mark(_strip(text, value, folded[value])) for text in marked)
            if not any(_stands(text, value, folded[value]) for text in stripped):
                named.add(value.lower())
                marked, last = stripped, _longest(value)
                break
        else:
            return frozenset(named), tuple(text.raw for text in marked)


def whole(value: str) -> str:
    """A pattern for a value that is no part of a longer one."""
    letters = rf"[^\W{SCRIPTS}]"
    return rf"(?<!{letters})(?<!\.){re.escape(value)}(?!{letters})" if value.isascii() else re.escape(value)


def _longest(value: str) -> tuple[float, str]:
    return -len(value), value


def _mark(text: str) -> _Text:
    before = tuple(_mark_before(text, match) for match in _BEFORE.finditer(text))
    after = tuple(
        _Mark(match.start(), match.start(), match.end(), _ends(text, match.start())) for match in _AFTER.finditer(text)
    )
    return _Text(text, _fold(text) if before or after else "", before, after)


def _mark_before(text: str, match: re.Match[str]) -> _Mark:
    core = start = match.start()
    while start > max(0, core - 3) and (text[start - 1].isspace() or text[start - 1] in _SEPARATORS):
        start -= 1
    ends = [match.end()]
    if match[0].startswith("不再") and len(match[0]) > 2:
        ends.append(core + 2)
    places = dict.fromkeys(place for end in ends for place in _starts(text, end))
    return _Mark(start, core, match.end(), tuple(places))


def _starts(text: str, at: int) -> Iterator[int]:
    """Where a value may begin after a mark, the farthest first."""
    lead = at
    while lead < at + 2 and lead < len(text) and (text[lead].isspace() or text[lead] == ":"):
        lead += 1
    for start in range(lead, at - 1, -1):
        stops = [start]
        while len(stops) <= _FILLERS and (filler := _FILLER.match(text, stops[-1])):
            stops.append(filler.end())
        for stop in reversed(stops):
            if text[stop : stop + 1] in _OPENING:
                yield stop + 1
            yield stop


def _ends(text: str, at: int) -> tuple[int, ...]:
    """Where a value may end before a mark."""
    ends: list[int] = []
    for end in (at, at - 1, at - 2):
        if end < at and not text[end : end + 1].isspace():
            break
        ends.append(end)
        if end and text[end - 1] in _CLOSING:
            ends.append(end - 1)
    return tuple(ends)


def _beside(folded: dict[str, str], texts: Iterable[_Text]) -> set[str]:
    """The values that stand beside a mark."""
    by_form: dict[str, list[str]] = {}
    for value, form in folded.items():
        by_form.setdefault(form, []).append(value)
    lengths = sorted({len(form) for form in by_form})
    found: set[str] = set()
    for text in texts:
        spans = [(place, 1) for mark in text.before for place in mark.places]
        spans += [(place, -1) for mark in text.after for place in mark.places]
        for place, way in spans:
            for length in lengths:
                start = place if way > 0 else place - length
                if start >= 0 and (form := text.folded[start : start + length]) in by_form:
                    found.update(value for value in by_form[form] if _is_at(text, value, start))
    return found


def _strip(text: _Text, value: str, form: str) -> str:
    """A text without the places that name a value as replaced."""
    spans: list[tuple[int, int, int, int]] = []
    for mark in text.before:
        for place in mark.places:
            if text.folded.startswith(form, place) and _is_at(text, value, place):
                end = place + len(value)
                end += text.raw[end : end + 1] in _CLOSING
                end += text.raw[end : end + 1] in _BRACKETS
                spans.append((mark.start, 0, mark.core, end))
                break
    for mark in text.after:
        for place in mark.places:
            start = place - len(value)
            if start >= 0 and text.folded.startswith(form, start) and _is_at(text, value, start):
                spans.append((start - (text.raw[start - 1 : start] in _OPENING), 1, start, mark.end))
    kept, at = [], 0
    for start, _, core, end in sorted(spans):
        if core >= at:
            kept.append(text.raw[at : max(at, start)])
            at = end
    return "".join((*kept, text.raw[at:]))


def _stands(text: _Text, value: str, form: str) -> bool:
    """Whether a value still stands in a text, as no part of a longer one."""
    folded = text.folded or _fold(text.raw)
    at = folded.find(form)
    while at >= 0:
        if _is_at(text, value, at):
            return True
        at = folded.find(form, at + 1)
    return False


def _is_at(text: _Text, value: str, start: int) -> bool:
    """Whether what stands at a place, and has the form of a value, is that value and no part of a longer one."""
    end = start + len(value)
    if value.isascii() and (_is_word(text.raw[start - 1 : start], ".") or _is_word(text.raw[end : end + 1])):
        return False
    found = text.raw[start:end]
    return found == value or found.isascii() or re.fullmatch(re.escape(value), found, re.IGNORECASE) is not None


def _is_word(character: str, more: str = "") -> bool:
    return bool(character) and (character in ("_", more) or (character.isalnum() and not _SCRIPT.match(character)))


def _fold(text: str) -> str:
    """A text in which letters that a search without regard to case takes for one are one, each still one character."""
    return text.lower() if text.isascii() else "".join(c.lower()[0].upper()[0].lower()[0] for c in text)
