"""Words by the line are the words that the hook cuts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from index.word_lines import word_lines
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


@given(st.lists(PIECES, max_size=12).map("".join))
def test_each_line_has_the_words_of_its_text(text: str) -> None:
    """Whatever signs, scripts and line ends there are; a text with characters that are paired is left to the other."""
    found = word_lines(text)
    if "\u7aef" in text:
        assert found is None
    else:
        assert found is not None
        assert [line.split() for line in found.split("\n")] == [words_of(line) for line in text.split("\n")]
