"""A pass gives the same with its caches, without them, and with some of them lost."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

import detectors.duplicate_files
from benchmarks.corpus import make_lessons
from flows.context import Pass, World, open_pass, passes_folder
from flows.pipeline import rebuild_index, run_stage
from index.settings import Settings

NOW = datetime(2026, 9, 22, tzinfo=UTC)


def write(root: Path, seed: int, size: int, mark: str) -> None:
    for lesson in make_lessons(seed, size):
        place = root / "solutions" / f"{mark}-{Path(lesson.path).name}"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(lesson.text.replace("id: 01CRPS", f"id: 01CRP{mark}"))


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A store with near-duplicates, some of them equal."""
    root = tmp_path / "store"
    write(root, 1, 8, "A")
    write(root, 1, 3, "B")
    return World(root, Settings(), NOW, tmp_path, {"HOME": str(tmp_path), "HOTWASH_HOME": str(root)})


def passes(world: World) -> dict[str, bytes]:
    """Dedup, then consolidate; every lesson afterwards, and what was said of it."""
    said = ""
    for stage in ("dedup", "consolidate"):
        lines = run_stage(world, stage).stages
        said += repr(
            [(line.stage, line.skipped, line.notes, [change.path for change in line.changes]) for line in lines]
        )
    files = {
        path.relative_to(world.root).as_posix(): path.read_bytes()
        for name in ("solutions", "archive")
        for path in sorted((world.root / name).rglob("*.md"))
    }
    return files | {"said": said.encode()}


def moved(world: World, to: Path) -> World:
    shutil.copytree(world.root, to)
    return World(to, world.settings, world.now, world.home, {"HOME": str(world.home), "HOTWASH_HOME": str(to)})


def lose_all(folder: Path) -> None:
    shutil.rmtree(folder)


def lose_some(folder: Path) -> None:
    for place in sorted(folder.iterdir())[::2]:
        place.unlink()


def damage(folder: Path) -> None:
    for place in sorted(folder.iterdir()):
        place.write_bytes(b"damaged")


@pytest.mark.parametrize("harm", [lose_some, damage, lambda folder: None])
def test_every_cache_may_be_lost_at_any_time(world: World, tmp_path: Path, harm: Callable[[Path], None]) -> None:
    """Lessons come after a first pass; a second one with harmed caches does what one with none does."""
    first = passes(world)
    write(world.root, 1, 4, "C")
    bare, other = moved(world, tmp_path / "bare"), moved(world, tmp_path / "other")
    lose_all(folder_of(bare))
    harm(folder_of(other))
    after = passes(bare)
    assert passes(other) == after
    assert after.keys() - first.keys()
    assert any("archive/" in name for name in after)


def folder_of(world: World) -> Path:
    with open_pass(world, "dedup", dry_run=True) as run:
        return passes_folder(run.world.root, run.world.env)


def files_below(folder: Path) -> dict[Path, bytes]:
    """What a folder holds."""
    return {place: place.read_bytes() for place in folder.rglob("*") if place.is_file()}


def test_a_dry_run_finds_the_same_and_writes_nothing(world: World) -> None:
    rebuild_index(world)
    before = files_below(folder_of(world))
    planned = run_stage(world, "dedup", dry_run=True)
    assert files_below(folder_of(world)) == before
    landed = run_stage(world, "dedup")
    assert [line.changes for line in planned.stages] == [line.changes for line in landed.stages]


def test_only_what_changed_is_signed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second pass reads no body of a lesson that it knows."""
    run_stage(world, "dedup")
    signed: list[int] = []
    whole = detectors.duplicate_files.duplicates_in

    def watch(*given: object) -> object:
        found = whole(*given)  # type: ignore[arg-type]
        signed.append(found.signed)
        return found

    monkeypatch.setattr("flows.alike.duplicates_in", watch)
    run_stage(world, "dedup")
    write(world.root, 2, 2, "D")
    run_stage(world, "dedup")
    assert signed == [0, 2]


def test_the_caches_of_a_shared_store_lie_in_the_personal_one(tmp_path: Path) -> None:
    """A repository cannot bring its own."""
    root, home = tmp_path / "repo" / ".hotwash", tmp_path / "home"
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    shared = World(root, Settings(), NOW, home, {"HOME": str(home), "HOTWASH_HOME": str(home)})
    root.mkdir()
    with open_pass(shared, "dedup", dry_run=True) as run:
        assert isinstance(run, Pass)
        assert passes_folder(run.world.root, run.world.env).is_relative_to(home)
