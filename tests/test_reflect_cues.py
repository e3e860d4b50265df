"""Cues are read from the words of a lesson, whatever its language, and never fail."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reflect.cues import read_cues, read_document, read_field_cues


def test_the_title_falls_back_to_the_first_heading() -> None:
    """A lesson without a title in its front matter is called what its first heading says."""
    document = read_document("", "# Use `just`\n\nText.\n\n## Symptoms\n")
    assert document.title == "use just"
    assert document.headings == ("symptoms",)


def test_headings_inside_code_are_not_headings() -> None:
    """A comment in a shell snippet is no heading."""
    assert read_document("T", "```sh\n# Symptoms\n## Root cause\n```\n").headings == ()


def test_bold_labels_count_as_headings() -> None:
    """`**Root cause:** ...` announces what a heading would."""
    assert "heading: cause" in read_cues("A title", "**Root cause:** the port was taken.\n")


def test_cues_know_other_languages() -> None:
    """Japanese, Chinese and Korean headings give the same cues as English ones."""
    for heading in ("根本原因分析", "原因", "원인"):
        assert "heading: cause" in read_cues("t", f"## {heading}\n\nx\n")


def test_field_words_survive_drifting_spellings() -> None:
    """`logic-error`, `docs/solutions/ui-bugs/` and a list of types all say bug."""
    for fields in ({"problem_type": "logic-errors"}, {"type": "docs/solutions/ui-bugs/"}, {"kind": ["async_issue"]}):
        assert "type field: bug" in read_field_cues(fields)


@given(st.text(max_size=300), st.text(max_size=2000))
def test_every_cue_lies_between_zero_and_one(title: str, body: str) -> None:
    """Any text gives cues within 0..1, and the same ones each time."""
    cues = read_cues(title, body)
    assert all(0 < value <= 1 for value in cues.values())
    assert cues == read_cues(title, body)
