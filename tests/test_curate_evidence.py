"""What moves times without meaning anything makes no lesson fresh and kills none."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from curate.decay import plan_decay
from curate.evidence import (
    Evidence,
    find_evidence,
    id_time,
    read_git_times,
    read_own_writes,
    read_seen,
    text_key,
    update_seen,
    write_seen,
)
from index.apply import apply, start_run
from index.changes import Change, Plan, Run
from index.frontmatter import render_solution
from index.records import Solution
from index.settings import DecaySettings
from index.store import path_for, read_store, solution_id

TODAY = date(2026, 11, 29)
NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


def lesson(name: str, made_days_ago: int = 200, **fields: object) -> Solution:
    made = NOON - timedelta(days=made_days_ago)
    plain = Solution(id=solution_id(made, name), title=name, category="bugs", body=f"{name} fails.\n", created=made)
    solution = replace(plain, **fields)  # type: ignore[arg-type]
    solution = replace(solution, path=path_for(solution))
    return replace(solution, text=render_solution(solution))


def days_ago(days: float) -> int:
    """A time in nanoseconds."""
    return int((NOON - timedelta(days=days)).timestamp()) * 10**9


def evidence_of(solution: Solution, mtime_days: float = 10, **known: object) -> Evidence:
    mtimes = {solution.path: days_ago(mtime_days)}
    return find_evidence([solution], mtimes, TODAY, **known)[solution.path]  # type: ignore[arg-type]


def archived(store: Path, today: date = TODAY) -> set[str]:
    """The lessons of a store on disk that the decay of a day would archive, by file name."""
    read = read_store(store)
    found = find_evidence(read.solutions, read.mtimes, today, committed=read_git_times(store), seen=read_seen(store))
    plan = plan_decay(read.solutions, found, today, DecaySettings())
    return {Path(change.path).name for change in plan.changes if change.after is None}


def stale(store: Path, today: date = TODAY) -> set[str]:
    read = read_store(store)
    found = find_evidence(read.solutions, read.mtimes, today, committed=read_git_times(store), seen=read_seen(store))
    return {Path(note.path).name for note in plan_decay(read.solutions, found, today, DecaySettings()).notes}


def write(store: Path, solution: Solution, mtime_days: float) -> None:
    place = store / solution.path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(solution.text, encoding="utf-8", newline="\n")
    os.utime(place, ns=(days_ago(mtime_days), days_ago(mtime_days)))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Six lessons made 200 days ago: three touched long ago, three of late, all on different days."""
    root = tmp_path / "store"
    for number, days in enumerate((150, 130, 110, 25, 15, 5)):
        write(root, lesson(f"Lesson {number}"), days)
    return root


OLD = {path_for(lesson(f"Lesson {number}")).rsplit("/", 1)[1] for number in range(3)}


def test_dates_in_the_front_matter_come_first() -> None:
    """`verified` and a confirmed recall count before any time of the file; the newer of the two wins."""
    solution = lesson("One", verified=date(2026, 6, 1))
    assert evidence_of(solution) == Evidence(date(2026, 6, 1), "verified")
    recalled = {solution.id: date(2026, 8, 1)}
    assert evidence_of(solution, recalled=recalled) == Evidence(date(2026, 8, 1), "recalled")
    recalled = {solution.id: date(2026, 5, 1)}
    assert evidence_of(solution, recalled=recalled) == Evidence(date(2026, 6, 1), "verified")


def test_without_dates_commit_time_then_mtime() -> None:
    """A commit's time counts before the mtime, the mtime where git does not know the file as it is."""
    solution = lesson("One")
    commit = {solution.path: days_ago(60) // 10**9}
    assert evidence_of(solution, committed=commit) == Evidence(date(2026, 9, 30), "committed")
    assert evidence_of(solution) == Evidence(date(2026, 11, 19), "modified")


def test_times_in_the_future_are_unknown() -> None:
    """A clock a year ahead makes nothing fresh: the next kind of evidence counts, down to the time in the id."""
    solution = lesson("One", verified=date(2027, 11, 29))
    assert evidence_of(solution, 40).how == "modified"
    assert evidence_of(solution, -365) == Evidence(date(2026, 5, 13), "created")
    undated = lesson("One", created=datetime(2030, 1, 1, tzinfo=UTC))
    assert evidence_of(undated, -365) == Evidence(date(2026, 5, 13), "id")
    unknown = replace(undated, id=solution_id(datetime(2030, 1, 1, tzinfo=UTC), "x"))
    assert evidence_of(unknown, -365) == Evidence(None, "unknown")
    tomorrow = lesson("Two", verified=date(2026, 11, 30))
    assert evidence_of(tomorrow).how == "verified"


def test_a_clock_that_was_behind_kills_nothing_that_has_a_date() -> None:
    """Files written by a machine whose clock stood in 1970 still have the date that the lesson itself bears."""
    solution = lesson("One", made_days_ago=10, verified=date(2026, 11, 20))
    assert evidence_of(solution, 365 * 56).how == "verified"


def test_the_time_in_an_id() -> None:
    """A ULID's first ten characters are milliseconds; anything else is no time."""
    assert id_time(solution_id(NOON, "x")) == TODAY
    assert id_time("not a ulid") is None
    assert id_time("7ZZZZZZZZZ") is None


def test_plain_mtimes_decide(store: Path) -> None:
    """The base line: lessons last touched over 90 days ago are archived, the others are not."""
    assert archived(store) == OLD


@pytest.mark.parametrize("kept", [True, False])
def test_a_copy_makes_nothing_fresh_and_kills_nothing(store: Path, tmp_path: Path, kept: bool) -> None:
    """After `cp -r` or a restored backup with new mtimes: the same decision where the cache came along; without it no
    lesson is killed, and none passes for fresh."""
    if kept:
        read = read_store(store)
        write_seen(store, update_seen({}, read.solutions, read.mtimes))
    copy = tmp_path / "copy"
    shutil.copytree(store, copy, copy_function=shutil.copyfile)
    for place in copy.rglob("*.md"):
        os.utime(place, ns=(days_ago(0), days_ago(0)))
    assert archived(copy) == (OLD if kept else set())
    assert (archived(copy) | stale(copy)) >= OLD
    # Ninety days on, nothing has touched them since the copy.
    assert archived(copy, TODAY + timedelta(days=91)) >= OLD


def test_an_edit_after_a_copy_counts(store: Path) -> None:
    """A text that changed has a time of its own again."""
    read = read_store(store)
    write_seen(store, update_seen({}, read.solutions, read.mtimes))
    edited = replace(lesson("Lesson 0"), body="It fails on Mondays too.\n")
    write(store, replace(edited, text=render_solution(edited)), 1)
    assert archived(store) == OLD - {Path(edited.path).name}


def test_seen_keeps_the_earliest_time_and_forgets_what_is_gone(tmp_path: Path) -> None:
    """The state holds one time a text, is written only when it differs, and damage is the same as absence."""
    solution = lesson("One")
    key = text_key(solution.text)
    seen = update_seen({key: 5, "gone": 1}, [solution], {solution.path: 9})
    assert seen == {key: 5}
    write_seen(tmp_path, seen)
    assert read_seen(tmp_path) == seen
    (tmp_path / ".cache" / "evidence-seen.json").write_text("{broken")
    assert read_seen(tmp_path) == {}


def git(folder: Path, *arguments: str, days: float = 0) -> None:
    stamp = f"{days_ago(days) // 10**9} +0000"
    names = {
        "GIT_AUTHOR_DATE": stamp,
        "GIT_COMMITTER_DATE": stamp,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "HOME": str(folder),
    }
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main")
    subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True, env=os.environ | names
    )


@pytest.fixture
def repository(store: Path) -> Path:
    """The same six lessons, committed on the days on which they were touched."""
    git(store, "init")
    for number, days in enumerate((150, 130, 110, 25, 15, 5)):
        git(store, "add", lesson(f"Lesson {number}").path)
        git(store, "commit", "-m", f"lesson {number}", days=days)
    return store


def test_git_times_are_those_of_unchanged_tracked_files(repository: Path) -> None:
    """One commit time a file; an edited and an untracked file have none, nor has anything outside a repository."""
    changed, untracked = lesson("Lesson 5"), lesson("Loose", title="Löse ’ends’")
    write(repository, replace(changed, text=changed.text + "more\n"), 1)
    write(repository, untracked, 1)
    times = read_git_times(repository)
    assert times == {
        lesson(f"Lesson {number}").path: days_ago(days) // 10**9 for number, days in enumerate((150, 130, 110, 25, 15))
    }
    git(repository, "add", ".")
    git(repository, "commit", "-m", "all", days=1)
    assert read_git_times(repository)[untracked.path] == days_ago(1) // 10**9
    assert read_git_times(repository / "solutions")["bugs/" + Path(untracked.path).name] == days_ago(1) // 10**9
    assert read_git_times(repository / "nowhere") == {}


def test_no_git_times_without_a_repository_or_a_commit(tmp_path: Path) -> None:
    """A plain folder and a repository without commits say nothing."""
    (tmp_path / "a.md").write_text("x")
    assert read_git_times(tmp_path) == {}
    git(tmp_path, "init")
    git(tmp_path, "add", ".")
    assert read_git_times(tmp_path) == {}


def test_a_fresh_clone_decides_as_the_original(repository: Path, tmp_path: Path) -> None:
    """A clone sets every mtime to now, and changes nothing."""
    git(tmp_path, "clone", str(repository), "clone")
    assert archived(tmp_path / "clone") == archived(repository) == OLD


def test_a_shallow_clone_kills_nothing(repository: Path, tmp_path: Path) -> None:
    """With one commit of history all files seem to come from it: old ones are stale, none is archived."""
    git(tmp_path, "clone", "--depth", "1", f"file://{repository}", "shallow")
    assert archived(tmp_path / "shallow") == set()
    assert stale(tmp_path / "shallow") >= OLD


def test_checkout_of_an_old_branch_kills_nothing(repository: Path) -> None:
    """On a branch from long ago a lesson that was renewed since keeps the newer commit's time, and back again."""
    git(repository, "branch", "old")
    renewed = lesson("Lesson 0")
    write(repository, replace(renewed, text=renewed.text + "Still so.\n"), 2)
    git(repository, "commit", "-a", "-m", "renew", days=2)
    survivors = OLD - {Path(renewed.path).name}
    assert archived(repository) == survivors
    git(repository, "checkout", "old")
    assert archived(repository) == survivors
    git(repository, "checkout", "-")
    assert archived(repository) == survivors


def test_one_commit_of_everything_makes_nothing_fresh(store: Path) -> None:
    """The first commit of an old store dates every file to that day; lessons are as old as they were made."""
    git(store, "init")
    git(store, "add", ".")
    git(store, "commit", "-m", "all at once", days=1)
    assert archived(store) == set()
    assert stale(store) >= OLD
    assert archived(store, TODAY + timedelta(days=90)) >= OLD


def test_a_write_of_our_own_that_is_committed_refreshes_nothing(repository: Path) -> None:
    """A count that we wrote and a person committed leaves the lesson as old as it was; a person's own edit does not."""
    old, edited = lesson("Lesson 1"), lesson("Lesson 2")
    for number, one in enumerate((old, edited)):
        text = one.text.replace("harmful: 0", "harmful: 1")
        assert text != one.text
        change = Change(one.path, one.text.encode(), text.encode(), "counted", mtime_ns=days_ago(130))
        run = Run(f"r{number}", "run")
        start_run(repository, run, "2026-11-01T00:00:00Z")
        assert apply(Plan("effects", (change,)), repository, run).landed
    (repository / edited.path).write_text(edited.text.replace("harmful: 0", "harmful: 1") + "A person's word.\n")
    git(repository, "add", "solutions")
    git(repository, "commit", "-m", "counts", days=1)
    read = read_store(repository)
    found = find_evidence(
        read.solutions, read.mtimes, TODAY, committed=read_git_times(repository), own=read_own_writes(repository)
    )
    assert found[old.path].date == TODAY - timedelta(days=130)
    assert found[edited.path].date == TODAY - timedelta(days=1)
