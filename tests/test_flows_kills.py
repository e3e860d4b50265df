"""SIGKILL at every change of the disk in turn, then the same command again: the store is that of one clean run.

The ordinary suite dies at a sample of the places, the nightly one (`pytest -m nightly`) at all of them.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

# Loaded once here, not once in every child that is killed.
import detectors.duplicates
import detectors.meaning  # noqa: F401
from curate.drafts import read_drafts
from curate.review import Decision
from curate.snapshot import read_snapshot
from flows import hook
from flows.context import World
from flows.pipeline import curate, session_end, undo
from flows.review import NoSuchDraft, decide
from index.journal import read_journal, read_runs
from index.settings import Settings
from index.store import read_store
from tests.kills import leftovers, points, run_killed

EXAMPLES = Path(__file__).parents[1] / "examples"
NOW = datetime(2026, 11, 28, 9, tzinfo=UTC)
SESSIONS = ("c2d4ce81", "af1234a3", "bc64306b", "b35b5217", "01a1f325")
SAMPLE = 25  # places to die at, per command, in the ordinary suite

Act = Callable[[World], object]


@pytest.fixture(params=[pytest.param(SAMPLE, id="sample"), pytest.param(None, id="all", marks=pytest.mark.nightly)])
def most(request: pytest.FixtureRequest) -> int | None:
    """How many places to die at: a sample, or every one at night."""
    wanted: int | None = request.param
    return wanted


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A home with some of the example sessions, and an empty store below it with one lesson in its inbox."""
    home = tmp_path / "start" / "home"
    monkeypatch.setenv("HOME", str(home))
    for source in sorted(EXAMPLES.rglob("*.jsonl")):
        if any(part in source.name for part in SESSIONS):
            agent, *rest = source.relative_to(EXAMPLES).parts
            place = home / f".{agent.removesuffix('-code')}" / Path(*rest)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, place)
    root = home / ".hotwash"
    (root / "inbox").mkdir(parents=True)
    shutil.copy2(EXAMPLES / "inbox" / "read-replica-lag.md", root / "inbox")
    return World(root, Settings(), NOW, home, {"HOME": str(home)})


def state(world: World) -> dict[str, bytes]:
    """Every file of home and store but the journals, the caches, the lock and the snapshots."""
    left_out = {".cache", "journal", ".lock", "snapshots"}
    return {
        path.relative_to(world.home).as_posix(): path.read_bytes()
        for path in sorted(world.home.rglob("*"))
        if path.is_file()
        and not (path.is_relative_to(world.root) and left_out & {path.relative_to(world.root).parts[0]})
    }


def check_journals(world: World) -> None:
    """Every run is closed, and no lesson was made twice by runs that stand."""
    made: Counter[str] = Counter()
    runs = read_runs(world.root)
    for run in runs:
        assert run["ended"], f"{run['run']} was never closed"
        _, stages, _ = read_journal(world.root / "journal" / f"{run['run']}.jsonl")
        assert all(stage.done for stage in stages)
        if not run["undoes"] and not run["undone_by"]:
            made.update(c["path"] for s in stages for c in s.changes if c["before"] is None and c["after"])
    again = {path: count for path, count in made.items() if path.startswith("solutions/") and count > 1}
    assert not again, again


def check_every_death(start: World, act: Act, most: int | None, tmp_path: Path) -> None:
    """Die at each place, act again, and compare with the state that one clean run leaves."""
    base = start.home
    # The same path for every trial, as the store names the transcripts by their paths.
    kept = tmp_path / "kept"
    base.rename(kept)

    def renew() -> None:
        if base.exists():
            shutil.rmtree(base)
        shutil.copytree(kept, base)

    renew()
    changes = run_killed(lambda: act(start), 0)
    clean = state(start)
    check_journals(start)
    assert not leftovers(base)
    assert changes > 10
    for place in points(changes, most):
        renew()
        assert run_killed(lambda: act(start), place) == 0, f"change {place} of {changes} never came"
        run_killed(lambda: act(start), 0)
        found = state(start)
        differing = sorted(path for path in clean.keys() | found.keys() if clean.get(path) != found.get(path))
        assert not differing, f"killed at change {place} of {changes}: {differing}"
        assert not leftovers(base), f"killed at change {place} of {changes}: {leftovers(base)}"
        check_journals(start)
        for snapshot in (start.root / "snapshots").glob("*"):
            read_snapshot(snapshot)


def test_a_killed_run_run_again_is_one_clean_run(world: World, most: int | None, tmp_path: Path) -> None:
    """Sessions, inbox, drafts, memory and index: each thing once, nothing missing."""
    check_every_death(world, session_end, most, tmp_path)


def test_a_run_killed_again_while_it_recovers(world: World, most: int | None, tmp_path: Path) -> None:
    """Two deaths in a row, the second while the first is being put right: the third run ends as one clean run."""
    start, kept = world.home, tmp_path / "kept"
    start.rename(kept)

    def renew() -> None:
        shutil.rmtree(start, ignore_errors=True)
        shutil.copytree(kept, start)

    renew()
    changes = run_killed(lambda: session_end(world), 0)
    clean = state(world)
    firsts = list(points(changes, 6 if most else 40))
    for first in firsts:
        for second in points(30, 3 if most else 30):
            renew()
            assert run_killed(lambda: session_end(world), first) == 0
            run_killed(lambda: session_end(world), second)
            run_killed(lambda: session_end(world), 0)
            assert state(world) == clean, f"killed at {first}, then at {second} of {changes}"
            assert not leftovers(start)
            check_journals(world)


def test_a_killed_weekly_pass_run_again_is_one_clean_pass(world: World, most: int | None, tmp_path: Path) -> None:
    """Merges, the archive, drafts and the snapshot are the same, and every fact stays."""
    session_end(world)
    check_every_death(world, curate, most, tmp_path)


def test_a_killed_undo_done_again_brings_everything_back(world: World, most: int | None, tmp_path: Path) -> None:
    """Asking again for the same undo ends where one clean undo ends, whatever it had done already."""
    session_end(world)
    curate(world)
    last = read_runs(world.root)[-1]["run"]
    check_every_death(world, lambda world: undo(world, last), most, tmp_path)


def test_a_killed_publish_decided_again_publishes_once(world: World, most: int | None, tmp_path: Path) -> None:
    """The skill, the archived draft and the decision are there together or not at all."""
    session_end(world)
    [draft] = read_drafts(world.root)[0]
    name = draft.name

    def publish(world: World) -> None:
        with suppress(NoSuchDraft):
            decide(world, name, Decision("publish", "mika", note="read it"))

    check_every_death(world, publish, most, tmp_path)
    assert list(world.home.rglob("skills/**/SKILL.md"))


def _whoever_told(files: dict[str, bytes]) -> dict[str, bytes]:
    return {path: raw.replace(b'"reported": true', b'"reported": false') for path, raw in files.items()}


def test_a_killed_hook_loses_no_session(
    world: World, most: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sweep finds what a killed hook did not report; with its event or without, the session teaches once."""
    transcript = next(path for path in sorted(world.home.rglob("*.jsonl")) if "c2d4ce81" in path.name)
    payload = json.dumps({"session_id": transcript.stem, "transcript_path": str(transcript)}).encode()
    monkeypatch.setenv("HOTWASH_HOME", str(world.root))
    monkeypatch.setattr(hook, "start_run", lambda root, code: None)

    def report() -> None:
        reader, writer = os.pipe()
        os.write(writer, payload)
        os.close(writer)
        os.dup2(reader, 0)
        hook.record("claude-code", "end", "")

    kept = tmp_path / "kept"
    world.home.rename(kept)

    def renew() -> None:
        shutil.rmtree(world.home, ignore_errors=True)
        shutil.copytree(kept, world.home)

    renew()
    changes = run_killed(report, 0)
    run_killed(lambda: session_end(world), 0)
    clean = state(world)
    lessons = {solution.id for solution in read_store(world.root).solutions}
    for place in points(changes, most):
        renew()
        assert run_killed(report, place) == 0
        run_killed(lambda: session_end(replace(world)), 0)
        # An entry that never came to be is made up for by the sweep, which is what the record then says.
        assert _whoever_told(state(world)) == _whoever_told(clean), f"killed at change {place} of {changes}"
        assert not leftovers(world.home)
        run_killed(report, 0)
        run_killed(lambda: session_end(world, from_spool=True), 0)
        assert {solution.id for solution in read_store(world.root).solutions} == lessons
        assert not list((world.root / "spool").glob("*.json"))
