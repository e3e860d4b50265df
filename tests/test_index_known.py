"""index/known.py: what was read is looked up, within bounds."""

from __future__ import annotations

from index.known import SHORT, Known


def test_a_short_text_is_read_once() -> None:
    """The second time it is looked up."""
    asked: list[str] = []

    def read(text: str) -> int:
        asked.append(text)
        return len(text)

    known = Known(read)
    assert [known["abc"], known["de"], known["abc"]] == [3, 2, 3]
    assert asked == ["abc", "de"]


def test_few_are_kept_and_none_that_is_long() -> None:
    """However many come by, no more than the most are there, and each answer is right."""
    known = Known(str.upper, most=10)
    texts = [*(f"word{number}" for number in range(95)), "x" * (SHORT + 1)]
    assert [known[text] for text in texts] == [text.upper() for text in texts]
    assert 0 < len(known) <= 10
    assert all(len(text) <= SHORT for text in known)
