"""What disks, file systems, people and other processes do to a store: one clear line, nothing lost, nothing twice."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from curate.dedup import plan_dedup
from curate.drafts import read_drafts
from flows import alike
from flows.cli import run_command
from flows.context import World
from flows.pipeline import curate, rebuild_index, session_end
from index.changes import Plan
from index.journal import read_runs
from index.records import Solution
from index.settings import Settings
from index.store import path_for, read_store
from tests.kills import leftovers, points, run_killed

EXAMPLES = Path(__file__).parents[1] / "examples"
NOW = datetime(2026, 11, 28, 9, tzinfo=UTC)
CLOCK = "2026-11-28T09:00:00Z"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A home with the example sessions and an empty store with one lesson in its inbox."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOTWASH_NOW", CLOCK)
    home = tmp_path / "home"
    shutil.copytree(EXAMPLES / "claude-code" / "projects", home / ".claude" / "projects")
    shutil.copytree(EXAMPLES / "codex" / "sessions", home / ".codex" / "sessions")
    (home / ".hotwash" / "inbox").mkdir(parents=True)
    shutil.copy2(EXAMPLES / "inbox" / "read-replica-lag.md", home / ".hotwash" / "inbox")
    return World(home / ".hotwash", Settings(), NOW, home, {"HOME": str(home)})


def state(world: World) -> dict[str, bytes]:
    """The store's files but journals, caches and the lock."""
    return {
        path.relative_to(world.root).as_posix(): path.read_bytes()
        for path in sorted(world.root.rglob("*"))
        if path.is_file() and path.relative_to(world.root).parts[0] not in (".cache", "journal", ".lock", "snapshots")
    }


def command(world: World, *words: str) -> int:
    """A command of the command line on this store; its exit code."""
    return run_command([words[0], "--store", str(world.root), *words[1:]])


REFUSALS = [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO]


LATER = ("curate", "undo", "publish")


@pytest.mark.parametrize("name", LATER)
@pytest.mark.parametrize(
    "most", [pytest.param(6, id="sample"), pytest.param(None, marks=pytest.mark.nightly, id="all")]
)
def test_a_full_disk_in_any_command(world: World, tmp_path: Path, name: str, most: int | None) -> None:
    """Exit 1 and one line, or done; with room again the same command ends where one clean one does."""
    session_end(world)
    [draft] = read_drafts(world.root)[0]
    words = {
        "curate": ("curate",),
        "undo": ("undo", read_runs(world.root)[0]["run"]),
        "publish": ("review", draft.name, "publish", "--note", "read it", "--who", "mika"),
    }[name]
    kept, said = tmp_path / "kept", tmp_path / "said"
    world.home.rename(kept)

    def act() -> None:
        sys.stdout = sys.stderr = output
        code = command(world, *words)
        output.flush()
        assert code in (0, 1, 2)  # 2: it was published before the disk was full, and no draft is left

    def renew() -> None:
        shutil.rmtree(world.home, ignore_errors=True)
        shutil.copytree(kept, world.home)

    renew()
    with said.open("w") as output:
        changes = run_killed(act, 0)
    clean = state(world)
    assert changes > 20
    for place in points(changes, most):
        renew()
        with said.open("w") as output:
            run_killed(act, place, errno.ENOSPC)
        assert "Traceback" not in said.read_text(), f"full from change {place} of {changes}: {said.read_text()}"
        with said.open("w") as output:
            run_killed(act, 0)
        found = state(world)
        differing = sorted(path for path in clean.keys() | found.keys() if clean.get(path) != found.get(path))
        assert not differing, f"full from change {place} of {changes}: {differing}"
        assert not leftovers(world.home)


@pytest.mark.parametrize("refusal", REFUSALS, ids=[errno.errorcode[number] for number in REFUSALS])
@pytest.mark.parametrize(
    "most", [pytest.param(5, id="sample"), pytest.param(None, marks=pytest.mark.nightly, id="all")]
)
def test_a_disk_that_takes_no_more_loses_nothing(
    world: World,
    tmp_path: Path,
    refusal: int,
    most: int | None,
) -> None:
    """From any change on: exit 1 and one line, no trace; with the disk mended the next run is one clean run."""
    said, code = tmp_path / "said", tmp_path / "code"

    def act() -> None:
        sys.stdout = sys.stderr = output
        result = command(world, "run")
        output.flush()
        os.pwrite(code_handle, b"%d" % result, 0)

    kept = tmp_path / "kept"
    world.home.rename(kept)

    def renew() -> None:
        shutil.rmtree(world.home, ignore_errors=True)
        shutil.copytree(kept, world.home)

    renew()
    changes = run_killed(lambda: session_end(world), 0)
    clean = state(world)
    for place in points(changes, most):
        renew()
        code.write_text("")
        code_handle, output = os.open(code, os.O_RDWR), said.open("w")
        run_killed(act, place, refusal)
        os.close(code_handle)
        output.close()
        assert code.read_text() == "1", f"refused from change {place} of {changes}: {said.read_text()}"
        assert "Traceback" not in said.read_text(), f"refused from change {place} of {changes}"
        run_killed(lambda: session_end(world), 0)
        found = state(world)
        differing = sorted(path for path in clean.keys() | found.keys() if clean.get(path) != found.get(path))
        assert not differing, f"refused from change {place} of {changes}: {differing}"
        assert not leftovers(world.home)


ODD = ["with space", "new\nline", "🦆 ünïcode", "-dash", "quote'\"", "y" * 252]


@pytest.mark.parametrize("name", ODD, ids=["space", "newline", "emoji", "dash", "quotes", "255 bytes"])
def test_a_store_and_files_of_any_name(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Store, transcripts and inbox below a folder of that name, and a lesson so named: all is read, all undone."""
    monkeypatch.setenv("HOTWASH_NOW", CLOCK)
    folder = tmp_path / name
    root = folder / "store"
    (root / "inbox").mkdir(parents=True)
    shutil.copytree(EXAMPLES / "claude-code" / "projects", folder / "logs")
    shutil.copy2(EXAMPLES / "inbox" / "read-replica-lag.md", root / "inbox" / f"{name}.md")
    assert run_command(["run", "--store", str(root), str(folder)]) == 0
    assert len(read_store(root).solutions) > 5
    assert not list((root / "inbox").iterdir())
    first = state(World(root, Settings(), NOW, tmp_path, {}))
    assert run_command(["run", "--store", str(root), str(folder)]) == 0
    assert state(World(root, Settings(), NOW, tmp_path, {})) == first
    assert run_command(["undo", "--store", str(root), read_runs(root)[0]["run"]]) == 0
    assert [path.name for path in (root / "inbox").iterdir()] == [f"{name}.md"]


def test_links_pipes_and_folders_in_the_way_stop_nothing(world: World, tmp_path: Path) -> None:
    """Loops are not entered, links are not followed out of the store, what is no file is not opened."""
    outside = tmp_path / "outside.md"
    outside.write_text("# Outside\n\nNot ours.\n")
    for folder in (world.root / "inbox", world.root / "solutions" / "bugs"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "loop").symlink_to(".")
        (folder / "up").symlink_to("../..")
        (folder / "self.md").symlink_to("self.md")
        (folder / "gone.md").symlink_to("nowhere")
        (folder / "linked.md").symlink_to(outside)
        (folder / "folder.md").mkdir()
        os.mkfifo(folder / "pipe.md")
    assert command(world, "run") == 0
    assert command(world, "curate") == 0
    assert outside.read_text() == "# Outside\n\nNot ours.\n"
    assert not any("outside" in solution.path for solution in read_store(world.root).solutions)


@pytest.mark.parametrize("name", ["MEMORY.md", ".index.yaml", "spool", "journal", "config.yaml"])
def test_what_stands_in_the_way_is_named(world: World, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """A folder for a file, a file for a folder: exit 1, one line that names it, no trace."""
    if "." in name:
        (world.root / name).mkdir()
    else:
        (world.root / name).write_text("in the way")
    code = command(world, "run", str(world.home / ".claude"))
    said = capsys.readouterr().err
    assert (code, said.count("\n")) in {(1, 1), (0, 0)}
    assert name in said or code == 0
    assert "Traceback" not in said


def test_a_store_that_is_a_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2 for what a person named wrongly, by every kind of command; the way out where no folder can be made."""
    (tmp_path / "file").write_text("")
    for command in (["run", str(EXAMPLES)], ["status"], ["why", "01KB7ZC4S0T2J5Q8XW3N6M9RVE"], ["curate", "--dry-run"]):
        assert run_command([*command, "--store", str(tmp_path / "file")]) == 2
        assert "is a file, and no folder" in capsys.readouterr().err
    if Path("/proc/self").exists():
        assert run_command(["run", "--store", "/proc/hotwash", str(EXAMPLES)]) == 1
        assert "no folder can be made there" in capsys.readouterr().err


def test_what_there_is_not_is_wrong_use(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2 and what there is, whatever was named."""
    for command in (["undo", "r9"], ["review", "no-such", "publish"], ["why", "01KB7ZC4S0T2J5Q8XW3N6M9RVE"]):
        assert run_command([*command, "--store", str(world.root)]) == 2
        assert "error: " in capsys.readouterr().err


def test_without_a_home_nothing_is_found_and_nothing_breaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No HOME, an empty one, one that does not exist."""
    for home in (None, "", str(tmp_path / "nowhere")):
        if home is None:
            monkeypatch.delenv("HOME")
        else:
            monkeypatch.setenv("HOME", home)
        for words in (["run", str(EXAMPLES / "claude-code")], ["status"], ["recall", "tests"], ["pack"]):
            assert run_command([words[0], "--store", str(tmp_path / "store"), *words[1:]]) in (0, 1)


def test_a_damaged_journal_is_set_aside_and_stops_nothing(world: World) -> None:
    """Lines of other types, garbage, an empty file: what cannot be trusted is kept for a person, and never applied."""
    journal = world.root / "journal"
    journal.mkdir()
    damaged = {
        "20200101T000000000Z-run-0001.jsonl": b"garbage",
        "20200101T000000000Z-run-0002.jsonl": b'[]\n{"run":1}\n{"path":"x"}\n{"stage":"x","changes":"y"}\n',
        "20200101T000000000Z-run-0003.jsonl": b'{"run":"r"}\n\x00\x00\x00\n{"done":"x"}\n',
    }
    for name, content in damaged.items():
        (journal / name).write_bytes(content)
    (journal / "20200101T000000000Z-run-0004.jsonl").write_bytes(b"")
    report = session_end(world)
    assert not report.failed
    for name, content in damaged.items():
        assert (journal / name).with_suffix(".damaged").read_bytes() == content
    assert len(read_runs(world.root)) == 1


HOSTILE: dict[str, bytes] = {
    "bomb.md": b"---\na: &a [x,x,x,x,x,x,x,x,x]\n"
    + b"".join(b"b%d: &b%d [*a,*a,*a,*a,*a,*a,*a]\n" % (n, n) for n in range(9))
    + b"---\nx\n",
    "deep.md": b"---\na: " + b"[" * 50_000 + b"\n---\nx\n",
    "object.md": b"---\na: !!python/object/apply:os.system ['true']\n---\nx\n",
    "nul.md": b"---\nid: \x00\n---\n\x00\n",
    "bytes.md": bytes(range(256)) * 20,
    "bom.md": b"\xef\xbb\xbf---\r\nid: x\r\n---\r\n",
    "tabs.md": b"---\n\tid: x\n---\n",
    "twice.md": b"---\nid: a\nid: b\n---\n",
    "date.md": b"---\ncreated: 99999-99-99T99:99:99Z\n---\nx\n",
    "empty.md": b"",
    "header.md": b"---\n" + b"k: v\n" * 200_000 + b"---\n",
    "line.md": b"x" * 1_000_000,
}


def test_hostile_files_stay_where_they_are(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """In the store and in the inbox: each is named, none is changed, and the rest goes on."""
    (world.root / "solutions" / "bugs").mkdir(parents=True)
    big = world.root / "solutions" / "bugs" / "huge.md"
    with big.open("wb") as file:
        file.write(b"---\n")
        file.truncate(100 << 20)
    for name, content in HOSTILE.items():
        (world.root / "solutions" / "bugs" / name).write_bytes(content)
    code = command(world, "curate")
    said = capsys.readouterr()
    assert code in (0, 1)
    assert "Traceback" not in said.err
    for name, content in HOSTILE.items():
        assert (world.root / "solutions" / "bugs" / name).read_bytes() == content
        assert name in said.out
    assert "huge.md" in said.out
    assert len(read_store(world.root).solutions) > 3


def test_a_file_edited_while_a_run_plans_is_left_alone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The edit stays, the change that was planned on the old text is refused and named, the rest of the run goes on."""
    session_end(world)
    edited: dict[Path, bytes] = {}

    def plan_and_edit(*given: object, **named: object) -> Plan:
        plan = plan_dedup(*given, **named)  # type: ignore[arg-type]
        path = world.root / next(change.path for change in plan.changes if change.before is not None)
        path.write_bytes(path.read_bytes() + b"\nMy own remark.\n")
        edited[path] = path.read_bytes()
        return plan

    monkeypatch.setattr(alike, "plan_dedup", plan_and_edit)
    report = curate(world)
    [path] = edited
    assert path.read_bytes() == edited[path]
    refused = [line for stage in report.stages for line in stage.refused]
    assert (path.relative_to(world.root).as_posix(), "changed since it was read") in refused
    assert any(stage.stage == "memory" for stage in report.stages)
    monkeypatch.setattr(alike, "plan_dedup", plan_dedup)
    curate(world)
    assert b"My own remark." in b"".join(one.text.encode() for one in read_store(world.root).solutions)


def test_a_file_name_says_the_same_in_any_case() -> None:
    """On a file system that ignores case no two lessons share a file, whatever their titles."""
    for title in ("Use PNPM", "use pnpm", "USE ÄPFEL", "ﬁle"):
        path = path_for(Solution("01KB7ZC4S0T2J5Q8XW3N6M9RVE", title, "bugs", "x"))
        assert path == path.lower()


@pytest.mark.parametrize(
    "seconds", [pytest.param(3.0, id="short"), pytest.param(60.0, id="minute", marks=pytest.mark.nightly)]
)
def test_eight_writers_and_twenty_readers_at_once(world: World, seconds: float) -> None:
    """No reader ever fails or sees half a file; the store is what one run alone would have made of it."""
    alone = replace(world, root=world.home / "alone")
    session_end(alone)
    transcripts = sorted(path for path in (world.home / ".claude").rglob("*.jsonl") if "subagents" not in path.parts)
    deadline = time.monotonic() + seconds

    def write(number: int) -> None:
        while time.monotonic() < deadline:
            report = session_end(world, transcripts[number % len(transcripts) :: 8] or transcripts[:1])
            assert not report.failed

    def read(number: int) -> None:
        while time.monotonic() < deadline:
            assert not read_store(world.root).problems
            assert command(world, *(["recall", "tests"], ["pack"], ["status"])[number % 3]) in (0, 1)

    def start(work: Callable[[int], None], number: int) -> int:
        child = os.fork()
        if not child:
            code = 1
            try:
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, 1)
                work(number)
                code = 0
            finally:
                os._exit(code)
        return child

    children = [start(write, number) for number in range(8)] + [start(read, number) for number in range(20)]
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 28
    session_end(world)
    lessons = {one.id for one in read_store(alone.root).solutions}
    assert lessons <= {one.id for one in read_store(world.root).solutions}
    assert not leftovers(world.root)


def git(folder: Path, *words: str) -> str:
    """A git command that must succeed."""
    identity = ["-c", "user.name=mika", "-c", "user.email=mika@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"git {' '.join(words)}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize(
    "rounds", [pytest.param(6, id="few"), pytest.param(100, id="200 commits", marks=pytest.mark.nightly)]
)
def test_two_clones_of_a_shared_store_merge_without_conflict(
    tmp_path: Path, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each machine files its own lessons and commits; every pull merges, nothing is lost, the index is the same."""
    origin, clones = tmp_path / "origin", [tmp_path / "one" / "repo", tmp_path / "two" / "repo"]
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(origin)], check=True)
    worlds = []
    for number, clone in enumerate(clones):
        clone.parent.mkdir()
        git(tmp_path, "clone", "-q", str(origin), str(clone))
        if not number:
            monkeypatch.chdir(clone)
            assert run_command(["init", "--shared"]) == 0
            git(clone, "checkout", "-q", "-b", "main")
            git(clone, "add", ".")
            git(clone, "commit", "-q", "-m", "start")
            git(clone, "push", "-q", "origin", "main")
        home = clone.parent / "home"
        home.mkdir()
        worlds.append(World(clone / ".hotwash", Settings(), NOW, home, {"HOME": str(home)}))
    for step in range(rounds):
        for number, (world, clone) in enumerate(zip(worlds, clones, strict=True)):
            (world.root / "inbox").mkdir(exist_ok=True)
            fact = f"The port of service {step}-{number} is {4000 + 2 * step + number}."
            note = f"# Lesson {step} of machine {number}\n\n{fact}\n"
            (world.root / "inbox" / f"note-{number}-{step}.md").write_text(note)
            session_end(world)
            git(clone, "add", "-A")
            git(clone, "commit", "-q", "-m", f"lesson {step} of {number}")
            git(clone, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
            git(clone, "push", "-q", "origin", "HEAD:main")
    indexes = []
    for world, clone in zip(worlds, clones, strict=True):
        git(clone, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
        rebuild_index(world)
        store = read_store(world.root)
        assert not store.problems
        assert len(store.solutions) == 2 * rounds
        indexes.append((world.root / ".index.yaml").read_bytes())
    assert indexes[0] == indexes[1]
