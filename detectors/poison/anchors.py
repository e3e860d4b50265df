"""The literals that a pattern's matches can begin with, so that it is tried at those places only.

Python's regular expressions try a pattern at every position; a lesson has few positions where a rule could start.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

# Longer literals are cut: enough to be rare. Fewer literals than this many, or the pattern is searched plainly.
ENOUGH = 6
MOST = 400
Head = tuple[str, bool]


def anchors(pattern: re.Pattern[str]) -> tuple[str, ...]:
    """Every match of the pattern begins with one of these; () where that cannot be said.

    Reads the parsed form that the `re` module itself compiles from; where a Python has none, nothing is said.
    """
    parser = getattr(re, "_parser", None)
    if parser is None:
        return ()
    heads = _heads(list(parser.parse(pattern.pattern)))
    literals = {text for text, _ in heads}
    if len(literals) > MOST or any(len(text) < 2 for text in literals):
        return ()
    return tuple(sorted(text for text in literals if not any(text[:end] in literals for end in range(2, len(text)))))


def _heads(ops: Sequence[Any]) -> set[Head]:
    """What the operations can begin with: (literal, whether it may be continued by what follows)."""
    if not ops:
        return {("", True)}
    name, argument = str(ops[0][0]), ops[0][1]
    first = _first(name, argument)
    heads: set[Head] = set()
    rest: set[Head] | None = None
    for text, goes_on in first:
        if not goes_on or len(text) >= ENOUGH:
            heads.add((text[:ENOUGH], False))
            continue
        if rest is None:
            rest = _heads(ops[1:])
        heads |= {((text + more)[:ENOUGH], on and len(text + more) < ENOUGH) for more, on in rest}
        if len(heads) > 4 * MOST:
            return {("", False)}
    return heads


def _first(name: str, argument: Any) -> set[Head]:
    if name in {"AT", "ASSERT", "ASSERT_NOT"}:
        return {("", True)}
    if name == "LITERAL":
        return {(chr(argument), True)}
    if name == "SUBPATTERN":
        return _heads(list(argument[-1]))
    if name == "BRANCH":
        return {head for branch in argument[1] for head in _heads(list(branch))}
    if name in {"MAX_REPEAT", "MIN_REPEAT"}:
        low, high, inner = argument
        times = low if low > 1 and len(inner) == 1 else 1
        heads = {(text * times, goes_on and high == times) for text, goes_on in _heads(list(inner))}
        return heads | {("", True)} if low == 0 else heads
    if name == "IN" and [str(code) for _, code in argument] == ["CATEGORY_SPACE"]:
        return {(" ", True)}  # in flattened text every blank is this one
    if name == "IN" and len(argument) <= ENOUGH and all(str(kind) == "LITERAL" for kind, _ in argument):
        return {(chr(code), True) for _, code in argument}
    return {("", False)}
