"""What lessons name is looked up in the projects that sessions have worked in, and nowhere else."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from curate.named_things import Checked, Named, ProjectFolders
from curate.snapshot import tree_digest
from curate.verdicts import Verdicts
from flows import project_checks
from flows.context import World
from flows.pipeline import run_stage
from flows.project_checks import check_projects
from flows.why import render_why, why_json
from index.frontmatter import render_solution
from index.records import Episode, Session, Solution, Source, Turn
from index.settings import Settings
from index.store import path_for, solution_id
from reflect.custody import episode_path, render_episode
from reflect.transcripts.project import _project_on_disk

NOW = datetime(2026, 11, 30, 3, 30, tzinfo=UTC)
REMOTE = '[remote "origin"]\n\turl = git@example.org:acme/shop.git\n'
PROJECT = "example.org/acme/shop"


@pytest.fixture
def world(tmp_path: Path) -> World:
    """An empty store, and a project with a remote and one file."""
    shop = tmp_path / "shop"
    (shop / ".git").mkdir(parents=True)
    (shop / ".git" / "config").write_text(REMOTE)
    (shop / "src").mkdir()
    (shop / "src" / "app.py").write_text("x")
    return World(tmp_path / "store", Settings(), NOW, tmp_path / "home", {})


def lesson(world: World, name: str, body: str, days: int = 400, **fields: object) -> Solution:
    """A lesson of the shop in the store, and the episode of its session, which worked in the shop's folder."""
    made = NOW - timedelta(days=days)
    session = Session("claude-code", name, "", project=PROJECT, started=made)
    turn = Turn(1, 1, "tool", "failed", cwd=str(world.root.parent / "shop"))
    plain = Solution(
        id=solution_id(made, name),
        title=name,
        category="bugs",
        body=body,
        project=PROJECT,
        created=made,
        sources=(Source(session.key),),
    )
    whole = replace(plain, **fields)  # type: ignore[arg-type]
    whole = replace(whole, path=path_for(whole))
    kept = replace(session, turns=(turn,))
    where = world.root / episode_path(kept)
    where.parent.mkdir(parents=True, exist_ok=True)
    where.write_bytes(render_episode(kept, [Episode("d", kept.key, (1, 1), (0,), "r")]))
    place = world.root / whole.path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(render_solution(whole))
    # Each at a time of its own: files that were touched together say nothing of their age.
    os.utime(place, (made.timestamp(), made.timestamp()))
    return whole


def told(world: World, solution: Solution) -> str:
    """What `hotwash why` says of a lesson."""
    return render_why(why_json(world.root, solution, Verdicts("", {})))


def live(world: World) -> set[str]:
    return {path.name for path in (world.root / "solutions").rglob("*.md")}


def test_what_is_there_renews_what_has_gone_is_marked_and_neither_file_changes(world: World) -> None:
    """An old lesson whose file is there stays; one whose file is gone is called unverifiable and goes by its
    age alone; a second pass plans nothing."""
    here = lesson(world, "Here", "Mind `src/app.py`.\n")
    gone = lesson(world, "Gone", "Mind `src/gone.py`.\n", days=40)
    old = lesson(world, "Old", "Mind `src/lost.py`.\n", days=410)
    before = (world.root / here.path).read_bytes(), (world.root / here.path).stat().st_mtime_ns
    report = run_stage(world, "decay")
    notes = {(note.kind, note.path) for line in report.stages for note in line.notes}
    assert ("unverifiable", gone.path) in notes
    assert "unverifiable: no longer found in the project: path src/gone.py" in told(world, gone)
    assert "unverifiable" not in told(world, here)
    assert ("stale", here.path) not in notes
    assert live(world) == {Path(here.path).name, Path(gone.path).name}
    assert (world.root / "archive" / old.path).exists()
    assert ((world.root / here.path).read_bytes(), (world.root / here.path).stat().st_mtime_ns) == before
    assert [line.changes for line in run_stage(world, "decay").stages] == [()]


def test_a_dry_run_looks_and_writes_nothing(world: World) -> None:
    """The same notes, and not a byte."""
    lesson(world, "Gone", "Mind `src/gone.py`.\n", days=40)
    before = tree_digest(world.root)
    report = run_stage(world, "decay", dry_run=True)
    assert tree_digest(world.root) == before
    assert "unverifiable" in {note.kind for line in report.stages for note in line.notes}


def test_what_held_is_remembered_when_the_project_has_left_the_machine(world: World) -> None:
    """Its last day counts like any other evidence, and no longer."""
    lesson(world, "Here", "Mind `src/app.py`.\n")
    run_stage(world, "decay")
    (world.root.parent / "shop").rename(world.root.parent / "elsewhere")
    run_stage(replace(world, now=NOW + timedelta(days=89)), "decay")
    assert len(live(world)) == 1
    run_stage(replace(world, now=NOW + timedelta(days=90)), "decay")
    assert live(world) == set()


@pytest.mark.parametrize("why", ["another remote", "no session", "the home folder"])
def test_only_folders_that_sessions_of_the_project_worked_in_are_looked_into(world: World, why: str) -> None:
    """A folder of another project by now, one that only the lesson claims, and the home folder say nothing."""
    one = lesson(world, "Gone", "Mind `src/gone.py`.\n")
    shop, home = world.root.parent / "shop", world.home
    if why == "another remote":
        (shop / ".git" / "config").write_text(REMOTE.replace("shop", "other"))
        _project_on_disk.cache_clear()
    elif why == "no session":
        one = replace(one, sources=(Source("claude-code:never"),), project=str(shop))
    else:
        home = shop
    assert check_projects(world.root, home, [one], NOW.date()) == ({}, ())


def test_a_shared_store_knows_its_own_repository(tmp_path: Path) -> None:
    """No session is needed: the store lies in the project."""
    root = tmp_path / "shop" / ".hotwash"
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "shop" / ".git" / "config").write_text(REMOTE)
    one = Solution("0" * 26, "t", "bugs", "Mind `src/gone.py`.", project=PROJECT)
    checks, _ = check_projects(root, tmp_path / "home", [one], NOW.date())
    assert checks == {one.id: Checked((), (Named("path", "src/gone.py"),))}


def test_a_folder_that_never_answers_holds_nothing_up(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pass goes on without it and says which project it was; an earlier day stays."""

    def hang(solution: Solution, project: ProjectFolders) -> Checked:
        time.sleep(60)
        return Checked()

    one = lesson(world, "Here", "Mind `src/app.py`.\n")
    run_stage(world, "decay")
    monkeypatch.setattr(project_checks, "check_named_things", hang)
    checks, slow = check_projects(world.root, world.home, [one], NOW.date(), seconds=0.05)
    assert slow == (PROJECT,)
    assert checks == {one.id: Checked(on=NOW.date())}
