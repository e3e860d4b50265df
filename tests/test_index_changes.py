"""Plans land whole, are journaled, survive a kill, and can be undone to the byte."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curate.snapshot import tree_digest
from index.changes import (
    Change,
    Plan,
    Run,
    apply,
    end_run,
    journal_path,
    move,
    plan_undo,
    read_bytes,
    read_runs,
    recover,
    start_run,
    store_lock,
    temporary,
    write_derived,
)
from index.errors import StoreLocked, UndoRefused

NOW = "2026-11-30T12:00:00+00:00"


def land(root: Path, plan: Plan, name: str = "r1") -> tuple[tuple[str, str], ...]:
    """Apply one plan as a run of its own."""
    run = Run(name, "test")
    start_run(root, run, NOW)
    applied = apply(plan, root, run)
    end_run(root, run, NOW, {})
    return applied.refused


def files_of(root: Path) -> dict[str, tuple[bytes, int]]:
    """Bytes and mtimes of everything but the journal and the lock."""
    return {
        path.relative_to(root).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in root.rglob("*")
        if path.is_file() and path.parent.name != "journal" and path.name != ".lock"
    }


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


def test_a_file_that_changed_since_it_was_read_is_left_alone_and_the_rest_goes_on(tmp_path: Path) -> None:
    """A hand edit wins; a move of which one half cannot land does not land at all."""
    (tmp_path / "a").write_bytes(b"edited by hand")
    (tmp_path / "b").write_bytes(b"b")
    plan = Plan("t", (*move("a", "archive/a", b"as read", "why"), Change("b", b"b", b"c", "why")))
    refused = land(tmp_path, plan)
    assert dict(refused) == {
        "a": "changed since it was read",
        "archive/a": "belongs to a change that was refused",
    }
    assert (tmp_path / "a").read_bytes() == b"edited by hand"
    assert not (tmp_path / "archive").exists()
    assert (tmp_path / "b").read_bytes() == b"c"


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


def test_an_error_while_landing_puts_everything_back(tmp_path: Path) -> None:
    """Nothing of a stage stays when one of its files cannot be written."""
    (tmp_path / "folder").write_bytes(b"in the way")
    plan = Plan("t", (Change("a", None, b"1", "why"), Change("folder/b", None, b"2", "why")))
    run = Run("r1", "test")
    start_run(tmp_path, run, NOW)
    with pytest.raises(OSError):  # noqa: PT011 - the kind differs between systems
        apply(plan, tmp_path, run)
    assert files_of(tmp_path) == {"folder": (b"in the way", (tmp_path / "folder").stat().st_mtime_ns)}


def test_no_write_leaves_the_store_through_a_symbolic_link(tmp_path: Path) -> None:
    """A linked folder is refused with the reason; what it points at is not touched."""
    outside = tmp_path / "outside"
    outside.mkdir()
    root = tmp_path / "store"
    root.mkdir()
    (root / "solutions").symlink_to(outside)
    refused = land(root, Plan("t", (Change("solutions/a", None, b"1", "why"),)))
    assert "symbolic link" in refused[0][1]
    assert not any(outside.iterdir())


def test_a_secret_is_kept_out_of_the_journal(tmp_path: Path) -> None:
    """`kept` stands in the journal where the file's own bytes must not."""
    (tmp_path / "a").write_bytes(b"the real value")
    land(tmp_path, Plan("t", (Change("a", b"the real value", None, "why", kept=b"[redacted]"),)))
    assert b"the real value" not in journal_path(tmp_path, "r1").read_bytes()


def test_a_run_that_changed_nothing_leaves_no_journal(tmp_path: Path) -> None:
    """An empty plan is no event."""
    land(tmp_path, Plan("t"))
    assert read_runs(tmp_path) == []


def test_a_derived_file_is_written_only_when_it_differs(tmp_path: Path) -> None:
    """The second write is none."""
    assert write_derived(tmp_path / "x", b"1")
    assert not write_derived(tmp_path / "x", b"1")


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    """A second writer is told so, after its time is over."""
    with store_lock(tmp_path), pytest.raises(StoreLocked, match="another hotwash"), store_lock(tmp_path, 0.05):
        pass


KILLED = """
import os, signal, sys
from pathlib import Path
from index import changes
from index.changes import Change, Plan, Run, apply, end_run, move, start_run
root, kill_at = Path(sys.argv[1]), int(sys.argv[2])
calls = 0
def counting(function):
    def call(*given, **named):
        global calls
        calls += 1
        if calls == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*given, **named)
    return call
for name in ("open", "write", "fsync", "utime"):
    setattr(os, name, counting(getattr(os, name)))
for name in ("replace", "unlink", "rmdir", "mkdir"):
    setattr(Path, name, counting(getattr(Path, name)))
run = Run("r1", "test")
start_run(root, run, "now")
apply(Plan("one", (*move("a", "archive/a", b"alpha", "old"), Change("b", b"beta", b"BETA", "new"))), root, run)
apply(Plan("two", (Change("c/d", None, b"delta", "new"), Change("b", b"BETA", None, "gone"))), root, run)
end_run(root, run, "now", {})
print(calls)
"""


def test_a_kill_at_any_instant_leaves_a_stage_done_or_not_begun(tmp_path: Path) -> None:
    """SIGKILL before each file operation in turn: after recovery the store is that of a whole number of stages."""
    states = {
        frozenset({("a", b"alpha"), ("b", b"beta")}),
        frozenset({("archive/a", b"alpha"), ("b", b"BETA")}),
        frozenset({("archive/a", b"alpha"), ("c/d", b"delta")}),
    }
    seen = set()
    kill_at = 1
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(KILLED))
    while True:
        root = tmp_path / str(kill_at)
        root.mkdir()
        (root / "a").write_bytes(b"alpha")
        (root / "b").write_bytes(b"beta")
        env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        done = subprocess.run([sys.executable, script, root, str(kill_at)], env=env, check=False, capture_output=True)
        with store_lock(root):
            recover(root, NOW)
        state = frozenset((name, content) for name, (content, _) in files_of(root).items())
        assert state in states, f"killed at call {kill_at}: {sorted(state)}"
        assert not list(root.rglob("*.hotwash-tmp"))
        seen.add(state)
        before = tree_digest(root)
        with store_lock(root):
            assert recover(root, NOW) == ()
        assert tree_digest(root) == before
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done.stderr.decode()
        kill_at += 1
    assert seen == states
    assert kill_at > 20


def test_a_temporary_name_fits_where_the_file_name_fits(tmp_path: Path) -> None:
    """A name of 255 bytes can still be written beside itself."""
    path = tmp_path / ("x" * 255)
    write_derived(path, b"1")
    assert path.read_bytes() == b"1"
    assert len(temporary(path).name.encode()) <= 255
