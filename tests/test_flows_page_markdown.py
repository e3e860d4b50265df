"""The report as an artifact: every figure of a person's interest, and no text of a lesson that becomes markup."""

from __future__ import annotations

import re
from pathlib import Path

from flows.page.markdown import MOST_ROWS, render_page_markdown
from tests.test_flows_page_html import EVIL, facts


def test_every_part_that_has_rows_is_there() -> None:
    """Headings with their tables, and where the whole report lies."""
    text = render_page_markdown(facts("plain"), Path("/s/.cache/report.html"))
    for title in ("Most useful", "Repeats before and after", "Suspect", "Poison found"):
        assert f"### {title}\n\n| " in text
    assert "1 live lesson, 1 archived" in text
    assert "/s/.cache/report.html" in text


def test_an_empty_store_has_no_empty_tables() -> None:
    """Only the line of figures."""
    from datetime import UTC, datetime

    from flows.page.facts import PageFacts

    text = render_page_markdown(PageFacts("/s", datetime(2026, 11, 30, tzinfo=UTC), 0, 0), Path("/s/r.html"))
    assert "###" not in text
    assert "0 live lessons" in text


def test_no_text_becomes_markup() -> None:
    """A title cannot open a tag, a link, a picture, code or another cell, nor hide."""
    evil = EVIL + "\n# x ![a](http://x.example) [b](javascript:1) `c` | d \u202e\u200b"
    text = render_page_markdown(facts(evil), Path("/s/r.html"))
    bare = re.sub(r"\\.", "", text)
    assert not set("<>`[]()") & set(bare.replace("[U+", ""))
    assert "\u202e" not in text
    assert "\u200b" not in text
    rows = [line for line in bare.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in rows} <= {2, 3, 4, 5, 6}
    assert "\n# x" not in text


def test_long_tables_are_cut_and_say_so() -> None:
    """The first rows, and how many more there are."""
    from dataclasses import replace

    many = replace(facts("plain"), problems=tuple(f"file {number}" for number in range(MOST_ROWS + 5)))
    text = render_page_markdown(many, Path("/s/r.html"))
    assert f"file {MOST_ROWS - 1}" in text
    assert f"file {MOST_ROWS} " not in text
    assert "and 5 more" in text
