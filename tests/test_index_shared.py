"""A shared store's files for git: completed, never changed."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from index.shared import LINES, complete_shared, is_shared, missing_lines

ALL_LINES = [line for lines in LINES.values() for line in lines]


def test_a_new_store_gets_all_of_them(tmp_path: Path) -> None:
    """And a second time nothing is written."""
    assert complete_shared(tmp_path) == (".gitignore", ".gitattributes", "config.yaml")
    assert missing_lines(tmp_path) == {}
    assert complete_shared(tmp_path) == ()


@given(st.lists(st.sampled_from([*ALL_LINES, "*.md text", "# ours", ""]), max_size=8), st.sampled_from(["", "\n"]))
def test_what_stands_there_stays(lines: list[str], end: str) -> None:
    """Only lines that are missing are added, at the end, each once."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        before = "\n".join(lines) + end
        for name in LINES:
            (root / name).write_text(before)
        complete_shared(root)
        for name, wanted in LINES.items():
            after = (root / name).read_text()
            assert after.startswith(before)
            assert set(wanted) <= set(after.splitlines())
            added = after[len(before) :].strip().splitlines()
            assert len(added) == len(set(added))
        assert missing_lines(root) == {}


def test_a_home_under_git_is_no_shared_store(tmp_path: Path) -> None:
    """Dotfiles are kept in git too, and the store in the home folder is personal all the same."""
    home, repository = tmp_path / "home", tmp_path / "home" / "work"
    for folder in (home, repository):
        (folder / ".git").mkdir(parents=True)
        (folder / ".hotwash").mkdir()
    assert is_shared(repository / ".hotwash", home)
    assert not is_shared(home / ".hotwash", home)
    assert not is_shared(repository / "memory", home)
