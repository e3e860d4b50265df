"""detectors/recurrence.py: what recurs, and what counts as having recurred."""

from __future__ import annotations

import dataclasses
from datetime import UTC, date, datetime

from detectors.recurrence import Link, find_patterns, shared_links
from index.records import Solution, Source, Triggers

ALPHA = "01KB7ZC4S0T2J5Q8XW3N6M9R"
REFUSED = Triggers(errors=("psycopg.OperationalError: connection to 127.0.0.1 refused",))


def lesson(number: int, title: str = "", **fields: object) -> Solution:
    """A solution of one session on one day."""
    bare = Solution(
        id=f"{ALPHA}{number:02d}",
        title=title or f"Lesson number {number}",
        category="bugs",
        body=f"Statement {number}.\n",
        sources=(Source(f"codex:s{number}"),),
        project="example.org/a/b",
        created=datetime(2026, 11, number, tzinfo=UTC),
        path=f"solutions/bugs/{number}.md",
    )
    return dataclasses.replace(bare, **fields)  # type: ignore[arg-type]


def test_three_sessions_with_one_error_are_a_pattern() -> None:
    """The same error in three sessions on three days is promotable, with its evidence."""
    solutions = [lesson(n, triggers=REFUSED) for n in (1, 2, 3)] + [lesson(4)]
    first = find_patterns(solutions)[0]
    assert first.ids == tuple(solution.id for solution in solutions[:3])
    assert first.sessions == ("codex:s1", "codex:s2", "codex:s3")
    assert first.days == (date(2026, 11, 1), date(2026, 11, 2), date(2026, 11, 3))
    assert first.promotable()
    assert not first.cross_project
    assert first.why.startswith("error ")


def test_one_day_or_two_sessions_are_not_enough() -> None:
    """Three sessions of one day, or two of two days, promote nothing."""
    day = datetime(2026, 11, 5, tzinfo=UTC)
    assert not find_patterns([lesson(n, triggers=REFUSED, created=day) for n in (1, 2, 3)])[0].promotable()
    assert not find_patterns([lesson(n, triggers=REFUSED) for n in (1, 2)])[0].promotable()


def test_sessions_that_do_not_count_are_no_evidence() -> None:
    """Replays, own runs, sub-agents and scheduled jobs are told by the caller and count for nothing."""
    solutions = [lesson(n, triggers=REFUSED) for n in (1, 2, 3)]
    found = find_patterns(solutions, counts=lambda session: session != "codex:s2")[0]
    assert found.sessions == ("codex:s1", "codex:s3")
    assert not found.promotable()


def test_one_lesson_of_three_sessions_is_a_pattern() -> None:
    """What was merged already keeps its sessions, with the days the caller knows."""
    sources = tuple(Source(f"codex:s{n}") for n in (1, 2, 3))
    dates = {"codex:s1": date(2026, 11, 1), "codex:s2": date(2026, 11, 1), "codex:s3": date(2026, 11, 9)}
    (found,) = find_patterns([lesson(1, sources=sources)], dates=dates)
    assert found.promotable()
    assert found.days == (date(2026, 11, 1), date(2026, 11, 9))


def test_a_shared_tag_links_nothing() -> None:
    """Tags alone never suffice."""
    assert shared_links([lesson(n, tags=("postgres",), triggers=Triggers()) for n in (1, 2, 3)]) == ()


def test_a_trigger_that_everything_has_links_nothing() -> None:
    """A command that half of the store fires on is no root."""
    everywhere = Triggers(commands=("make test-all",))
    assert shared_links([lesson(n, triggers=everywhere) for n in range(1, 29)]) == ()


def test_links_of_the_caller_make_groups_without_chaining() -> None:
    """A chain a-b, b-c, c-d does not pull four strangers into one group."""
    solutions = [lesson(n) for n in (1, 2, 3, 4)]
    groups = find_patterns(solutions, [Link(0, 1, "same"), Link(1, 2, "same"), Link(2, 3, "same")], least=2)
    assert max(len(group.ids) for group in groups) == 3


def test_two_projects_mark_a_pattern_as_cross_project() -> None:
    """Seen in two projects."""
    solutions = [lesson(1, triggers=REFUSED), lesson(2, triggers=REFUSED, project="example.org/x/y")]
    assert find_patterns(solutions, least=2)[0].cross_project
