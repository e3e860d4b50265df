"""Cutting a text into blocks."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from detectors.poison.segment import MAX_BLOCK, segment

TEXT = """---
title: a
---
# head
para one
goes on

- item one
- item two

```sh
# not a heading
run
```
> said
| a | b |
"""


def test_blocks_have_their_kind() -> None:
    """Front matter, heading, paragraph, items, code, quote and table are told apart; code hides its own signs."""
    kinds = [block.kind for block in segment(TEXT) if TEXT[block.start : block.end].strip()]
    assert kinds == ["front", "heading", "prose", "item", "item", "code", "quote", "table"]


def test_a_long_block_is_cut_with_overlap() -> None:
    """Nothing can hide in a seam: neighbouring pieces overlap."""
    blocks = segment("word " * 2000)
    assert len(blocks) > 1
    assert all(block.end - block.start <= MAX_BLOCK for block in blocks)
    assert all(a.end > b.start for a, b in pairwise(blocks))


@given(
    st.lists(
        st.sampled_from(["---\n", "# h\n", "- i\n", "```\n", "text\n", "\n", "> q\n", "| t |\n", "end"]), max_size=30
    )
)
def test_every_word_is_in_a_block(lines: list[str]) -> None:
    """No visible character of a text is outside of all blocks."""
    text = "".join(lines)
    covered = bytearray(len(text))
    for block in segment(text):
        covered[block.start : block.end] = b"\1" * (block.end - block.start)
    assert all(covered[place] or not char.strip() for place, char in enumerate(text))
