"""Folding text to what a reader takes it for, with the way back."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from detectors.poison.normalise import normalise


def test_ascii_text_is_lower_cased_and_keeps_its_offsets() -> None:
    """Plain text has no edits."""
    normal = normalise("Run MAKE test")
    assert normal.text == "run make test"
    assert normal.span(4, 8) == (4, 8)


def test_invisible_and_styled_letters_fold_to_plain_ones() -> None:
    """Zero width characters go, full-width and accented letters become plain, look-alikes in mixed words too."""
    assert normalise("i\u200bg\u200bnore").text == "ignore"
    assert normalise("Ｉｇｎｏｒｅ précédentes").text == "ignore precedentes"
    assert normalise("іgnоrе").text == "ignore"
    assert normalise("привет").text == "привет"
    assert normalise("\N{MATHEMATICAL BOLD SMALL A}b\N{LATIN SMALL LIGATURE FI}").text == "abfi"


def test_spans_point_at_the_original() -> None:
    """A span of the folded text gives back the characters it came from, with the invisible ones between them."""
    text = "note: i\u200bg\u200bnore — now"
    normal = normalise(text)
    start = normal.text.index("ignore")
    first, last = normal.span(start, start + len("ignore"))
    assert text[first:last] == "i\u200bg\u200bnore"


def test_only_mixed_words_are_called_mixed() -> None:
    """A Russian word, a unit and a Greek letter are honest; a Latin word with Cyrillic letters is not."""
    assert not normalise("5 µs, привет, α-test, Δt").mixed
    assert normalise("use раypal here").mixed


@given(st.text(max_size=200))
def test_every_span_lies_inside_the_original(text: str) -> None:
    """Whatever the text, folded offsets map to increasing offsets within it."""
    normal = normalise(text)
    places = [normal.original(place) for place in range(len(normal.text) + 1)]
    assert all(a <= b for a, b in pairwise(places))
    for start in range(0, len(normal.text), 7):
        first, last = normal.span(start, start + 1)
        assert 0 <= first <= last <= len(text)


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=200))
def test_ascii_is_only_lower_cased(text: str) -> None:
    """The quick way for plain text is the law."""
    assert normalise(text).text == text.lower()
