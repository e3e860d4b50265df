"""The plain reader of front matter says what the YAML library says, or leaves it to the library."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.frontmatter import BadValue, load_yaml, parse_solution, render_solution, split_frontmatter
from index.plain_yaml import parse_plain
from index.records import Problem, Solution, Source, Triggers

# Pieces of which YAML makes something else than they look like.
PIECES = (
    *("a", "Ab", "zeta", "true", "no", "On", "y", "null", "~", "0", "07", "-1", "1_0", "0x1F", "1e3", "1.5", "1:30"),
    *(".5", "+1", "2026-11-29", "2026-11-29T18:03:11Z", "01KB7ZC4S0T2J5Q8XW3N6M9RVE", "00E5", "1E5", "12e5", "0b1"),
    *("12g", "5k", "<<", "=", "&x", "*x", "!t", "|", ">", "%", "@", "`", "?", "-", "- ", ":", ": ", " #", "#", ","),
    *(
        "[",
        "]",
        "{",
        "}",
        ", ",
        '"',
        "'",
        '"a"',
        '"b c"',
        "\\",
        " ",
        "  ",
        "\n",
        "\n  ",
        "\n  - ",
        "\nkey: ",
        "é",
        "中",
    ),
    *("\u0085", "\u2028", "\ufeff", "\t", "\r", "...", "---", "/", "._"),
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


def same(text: str) -> bool:
    """Whether the plain reader declines or answers what the library answers, types and all."""
    found = parse_plain(text)
    if found is None:
        return True
    try:
        return repr(found) == repr(load_yaml(text))
    except BadValue:
        return False


@given(TEXTS)
def test_an_answer_is_that_of_the_library(text: str) -> None:
    assert same(text), text
    assert same(f"key: {text}\n"), text
    assert same(f"key: [{text}]\n"), text
    assert same(f"key: {{a: {text}, b: 1}}\n"), text
    assert same(f"key:\n  - {text}\n  - {{session: {text}}}\n"), text
    assert same(f"one: 1\nkey:\n  sub: {text}\n"), text


@given(st.text(max_size=30), st.sampled_from(["key: ", "key: [a, ", 'key: "', "key:\n  - ", ""]))
def test_any_text_at_all(text: str, before: str) -> None:
    assert same(before + text)


@pytest.mark.parametrize(
    "text", ["key: a\nkey: b\n", "key: yes\n", "key: a: b\n", "key: 010\n", "a:\n  b: 1\n  b: 2\n"]
)
def test_what_is_not_plain_is_left_to_the_library(text: str) -> None:
    assert parse_plain(text) is None


def test_our_own_front_matter_is_plain() -> None:
    """What render_solution writes needs no library, so that a store is read quickly."""
    solution = Solution(
        id="01KB7ZC4S0T2J5Q8XW3N6M9RVE",
        title="Integration tests need services; run make test-int",
        category="bugs",
        body="The suite needs Postgres.\n",
        confidence=0.85,
        tags=("pytest", "make"),
        project="example.org/acme/shop",
        triggers=Triggers(("tests/integration/**",), ("pytest tests/integration",), ("could not connect to server",)),
        sources=(Source("claude-code:3f2a", (120, 188), "tool"),),
        created=datetime(2026, 11, 29, 18, 3, 11, tzinfo=UTC),
    )
    text = render_solution(solution)
    header, _ = split_frontmatter(text)
    assert header is not None
    assert parse_plain(header) == load_yaml(header)
    read = parse_solution("solutions/bugs/a.md", text)
    assert not isinstance(read, Problem)
    assert read.triggers == solution.triggers
    assert read.sources == solution.sources


def test_what_is_remembered_is_nobodys_to_change() -> None:
    """A list is made anew each time; a scalar or a key that was met before is read as at first."""
    text = "id: 7\ntags: [a, b]\nnone: null\nid2: true\nextra: []\n"
    first = parse_plain(text)
    assert first is not None
    first["tags"].append("c")
    first["extra"].append("c")
    assert parse_plain(text) == {"id": 7, "tags": ["a", "b"], "none": None, "id2": True, "extra": []}
    assert parse_plain("id: 7\nid: 8\n") is None
    assert parse_plain("tags: [a, No]\n") is None
