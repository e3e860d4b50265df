"""Words by the line are the words that the hook cuts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from index.word_lines import SEVERAL, WORDS, all_words, cut_lines
from index.words import words_of

PIECES = st.sampled_from(
    [
        "The importer fails",
        "HTTPServerError",
        "error_code",
        "it's",
        "\u2014",
        "don\u2019t",
        "\n",
        "  ",
        "\x01",
        "\x1c",
        "E1177",
        "42",
        "na\u00efve caf\u00e9",
        "\u2192 src/app.py",
        "\t",
        "\u2028",
        "\u0130stanbul",
        "x" * 50,
        "\u7aef\u53e3",
        "of the",
    ]
)


TEXTS = st.lists(PIECES, max_size=12).map("".join)


@given(TEXTS)
def test_each_line_has_the_words_of_its_text(text: str) -> None:
    """Whatever signs, scripts and line ends there are; a text with characters that are paired is left to the other."""
    found = cut_lines(text)
    if "\u7aef" in text:
        assert found is None
    else:
        assert found is not None
        lines = ["".join(map(WORDS.__getitem__, line.split())) for line in found.split("\n")]
        assert [line.replace(SEVERAL, "").split() for line in lines] == [words_of(line) for line in text.split("\n")]


@given(st.lists(st.one_of(PIECES, st.sampled_from("\u7aef\u3001\u3000\uff0c\u0e01\uac00\U00020000a1_ .")), max_size=14))
def test_paired_characters_are_the_same_a_run_at_a_time(pieces: list[str]) -> None:
    """Across signs and blanks, alone, beside words, and with the wide blank that counts as a character."""
    text = "".join(pieces)
    assert all_words(text) == words_of(text.replace("_", " "))


def test_characters_that_are_paired_are_the_same_set() -> None:
    """The set that a pattern can use takes in what `is_cjk` does."""
    assert all(
        all_words(f"{chr(code)}x{chr(code)}") == words_of(f"{chr(code)}x{chr(code)}") for code in range(1, 0x30000)
    )
