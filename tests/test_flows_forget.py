"""What is forgotten is found nowhere any more, whatever was made of it, and nothing brings it back."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from curate.drafts import read_drafts
from curate.forget import Target
from curate.proof import prove
from curate.review import Decision
from curate.snapshot import SNAPSHOTS, read_snapshot, restore_snapshot
from curate.tombstones import Kind, read_tombstones
from flows.cli import run_command
from flows.context import FORGET_INTENT, World, passes_folder
from flows.forget import clean_snapshot, forget, plan_forget
from flows.pipeline import curate, session_end, undo
from flows.prefect_api import serve_file
from flows.review import decide, published_paths
from index.errors import StoreError, UndoRefused, UsageError
from index.journal import read_runs
from index.records import Solution
from index.settings import Settings
from index.store import ARCHIVE, read_store
from reflect.ledger import read_ledger
from tests.kills import leftovers, points, run_killed

EXAMPLES = Path(__file__).parents[1] / "examples"
NOW = datetime(2026, 11, 28, 9, tzinfo=UTC)
SESSION = "codex:01a1f325-3f78-7f94-a786-30c9a026862d"


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A store that has read the example sessions, merged what is alike, and taken a snapshot."""
    home = tmp_path / "home"
    shutil.copytree(EXAMPLES / "claude-code" / "projects", home / ".claude" / "projects")
    shutil.copytree(EXAMPLES / "codex" / "sessions", home / ".codex" / "sessions")
    root = home / ".hotwash"
    (root / "inbox").mkdir(parents=True)
    world = World(root, Settings(), NOW, home, {"HOME": str(home)})
    session_end(world)
    curate(world)
    return world


def everything(root: Path) -> bytes:
    """All bytes of a store, packed files unpacked, and all names."""
    parts = []
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        raw = path.read_bytes()
        parts += [str(path.relative_to(root)).encode(), gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw]
    return b"\n".join(parts)


def live(world: World) -> dict[str, Solution]:
    """The live lessons by id."""
    return {one.id: one for one in read_store(world.root).solutions}


def archived(world: World) -> dict[str, Solution]:
    """The archived lessons by id."""
    return {one.id: one for one in read_store(world.root, ARCHIVE).solutions}


def test_a_plan_writes_nothing(world: World) -> None:
    """What would go is named; not a byte changes."""
    before = everything(world.root)
    _, planned = plan_forget(world, Target("session", SESSION))
    assert any(line.startswith("- episodes/") for line in planned.lines)
    assert planned.proof is None
    assert everything(world.root) == before


def test_a_merged_lesson_goes_and_the_others_come_back(world: World) -> None:
    """The keeper has its own words again, the third source is live, and only the one that was named is lost."""
    merged = [one for one in archived(world).values() if "make test-int" in one.title]
    assert len(merged) == 2
    keeper = live(world)[str(merged[0].superseded_by)]
    done = forget(world, Target("lesson", merged[0].id))
    assert done.proof is not None
    assert done.proof.hits == ()
    assert done.proof.files > 50
    assert merged[0].id.encode() not in everything(world.root)
    assert merged[0].id[-8:].lower().encode() not in everything(world.root)
    now = live(world)
    assert now[keeper.id].sources == keeper.sources[:1]
    assert now[keeper.id].supersedes == ()
    assert now[merged[1].id].body == merged[1].body
    assert now[merged[1].id].superseded_by is None


def test_a_session_goes_with_all_that_it_alone_has_taught(world: World) -> None:
    """Lesson, episode, progress, drafts and journals; lessons of other sessions stay, word for word."""
    others = {one.id: one for one in (live(world) | archived(world)).values() if SESSION not in one.sessions}
    done = forget(world, Target("session", SESSION))
    assert done.proof is not None
    assert done.proof.hits == ()
    assert SESSION.partition(":")[2].encode() not in everything(world.root)
    assert any("transcript is not ours" in note for note in done.notes)
    left = live(world) | archived(world)
    assert set(left) == set(others)
    assert all(left[identity].body == one.body for identity, one in others.items())


def test_a_project_goes_whole(world: World) -> None:
    """No lesson, session or name of it is left; those of other projects are."""
    named = {one.project for one in live(world).values()} - {""}
    project = sorted(named)[0]
    keys = {key for key, read in read_ledger(world.root).items() if read.project == project}
    done = forget(world, Target("project", project))
    assert done.proof is not None
    assert done.proof.hits == ()
    assert keys
    assert not any(key.partition(":")[2].encode() in everything(world.root) for key in keys)
    assert {one.project for one in live(world).values()} - {""} == named - {project}


def test_a_string_is_taken_out_wherever_it_stands(world: World) -> None:
    """In lessons, episodes, memory, journals, snapshots; every lesson can still be read."""
    before = len(live(world) | archived(world))
    done = forget(world, Target("string", "PNPM-Workspace.yaml"))
    assert done.proof is not None
    assert done.proof.hits == ()
    assert b"pnpm-workspace.yaml" not in everything(world.root)
    assert b"[forgotten]" in everything(world.root)
    assert len(live(world) | archived(world)) == before
    assert not read_store(world.root).problems


TARGETS: list[tuple[Kind, str]] = [("lesson", ""), ("session", SESSION), ("project", ""), ("string", "Redis")]


@pytest.mark.parametrize(("kind", "name"), TARGETS, ids=[kind for kind, _ in TARGETS])
def test_nothing_brings_it_back(world: World, tmp_path: Path, kind: Kind, name: str) -> None:
    """Neither reading every transcript again, nor the restore of a snapshot from before."""
    old = tmp_path / "old.tar.gz"
    shutil.copy(next((world.root / SNAPSHOTS).glob("*")), old)
    if kind == "lesson":
        name = next(iter(archived(world)))
    if kind == "project":
        name = sorted({one.project for one in live(world).values()} - {""})[0]
    doomed, _ = plan_forget(world, Target(kind, name))
    traces = doomed.traces()
    assert prove(world.root, traces).hits
    forget(world, Target(kind, name))
    shutil.rmtree(world.root / "spool" / "read", ignore_errors=True)
    session_end(world)
    assert prove(world.root, replace(traces, texts=traces.texts & {name} or traces.texts)).hits == ()
    new = tmp_path / "new"
    stones = read_tombstones(world.root)
    restore_snapshot(old, new, lambda files: clean_snapshot(files, stones))
    assert prove(new, traces).hits == ()
    again = World(new, Settings(), NOW, world.home, {"HOME": str(world.home)})
    session_end(again)
    assert read_tombstones(new).stones == stones.stones
    if kind != "string":
        assert not set(doomed.ids) & set(live(again))


def test_snapshots_are_rewritten_with_a_manifest_that_holds(world: World) -> None:
    """They can be verified and restored as before."""
    forget(world, Target("session", SESSION))
    for path in (world.root / SNAPSHOTS).glob("*"):
        files = read_snapshot(path)
        assert files
        assert not any(SESSION.partition(":")[2] in name for name in files)


def test_undoing_a_run_of_which_something_was_forgotten_says_so(world: World) -> None:
    """It is refused with the reason; nothing is half undone."""
    first = read_runs(world.root)[0]["run"]
    forget(world, Target("session", SESSION))
    before = live(world), archived(world), len(read_runs(world.root))
    with pytest.raises(UndoRefused, match="forgotten on purpose"):
        undo(world, first)
    assert (live(world), archived(world), len(read_runs(world.root))) == before


def test_the_command_shows_first_and_wants_a_word(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --yes it lists what would go and exits 2; with it, the proof is printed."""
    asked = ["forget", "--store", str(world.root), "--session", SESSION]
    before = everything(world.root)
    assert run_command(asked) == 2
    assert "run again with --yes" in capsys.readouterr().out
    assert run_command([*asked, "--dry-run"]) == 0
    assert everything(world.root) == before
    assert run_command([*asked, "--yes"]) == 0
    assert "packed ones included: 0 hits" in capsys.readouterr().out


def test_a_server_that_runs_on_the_store_must_be_stopped_first(world: World) -> None:
    """Its database may hold reports with the text, and is not taken away under it."""
    serve_file(world.root).write_text(json.dumps({"pid": os.getpid()}))
    before = everything(world.root)
    with pytest.raises(StoreError, match="Stop `hotwash serve`"):
        forget(world, Target("session", SESSION))
    assert everything(world.root) == before


def test_what_cannot_be_searched_is_a_hit(world: World) -> None:
    """A damaged snapshot may hold anything: it is named, and the exit code says so."""
    (world.root / SNAPSHOTS / "hotwash-2026-01-01.tar.gz").write_bytes(b"\x1f\x8bcut off")
    assert run_command(["forget", "--store", str(world.root), "--session", SESSION, "--yes"]) == 1


def test_what_the_store_does_not_know_is_refused(world: World) -> None:
    """A slip of the pen forgets nothing; too short a string would stand everywhere."""
    before = everything(world.root)
    for target in (Target("lesson", "01NOSUCH"), Target("session", "codex:nope"), Target("string", "a-")):
        with pytest.raises(UsageError):
            forget(world, target)
    assert everything(world.root) == before


@pytest.mark.parametrize(
    "most", [pytest.param(12, id="sample"), pytest.param(None, id="all", marks=pytest.mark.nightly)]
)
def test_a_killed_forget_is_completed(world: World, tmp_path: Path, most: int | None) -> None:
    """Killed at any change of the disk and run again: nothing of it is left, and nothing else is lost."""
    kept = tmp_path / "kept"
    world.home.rename(kept)

    def renew() -> None:
        shutil.rmtree(world.home, ignore_errors=True)
        shutil.copytree(kept, world.home)

    def act() -> None:
        try:
            forget(world, Target("session", SESSION))
        except UsageError:
            session_end(world)  # it was completed before: the store knows no such session any more

    renew()
    doomed, _ = plan_forget(world, Target("session", SESSION))
    changes = run_killed(act, 0)
    clean = {**live(world), **archived(world)}
    for place in points(changes, most):
        renew()
        assert run_killed(act, place) == 0
        run_killed(act, 0)
        assert prove(world.root, doomed.traces()).hits == (), f"killed at change {place} of {changes}"
        assert {**live(world), **archived(world)} == clean, f"killed at change {place} of {changes}"
        assert not (world.root / FORGET_INTENT).exists()
        assert not leftovers(world.home)


def test_what_was_published_from_it_is_named(world: World) -> None:
    """A skill outside the store is the person's by now: it is not touched, and they are told where it lies."""
    draft = read_drafts(world.root)[0][0]
    report, problems = decide(world, draft.name, Decision("publish", "ann", note="seen"))
    assert problems == ()
    (path,) = published_paths(report)
    _, planned = plan_forget(world, Target("session", min(draft.sessions)))
    assert f"Published, may hold it: {path}" in planned.notes
    Path(path).unlink()
    assert not any("Published" in note for note in plan_forget(world, Target("session", min(draft.sessions)))[1].notes)


def test_what_passes_over_a_shared_store_keep_elsewhere_goes_too(tmp_path: Path) -> None:
    """Their caches lie in the personal store, where no repository can bring its own; they are looked through too."""
    home, root = tmp_path / "home", tmp_path / "shop" / ".hotwash"
    (root.parent / ".git").mkdir(parents=True)
    world = World(root, Settings(), NOW, home, {"HOME": str(home), "HOTWASH_HOME": str(home / ".hotwash")})
    (root / "inbox").mkdir(parents=True)
    for day in ("monday", "friday"):
        text = f"# The zanzibar cluster needs a warm-up\n\nRun `make warm-{day}` before `make deploy` on zanzibar.\n"
        (root / "inbox" / f"{day}.md").write_text(text)
    curate(world)
    kept = passes_folder(root, world.env)
    assert kept.is_relative_to(home)
    assert any(b"zanzibar" in path.read_bytes() for path in kept.iterdir())
    forgotten = forget(world, Target("string", "zanzibar"))
    assert forgotten.proof is not None
    assert forgotten.proof.hits == ()
    assert b"zanzibar" not in everything(root) + everything(home)
