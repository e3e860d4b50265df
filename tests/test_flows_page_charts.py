"""Charts from numbers: what stands in the drawing adds up, and no text escapes into it."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from hypothesis import given
from hypothesis import strategies as st

from flows.page.charts import nice_top, render_bars, render_columns, safe

NAMES, COLOURS = ("read", "failed"), ("green", "red")
rows = st.lists(
    st.tuples(st.text(max_size=12), st.tuples(st.integers(0, 10**6), st.integers(0, 10**6))), min_size=1, max_size=30
)


@given(rows)
def test_columns_stand_on_the_floor_and_are_as_high_as_their_numbers(
    given_rows: list[tuple[str, tuple[int, int]]],
) -> None:
    """Well-formed for any label; every value above zero has one part, within the drawing."""
    drawn = Xml.fromstring(render_columns(given_rows, NAMES, COLOURS, "x"))  # noqa: S314  our own drawing
    parts = [part for part in drawn.iter() if part.tag.endswith("rect")]
    assert len(parts) == sum(value > 0 for _, values in given_rows for value in values)
    for part in parts:
        assert 0 <= float(part.attrib["x"]) <= 540
        assert 11 <= float(part.attrib["y"]) <= 210


@given(rows)
def test_bars_are_well_formed_and_stay_within_the_drawing(given_rows: list[tuple[str, tuple[int, int]]]) -> None:
    """The longest bar leaves room for its number."""
    drawn = Xml.fromstring(render_bars(given_rows, NAMES, COLOURS, "x"))  # noqa: S314  our own drawing
    for part in drawn.iter():
        if part.tag.endswith("rect"):
            assert float(part.attrib["x"]) + float(part.attrib["width"]) <= 540


@given(st.floats(0.0001, 1e9))
def test_an_axis_ends_at_a_round_number_that_holds_the_most(most: float) -> None:
    """At least the most, and never ten times it."""
    assert most * (1 - 1e-9) <= nice_top(most) < 10 * most


@given(st.text())
def test_text_is_escaped_and_cannot_turn_its_direction(text: str) -> None:
    """No tag, no attribute's end, no control character and no mark of direction is left."""
    shown = safe(text)
    assert not set("<>\"'") & set(shown)
    assert not any(char in shown for char in "\u202e\u2066\u200f\x00\x1b")


def test_an_empty_chart_is_an_axis_and_nothing_else() -> None:
    """No rows and rows of zeros are drawn without a part."""
    for given_rows in ([], [("a", (0, 0))]):
        assert "<rect" not in render_columns(given_rows, NAMES, COLOURS, "x")
