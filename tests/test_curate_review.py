"""Decisions about drafts: what each changes, what it refuses, and that all of it can be undone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from curate.drafts import Choice, Decided, Draft, read_decisions, read_drafts
from curate.review import Decision, plan_decision, queue
from curate.skills import SKILL_FILE, Skill, check_skill, read_skills, skill_folders
from detectors.poison.scan import scan_text
from detectors.secrets import find_secrets
from index.apply import apply, start_run
from index.changes import Plan, Run
from index.records import Problem, Verdict
from index.settings import PromoteSettings, ReviewSettings
from index.undo import plan_undo
from tests.served import make_draft, write_draft_files

NOW = datetime(2026, 11, 30, 3, 30, tzinfo=UTC)
FOLDERS = ReviewSettings(("~/.claude/skills", "~/.agents/skills"))


class Desk:
    """A store, a home, and decisions made in them."""

    def __init__(self, folder: Path) -> None:
        self.root, self.home, self.runs = folder / "store", folder / "home", 0
        self.root.mkdir()

    def put(self, draft: Draft) -> Draft:
        """Write a draft and read it back."""
        write_draft_files(self.root, draft)
        return next(found for found in read_drafts(self.root)[0] if found.name == draft.name)

    def plan(self, draft: Draft, choice: Choice, **more: Any) -> tuple[Plan, tuple[Problem, ...]]:
        """Plan a decision with the real scans."""
        options: dict[str, Any] = {
            "now": NOW + timedelta(seconds=self.runs), "settings": more.pop("settings", FOLDERS), "home": self.home,
            "decisions": read_decisions(self.root)[0], "scan": more.pop("scan", scan_text),
            "find_secrets": more.pop("secrets", find_secrets), "skills": read_skills(skill_folders(self.home))[0],
        }  # fmt: skip
        return plan_decision(draft, Decision(choice, "ann", **more), **options)

    def decide(self, draft: Draft, choice: Choice, **more: Any) -> str:
        """Plan and apply; the run's id."""
        plan, problems = self.plan(draft, choice, **more)
        assert problems == ()
        self.runs += 1
        run = Run(f"r{self.runs}", "review")
        start_run(self.root, run, NOW.isoformat())
        assert apply(plan, self.root, run).refused == ()
        return run.id

    def undo(self, run: str) -> None:
        """Reverse a run."""
        start_run(self.root, Run(f"undo-{run}", "undo", run), NOW.isoformat())
        apply(plan_undo(self.root, run), self.root, Run(f"undo-{run}", "undo", run))

    def skill(self, name: str, folder: str = ".claude/skills") -> Path:
        """Where a published skill lies."""
        return self.home / folder / name / SKILL_FILE


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """An empty desk."""
    return Desk(tmp_path)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its bytes, the journal left out."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "journal" not in path.parts
    }


def test_publish_writes_to_every_chosen_folder_and_undo_takes_it_back(desk: Desk) -> None:
    """The draft's text in both folders, the draft in the archive, the decision on record; undo restores every byte."""
    draft = desk.put(make_draft("services"))
    before = tree(desk.root.parent)
    run = desk.decide(draft, "publish", note="often met")
    for folder in (".claude/skills", ".agents/skills"):
        assert desk.skill("services", folder).read_text() == draft.text
    assert read_drafts(desk.root) == ((), ())
    decided = read_decisions(desk.root)[0][0]
    assert (decided.choice, decided.who, decided.note, len(decided.targets)) == ("publish", "ann", "often met", 2)
    assert decided.sessions == draft.sessions
    desk.undo(run)
    assert tree(desk.root.parent) == before


def test_publish_with_an_edited_name_and_description(desk: Desk) -> None:
    """What the person wrote stands in the file, which is valid under its new name."""
    draft = desk.put(make_draft("services"))
    desk.decide(draft, "publish", name="start-services", description='Use when "make" is needed <first>')
    text = desk.skill("start-services").read_text()
    assert check_skill(text, "start-services") == ()
    assert 'description: "Use when \\"make\\" is needed first"' in text
    assert text.endswith(draft.text.split("---\n", 2)[2])


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"name": "Not Valid"}, "name: wanted lower-case letters"),
        ({"description": "It is nice"}, "description: does not say when"),
        ({"settings": ReviewSettings(())}, "skills_folders is empty"),
        ({"scan": lambda text: Verdict("poison")}, "judged poison"),
        ({"scan": lambda text: Verdict("suspect")}, "say in the note why it may be trusted"),
        ({"secrets": lambda text: ["key"]}, "looks like a secret"),
    ],
)
def test_what_cannot_be_published_changes_nothing_and_says_why(desk: Desk, more: dict[str, Any], reason: str) -> None:
    """The plan is empty and the reason is one a person can act on."""
    plan, problems = desk.plan(desk.put(make_draft("services")), "publish", **more)
    assert plan.changes == ()
    assert any(reason in problem.reason for problem in problems)


def test_tainted_evidence_needs_a_reason(desk: Desk) -> None:
    """A person who publishes what came from the web says why."""
    draft = desk.put(make_draft("services", tainted=True))
    assert "web pages" in desk.plan(draft, "publish")[1][0].reason
    assert desk.plan(draft, "publish", note="I read the page; it is the vendor's own")[1] == ()


def test_a_persons_file_is_never_written_over(desk: Desk) -> None:
    """Neither one that was there before nor one published and then edited; an untouched one is renewed."""
    draft = desk.put(make_draft("services"))
    place = desk.skill("services")
    place.parent.mkdir(parents=True)
    place.write_text("mine\n")
    assert "is not ours" in desk.plan(draft, "publish")[1][0].reason
    place.unlink()
    desk.decide(draft, "publish")
    newer = desk.put(make_draft("services", body="# Services\n\nNewer.\n"))
    assert desk.plan(newer, "publish")[1] == ()
    place.write_text(place.read_text() + "\nmy own line\n")
    assert "changed by hand" in desk.plan(newer, "publish")[1][0].reason


def test_publishing_twice_writes_once(desk: Desk) -> None:
    """A file that already has these bytes is left alone; the decision is recorded all the same."""
    draft = desk.put(make_draft("services"))
    desk.decide(draft, "publish")
    again = desk.put(make_draft("services"))
    plan, problems = desk.plan(again, "publish")
    assert problems == ()
    assert not [change for change in plan.changes if Path(change.path).is_absolute()]


def test_reject_and_later(desk: Desk) -> None:
    """Reject archives; later leaves the draft and hides it from the queue until its day."""
    kept = desk.put(make_draft("kept"))
    desk.decide(desk.put(make_draft("gone")), "reject", note="no")
    desk.decide(kept, "later")
    drafts, decisions = read_drafts(desk.root)[0], read_decisions(desk.root)[0]
    assert [draft.name for draft in drafts] == ["kept"]
    today = NOW.date()
    assert queue(drafts, decisions, today, PromoteSettings()).later == drafts
    assert queue(drafts, decisions, today + timedelta(days=7), PromoteSettings()).open == drafts


def test_a_draft_that_changed_meanwhile_is_refused(desk: Desk) -> None:
    """The decision was about another text: nothing lands, not even the published file."""
    draft = desk.put(make_draft("services"))
    plan, _ = desk.plan(draft, "publish")
    write_draft_files(desk.root, replace(draft, text=draft.text + "\nedited\n"))
    start_run(desk.root, Run("r", "review"), NOW.isoformat())
    applied = apply(plan, desk.root, Run("r", "review"))
    assert applied.landed == ()
    assert not desk.skill("services").exists()


def test_merge_proposes_the_change_to_the_chosen_skill(desk: Desk) -> None:
    """The draft becomes an improvement to be seen first; publishing it then writes the chosen file, and only that."""
    other = desk.put(make_draft("other", body="# Other\n\n- Something else is so.\n"))
    desk.decide(other, "publish")
    draft = desk.put(make_draft("services"))
    assert "no skill 'nothing'" in desk.plan(draft, "merge", into="nothing")[1][0].reason
    desk.decide(draft, "merge", into="other")
    merged = read_drafts(desk.root)[0][0]
    assert merged.improves is not None
    assert not merged.edited
    place = Path(merged.improves.path)
    before = place.read_text()
    desk.decide(merged, "publish")
    assert place.read_text().startswith(before.rstrip())
    assert "Run `make test-int`." in place.read_text()
    assert not desk.skill("services").exists()


def test_an_improvement_is_not_published_onto_a_changed_skill(desk: Desk) -> None:
    """The person saw a diff against another text."""
    desk.decide(desk.put(make_draft("other", body="# Other\n\n- Something else is so.\n")), "publish")
    draft = desk.put(make_draft("services"))
    desk.decide(draft, "merge", into="other")
    merged = read_drafts(desk.root)[0][0]
    assert merged.improves is not None
    Path(merged.improves.path).write_text("edited\n")
    assert "changed since the improvement was drafted" in desk.plan(merged, "publish")[1][0].reason
    Path(merged.improves.path).unlink()
    assert "is gone" in desk.plan(merged, "publish")[1][0].reason


def test_details_are_published_beside_the_skill(desk: Desk) -> None:
    """references/lessons.md goes with SKILL.md, is scanned too, and undo takes both back."""
    draft = desk.put(replace(make_draft("services"), details="# More\n\n- A detail.\n"))
    run = desk.decide(draft, "publish")
    assert not (desk.root / draft.folder).exists()
    details = desk.skill("services").parent / "references" / "lessons.md"
    assert details.read_text() == "# More\n\n- A detail.\n"
    desk.undo(run)
    assert not desk.skill("services").parent.exists()


def test_the_queue_is_bounded_by_the_week_and_drafts_expire() -> None:
    """Five a week, decided ones included, oldest first; what nobody decided for 60 days is no longer shown."""
    today = date(2026, 11, 30)
    drafts = tuple(replace(make_draft(f"d{n}"), created=today - timedelta(days=9 - n)) for n in range(7))
    old = replace(make_draft("old"), created=today - timedelta(days=61))
    made = Decided("x", "0", "publish", "ann", NOW - timedelta(days=2))
    long_ago = replace(made, when=NOW - timedelta(days=8))
    found = queue((old, *drafts), (made, long_ago), today, PromoteSettings())
    assert [draft.name for draft in found.open] == ["d0", "d1", "d2", "d3"]
    assert [draft.name for draft in found.waiting] == ["d4", "d5", "d6"]
    assert [draft.name for draft in found.expired] == ["old"]


def test_broken_files_are_problems_and_stop_nothing(desk: Desk) -> None:
    """A draft without evidence and a decision that is none are told; the others are read."""
    desk.put(make_draft("good"))
    (desk.root / ".candidates" / "bad").mkdir()
    (desk.root / ".candidates" / "bad" / SKILL_FILE).write_text("x")
    (desk.root / "decisions").mkdir()
    (desk.root / "decisions" / "review-x.yaml").write_text("choice: [")
    drafts, problems = read_drafts(desk.root)
    assert [draft.name for draft in drafts] == ["good"]
    assert [problem.path for problem in problems] == [".candidates/bad/evidence.yaml"]
    assert [problem.path for problem in read_decisions(desk.root)[1]] == ["decisions/review-x.yaml"]
    assert isinstance(make_draft("good").skill(), Skill)
