"""curate/dedup.py: copies become one, values are never merged, nothing is lost."""

from __future__ import annotations

import dataclasses
from datetime import UTC, date, datetime
from itertools import combinations
from pathlib import Path

from curate.dedup import content_hash, decide_merges, parse_decisions, plan_dedup, render_decision
from curate.guard import covers, statements
from detectors.duplicates import Pair
from index.apply import apply
from index.changes import Plan, Run
from index.frontmatter import parse_solution, render_solution
from index.records import Solution, Source, Triggers
from index.settings import DedupSettings
from index.store import read_store
from index.undo import plan_undo

ALPHA = "01KB7ZC4S0T2J5Q8XW3N6M9RV"
BODY = "The suite needs Postgres, which `make up` starts.\n\n**Instead:** run `make up` before the tests.\n"


def lesson(number: int, body: str = BODY, **fields: object) -> Solution:
    """A solution as it would be read from its file."""
    bare = Solution(
        id=f"{ALPHA}{number}",
        title="Tests need services",
        category="bugs",
        body=body,
        sources=(Source(f"claude-code:s{number}"),),
        created=datetime(2026, 11, number + 1, tzinfo=UTC),
        path=f"solutions/bugs/lesson-{number}.md",
    )
    whole = dataclasses.replace(bare, **fields)  # type: ignore[arg-type]
    return dataclasses.replace(whole, text=render_solution(whole))


def every_pair(solutions: list[Solution]) -> list[Pair]:
    """All pairs as near-duplicates."""
    return [Pair(a, b, 0.9, 95.0) for a, b in combinations(range(len(solutions)), 2)]


def plan(solutions: list[Solution], **more: object) -> Plan:
    """The plan for solutions that are all near-duplicates of each other."""
    return plan_dedup(solutions, every_pair(solutions), DedupSettings(), **more)  # type: ignore[arg-type]


def after(done: Plan, path: str) -> Solution:
    """The solution that a plan leaves at a path."""
    (change,) = [change for change in done.changes if change.path == path]
    assert change.after is not None
    read = parse_solution(path, change.after.decode())
    assert isinstance(read, Solution)
    return read


def test_a_copy_is_archived_and_names_its_keeper() -> None:
    """The older copy moves to the archive with the keeper's id; the newer keeps its bytes but for the sources."""
    old, new = lesson(1), lesson(2)
    done = plan([old, new])
    assert {change.path for change in done.changes} == {new.path, old.path, f"archive/{old.path}"}
    assert after(done, f"archive/{old.path}").superseded_by == new.id
    kept = after(done, new.path)
    assert kept.sessions == {"claude-code:s1", "claude-code:s2"}
    assert kept.body == new.body
    assert kept.supersedes == (old.id,)


def test_the_keeper_takes_triggers_tags_evidence_and_lost_statements() -> None:
    """The union of all that the cluster knows stands in the keeper, the statements word for word."""
    extra = '**Why it matters:** bare `pytest` stops with "could not connect to server".\n'
    old = lesson(1, BODY + "\n" + extra, tags=("make",), triggers=Triggers(errors=("could not connect",)), helpful=2)
    new = lesson(2, tags=("pytest",), verified=date(2026, 11, 5), helpful=1)
    kept = after(plan([old, new]), new.path)
    assert kept.tags == ("pytest", "make")
    assert kept.triggers.errors == ("could not connect",)
    assert kept.helpful == 3
    assert extra.strip() in kept.body
    assert kept.body.startswith(new.body.rstrip())


def test_trust_and_confidence_decide_before_age() -> None:
    """The more confident lesson is kept although it is older."""
    old, new = lesson(1, confidence=0.9), lesson(2, confidence=0.8)
    assert after(plan([old, new]), old.path).id == old.id


def test_a_differing_value_is_a_note_and_no_merge() -> None:
    """Alike but for a port: nothing changes, and the note has the words."""
    a, b = lesson(1, BODY + "\nUse port 5432.\n"), lesson(2, BODY + "\nUse port 5433.\n")
    done = plan([a, b])
    assert done.changes == ()
    (note,) = done.notes
    assert note.kind == "conflict"
    assert note.path == a.path
    assert note.text == f'like {b.path} but for number: "5433" against "5432"'


def test_two_additions_that_contradict_are_not_both_taken() -> None:
    """Each is like the keeper, which is silent on the port, but not like the other: one of them stays out."""
    keep = lesson(3, confidence=0.95)
    a, b = lesson(1, BODY + "\nUse port 5432.\n"), lesson(2, BODY + "\nUse port 5433.\n")
    done = plan([a, b, keep])
    archived = [change.path for change in done.changes if change.path.startswith("archive/")]
    assert len(archived) == 1
    assert len(done.notes) == 1


def test_reviewed_principles_and_external_lessons_stay_apart() -> None:
    """What a person approved, principles, and text from outside are not merged with what agents observed."""
    principle = lesson(2, type="principle", confidence=1.0)
    for other in (lesson(1, trust="reviewed"), principle, lesson(1, trust="external")):
        done = plan([lesson(5), other])
        assert done.changes == ()
        assert len(done.skipped) == 1


def test_external_copies_merge_among_themselves_and_stay_external() -> None:
    """The taint is kept."""
    done = plan([lesson(1, trust="external"), lesson(2, trust="external")])
    assert after(done, lesson(2).path).trust == "external"


def test_keep_both_is_remembered_until_one_changes() -> None:
    """A decision holds for two contents, and ends with one of them."""
    a, b = lesson(1), lesson(2)
    decided = parse_decisions("not json\n" + render_decision(a, b, "me", "2026-11-30"))
    assert plan([a, b], kept_apart=decided).changes == ()
    changed = lesson(2, BODY + "\nRedis is needed too.\n")
    assert content_hash(changed) != content_hash(b)
    assert plan([a, changed], kept_apart=decided).changes != ()


def test_two_that_a_person_keeps_apart_do_not_meet_in_a_cluster() -> None:
    """A third that both are like does not bring them together."""
    a, b, c = lesson(1), lesson(2, BODY + "\nOne more thing.\n"), lesson(3, BODY + "\nAnother thing.\n")
    decided = parse_decisions(render_decision(a, b, "me", "2026-11-30"))
    done = plan([a, b, c], kept_apart=decided, similarity=lambda *_: 1.0)
    archived = {change.path for change in done.changes if change.path.startswith("archive/")}
    assert len(archived) == 1


def test_planning_again_after_the_merge_gives_an_empty_plan() -> None:
    """The keeper alone is no cluster."""
    solutions = [lesson(1), lesson(2)]
    done = plan(solutions)
    kept = after(done, solutions[1].path)
    assert plan_dedup([kept], [], DedupSettings()).changes == ()


def test_the_changes_of_a_merge_land_together() -> None:
    """A copy never goes to the archive while its keeper could not be written."""
    assert len({change.unit for change in plan([lesson(1), lesson(2)]).changes}) == 1


def test_nothing_a_copy_states_is_lost() -> None:
    """Every statement of every member stands in the keeper."""
    solutions = [lesson(n, BODY + f"\nFact of member {'abcd'[n]} alone.\n") for n in range(4)]
    merges, _, _ = decide_merges(solutions, every_pair(solutions), DedupSettings())
    assert sum(len(merge.drop) for merge in merges) >= 1
    done = plan(solutions)
    for merge in merges:
        kept = after(done, solutions[merge.keep].path)
        for place in merge.drop:
            for statement in statements(solutions[place]):
                assert any(covers(text, statement) for text in statements(kept))


def test_a_merge_gives_the_keeper_the_newest_mtime_of_the_cluster() -> None:
    """A merge is no new evidence: nothing gets younger than the youngest file was."""
    a, b = lesson(1), lesson(2)
    done = plan([a, b], mtimes={a.path: 500, b.path: 300})
    assert {change.path: change.mtime_ns for change in done.changes if change.after} == {
        b.path: 500,
        f"archive/{a.path}": 500,
    }


def test_a_plan_applied_leaves_one_live_lesson_and_undo_puts_the_other_back(tmp_path: Path) -> None:
    """On disk: the copy lies in the archive, a second plan is empty, undo restores every byte."""
    solutions = [lesson(1), lesson(2)]
    for solution in solutions:
        (tmp_path / solution.path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / solution.path).write_text(solution.text)
    run = Run("r1", "dedup")
    assert apply(plan(solutions), tmp_path, run).refused == ()
    (live,) = read_store(tmp_path).solutions
    assert live.id == solutions[1].id
    assert [s.superseded_by for s in read_store(tmp_path, "archive").solutions] == [live.id]
    apply(plan_undo(tmp_path, "r1"), tmp_path, Run("r2", "undo", undoes="r1"))
    assert [(tmp_path / s.path).read_text() for s in solutions] == [s.text for s in solutions]


def test_a_short_body_says_little_beside_its_title() -> None:
    """Two lessons with one sentence of advice are two where their titles are about other things; a long text that was
    kept twice under another title is one."""
    short = "Say so in the ticket.\n"
    pair = [lesson(1, short, title="Uploads are bound to fifty megabytes"), lesson(2, short, title="The cart is slow")]
    done = plan(pair)
    assert done.changes == ()
    assert "other things" in done.skipped[0][1]
    long = " ".join(f"Step {word} of the restore comes after the one before it." for word in "abcdefghijklmnop") + "\n"
    assert plan([lesson(1, long, title="How to restore"), lesson(2, long, title="Bring the database back")]).changes
