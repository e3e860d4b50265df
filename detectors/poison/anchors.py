"""What a pattern's matches must hold: the words they begin with, and words that follow; read from its parsed form.

Python's regular expressions try a pattern at every position; a lesson has few positions where a rule could match.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

# A literal is read up to so many characters; with more literals than this, fewer characters are read.
LENGTHS = (16, 12, 8, 6)
MOST = 400
# Stands in a literal where a word ends.
END = "\0"
Head = tuple[str, bool]
Literals = frozenset[str]


def openings(pattern: str) -> tuple[str, ...]:
    """Every match of the pattern begins with one of these, where a blank stands for any number of them and
    `END` for the end of a word; () where that cannot be said.

    Reads the parsed form that the `re` module itself compiles from; where a Python has none, nothing is said.
    """
    ops = parsed(pattern)
    for length in LENGTHS if ops else ():
        literals = _literals(ops, length)
        if len(literals) <= MOST and all(len(text) >= 2 for text in literals):
            return tuple(
                sorted(one for one in literals if not any(one[:end] in literals for end in range(2, len(one))))
            )
    return ()


def anchors(pattern: str) -> tuple[str, ...]:
    """The openings up to their first blank: every match begins with one of these characters as they stand."""
    return tuple(sorted({opening.rstrip(END)[: opening.find(" ") + 1 or None] for opening in openings(pattern)}))


def required(pattern: str) -> tuple[Literals, ...]:
    """Sets of literals: a text that the pattern matches has, for each set, a word that begins with one of it."""
    return tuple(dict.fromkeys(_required(parsed(pattern))))


def parsed(pattern: str) -> list[Any]:
    """A pattern's operations; none where this Python does not show them."""
    parser = getattr(re, "_parser", None)
    return [] if parser is None else list(parser.parse(pattern))


def _required(ops: Sequence[Any]) -> Iterator[Literals]:
    for place, (op, argument) in enumerate(ops):
        name = str(op)
        if (name == "AT" and str(argument) == "AT_BOUNDARY") or _is_blank(name, argument):
            literals = _literals(ops[place + 1 :], LENGTHS[-1])
            if literals and len(literals) <= MOST and all(_is_word(text) for text in literals):
                yield frozenset(literals)
        elif name == "SUBPATTERN":
            yield from _required(list(argument[-1]))
        elif name == "BRANCH":
            each = [max(_required(list(branch)), key=_rarity, default=None) for branch in argument[1]]
            known = [one for one in each if one is not None]
            if len(known) == len(each):
                yield frozenset().union(*known)
        elif name in {"MAX_REPEAT", "MIN_REPEAT"} and argument[0] > 0:
            yield from _required(list(argument[-1]))


def _is_blank(name: str, argument: Any) -> bool:
    return name in {"MAX_REPEAT", "MIN_REPEAT"} and argument[0] > 0 and _is_space(list(argument[-1]))


def _is_space(ops: Sequence[Any]) -> bool:
    return len(ops) == 1 and str(ops[0][0]) == "IN" and [str(code) for _, code in ops[0][1]] == ["CATEGORY_SPACE"]


def _is_word(literal: str) -> bool:
    return len(literal) >= 2 and literal[0].isascii() and (literal[0].isalnum() or literal[0] == "_")


def _rarity(literals: Literals) -> tuple[int, int]:
    return min(len(text) for text in literals), -len(literals)


def _literals(ops: Sequence[Any], enough: int) -> set[str]:
    return {text.lstrip(END) for text, _ in _heads(ops, enough)}


def _joined(text: str, more: str) -> str | None:
    """Two literals one after the other; None where a word would have to end and to go on."""
    if not text or not more.startswith(END):
        return text + more
    follows = more.lstrip(END)
    if not _is_word(text[-1] * 2):
        return text + follows
    if not follows:
        return text + END
    return None if _is_word(follows[0] * 2) else text + follows


def _heads(ops: Sequence[Any], enough: int) -> set[Head]:
    """What the operations can begin with: (literal, whether it may be continued by what follows)."""
    if not ops:
        return {("", True)}
    heads: set[Head] = set()
    rest: set[Head] | None = None
    for text, goes_on in _first(str(ops[0][0]), ops[0][1], enough):
        if not goes_on or len(text) >= enough:
            heads.add((text[:enough], False))
            continue
        if rest is None:
            rest = _heads(ops[1:], enough)
        for more, on in rest:
            both = _joined(text, more)
            if both is not None:
                heads.add((both[:enough], on and len(both) < enough))
        if len(heads) > 2 * MOST:
            return {("", False)}
    return heads


def _first(name: str, argument: Any, enough: int) -> set[Head]:
    if name in {"AT", "ASSERT", "ASSERT_NOT"}:
        return {(END if str(argument) == "AT_BOUNDARY" else "", True)}
    if name == "LITERAL":
        return {(chr(argument), True)}
    if name == "SUBPATTERN":
        return _heads(list(argument[-1]), enough)
    if name == "BRANCH":
        return {head for branch in argument[1] for head in _heads(list(branch), enough)}
    if name in {"MAX_REPEAT", "MIN_REPEAT"}:
        low, high, inner = argument
        if _is_space(inner):
            return {(" ", True)} | ({("", True)} if low == 0 else set())
        times = low if low > 1 and len(inner) == 1 else 1
        heads = {(text * times, goes_on and high == times) for text, goes_on in _heads(list(inner), enough)}
        return heads | {("", True)} if low == 0 else heads
    if name == "IN" and [str(code) for _, code in argument] == ["CATEGORY_SPACE"]:
        return {(" ", True)}  # in flattened text every blank is this one
    if name == "IN" and len(argument) <= LENGTHS[-1] and all(str(kind) == "LITERAL" for kind, _ in argument):
        return {(chr(code), True) for _, code in argument}
    return {("", False)}
