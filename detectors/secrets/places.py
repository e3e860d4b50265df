"""Where literal texts stand: the cheap first look before any pattern."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

Hit = tuple[str, int, int]
"""A find: its kind, and the start and end of the secret value in the text."""

_ESCAPED = re.compile(r"(?:\\[nrtbf0]|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\[\d{0,3}m)\Z")


def places(text: str, literals: Iterable[str], start: int = 0) -> Iterator[int]:
    """The start of every occurrence of every literal, literal by literal. `str.find` is ten times a pattern's speed."""
    for literal in literals:
        at = text.find(literal, start)
        while at >= 0:
            yield at
            at = text.find(literal, at + len(literal))


def lowered(text: str) -> str:
    """The text in lower case with every character at its place (a few letters lower to two characters: these stay)."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def starts_clean(text: str, start: int, joiners: bool = True) -> bool:
    """Whether a value may start here: no letter or digit stands before it, except as the end of an escape.

    Without `joiners`, `-`, `_`, `+` and `/` count as letters: for prefixes so short that names and base64 hold them.
    """
    if start == 0:
        return True
    before = text[start - 1]
    if not before.isalnum() and (joiners or before not in "-_+/"):
        return True
    return _ESCAPED.search(text[max(0, start - 6) : start]) is not None
