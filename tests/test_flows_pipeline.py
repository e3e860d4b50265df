"""The chains over a whole store: exactly once, delta only, hand edits win, everything can be taken back."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from curate.snapshot import tree_digest
from flows import ingest as ingest_module
from flows.context import World
from flows.pipeline import curate, daily, session_end, undo
from flows.report import Report
from index.journal import read_runs
from index.settings import ReflectSettings, Settings
from index.store import read_store
from reflect.transcripts import registry

EXAMPLES = Path(__file__).parents[1] / "examples"
NOW = datetime(2026, 11, 28, 9, tzinfo=UTC)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A home with the example sessions in the agents' own places, and an empty store."""
    home = tmp_path / "home"
    shutil.copytree(EXAMPLES / "claude-code" / "projects", home / ".claude" / "projects")
    shutil.copytree(EXAMPLES / "codex" / "sessions", home / ".codex" / "sessions")
    (tmp_path / "store" / "inbox").mkdir(parents=True)
    return World(tmp_path / "store", Settings(), NOW, home, {"HOME": str(home)})


def contents(root: Path) -> dict[str, bytes]:
    """The store's files but journal, cache and lock."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.relative_to(root).parts[0] not in (".cache", "journal", ".lock", "snapshots")
    }


def lessons(report: Report) -> set[str]:
    """The ids of the lessons that a run wrote."""
    return {solution.id for solution, _ in report.solutions}


def test_the_examples_teach_and_a_second_run_adds_nothing(world: World) -> None:
    """The first run reads every session, the second finds them all unchanged and writes nothing."""
    first = session_end(world)
    assert first.counts()["read"] >= 10
    assert first.counts()["failed"] == 0
    assert len(lessons(first)) >= 5
    before = contents(world.root)
    times = {path: path.stat().st_mtime_ns for path in world.root.rglob("*.md")}
    second = session_end(world)
    assert (second.counts()["written"], second.counts()["read"]) == (0, 0)
    assert contents(world.root) == before
    assert {path: path.stat().st_mtime_ns for path in world.root.rglob("*.md")} == times


def test_reading_everything_again_gives_nothing_new(world: World) -> None:
    """With all progress lost, the ids are the same and no lesson is written twice."""
    first = session_end(world)
    shutil.rmtree(world.root / "spool" / "read")
    shutil.rmtree(world.root / ".cache")
    again = session_end(world)
    assert again.counts()["read"] == first.counts()["read"]
    assert lessons(again) == set()


def test_a_dry_run_shows_the_same_and_writes_nothing(world: World) -> None:
    """Not a byte changes, and what is shown is what the real run then does."""
    before = contents(world.root)
    shown = session_end(world, dry_run=True)
    assert contents(world.root) == before
    done = session_end(world)
    assert lessons(shown) == lessons(done)
    assert [c.path for s in shown.stages for c in s.changes] == [c.path for s in done.stages for c in s.changes]
    plan = curate(world, dry_run=True)
    before = contents(world.root)
    assert contents(world.root) == before
    applied = curate(world)
    assert [c.path for s in plan.stages for c in s.changes] == [c.path for s in applied.stages for c in s.changes]


def test_undoing_every_run_gives_back_the_first_store(world: World) -> None:
    """Ingest and curate leave nothing behind once they are undone."""
    shutil.copy(EXAMPLES / "inbox" / "read-replica-lag.md", world.root / "inbox")
    before = contents(world.root)
    session_end(world)
    curate(world)
    for run in reversed(read_runs(world.root)):
        undo(world, run["run"])
    after = contents(world.root)
    after.pop(".index.yaml")
    assert after == before


def test_a_second_pass_plans_nothing(world: World) -> None:
    """What the weekly pass has done it does not do again."""
    session_end(world)
    curate(world)
    before = tree_digest(world.root)
    assert curate(world).changed == 0
    assert daily(world).changed == 0
    assert tree_digest(world.root) == before


def test_a_hand_edit_between_two_runs_stays(world: World) -> None:
    """Edited text, an edited header and a deleted lesson are the person's; no run brings them back or changes them."""
    session_end(world)
    first, second, *_ = sorted((world.root / "solutions").rglob("*.md"))
    first.write_text(first.read_text() + "\nMy own remark.\n")
    second.write_text(second.read_text().replace("priority: 0", "priority: 1"))
    edited = {first: first.read_bytes(), second: second.read_bytes()}
    session_end(world)
    curate(world)
    assert {path: path.read_bytes() for path in edited} == edited


def test_a_grown_session_is_read_on_and_teaches_what_the_whole_would(world: World, tmp_path: Path) -> None:
    """Cut anywhere and read twice, a session gives the lessons of one reading, each once."""
    whole = session_end(world)
    for path in sorted((EXAMPLES / "claude-code" / "projects").rglob("*.jsonl")):
        if "subagents" in path.parts:
            continue
        place = tmp_path / "grown" / path.name
        place.parent.mkdir(exist_ok=True)
        lines = path.read_bytes().split(b"\n")
        root = tmp_path / f"store-{path.stem}"
        grown = replace(world, root=root)
        place.write_bytes(b"\n".join(lines[: len(lines) // 2]) + b"\n")
        session_end(grown, [place])
        place.write_bytes(path.read_bytes())
        session_end(grown, [place])
        ids = [solution.id for solution in read_store(root).solutions]
        key = f"claude-code:{path.stem}"
        wanted = {solution.id for solution, _ in whole.solutions if key in solution.sessions}
        assert wanted <= set(ids)
        assert len(ids) == len(set(ids))


def test_one_transcript_that_breaks_a_reader_stops_no_other(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is reported, kept as failed with its count, and read when the reader is mended."""
    real: Callable[..., object] = registry.read_sessions
    broken = sorted((world.home / ".claude").rglob("*.jsonl"))[0]

    def read(path: Path, mark: object = None) -> object:
        if path == broken:
            raise RuntimeError("no such luck")
        return real(path, mark)

    monkeypatch.setattr(ingest_module, "read_sessions", read)
    report = session_end(world)
    assert report.failed
    assert report.counts()["failed"] == 1
    assert report.counts()["read"] > 5
    monkeypatch.setattr(ingest_module, "read_sessions", real)
    assert session_end(world).counts()["read"] >= 1
    again = session_end(world)
    assert (again.counts()["read"], again.changed, again.failed) == (0, 0, False)


def test_an_event_is_used_up_and_one_that_leads_nowhere_goes_when_it_is_old(world: World) -> None:
    """The spool is empty after the run that read its sessions; what names nothing is dropped with the reason."""
    transcript = next(
        path for path in sorted((world.home / ".claude").rglob("*.jsonl")) if "subagents" not in path.parts
    )
    spool = world.root / "spool"
    spool.mkdir(exist_ok=True)
    event = {"agent": "claude-code", "moment": "end", "session_id": transcript.stem, "transcript_path": str(transcript)}
    (spool / "1.json").write_text(json.dumps(event))
    (spool / "2.json").write_text("not json")
    (spool / "3.json").write_text(json.dumps({**event, "session_id": "x", "transcript_path": "/gone.jsonl"}))
    report = session_end(world, from_spool=True)
    assert [line.key for line in report.sessions] == [f"claude-code:{transcript.stem}"]
    assert sorted(path.name for path in spool.glob("*.json")) == ["3.json"]


def test_a_project_that_is_switched_off_leaves_nothing(world: World) -> None:
    """Neither lesson nor episode, and it is said why."""
    off = Settings(reflect=ReflectSettings(projects_off=("/home/mika/work/shop",)))
    report = session_end(replace(world, settings=off))
    assert not any("shop" in solution.project for solution, _ in report.solutions)
    assert any(line.reason == "its project is switched off" for line in report.sessions)


def test_failures_in_a_row_are_counted_for_the_next_session_start(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number that the hook reads goes up with each failed run, and goes with the first that is well."""

    def broken(path: Path, mark: object = None) -> object:
        raise RuntimeError("no such luck")

    with monkeypatch.context() as patch:
        patch.setattr(ingest_module, "read_sessions", broken)
        for wanted in ("1", "2"):
            session_end(world)
            assert (world.root / "spool" / "run-failures").read_text().strip() == wanted
    session_end(world)
    assert not (world.root / "spool" / "run-failures").exists()


def test_a_session_that_lies_in_two_files_is_read_once_in_each(world: World) -> None:
    """A copy in another folder gives nothing new, and no later run reads either again."""
    transcript = next((world.home / ".claude").rglob("255882bf*.jsonl"))
    copy = world.home / ".claude" / "projects" / "-a-b" / transcript.name
    copy.parent.mkdir()
    shutil.copy(transcript, copy)
    session_end(world)
    for _ in range(2):
        again = session_end(world)
        assert (again.counts()["read"], again.changed) == (0, 0)
