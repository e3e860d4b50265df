"""The words of many solutions at once are those of each."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import index.recall_texts
from index.recall_rows import texts_of
from index.recall_texts import texts_of_all
from index.records import Solution, Triggers

PIECES = st.sampled_from(
    [
        "The importer of it fails. Again the importer",
        "done.\nand on",
        "end.\n- item",
        ".\n\n",
        "\n",
        ". ",
        "\r\n",
        "# heading\n",
        "`parse_error` and `HTTPServerError`",
        "\n```sh\nmake it_now HTTPServerError\n```\n",
        "```\nnever closed",
        "http server HTTPServerError parseURL",
        "done.\u2014then",
        "caf\u00e9",
        "\u7aef\u53e3",
        "x" * 15 + " " + "x" * 16 + " " + "x" * 17 + " " + "x" * 41,
        "averyveryverylongword",
        "42 a1 of",
        "\x00\x01\x1f",
    ]
)
BODIES = st.lists(PIECES, max_size=12).map("".join)
TITLES = st.sampled_from(["The port of it. Again", "a_b\nc", "\u2192 it", "", "fails."])


def lesson(title: str, body: str, errors: tuple[str, ...] = ()) -> Solution:
    return Solution("A", title, "bugs", body, tags=("db", "http_pool"), triggers=Triggers(("src/**",), errors=errors))


@given(st.lists(st.tuples(TITLES, BODIES, st.sampled_from([(), ("error: no\nport",)])), max_size=6))
def test_many_are_as_each(given_lessons: list[tuple[str, str, tuple[str, ...]]]) -> None:
    """Sentences over lines, fences closed and open, long words, and texts that arrays do not hold among others."""
    lessons = [lesson(*one) for one in given_lessons]
    assert texts_of_all(lessons) == [texts_of(one) for one in lessons]


def test_bounds_are_kept() -> None:
    """So many sentences and words of code and no more, though many lessons are read at once."""
    long = "".join(f"Said number a{n} of many. " for n in range(90)) + " ".join(f"`code{n}x`" for n in range(300))
    lessons = [lesson("t", long), lesson("", "short"), lesson("u", "wide " * 3000), lesson("v", long)]
    assert texts_of_all(lessons) == [texts_of(one) for one in lessons]


def test_it_goes_on_where_words_are_too_many_to_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batch by batch, with what is known forgotten in between; and with more words than there was room for at first."""
    lessons = [lesson(f"t{n}", " ".join(f"word{n}x{k} camelCase{k}Of{n}" for k in range(300))) for n in range(30)]
    expected = [texts_of(one) for one in lessons]
    assert texts_of_all(lessons) == expected
    monkeypatch.setattr(index.recall_texts, "MOST_KNOWN", 100)
    monkeypatch.setattr(index.recall_texts, "BATCH_CHARS", 5000)
    assert texts_of_all(lessons) == expected
