"""A draft is written from the solutions' own statements: nothing is lost, nothing invented."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.drafting import (
    NO_CHECK,
    draft_name,
    find_inventions,
    order_solutions,
    read_statements,
    short_title,
    write_draft,
)
from index.bullets import parse_bullets
from index.records import Solution, Triggers
from index.signature import error_signature

DAY = datetime(2026, 11, 20, tzinfo=UTC)


def lesson(number: int, body: str, title: str = "Integration tests need services", **more: object) -> Solution:
    """A solution with an id of its own."""
    return Solution(f"01KB7ZC4S0T2J5Q8XW3N6M{number:04d}", title, "bugs", body, created=DAY, **more)  # type: ignore[arg-type]


FORM = """The suite needs Postgres, which `make up` starts.

**Why it matters:** a bare `pytest tests/integration` fails.

**Instead:** run `make test-int`.
"""


def test_the_parts_of_a_solution_become_the_parts_of_a_skill() -> None:
    """Fact, why and instead; the labels go, the words stay, a command at the start keeps its case."""
    parts = [(statement.section, statement.text) for statement in read_statements(lesson(1, FORM))]
    assert parts == [
        ("lead", "The suite needs Postgres, which `make up` starts."),
        ("pitfalls", "A bare `pytest tests/integration` fails."),
        ("steps", "Run `make test-int`."),
    ]
    assert [s.text for s in read_statements(lesson(1, "**Instead:** pytest -q says it all."))] == [
        "pytest -q says it all."
    ]


def test_headings_of_a_long_lesson_sort_its_statements() -> None:
    """Headings that authors of lessons use are understood; one inside a code block is none."""
    body = """# Lesson
        The fact.

        ## Symptoms
        - It hangs.

        ## Root cause
        - A lock.

        ## Solution
        - Add a timeout:
        ```
        ## Verification
        timeout 5 x
        ```

        ## Verification
        - It ends.
        """.replace("        ", "")
    sections = {statement.text.split("\n")[0]: statement.section for statement in read_statements(lesson(1, body))}
    assert sections == {
        "The fact.": "lead",
        "It hangs.": "when",
        "A lock.": "pitfalls",
        "Add a timeout:": "steps",
        "It ends.": "verify",
    }


def test_a_draft_reads_as_it_stands() -> None:
    """The whole text of a small draft, from three sessions' lessons."""
    triggers = Triggers(("tests/integration/**",), ("pytest tests/integration",), ("could not connect to server",))
    second = FORM.replace("run `make test-int`.", "run `make test-int`, or `make up` before a single test.")
    written = write_draft([lesson(1, FORM, triggers=triggers), lesson(2, second), lesson(3, FORM)])
    assert written.description == (
        'Use when the output shows "could not connect to server", or before running pytest tests/integration, '
        "or when working on tests/integration/**: Integration tests need services."
    )
    assert (
        written.body
        == """# Integration tests need services

The suite needs Postgres, which `make up` starts.

## When

- The output shows `could not connect to server`.
- You are about to run `pytest tests/integration`.
- You work on files that match `tests/integration/**`.

## Steps

1. Run `make test-int`.
2. Run `make test-int`, or `make up` before a single test.

## Pitfalls

- A bare `pytest tests/integration` fails.

## Verify

- The output no longer shows `could not connect to server`.
"""
    )
    assert written.details == ""
    assert [len(adds) for adds in written.adds.values()] == [3, 1, 0]


def test_an_error_is_shown_as_the_sessions_quote_it() -> None:
    """A trigger has its values taken out and is lower case; what is shown is the text that the tool prints."""
    quoted = 'app.DbError: connection to server at "10.0.0.7", port 5432 failed: Connection refused by the other side'
    signature = error_signature(quoted)
    assert signature != quoted
    written = write_draft([lesson(1, f"It fails with `{quoted}`.", triggers=Triggers((), (), (signature,)))])
    assert f"- The output shows `{quoted}`." in written.body
    assert f"- The output no longer shows `{quoted}`." in written.body
    shown = 'Use when the output shows "app.DbError: connection to server at "10.0.0.7", port 5432 failed: Connection"'
    assert written.description.startswith(shown)


@pytest.mark.parametrize(
    ("title", "short", "name"),
    [
        ("Run `make x` when `pytest -q` says `Some.Lo…`", "Run `make x`", "run-make-x"),
        ("Tests need services; run make up", "Tests need services; run make up", "tests-need-services"),
        ("Set `a: b`, then go.", "Set `a: b`, then go", "set-a-b"),
        ("Cache: clear it", "Cache: clear it", "cache-clear-it"),
        (" ".join(["word"] * 30), " ".join(["word"] * 30), "-".join(["word"] * 9)),
    ],
)
def test_titles_and_names_are_short(title: str, short: str, name: str) -> None:
    """A title that was cut, and every name, is the first clause; marks inside code are none."""
    assert short_title(title) == short
    assert draft_name(title) == name


def test_two_values_of_one_thing_both_stay_and_are_named() -> None:
    """5432 and 5433 are a conflict for a person, never a duplicate."""
    written = write_draft(
        [lesson(1, "The database listens on port 5432."), lesson(2, "The database listens on port 5433.")]
    )
    assert "port 5432" in written.body
    assert "port 5433" in written.body
    assert written.disputed == (("The database listens on port 5432.", "The database listens on port 5433."),)


def test_what_does_not_fit_goes_to_the_details() -> None:
    """A long lesson loses nothing: each statement is in the body or in references/lessons.md."""
    body = "\n".join(
        f"- Statement number {number} says that thing{number} goes to place{number}." for number in range(200)
    )
    written = write_draft([lesson(1, body)])
    assert "references/lessons.md" in written.body
    assert len(written.body) < 4000
    for statement in parse_bullets(body):
        assert statement in written.body + written.details


def test_no_check_known_is_said() -> None:
    """Where no session names a check the draft says so instead of making one up."""
    assert NO_CHECK in write_draft([lesson(1, "A fact.")]).body


@given(
    st.lists(st.lists(st.sampled_from("alpha beta gamma delta `run x` port 1 2 not".split()), min_size=1, max_size=7))
)
def test_no_statement_is_lost_and_order_does_not_matter(parts: list[list[str]]) -> None:
    """Every statement is in the draft, or one that says the same; the order of the solutions changes nothing."""
    lessons = [lesson(number, " ".join(words) + ".") for number, words in enumerate(parts)] or [lesson(0, "One.")]
    written = write_draft(lessons)
    assert written == write_draft(list(reversed(lessons)))
    said = {statement for adds in written.adds.values() for statement in adds}
    assert all(statement in written.body + written.details for statement in said)
    first = order_solutions(lessons)[0]
    assert {statement.text for statement in read_statements(first)} <= said


def test_addresses_scripts_and_grants_need_evidence() -> None:
    """What no evidence holds is found; what it holds may stand."""
    text = "Get https://example.org/a. Run scripts/x.sh with allowed-tools and hooks: on."
    assert find_inventions(text, ["nothing"]) == ("https://example.org/a", "scripts/x.sh", "allowed-tools", "hooks")
    assert find_inventions(text, [text]) == ()
