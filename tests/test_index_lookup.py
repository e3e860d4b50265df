"""A lesson is found by its id wherever it lies, by a part of it where that is enough, and else named as unknown."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.errors import UnknownName, UsageError
from index.lookup import find_solution
from index.store import CROCKFORD, id_tail

IDS = st.text(alphabet=CROCKFORD, min_size=26, max_size=26).map(lambda text: "01K" + text[3:])


def write(root: Path, folder: str, identity: str, name: str = "") -> str:
    """A lesson's file; its path in the store."""
    path = f"{folder}/bugs/{name or f'some-lesson-{id_tail(identity)}'}.md"
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(
        f"---\nid: {identity}\ntitle: Build first\ncategory: bugs\ntype: semantic\nconfidence: 0.8\n---\nBuild first.\n"
    )
    return path


@given(st.lists(IDS, min_size=1, max_size=4, unique_by=lambda identity: (identity[-8:], identity[:8])), st.data())
def test_found_by_the_whole_id_and_by_either_end(
    tmp_path_factory: pytest.TempPathFactory, identities: list[str], data: st.DataObject
) -> None:
    """Whatever folder and whatever file name, also one given by hand."""
    root = tmp_path_factory.mktemp("store")
    for number, identity in enumerate(identities):
        folder = data.draw(st.sampled_from(["solutions", "archive/solutions", "quarantine/solutions"]))
        path = write(root, folder, identity, data.draw(st.sampled_from(["", f"by-hand-{number}"])))
        assert find_solution(root, identity).path == path
        assert find_solution(root, identity.lower()).path == path
    for identity in identities:
        assert find_solution(root, identity[-8:]).id == identity
        assert find_solution(root, identity[:8]).id == identity


def test_a_name_that_says_too_little_is_refused(tmp_path: Path) -> None:
    """Too short, unknown, or of several: each with what to do."""
    write(tmp_path, "solutions", "01KB7ZC4S0T2J5Q8XW3N6M9RVE")
    write(tmp_path, "solutions", "01KB7ZC4S0T2J5Q8XW3N6M9RVF")
    with pytest.raises(UsageError, match="at least 6 characters"):
        find_solution(tmp_path, "01KB7")
    with pytest.raises(UsageError, match="means any of 01KB7ZC4S0T2J5Q8XW3N6M9RVE, 01KB7ZC4S0T2J5Q8XW3N6M9RVF"):
        find_solution(tmp_path, "01KB7ZC4")
    with pytest.raises(UnknownName, match="hotwash recall"):
        find_solution(tmp_path, "01KB7ZC4S0T2J5Q8XW3N6M9RV0")


def test_a_file_named_after_another_lesson_is_not_taken_for_it(tmp_path: Path) -> None:
    """The name is a hint; the id in the file decides."""
    write(tmp_path, "solutions", "01KB7ZC4S0T2J5Q8XW3N6M9RVF", "copied-3n6m9rve")
    path = write(tmp_path, "archive/solutions", "01KB7ZC4S0T2J5Q8XW3N6M9RVE", "moved")
    assert find_solution(tmp_path, "01KB7ZC4S0T2J5Q8XW3N6M9RVE").path == path
