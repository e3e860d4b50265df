"""Numbers with their nouns, for what people read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

Name = TypeVar("Name", bound=str)  # a mapping is invariant in its keys

ONE_OF = {"bugs": "bug", "patterns": "pattern"}  # the categories that are countable; knowledge is not


def plural(count: int, noun: str, nouns: str = "") -> str:
    """`1 lesson`, `2 lessons`, `1,000 lessons`."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def by_category(counts: Mapping[Name, int]) -> str:
    """`1 bug, 2 knowledge, 3 patterns`: how many lessons of each category, in order of its name."""
    return ", ".join(plural(n, ONE_OF.get(name, name), name) for name, n in sorted(counts.items()))
