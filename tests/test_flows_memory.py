"""When MEMORY.md is written: at a session's end once enough of importance came, else by the daily run."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from flows.context import World
from flows.pipeline import daily, session_end, undo
from index.frontmatter import render_solution
from index.records import Importance, Solution
from index.settings import Settings
from index.store import path_for, solution_id

# Of unlike things: lessons that differ in a word alone are held against each other.
SUBJECTS = "Postgres,Redis,Kafka,Nginx,Terraform,Webpack,Gradle,Ansible,Docker,Vite,Celery,Kubernetes".split(",")
WISHES = ("wants its port opened before migrating", "drops old snapshots overnight", "reads certificates at start only")
TITLES = [f"{subject} {wish}" for wish in WISHES for subject in SUBJECTS]
NOW = datetime(2026, 11, 30, 3, 30, tzinfo=UTC)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """An empty store and home."""
    return World(tmp_path / "store", Settings(), NOW, tmp_path / "home", {})


def learn(world: World, start: int, count: int, importance: Importance = "high") -> None:
    """Put lessons into the store, as runs do."""
    for number in range(start, start + count):
        when = NOW - timedelta(days=number)
        title = TITLES[number % len(TITLES)]
        lesson = Solution(
            solution_id(when, str(number)), title, "bugs", f"{title}.\n", created=when, importance=importance
        )
        place = world.root / path_for(lesson)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(render_solution(lesson))


def held(world: World) -> int:
    """How many lessons MEMORY.md holds."""
    return (world.root / "MEMORY.md").read_text().count("\n- ")


def test_five_important_lessons_are_written_back_at_once(world: World) -> None:
    """The first block comes with the first lesson; then four wait, the fifth does not."""
    learn(world, 1, 1, "low")
    session_end(world, [])
    assert held(world) == 1
    learn(world, 2, 4)
    learn(world, 10, 6, "medium")
    report = session_end(world, [])
    assert held(world) == 1
    skipped = [reason for stage in report.stages for _, reason in stage.skipped if stage.stage == "memory"]
    assert skipped == ["4 of 5 lessons of high importance since the last write-back; the daily run does it"]
    learn(world, 20, 1)
    session_end(world, [])
    assert held(world) == 12
    learn(world, 30, 4)
    session_end(world, [])
    assert held(world) == 12


def test_the_daily_run_writes_what_waits_and_twice_changes_nothing(world: World) -> None:
    """And counting starts anew from there; a cache that was deleted costs nothing."""
    learn(world, 1, 1)
    session_end(world, [])
    learn(world, 2, 4)
    session_end(world, [])
    daily(world)
    assert held(world) == 5
    before = (world.root / "MEMORY.md").stat().st_mtime_ns
    (world.root / ".cache" / "memory.seen").unlink()
    for chain in (daily, lambda world: session_end(world, [])):
        chain(world)
    learn(world, 10, 4)
    session_end(world, [])
    assert (world.root / "MEMORY.md").stat().st_mtime_ns == before


def test_what_may_not_be_served_leaves_at_once(world: World) -> None:
    """A lesson that is archived by hand, or turns out poisoned, does not wait for the daily run."""
    learn(world, 1, 3)
    session_end(world, [])
    next(iter((world.root / "solutions" / "bugs").iterdir())).unlink()
    session_end(world, [])
    assert held(world) == 2


def test_the_block_is_held_in_further_files_and_undone_there(world: World) -> None:
    """An agent's own memory takes the block, keeps what is its own, and is as before after an undo."""
    mine = world.home / ".claude" / "projects" / "shop" / "memory" / "MEMORY.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("# Mine\n")
    targets = ("~/.claude/projects/shop/memory/MEMORY.md", str(world.home / "AGENTS.md"), "~/.claude")
    told = replace(world, settings=replace(world.settings, memory=replace(world.settings.memory, targets=targets)))
    learn(world, 1, 3)
    report = daily(told)
    assert mine.read_text().startswith("# Mine\n\n<!-- hotwash:begin")
    assert (world.home / "AGENTS.md").read_text().count("\n- ") == 3
    (stage,) = (stage for stage in report.stages if stage.stage == "memory")
    assert [note.path for note in stage.notes] == [str(world.home / ".claude")]
    assert not [stage for stage in daily(told).stages if stage.changes]
    undo(told, report.run)
    assert mine.read_text() == "# Mine\n"
    assert not (world.home / "AGENTS.md").exists()
