"""Options that an agent laid out, and which one the person's few words pick: "2", "yes, the second", "option B"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from detectors.sentences import either

LONGEST_PICK = 80
LONGEST_OPTION = 900
_MARKED = re.compile(
    r"^[ \t>]{0,8}(?:[-*•] )?(?:#{1,5} )?[*_]{0,2}(?:(?:option|variant|approach|choice|way|plan|方案|案|옵션) ?)?"
    r"(?P<mark>[1-9]|[A-Ea-e]|[一二三四五])(?:[.):：、]|\s[—–-]\s)[*_]{0,2}[ \t]*(?P<text>\S.*)$",
    re.IGNORECASE,
)
_MARK_IN_LINE = re.compile(r"(?:(?<=\s)|^)\(?([1-5]|[A-Ea-e])\)\s+(?=\S)")
_ROW = re.compile(
    r"^\|\s*(?:option )?[*_]{0,2}(?P<mark>[1-5]|[A-Ea-e])[*_]{0,2}\s*\|\s*(?P<text>[^|]{12,400}?)\s*\|", re.IGNORECASE
)
_RECOMMENDED = re.compile(
    r"\brecommend(?:ed|ation)?\b[*_:\s]{0,6}(?:is |would be )?(?:going with |to go with )?"
    r"(?:option|variant|approach|way)?[ *_]{0,3}"
    r"(?P<mark>[1-5]|[A-E])\b[*_]{0,2}[^\w\n]{1,6}(?P<text>\w[^\n]{20,600})",
    re.IGNORECASE,
)
# Words that make alternatives of a list: without them it may be a plan, or work to come.
_ALTERNATIVES = either(r"""
    \boptions?\b|\balternatives?\b|\b(?:two|three|four|several|a few|a couple of|some|different|possible|these|both|other) (?:\w+ )?(?:ways|approaches|possibilities|routes|paths|strategies|designs|solutions)\b
    \bwhich (?:one|of|do you|would you|approach|way|option|should)\b|\b(?:do|would) you prefer\b|\beither\b|\b[A-C] or [B-D]\b|\b1 or 2\b
    \boptionen\b|\bmöglichkeiten\b|\bvarianten\b|\bentweder\b|\bdeux (?:options|approches|façons)\b|\bopciones\b|\bopções\b|вариант
    选项|方案|两种|兩種|哪个|哪個|哪种|选择|選択肢|方法は(?:二|2|三|3)つ|どちら|どの方法|방법이|선택지|어느 (?:쪽|것)
""")  # noqa: E501 - one alternative a line
# Work to come: all of it may be wanted, one after the other.
_TO_COME = either(r"""
    \bnext steps?\b|\bwhat (?:would you like|do you want|shall i|should i do|now|next)\b|\bwant me to\b|\bwould you like me to\b
    \bshall i (?:also|continue|proceed)\b|\bi (?:can|could) (?:also|then)\b|\bremaining\b|\bto ?do\b|次のステップ|下一步
""")  # noqa: E501 - one alternative a line
_ORDINALS: tuple[tuple[re.Pattern[str], int], ...] = (
    (
        re.compile(
            r"\b(?:first|former|erste[rsn]?|"
            r"premi[èe]re?|primer[oa]?|первый)\b|第一|一つ目|最初の|前者|첫",
            re.IGNORECASE,
        ),
        0,
    ),
    (
        re.compile(
            r"\b(?:second|latter|zweite[rsn]?|"
            r"deuxi[èe]me|segund[oa]|второй)\b|第二|二つ目|後者|后者|두 ?번째",
            re.IGNORECASE,
        ),
        1,
    ),
    (
        re.compile(
            r"\b(?:third|dritte[rsn]?|troisi[èe]me|"
            r"tercer[oa]?|третий)\b|第三|三つ目|세 ?번째",
            re.IGNORECASE,
        ),
        2,
    ),
)
_LEAD = (
    r"(?:(?:yes|yep|ok(?:ay)?|sure|let'?s|lets|please|i'?d|i'?ll|i|we|then|go(?:ing)?|do|try|use|pick|choose|chose|prefer|take|say|"
    r"would|with|for|like|the|option|variant|approach|number|no\.?|nr\.?|#|plan|choice|way|ja|oui|s[ií]|nimm|bitte|"
    r"选择?|用|我选|選|方案|案|选项)[ ,.:!#]{0,3}){0,7}"
)
_PICKED = re.compile(
    rf"^{_LEAD}[(\"'`*]*(?P<mark>[1-9]|[A-Ea-e]|[一二三四五])[)\"'`*]*"
    r"(?:番|で|が|을|번|으로|로|号|个|個|吧|だ|です|お願い|します|しましょう|いいです|"
    r"にして|ください|해|주세요|진행|[ ,.!]|"
    r"please|thanks?|it is|then|for now|first|sounds good|bitte|,? ?go ahead)*$",
    re.IGNORECASE,
)
_AS_RECOMMENDED = re.compile(
    r"(?:yes|ok(?:ay)?|sure|i )?[ ,.!]{0,3}(?:go with |take |accept |use |as |the |your |what you )*"
    r"recommend(?:ed|ation)?(?: (?:one|option))?[ .!]*|yes[ .!]*",
    re.I,
)
_CHINESE = "一二三四五"
_ALL = re.compile(
    r"\b(?:all|both|each|neither|none|everything|any)\b|\b(?:1|a) (?:and|&|\+) (?:2|b)\b|两个都|都要|両方|둘 다", re.I
)


@dataclass(frozen=True, slots=True)
class Option:
    """One of several ways: its mark in the list, its head and all that is said of it."""

    mark: str
    head: str
    text: str


def options_in(text: str) -> list[Option]:
    """The ways that a statement lays out as alternatives, in order; none for a plan or for work to come.

    They stand in a list or in a table; what is said for the one that is recommended is part of it.
    """
    if not _ALTERNATIVES.search(text) or _TO_COME.search(text):
        return []
    options = _listed(text) or _tabled(text) or _in_line(text)
    mark, said = recommended(text)
    return [
        Option(one.mark, _head(said), f"{said} {one.text}") if said and one.mark == mark else one for one in options
    ]


def recommended(text: str) -> tuple[str, str]:
    """(mark, what is said) of the way that a statement recommends with a reason; empty without one."""
    found = _RECOMMENDED.search(text)
    return (_plain(found["mark"]), found["text"].strip()) if found else ("", "")


def _tabled(text: str) -> list[Option]:
    rows = [found for line in text.split("\n") if (found := _ROW.match(line))]
    options = [Option(_plain(row["mark"]), _head(row["text"]), row["text"].strip()) for row in rows]
    return options if _in_order(options) else []


def _in_line(text: str) -> list[Option]:
    """The ways that one paragraph names: "1) this. 2) that."."""
    for line in text.split("\n"):
        parts = _MARK_IN_LINE.split(line)[1:]
        options = [
            Option(_plain(mark), _head(said), said.strip()) for mark, said in zip(parts[::2], parts[1::2], strict=True)
        ]
        if _in_order(options):
            return options
    return []


def _in_order(options: list[Option]) -> bool:
    marks = [option.mark for option in options]
    runs = marks in ([str(n + 1) for n in range(len(marks))], list("abcde"[: len(marks)]))
    return 2 <= len(options) <= 5 and runs


def _listed(text: str) -> list[Option]:
    found: list[tuple[str, list[str]]] = []
    for line in text.split("\n"):
        marked = _MARKED.match(line)
        if marked:
            found.append((_plain(marked["mark"]), [marked["text"]]))
        elif found and (line.startswith((" ", "\t", "- ", "* ")) or (line.strip() and found[-1][1][-1].strip())):
            found[-1][1].append(line.strip())
        elif found:
            found[-1][1].append("")
    options = [Option(mark, _head(lines[0]), " ".join(filter(None, lines))[:LONGEST_OPTION]) for mark, lines in found]
    return options if _in_order(options) else []


def picked(words: str, options: list[Option], favourite: str = "") -> int | None:
    """Which of some options a person's few words pick, or None: by its mark or place, or as it was recommended."""
    bare = words.strip()
    if not bare or len(bare) > LONGEST_PICK or not options or "?" in bare or "？" in bare or _ALL.search(bare):
        return None
    marks = {option.mark: at for at, option in enumerate(options)}
    found = _PICKED.match(bare)
    if found:
        return marks.get(_plain(found["mark"]))
    if favourite and _AS_RECOMMENDED.fullmatch(bare):
        return marks.get(favourite)
    place = place_of(bare) if len(bare.split()) <= 8 else None
    return place if place is not None and place < len(options) else None


def place_of(words: str) -> int | None:
    """Which place in a list some words name ("the second one" is 1), or None for none or several."""
    places = [place for pattern, place in _ORDINALS if pattern.search(words)]
    return places[0] if len(places) == 1 else None


def _plain(mark: str) -> str:
    return str(_CHINESE.index(mark) + 1) if mark in _CHINESE else mark.lower()


def _head(line: str) -> str:
    """What an option is called: its bold words, else what stands before a dash or a full stop."""
    bold = re.match(r"\*\*(.{3,120}?)\*\*", line)
    head = (
        bold[1]
        if bold
        else re.split(r" [—–-] |(?<=[^\d])[.:。：](?:\s|$)|[.。](?=\S{3})| \((?=[a-z])", line.strip("*_ "), maxsplit=1)[
            0
        ]
    )
    return head.strip(" *_:：.。,-–—")
