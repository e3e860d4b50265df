"""What a person typed is told from what the harness put around it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflect.transcripts.injected import split_injected


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Fix it.", [("person", "Fix it.")]),
        ("a < b and <div>x</div>", [("person", "a < b and <div>x</div>")]),
        ("<bash-input>r</bash-input>\nFix it.", [("injected", "<bash-input>r</bash-input>"), ("person", "Fix it.")]),
        ("Fix it.\n<bash-input>never closed", [("person", "Fix it."), ("injected", "<bash-input>never closed")]),
        ("<user_query>\nFix it.\n</user_query>", [("person", "Fix it.")]),
        ("[Request interrupted by user for tool use]", [("injected", "[Request interrupted by user for tool use]")]),
        ("Stop hook feedback:\nuncommitted", [("injected", "Stop hook feedback:\nuncommitted")]),
        ('<skill name="x">body</skill> go', [("injected", '<skill name="x">body</skill>'), ("person", "go")]),
        ("", []),
    ],
)  # fmt: skip
def test_parts_of_a_message(text: str, parts: list[tuple[str, str]]) -> None:
    """Known elements and openings are injected, everything else is the person's, in order."""
    assert split_injected(text) == parts


@given(text=st.text(st.characters(exclude_characters="<")))
def test_nothing_typed_is_lost(text: str) -> None:
    """Without elements, a message is wholly the person's or wholly not."""
    parts = split_injected(text)
    assert len(parts) <= 2
    if text.strip() and not text.lstrip().startswith("# Context from my IDE setup"):
        assert parts[0][1] == text.strip()
