"""`hotwash import` says of every file that it did not take why, and leaves all of them as they were."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.cli import run_command

LESSON = "# Run the migrations before the tests\n\nThe tests fail with `no such table: orders` until they ran.\n"


def test_what_is_skipped_is_said_with_its_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line a reason, with the first place and how many more there are; a second import adds nothing."""
    folder = tmp_path / "solutions"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / f"{name}.md").write_text(LESSON)
    (folder / "README.md").write_text("# What is here\n")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    arguments = ["import", str(folder), "--store", str(tmp_path / "store")]
    assert run_command(arguments) == 0
    shown = capsys.readouterr().out
    assert "Import: 1 written, 2 skipped" in shown
    assert "skipped solutions/b.md:1 and 1 more: the same text is in the store" in shown
    assert "left out solutions/README.md" in shown
    lessons = {path: path.read_bytes() for path in (tmp_path / "store" / "solutions").rglob("*.md")}
    assert len(lessons) == 1
    assert run_command(arguments) == 0
    shown = capsys.readouterr().out
    assert "Import: 0 written, 3 skipped" in shown
    assert "skipped solutions/a.md:1 and 2 more: the same text is in the store" in shown
    assert {path: path.read_bytes() for path in (tmp_path / "store" / "solutions").rglob("*.md")} == lessons
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_an_import_of_nothing_that_can_be_used_has_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 1 and the reason; beside a file that was taken, or was known before, one refused file fails nothing."""
    (tmp_path / "bad.md").write_bytes(b"\xff\xfe not text")
    store = ["--store", str(tmp_path / "store")]
    assert run_command(["import", str(tmp_path / "bad.md"), *store]) == 1
    assert "not UTF-8" in capsys.readouterr().out
    (tmp_path / "good.md").write_text(LESSON)
    both = ["import", str(tmp_path / "bad.md"), str(tmp_path / "good.md"), *store]
    assert run_command(both) == 0
    assert run_command(both) == 0
