"""Paths, ids and the reading of a store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.errors import UsageError
from index.frontmatter import render_solution
from index.lookup import find_solution
from index.records import Solution
from index.store import make_store, path_for, read_store, slug, solution_id, store_root

WHEN = datetime(2026, 11, 29, 18, 3, 11, tzinfo=UTC)


def lesson(source: str = "a", title: str = "Run make test-int") -> Solution:
    """A small solution."""
    return Solution(solution_id(WHEN, source), title, "bugs", "Body.\n")


def put(root: Path, solution: Solution, folder: str = "") -> Path:
    """Write a solution where it belongs."""
    path = root / folder / path_for(solution)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_solution(solution))
    return path


@given(st.datetimes(datetime(1970, 1, 2), datetime(9000, 1, 1)), st.text())
def test_the_same_source_at_the_same_time_has_the_same_id(time: datetime, source: str) -> None:
    """26 characters of Crockford's alphabet, no clock and no chance in them."""
    time = time.replace(tzinfo=UTC)
    assert solution_id(time, source) == solution_id(time, source)
    assert len(solution_id(time, source)) == 26
    assert set(solution_id(time, source)) <= set("0123456789ABCDEFGHJKMNPQRSTVWXYZ")


@given(st.datetimes(datetime(1970, 1, 2), datetime(9000, 1, 1)), st.integers(1, 10**9))
def test_ids_sort_by_time(time: datetime, later: int) -> None:
    """What was learned later has the larger id."""
    time = time.replace(tzinfo=UTC)
    assert solution_id(time, "x") < solution_id(time + timedelta(milliseconds=later), "y")


@given(st.text())
def test_any_title_makes_a_short_plain_name(title: str) -> None:
    """ASCII letters, digits and hyphens; never empty, never a path."""
    name = slug(title)
    assert name
    assert len(name) <= 60
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


def test_what_does_not_parse_stays_and_is_reported(tmp_path: Path) -> None:
    """One broken file stops nothing else."""
    put(tmp_path, lesson())
    (tmp_path / "solutions/bugs/broken.md").write_text("---\nid: 7\n---\n")
    (tmp_path / "solutions/bugs/latin.md").write_bytes(b"---\ntitle: \xe9\n---\n")
    store = read_store(tmp_path)
    assert [solution.title for solution in store.solutions] == ["Run make test-int"]
    assert sorted((problem.path, problem.line) for problem in store.problems) == [
        ("solutions/bugs/broken.md", 2),
        ("solutions/bugs/latin.md", None),
    ]


def test_two_files_with_one_id_are_reported(tmp_path: Path) -> None:
    """The second names the first."""
    path = put(tmp_path, lesson())
    (path.parent / "copy.md").write_text(path.read_text())
    assert [problem.kind for problem in read_store(tmp_path).problems] == ["duplicate-id"]


def test_links_are_not_followed(tmp_path: Path) -> None:
    """A linked file or a loop of folders is no part of the store."""
    path = put(tmp_path, lesson())
    (path.parent / "loop").symlink_to(tmp_path / "solutions")
    (path.parent / "link.md").symlink_to(path)
    assert len(read_store(tmp_path).solutions) == 1


@pytest.mark.parametrize(
    ("given", "env", "wanted"),
    [
        ("/a", {"HOTWASH_HOME": "/b"}, "/a"),
        (None, {"HOTWASH_HOME": "/b"}, "/b"),
        (None, {"HOTWASH_HOME": ""}, ".hotwash"),
    ],
)
def test_the_store_is_the_one_named_first(given: str | None, env: dict[str, str], wanted: str) -> None:
    """The option, then the variable, then the home folder; an empty variable counts as unset."""
    assert str(store_root(given, env)).endswith(wanted)


def test_making_a_store_twice_changes_nothing(tmp_path: Path) -> None:
    """Folders that are there stay as they are."""
    make_store(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    make_store(tmp_path)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_lesson_is_found_by_a_part_of_its_id_wherever_it_lies(tmp_path: Path) -> None:
    """Whole id, start or end; in the archive too; an ambiguous or unknown part is an error that says so."""
    first, second = lesson("a"), lesson("b")
    put(tmp_path, first)
    put(tmp_path, second, "archive")
    assert find_solution(tmp_path, first.id[-8:].lower()).id == first.id
    assert find_solution(tmp_path, second.id).path.startswith("archive/")
    with pytest.raises(UsageError, match="means any of"):
        find_solution(tmp_path, first.id[:8])
    with pytest.raises(UsageError, match="no lesson with that id"):
        find_solution(tmp_path, "ZZZZZZZZ")
