"""However often the pipeline runs, it takes no more than its share without a person."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from curate.loss_budget import loss_budget, read_losses
from index.apply import apply, end_run, start_run
from index.changes import Change, Plan, Run, move
from index.settings import DecaySettings
from index.undo import plan_undo

TODAY = date(2026, 11, 29)
SETTINGS = DecaySettings()


def archiving(count: int, stage: str = "decay") -> Plan:
    moves = [move(f"solutions/bugs/{i:03}.md", f"archive/solutions/bugs/{i:03}.md", b"x", "old") for i in range(count)]
    return Plan(stage, tuple(change for pair in moves for change in pair))


def lost(plan: Plan) -> int:
    return sum(change.after is None for change in plan.changes)


def test_within_the_budget_the_plan_stays_as_it_is() -> None:
    """Five of a hundred may go in one pass."""
    plan = archiving(5)
    assert loss_budget(plan, [], 100, TODAY, SETTINGS) is plan


def test_what_is_over_waits_and_is_named() -> None:
    """The first five go whole, both halves of each move; the rest is held, with a note that says the numbers."""
    held = loss_budget(archiving(9), [], 100, TODAY, SETTINGS)
    assert held.changes == archiving(5).changes
    assert [path for path, _ in held.skipped] == [f"solutions/bugs/{i:03}.md" for i in range(5, 9)]
    assert [note.kind for note in held.notes] == ["budget"]
    assert "9 of 100 lessons would leave; 5 may" in held.notes[0].text


def test_more_than_a_quarter_at_once_takes_nothing() -> None:
    """A wrong clock makes everything old: then nothing at all leaves."""
    held = loss_budget(archiving(26), [], 100, TODAY, SETTINGS)
    assert (held.changes, len(held.skipped)) == ((), 26)
    assert lost(loss_budget(archiving(25), [], 100, TODAY, SETTINGS)) == 5


def test_earlier_passes_count_for_a_quarter() -> None:
    """What left within 91 days is spent; what left before is not."""
    spent = [(TODAY - timedelta(days=7 * week), 5) for week in range(1, 6)]
    assert lost(loss_budget(archiving(5), spent, 75, TODAY, SETTINGS)) == 0
    assert lost(loss_budget(archiving(3), spent, 75, TODAY + timedelta(days=60), SETTINGS)) == 3


def test_a_few_may_always_go() -> None:
    """In a small store a share is less than one lesson: three may go, and not three each week."""
    assert lost(loss_budget(archiving(3), [], 6, TODAY, SETTINGS)) == 3
    assert lost(loss_budget(archiving(1), [(TODAY - timedelta(days=7), 3)], 3, TODAY, SETTINGS)) == 0


def test_a_person_may_approve_all() -> None:
    """With approval the plan is as it was."""
    plan = archiving(80)
    assert loss_budget(plan, [], 100, TODAY, SETTINGS, approved=True) is plan


def test_a_merge_counts_what_it_takes_less_what_it_gives() -> None:
    """Two sources that become one lesson are one loss; an edit is none."""
    unit = "merge"
    merge = (
        Change("solutions/bugs/new.md", None, b"n", "", unit),
        *(Change(f"solutions/bugs/{i}.md", b"o", None, "", unit) for i in range(2)),
        *(Change(f"archive/solutions/bugs/{i}.md", None, b"o", "", unit) for i in range(2)),
    )
    edit = Change("solutions/bugs/e.md", b"a", b"b", "")
    tight = DecaySettings(budget_per_pass=0.0, budget_per_quarter=1.0, budget_least=1)
    assert loss_budget(Plan("dedup", (*merge, edit)), [], 100, TODAY, tight).changes == (*merge, edit)
    held = loss_budget(Plan("dedup", (*merge, *archiving(1).changes, edit)), [], 100, TODAY, tight)
    assert held.changes == (*merge, edit)


@given(st.integers(1, 400), st.lists(st.integers(0, 60), min_size=1, max_size=40))
def test_no_row_of_passes_takes_more_than_its_share(live: int, due: list[int]) -> None:
    """Over any weeks of any plans, no pass takes more than 5 % (or three), no quarter more than 25 % (or three)."""
    losses: list[tuple[date, int]] = []
    for week, wanted in enumerate(due):
        day = TODAY + timedelta(days=7 * week)
        gone = lost(loss_budget(archiving(min(wanted, live)), losses, live, day, SETTINGS))
        assert gone <= max(0.05 * live, 3)
        losses.append((day, gone))
        live -= gone
        quarter = sum(count for then, count in losses if day - timedelta(days=91) < then)
        assert quarter <= max(0.25 * (live + quarter), 3)


def test_losses_are_read_from_the_journals(tmp_path: Path) -> None:
    """Runs of the last quarter count, by their own decisions only."""
    for number in range(4):
        place = tmp_path / f"solutions/bugs/{number:03}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"x")
    runs = (("a", "2026-11-20T10:00:00Z", archiving(2)), ("b", "2026-06-01T10:00:00Z", archiving(4)))
    for name, at, plan in runs:
        start_run(tmp_path, Run(name, "curate"), at)
        apply(plan, tmp_path, Run(name, "curate"))
    assert read_losses(tmp_path, TODAY) == ((date(2026, 11, 20), 2),)
    person = Plan("supersede", (Change("solutions/bugs/003.md", None, b"x", ""),))
    start_run(tmp_path, Run("c", "supersede"), "2026-11-21T10:00:00Z")
    apply(person, tmp_path, Run("c", "supersede"))
    apply(Plan("supersede", (Change("solutions/bugs/003.md", b"x", None, ""),)), tmp_path, Run("c", "supersede"))
    assert read_losses(tmp_path, TODAY) == ((date(2026, 11, 20), 2),)
    assert read_losses(tmp_path / "none", TODAY) == ()


def test_what_was_undone_is_no_loss(tmp_path: Path) -> None:
    """A run that was taken back has used up nothing; taking that back counts it again."""
    place = tmp_path / "solutions" / "bugs" / "a.md"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"x")
    changes = move("solutions/bugs/a.md", "archive/solutions/bugs/a.md", b"x", "old")
    for name, plan, undoes in (
        ("1", Plan("decay", changes), ""),
        ("2", None, "1"),
        ("3", None, "2"),
    ):
        run = Run(name, "test", undoes)
        start_run(tmp_path, run, "2026-11-20T00:00:00+00:00")
        assert not apply(plan or plan_undo(tmp_path, undoes), tmp_path, run).refused
        end_run(tmp_path, run, "2026-11-20T00:00:00+00:00", {})
        losses = sum(count for _, count in read_losses(tmp_path, TODAY))
        assert losses == (0 if name == "2" else 1)
