"""Progress shows on a terminal only, only for what takes long, and an interrupted command leaves the store whole."""

from __future__ import annotations

import io
import os
import shutil
import signal
import sys
import time
import traceback
from pathlib import Path

import pytest

# Loaded once here, not once in every child that is interrupted.
import detectors.duplicate_files
import detectors.meaning  # noqa: F401
from benchmarks.corpus import make_lessons
from flows.cli import run_command
from flows.progress import CLEAR, ProgressLine, begin_progress, end_progress, render_line
from tests.kills import _Countdown, leftovers, points

SAMPLE = 12


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """It is one."""
        return True


def test_nothing_is_drawn_where_there_is_no_terminal() -> None:
    stream = io.StringIO()
    say = begin_progress(stream)
    say("1 of 2")
    end_progress()
    assert stream.getvalue() == ""


def test_what_ends_at_once_draws_nothing() -> None:
    stream = Terminal()
    say = begin_progress(stream)
    say("1 of 2")
    end_progress()
    assert stream.getvalue() == ""


def test_a_long_step_is_drawn_by_itself_and_taken_away() -> None:
    """One call and then silence: the line is there all the same, and gone at the end."""
    stream = Terminal()
    line = ProgressLine(stream, least=0.0)
    line("scanning 3 of 4")
    for _ in range(500):
        if stream.getvalue():
            break
        time.sleep(0.01)
    line.close()
    line.close()
    assert "━" in stream.getvalue()
    assert "scanning 3 of 4 (0 s)" in stream.getvalue()
    assert stream.getvalue().endswith(CLEAR)


@pytest.mark.parametrize(("text", "full"), [("0 of 4", 0), ("2 of 4", 15), ("4 of 4", 30), ("9 of 4", 30)])
def test_the_bar_is_as_long_as_the_share(text: str, full: int) -> None:
    bar = render_line(text, 3)
    # rich draws what is left in another colour, which starts with an escape code.
    parts = bar.split("\x1b[")
    drawn = [part.count("━") + part.count("╸") for part in parts if "━" in part]
    assert sum(drawn) >= full
    assert (drawn[0] == 30) == (full in (0, 30))


def test_what_does_not_count_has_no_bar() -> None:
    assert render_line("reading the store", 2) == "reading the store (2 s)"
    assert render_line("0 of 0", 2) == "0 of 0 (2 s)"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store in which a pass merges some lessons."""
    root = tmp_path / "store"
    for lesson in make_lessons(1, 30):
        place = root / "solutions" / lesson.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(lesson.text)
        os.utime(place, (lesson.mtime, lesson.mtime))
    for lesson in make_lessons(1, 4):
        copy = lesson.text.replace("id: 01CRPS", "id: 01CQPY")
        (root / "solutions" / "0000" / f"copy-{lesson.number}.md").write_text(copy)
    # The scan takes longest, and its verdicts are kept.
    assert run_command(["index", "--store", str(root)]) == 0
    return root


def lessons_of(root: Path) -> dict[str, bytes]:
    """Every lesson, live and archived."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for name in ("solutions", "archive")
        for path in sorted((root / name).rglob("*"))
        if path.is_file()
    }


def interrupted(root: Path, at: int) -> tuple[int, int]:
    """Dedup in a child that gets SIGINT at its `at`-th change of the disk: (exit code, changes that it made)."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        code = 99
        write = os.write
        null = os.open(os.devnull, os.O_WRONLY)
        try:
            countdown = _Countdown(at)
            countdown.die = lambda: os.kill(os.getpid(), signal.SIGINT)  # type: ignore[method-assign]
            os.dup2(null, sys.__stdout__.fileno() if sys.__stdout__ else 1)
            countdown.arm()
            code = run_command(["dedup", "--store", str(root)])
        except BaseException:
            traceback.print_exc()
        write(writer, b"%d" % countdown.calls)
        os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        calls = int(pipe.read())
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), calls


def test_an_interrupted_command_leaves_the_store_as_it_was_or_as_it_would_be(store: Path, tmp_path: Path) -> None:
    """Ctrl-C at a sample of the changes of the disk: every lesson is as before or as after, and nothing lies about."""
    before = lessons_of(store)
    whole = tmp_path / "whole"
    shutil.copytree(store, whole)
    code, changes = interrupted(whole, 0)
    after = lessons_of(whole)
    assert code == 0
    assert after != before
    seen = set()
    for at in points(changes, SAMPLE):
        root = tmp_path / f"at-{at}"
        shutil.copytree(store, root)
        code, _ = interrupted(root, at)
        assert code in (0, 130), at
        found = lessons_of(root)
        assert found in (before, after), at
        seen.add(found == after)
        assert leftovers(root / "solutions", root / "archive") == []
        shutil.rmtree(root)
    assert seen == {True, False}
