"""Cut a text into the blocks that are judged one by one: front matter, headings, paragraphs, list items, code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["front", "heading", "prose", "item", "code", "quote", "table"]

MAX_BLOCK = 1600
OVERLAP = 200
ITEM = re.compile(r"\s{0,12}(?:[-*+]|\d{1,3}[.)])\s")
FRONT = "---"


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of normalised text, `start` to `end`, and what it is in the markdown."""

    kind: Kind
    start: int
    end: int


def segment(text: str) -> tuple[Block, ...]:
    """The blocks of a text in order; a long one becomes several that overlap, so nothing hides in a seam."""
    return tuple(piece for block in _blocks(text) for piece in _cut(block))


def _cut(block: Block) -> Iterator[Block]:
    start = block.start
    while block.end - start > MAX_BLOCK:
        yield Block(block.kind, start, start + MAX_BLOCK)
        start += MAX_BLOCK - OVERLAP
    yield Block(block.kind, start, block.end)


def _blocks(text: str) -> Iterator[Block]:
    kind: Kind = "prose"
    start = position = 0
    fence = ""
    front = text.startswith(FRONT + "\n")
    if front:
        kind = "front"
    for line in text.splitlines(keepends=True):
        end = position + len(line)
        bare = line.strip()
        if front:
            if position and bare == FRONT:
                yield Block("front", start, end)
                front, kind, start = False, "prose", end
        elif fence:
            if bare.startswith(fence):
                yield Block("code", start, end)
                fence, kind, start = "", "prose", end
        elif not bare:
            if position > start:
                yield Block(kind, start, position)
            kind, start = "prose", end
        else:
            opens = _opening(bare, line)
            if opens and not (opens == "table" and kind == "table") and not (opens == "quote" and kind == "quote"):
                if position > start:
                    yield Block(kind, start, position)
                kind, start = opens, position
                if opens == "code":
                    fence = bare[:3]
                elif opens == "heading":
                    yield Block("heading", start, end)
                    kind, start = "prose", end
        position = end
    if position > start:
        yield Block(kind, start, position)


def _opening(bare: str, line: str) -> Kind | None:
    first = bare[0]
    if first == "#":
        return "heading"
    if first in "-*+0123456789" and ITEM.match(line):
        return "item"
    if bare.startswith(("```", "~~~")):
        return "code"
    if first == ">":
        return "quote"
    if first == "|":
        return "table"
    return None
