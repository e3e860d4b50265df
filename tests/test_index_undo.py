"""Undo brings back every byte, and refuses what would overwrite a later change."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.apply import apply, end_run, start_run
from index.changes import Change, Plan, Run
from index.errors import UndoRefused
from index.files import read_bytes
from index.journal import journal_path
from index.undo import plan_undo
from tests.landing import NOW, files_of, land

contents = st.none() | st.binary(max_size=30)
steps = st.lists(st.tuples(st.sampled_from("abcd"), contents), max_size=6)


@settings(max_examples=40, deadline=None)
@given(start=st.dictionaries(st.sampled_from("abcd"), st.binary(max_size=30)), steps=steps)
def test_undo_brings_back_every_byte_and_mtime(
    tmp_path_factory: pytest.TempPathFactory, start: dict[str, bytes], steps: list[tuple[str, bytes | None]]
) -> None:
    """Whatever the stages of a run did to a file, in whatever order, its inverse restores the first state."""
    root = tmp_path_factory.mktemp("store")
    for name, first in start.items():
        (root / name).write_bytes(first)
        os.utime(root / name, ns=(10**18, 10**18))
    before = files_of(root)
    run = Run("r1", "test")
    start_run(root, run, NOW)
    for name, content in steps:
        if (now := read_bytes(root / name)) != content:
            assert not apply(Plan("step", (Change(name, now, content, "because"),)), root, run).refused
    end_run(root, run, NOW, {})
    if journal_path(root, "r1").exists():
        assert not land(root, plan_undo(root, "r1"), "r2")
    assert files_of(root) == before


def test_an_undo_that_would_overwrite_a_hand_edit_is_refused(tmp_path: Path) -> None:
    """The refusal names the file."""
    land(tmp_path, Plan("t", (Change("a", None, b"1", "why"),)))
    (tmp_path / "a").write_bytes(b"edited by hand")
    with pytest.raises(UndoRefused, match="a changed since"):
        plan_undo(tmp_path, "r1")


def test_an_undo_names_the_later_run_that_hangs_on_it(tmp_path: Path) -> None:
    """What must be undone first is said; after that the first run can be undone too."""
    land(tmp_path, Plan("t", (Change("a", None, b"1", "why"),)), "r1")
    land(tmp_path, Plan("t", (Change("a", b"1", b"2", "why"),)), "r2")
    with pytest.raises(UndoRefused, match="Undo r2 first"):
        plan_undo(tmp_path, "r1")
    land(tmp_path, plan_undo(tmp_path, "r2"), "r3")
    land(tmp_path, plan_undo(tmp_path, "r1"), "r4")
    assert files_of(tmp_path) == {}
