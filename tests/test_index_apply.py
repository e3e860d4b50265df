"""Plans land whole, are journaled, and survive a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from curate.snapshot import tree_digest
from index.apply import apply, recover, start_run
from index.changes import Change, Plan, Run, move
from index.files import store_lock
from index.journal import journal_path, read_runs
from tests.landing import NOW, files_of, land


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


KILLED = """
import os, signal, sys
from pathlib import Path
from index.apply import apply, end_run, start_run
from index.changes import Change, Plan, Run, move
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
