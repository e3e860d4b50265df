"""Text is cleaned before anything looks at it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflect.transcripts.text import clean_text, cut_middle, parse_time, text_of


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[2K\x1b[1Gdone", "done"),
        ("\x1b]8;;https://example.com\x07link\x1b]8;;\x07", "link"),
        ("10%\r50%\r100%\nnext", "100%\nnext"),
        ("a\r\nb", "a\nb"),
        ("a\x00b\x08c\td", "abc\td"),
        ("plain", "plain"),
        ("data:image/png;base64," + "A" * 200, "data:image/png;base64,[200 characters of data dropped]"),
    ],
)
def test_what_a_terminal_would_not_show_is_gone(raw: str, clean: str) -> None:
    """Colours, cursor moves, overwritten progress, control characters and images."""
    assert clean_text(raw) == clean


@given(text=st.text(max_size=3000), limit=st.integers(9, 400))
def test_a_cut_text_says_how_much_was_cut(text: str, limit: int) -> None:
    """Start and end stay, and the count of what is missing is true."""
    cut = cut_middle(text, limit)
    if len(text) <= limit:
        assert cut == text
        return
    assert f"[... {len(text) - limit} characters cut ...]" in cut
    assert cut.startswith(text[: limit // 3])
    assert cut.endswith(text[-(limit - limit // 3) :])


@given(text=st.text(st.characters(exclude_categories=())))
def test_clean_text_can_be_written(text: str) -> None:
    """Whatever comes in, what comes out is UTF-8 without escapes, and cleaning it again changes nothing."""
    clean = clean_text(text)
    clean.encode("utf-8")
    assert "\x1b" not in clean
    assert clean_text(clean) == clean


def test_text_of_blocks() -> None:
    """Texts of blocks are joined, images leave a note, and nested content is found."""
    blocks = [
        {"type": "text", "text": "a"},
        {"type": "image", "source": {"data": "AAAA"}},
        {"content": [{"text": "b"}]},
    ]
    assert text_of(blocks) == "a\n[image dropped]\nb"


@pytest.mark.parametrize(
    ("value", "time"),
    [
        ("2026-11-12T08:00:00.000Z", datetime(2026, 11, 12, 8, tzinfo=UTC)),
        ("2026-11-12T08:00:00", datetime(2026, 11, 12, 8, tzinfo=UTC)),
        (1794470400.0, datetime(2026, 11, 12, 8, tzinfo=UTC)),
        (1794470400000, datetime(2026, 11, 12, 8, tzinfo=UTC)),
        ("yesterday", None),
        (float("nan"), None),
        (1e300, None),
        (True, None),
        (None, None),
    ],
)
def test_times_of_all_agents(value: object, time: datetime | None) -> None:
    """ISO text, epoch seconds and milliseconds; what is none of these is no time."""
    assert parse_time(value) == time
