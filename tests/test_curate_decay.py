"""Decay is fair, reversible, and says why."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from curate.decay import matching_archived, plan_decay, plan_return, slowness
from curate.evidence import Evidence, find_evidence
from curate.named_things import Checked, Named
from curate.snapshot import tree_digest
from index.apply import apply, start_run
from index.changes import Note, Plan, Run
from index.frontmatter import parse_solution, render_solution
from index.records import Solution, Triggers
from index.settings import DecaySettings
from index.store import path_for, read_store, solution_id
from index.undo import plan_undo

TODAY = date(2026, 11, 29)
NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
SETTINGS = DecaySettings()


def lesson(name: str, **fields: object) -> Solution:
    made = NOON - timedelta(days=400)
    plain = Solution(id=solution_id(made, name), title=name, category="bugs", body=f"{name} fails.\n", created=made)
    solution = replace(plain, **fields)  # type: ignore[arg-type]
    solution = replace(solution, path=path_for(solution))
    return replace(solution, text=render_solution(solution))


def plan_at(solution: Solution, age: int, **more: object) -> Plan:
    found = {solution.path: Evidence(TODAY - timedelta(days=age), "verified")}
    return plan_decay([solution], found, TODAY, SETTINGS, **more)  # type: ignore[arg-type]


def state_at(solution: Solution, age: int) -> str:
    plan = plan_at(solution, age)
    return "archived" if plan.changes else plan.notes[0].kind if plan.notes else "kept"


@pytest.mark.parametrize(
    ("fields", "stale_at", "archived_at"),
    [
        ({}, 30, 90),
        ({"trust": "reviewed"}, 60, 180),
        ({"importance": "high"}, 60, 180),
        ({"trust": "reviewed", "importance": "high"}, 120, 360),
        ({"helpful": 5}, 60, 180),
        ({"helpful": 5, "harmful": 9}, 30, 90),
        ({"helpful": 500}, 90, 270),
        ({"priority": -1}, 15, 45),
    ],
)
def test_periods(fields: dict[str, object], stale_at: int, archived_at: int) -> None:
    """Stale and archived on the very day that the formula says, and not a day before."""
    solution = lesson("One", **fields)
    assert state_at(solution, stale_at - 1) == "kept"
    assert state_at(solution, stale_at) == "stale"
    assert state_at(solution, archived_at - 1) == "stale"
    assert state_at(solution, archived_at) == "archived"
    assert slowness(solution) == archived_at / 90


@pytest.mark.parametrize("fields", [{"type": "principle", "confidence": 1.0}, {"priority": 1}])
def test_some_never_decay(fields: dict[str, object]) -> None:
    """A principle and what a person floats stay for ever; an expiry date on one is shown, not obeyed."""
    assert state_at(lesson("One", **fields), 5000) == "kept"
    plan = plan_at(lesson("One", expires=TODAY - timedelta(days=1), **fields), 1)
    assert [(note.kind, plan.changes) for note in plan.notes] == [("expired", ())]


def test_an_expired_lesson_leaves_however_fresh() -> None:
    """The day after `expires` it goes; on the day itself it is still good."""
    assert state_at(lesson("One", expires=TODAY), 0) == "kept"
    plan = plan_at(lesson("One", expires=TODAY - timedelta(days=1), trust="reviewed"), 0)
    assert [change.why for change in plan.changes] == ["expired on 2026-11-28"] * 2


def test_unknown_age_is_left_alone() -> None:
    """A lesson of which nothing is known is neither stale nor archived."""
    solution = lesson("One")
    plan = plan_decay([solution], {solution.path: Evidence(None, "unknown")}, TODAY, SETTINGS)
    assert plan == Plan("decay", skipped=((solution.path, "its age is unknown"),))
    assert plan_decay([solution], {}, TODAY, SETTINGS) == plan


def test_a_moment_that_all_files_share_only_delays() -> None:
    """With `latest` a lesson is stale by its date, and archived only when the later day is old too."""
    solution = lesson("One")
    found = {solution.path: Evidence(TODAY - timedelta(days=300), "created", TODAY - timedelta(days=89))}
    assert [note.kind for note in plan_decay([solution], found, TODAY, SETTINGS).notes] == ["stale"]
    assert plan_decay([solution], found, TODAY + timedelta(days=1), SETTINGS).changes


def test_the_archive_is_a_move_with_its_reason() -> None:
    """The copy differs by one front-matter key, keeps the mtime and parses; the old place goes."""
    solution = lesson("One", extra={"custom": "kept"})
    came, went = plan_at(solution, 100, mtimes={solution.path: 77}).changes
    assert (came.path, came.before, came.mtime_ns) == (f"archive/{solution.path}", None, 77)
    assert (went.path, went.before, went.after) == (solution.path, solution.text.encode(), None)
    assert came.after is not None
    text = came.after.decode()
    extra = 'archived: {date: 2026-11-29, why: "no evidence for 100 days (last: verified 2026-08-21)"}\n'
    assert text.replace(extra, "") == solution.text
    read = parse_solution(came.path, text)
    assert isinstance(read, Solution)
    assert read.extra["archived"]["why"] == "no evidence for 100 days (last: verified 2026-08-21)"


def test_an_earlier_archived_file_is_not_in_the_way() -> None:
    """Where the archive has a file of that path, the new one gets the day in its name."""
    solution = lesson("One")
    plan = plan_at(solution, 100, taken=[f"archive/{solution.path}"])
    assert plan.changes[0].path == f"archive/{solution.path.removesuffix('.md')}-2026-11-29.md"


def test_oldest_first() -> None:
    """What has been silent longest comes first, so that a budget takes it first."""
    young, old = lesson("A"), lesson("B")
    found = {young.path: Evidence(date(2026, 6, 1), "x"), old.path: Evidence(date(2026, 1, 1), "x")}
    paths = [change.path for change in plan_decay([young, old], found, TODAY, SETTINGS).changes if not change.after]
    assert paths == [old.path, young.path]


def test_things_still_there_renew_and_vanished_ones_are_noted() -> None:
    """What a lesson names speaks for it while all of it is there; missing things make it unverifiable, not false."""
    solution, thing = lesson("One"), Named("path", "src/app.py")
    assert not plan_at(solution, 100, checks={solution.id: Checked((thing,), on=TODAY)}).changes
    assert not plan_at(solution, 100, checks={solution.id: Checked(on=TODAY - timedelta(days=89))}).changes
    assert plan_at(solution, 100, checks={solution.id: Checked(on=TODAY - timedelta(days=90))}).changes
    gone = plan_at(solution, 10, checks={solution.id: Checked((), (thing,))})
    assert [(note.kind, note.path) for note in gone.notes] == [("unverifiable", solution.path)]
    assert not gone.changes
    assert plan_at(solution, 100, checks={solution.id: Checked((), (thing,))}).changes


def test_an_exact_error_calls_an_archived_lesson_back() -> None:
    """The trigger word for word, or the same error in other words of the day; a mere likeness does not."""
    one = lesson("One", triggers=Triggers(errors=("could not connect to server",)))
    two = lesson("Two", triggers=Triggers(errors=("ModuleNotFoundError: No module named 'yaml'",)))
    archive = [replace(solution, path=f"archive/{solution.path}") for solution in (one, two)]
    error = "psql: error:  Could not\nconnect to server: Connection refused"
    assert [(solution.id, trigger) for solution, trigger in matching_archived([error], archive)] == [
        (one.id, "could not connect to server")
    ]
    assert matching_archived(["could not connect to servers", "cannot connect", ""], archive) == ()
    found = matching_archived(["E   ModuleNotFoundError: No module named 'yaml'"], archive)
    assert [solution.id for solution, _ in found] == [two.id]


def test_what_was_replaced_or_buried_does_not_come_back() -> None:
    """A superseded lesson and one that a person buried stay in the archive."""
    trigger = Triggers(errors=("could not connect to server",))
    archive = [lesson("One", triggers=trigger, superseded_by="X"), lesson("Two", triggers=trigger, priority=-1)]
    assert matching_archived(["could not connect to server"], archive) == ()


def write(store: Path, solutions: list[Solution]) -> None:
    for solution in solutions:
        place = store / solution.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(solution.text.encode())


def decay(store: Path) -> Plan:
    read = read_store(store)
    return plan_decay(read.solutions, find_evidence(read.solutions, read.mtimes, TODAY), TODAY, SETTINGS, read.mtimes)


def test_the_properties_of_a_stage(tmp_path: Path) -> None:
    """Equal input, equal plan; planning writes nothing; after applying there is nothing left to plan; undo restores."""
    write(tmp_path, [lesson(f"Lesson {age}", verified=TODAY - timedelta(days=age)) for age in (1, 40, 100, 200)])
    before = tree_digest(tmp_path)
    plan = decay(tmp_path)
    assert plan == decay(tmp_path)
    assert tree_digest(tmp_path) == before
    mtimes = {path.name: path.stat().st_mtime_ns for path in tmp_path.rglob("*.md")}
    start_run(tmp_path, Run("r1", "decay"), "2026-11-29T12:00:00Z")
    assert len(apply(plan, tmp_path, Run("r1", "decay")).landed) == 4
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.rglob("*.md")} == mtimes
    assert decay(tmp_path).changes == ()
    back = Run("r2", "undo", "r1")
    start_run(tmp_path, back, "2026-11-29T13:00:00Z")
    apply(plan_undo(tmp_path, "r1"), tmp_path, back)
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.rglob("*.md")} == mtimes
    assert len(decay(tmp_path).changes) == 4


def test_back_from_the_archive_as_it_was(tmp_path: Path) -> None:
    """Called back, a lesson has its old place and text, but for the day on which it was verified."""
    solution = lesson("One", triggers=Triggers(errors=("could not connect to server",)))
    write(tmp_path, [solution])
    run = Run("r1", "decay")
    start_run(tmp_path, run, "2026-11-29T12:00:00Z")
    apply(plan_at(solution, 100), tmp_path, run)
    archive = read_store(tmp_path, "archive").solutions
    matches = matching_archived(["could not connect to server"], archive)
    assert plan_return(matches, NOON, [solution.path]).skipped[0][0] == f"archive/{solution.path}"
    assert not plan_return(matches, NOON, [], [solution.id]).changes
    apply(plan_return(matches, NOON, []), tmp_path, run)
    assert (tmp_path / solution.path).read_text() == replace_verified(solution)
    assert read_store(tmp_path, "archive").solutions == ()


def replace_verified(solution: Solution) -> str:
    return render_solution(replace(solution, verified=TODAY))


def test_what_the_budget_leaves_is_what_would_leave_without_it() -> None:
    """It is asked before any text is made, and those that it lets go are archived as ever."""
    lessons = [lesson(name) for name in ("One", "Two", "Three", "Four")]
    ages = {one.path: 400 - 130 * number for number, one in enumerate(lessons)}
    evidence = {path: Evidence(TODAY - timedelta(days=age), "verified") for path, age in ages.items()}
    whole = plan_decay(lessons, evidence, TODAY, SETTINGS)
    assert len(whole.changes) == 6
    asked: list[Plan] = []

    def budget(plan: Plan) -> Plan:
        asked.append(plan)
        return replace(plan, changes=plan.changes[2:4], notes=(*plan.notes, Note("budget", "", "enough")))

    cut = plan_decay(lessons, evidence, TODAY, SETTINGS, budget=budget)
    assert cut == replace(whole, changes=whole.changes[2:4], notes=(*whole.notes, Note("budget", "", "enough")))
    assert [(one.path, one.unit, one.why) for one in asked[0].changes] == [
        (one.path, one.unit, one.why) for one in whole.changes
    ]
