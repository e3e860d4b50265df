"""Bringing single lessons back, and replacing them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from curate.retire import plan_restore, plan_supersede
from index.errors import UsageError
from index.frontmatter import edit_frontmatter, parse_solution, render_solution
from index.records import Solution
from index.store import path_for, solution_id

WHEN = datetime(2026, 11, 29, tzinfo=UTC)


def lesson(name: str, folder: str = "", **header: object) -> Solution:
    """A solution as it is read from a file, with keys added to its header."""
    made = Solution(solution_id(WHEN, name), name, "bugs", "Body.\n", created=WHEN)
    read = parse_solution(folder + path_for(made), edit_frontmatter(render_solution(made), header))
    assert isinstance(read, Solution)
    return read


def test_a_restored_lesson_is_as_it_was_but_verified_today() -> None:
    """The reason it had left goes, nothing else does."""
    archived = lesson(
        "One", "archive/", archived="no evidence for 100 days", superseded_by="01KB7ZC4S0T2J5Q8XW3N6M9RVE"
    )
    there, gone = plan_restore(archived, WHEN).changes
    assert (gone.path, gone.after) == (archived.path, None)
    assert there.path == archived.path.removeprefix("archive/")
    assert there.after is not None
    back = parse_solution(there.path, there.after.decode())
    assert isinstance(back, Solution)
    assert (back.verified, back.superseded_by, dict(back.extra)) == (WHEN.date(), None, {})
    assert there.after.decode() == edit_frontmatter(lesson("One").text, {"verified": WHEN.date()})


def test_what_is_live_cannot_be_restored() -> None:
    """It is said where it is."""
    with pytest.raises(UsageError, match="is live already, at solutions/"):
        plan_restore(lesson("One"), WHEN)


def test_both_sides_of_a_replacement_name_each_other() -> None:
    """The old one lies in the archive with the reason; the new one says what it replaces."""
    old, new = lesson("Old"), lesson("New")
    plan = plan_supersede(old, new, "the tool changed")
    after = {change.path: change.after for change in plan.changes}
    assert after[old.path] is None
    archived = parse_solution("x", (after[f"archive/{old.path}"] or b"").decode())
    live = parse_solution("x", (after[new.path] or b"").decode())
    assert isinstance(archived, Solution)
    assert isinstance(live, Solution)
    assert (archived.superseded_by, archived.extra["archived"]) == (new.id, "the tool changed")
    assert live.supersedes == (old.id,)
    assert len({change.unit for change in plan.changes}) == 1
    with pytest.raises(UsageError, match="cannot replace itself"):
        plan_supersede(old, old, "")
