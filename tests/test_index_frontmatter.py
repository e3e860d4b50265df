"""Text to solution and back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from index.frontmatter import (
    BadValue,
    edit_frontmatter,
    load_yaml,
    parse_solution,
    render_solution,
    render_value,
    split_frontmatter,
)
from index.records import CATEGORIES, IMPORTANCES, TRUSTS, Problem, Solution, Source, Triggers

ID = "01KB7ZC4S0T2J5Q8XW3N6M9RVE"
LESSON = f"""---
id: {ID}
title: Run make test-int   # said by the maintainers
category: bugs
confidence: 0.85
tags: [pytest, make]
triggers:
  paths: ["tests/integration/**"]
my_own_key: {{keep: me}}
---
The suite needs Postgres.
"""

texts = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=40)
names = st.lists(texts.filter(bool), max_size=3).map(tuple)
solutions = st.builds(
    Solution,
    id=st.just(ID),
    title=texts.filter(bool),
    category=st.sampled_from(CATEGORIES),
    body=texts,
    importance=st.sampled_from(IMPORTANCES),
    confidence=st.floats(0.7, 0.95),
    trust=st.sampled_from(TRUSTS),
    tags=names,
    project=texts,
    branch=texts,
    triggers=st.builds(Triggers, paths=names, commands=names, errors=names),
    sources=st.lists(
        st.builds(
            Source,
            session=texts,
            lines=st.none() | st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)),
            ref=texts,
        ),
        max_size=3,
    ).map(tuple),
    created=st.datetimes(datetime(1, 1, 2), datetime(9998, 1, 1), timezones=st.just(UTC)).map(
        lambda time: time.replace(microsecond=0)
    ),
    verified=st.none() | st.dates(),
    priority=st.integers(-1, 1),
    helpful=st.integers(0, 9),
    expires=st.none() | st.dates(),
)


@given(solutions)
def test_a_solution_is_read_back_as_it_was_written(solution: Solution) -> None:
    """parse(render(x)) == x, whatever stands in its texts."""
    read = parse_solution("x.md", render_solution(solution))
    assert isinstance(read, Solution), read
    assert replace(read, path="", text="") == solution


@given(texts)
def test_any_text_survives_as_a_value(value: str) -> None:
    """Ours and PyYAML's own safe loader read the same text back."""
    line = f"key: {render_value(value)}"
    assert load_yaml(line) == {"key": value}
    assert yaml.safe_load(line) == {"key": value}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_an_edit_touches_only_its_own_lines(newline: str, mark: str) -> None:
    """Comments, quotes, order, line ends and a byte-order mark stay as they are."""
    text = mark + LESSON.replace("\n", newline)
    edited = edit_frontmatter(text, {"confidence": 0.9})
    assert edited == text.replace("confidence: 0.85", "confidence: 0.9")


def test_an_edit_replaces_a_block_and_adds_a_key() -> None:
    """A value over several lines goes as a whole; a new key stands at the end of the front matter."""
    edited = edit_frontmatter(LESSON, {"triggers": Triggers(errors=("boom",)), "helpful": 2})
    read = parse_solution("x.md", edited)
    assert isinstance(read, Solution)
    assert read.triggers == Triggers(errors=("boom",))
    assert read.helpful == 2
    assert read.extra == {"my_own_key": {"keep": "me"}}
    assert edited.index("helpful: 2") > edited.index("my_own_key")
    assert "# said by the maintainers" in edited


@given(solutions, st.integers(0, 5))
def test_an_edit_changes_nothing_else(solution: Solution, helpful: int) -> None:
    """The record after an edit differs in the edited field alone."""
    edited = parse_solution("x.md", edit_frontmatter(render_solution(solution), {"helpful": helpful}))
    assert isinstance(edited, Solution)
    assert replace(edited, path="", text="") == replace(solution, helpful=helpful)


@pytest.mark.parametrize(
    ("broken", "line", "words"),
    [
        ("helpful: many", 11, 'helpful must be a whole number, found "many"'),
        ("confidence: 0.99", 11, "the key 'confidence' stands twice"),
        ("a: &x [1]\nb: *x", 12, "aliases are not allowed"),
        ("x: !!python/object:os.system [ls]", 11, "could not determine a constructor"),
        ("x: [1, 2", 12, "not valid YAML"),
        ("\tx: 1", 11, "not valid YAML"),
        ("created: yesterday", 11, "created must be a date such as 2026-11-29"),
        ("expires: 0000-00-00", 11, "expires must be a date"),
        ("sources: nowhere", 11, "sources must be a list"),
        ("tags: {a: 1}", 6, "stands twice"),
    ],
)
def test_a_broken_header_is_a_problem_with_its_line(broken: str, line: int, words: str) -> None:
    """Where, what was wanted and what was found; never an exception, never an object built from a tag."""
    read = parse_solution("x.md", LESSON.replace("---\nThe", f"{broken}\n---\nThe"))
    assert isinstance(read, Problem)
    assert words in read.reason
    assert abs((read.line or 0) - line) <= 5


def test_confidence_outside_its_type_is_an_error() -> None:
    """How a thing is known bounds how sure one may be of it."""
    read = parse_solution("x.md", LESSON.replace("confidence: 0.85", "confidence: 0.99"))
    assert isinstance(read, Problem)
    assert (read.line, "0.7 to 0.95" in read.reason) == (5, True)


@pytest.mark.parametrize("bomb", ["[" * 5000, "{a: " * 5000, "x:\n" + "".join(" " * i + "a:\n" for i in range(3000))])
def test_deep_nesting_is_refused_before_it_costs_anything(bomb: str) -> None:
    """A hostile header cannot overflow the parser's stack."""
    with pytest.raises(BadValue):
        load_yaml(bomb)


def test_front_matter_ends_at_its_second_line_of_dashes() -> None:
    """Dashes inside the text below are the text's own."""
    assert split_frontmatter("---\na: 1\n---\nx\n---\ny\n") == ("a: 1\n", "x\n---\ny\n")
    assert split_frontmatter("no header\n---\n") == (None, "no header\n---\n")
    assert split_frontmatter("---\nnever closed\n") == (None, "---\nnever closed\n")
    assert date(2026, 1, 1).isoformat() in render_value([date(2026, 1, 1)])


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("---\na: b\n---\nc\n", ("a: b\n", "c\n")),
        ("---\n---\nc", ("", "c")),
        ("---\na: b\n---", ("a: b\n", "")),
        ("---\na: b\n--- \t\r\nc", ("a: b\n", "c")),
        ("---\na: b\n----\nd: e\n---\nc", ("a: b\n----\nd: e\n", "c")),
        ("---\na: |\n ---\n---\n---\nc", ("a: |\n ---\n", "---\nc")),
        ("\ufeff--- \r\na: b\r\n---\r\nc", ("a: b\r\n", "c")),
        ("---\na: b\n", (None, "---\na: b\n")),
        ("--- x\n---\n", (None, "--- x\n---\n")),
        ("---", (None, "---")),
    ],
)
def test_the_header_ends_at_the_first_line_of_three_dashes(text: str, parts: tuple[str | None, str]) -> None:
    """However the lines end, and whatever else begins with dashes."""
    assert split_frontmatter(text) == parts
