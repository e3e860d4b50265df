"""Publishing where others work: a git branch for a shared store, a rule in the files for agents; both can be undone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from curate.branch import Base, BranchError, read_at
from curate.drafts import Draft, Improvement, read_decisions, read_drafts, sha256
from curate.review import Decision, plan_decision
from curate.rules import BEGIN, END
from flows import review
from flows.cli import run_command
from flows.context import World
from flows.pipeline import undo
from flows.review import decide, find_draft, published_branches, published_paths, show
from index.frontmatter import render_solution
from index.records import Session, Solution
from index.settings import ReviewSettings, Settings
from reflect.custody import episode_path, pack_episode
from tests.git_repository import git, make_repository, state_of
from tests.served import make_draft, write_draft_files

NOW = datetime(2026, 11, 30, 3, 30, tzinfo=UTC)
SKILL = ".claude/skills/services/SKILL.md"


@pytest.fixture
def shared(tmp_path: Path) -> World:
    """A shared store in a repository in which somebody works, with one draft, published as a branch."""
    repository = make_repository(tmp_path / "shop")
    root = repository / ".hotwash"
    write_draft_files(root, make_draft("services"))
    return World(root, Settings(review=ReviewSettings(publish="branch")), NOW, tmp_path / "home", {})


def own_work(world: World) -> dict[str, bytes]:
    """The work tree, index and branch of the repository around the store, without the store."""
    return {name: raw for name, raw in state_of(world.root.parent).items() if not name.startswith(".hotwash/")}


def test_a_draft_becomes_a_branch_and_undo_takes_it_back(shared: World) -> None:
    """One commit that holds the skill; work tree, index and branch stay; undo and its undoing follow."""
    repository, before = shared.root.parent, own_work(shared)
    text = find_draft(shared.root, "services").text
    report, problems = decide(shared, "services", Decision("publish", "ann", note="met it often"))
    assert problems == ()
    assert published_paths(report) == ()
    (made,) = published_branches(report)
    assert own_work(shared) == before
    assert git(repository, "show", f"hotwash/services:{SKILL}") == text.strip()
    assert git(repository, "diff", "--name-status", "HEAD", "hotwash/services") == f"A\t{SKILL}"
    message = git(repository, "log", "-1", "--format=%B", "hotwash/services")
    assert message == (
        "Add the skill services\n\nLearned from 3 sessions on 3 days in 2 projects.\n\nmet it often\n\nReviewed-by: ann"
    )
    assert read_decisions(shared.root)[0][0].branch == made
    assert read_drafts(shared.root)[0] == ()
    back = undo(shared, report.run)
    assert git(repository, "branch", "--list", "hotwash/*") == ""
    assert [draft.text for draft in read_drafts(shared.root)[0]] == [text]
    undo(shared, back.run)
    assert git(repository, "rev-parse", "hotwash/services") == made.commit
    assert own_work(shared) == before


def test_an_undo_never_takes_commits_of_others(shared: World) -> None:
    """A branch that has moved on is left alone, and so is everything else of that run."""
    report, _ = decide(shared, "services", Decision("publish", "ann"))
    repository = shared.root.parent
    tip = git(repository, "commit-tree", "hotwash/services^{tree}", "-p", "hotwash/services", "-m", "more")
    git(repository, "update-ref", "refs/heads/hotwash/services", tip)
    with pytest.raises(BranchError, match="other commits"):
        undo(shared, report.run)
    assert git(repository, "rev-parse", "hotwash/services") == tip
    assert len(read_decisions(shared.root)[0]) == 1


def test_a_run_that_dies_leaves_no_branch_and_one_that_was_killed_is_taken_up(
    shared: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error takes the branch back; a branch that a killed run left is used by the next decision."""
    repository = shared.root.parent

    def die(*arguments: object) -> None:
        raise OSError("no room")

    with monkeypatch.context() as patched:
        patched.setattr("flows.context.apply", die)
        with pytest.raises(OSError, match="no room"):
            decide(shared, "services", Decision("publish", "ann"))
    assert git(repository, "branch", "--list", "hotwash/*") == ""
    with monkeypatch.context() as patched:
        patched.setattr("flows.context.apply", die)
        patched.setattr(review, "delete_branch", lambda branched: True)
        with pytest.raises(OSError, match="no room"):
            decide(shared, "services", Decision("publish", "ann"))
    left = git(repository, "rev-parse", "hotwash/services")
    report, problems = decide(shared, "services", Decision("publish", "bob"))
    assert problems == ()
    assert published_branches(report)[0].commit == left


def test_a_file_of_a_person_is_never_written_over(shared: World) -> None:
    """One at that place in the base refuses; so does a base, a setting or a repository that is none."""
    repository = shared.root.parent
    place = repository / SKILL
    place.parent.mkdir(parents=True)
    place.write_text("mine\n")
    git(repository, "add", ".claude")
    git(repository, "commit", "-q", "-m", "a skill of mine")
    _, problems = decide(shared, "services", Decision("publish", "ann"))
    assert "is there already and is not ours" in problems[0].reason
    for settings, reason in (
        (ReviewSettings(publish="pull-request"), "wanted files or branch, found 'pull-request'"),
        (ReviewSettings(publish="branch", branch_base="nowhere"), "no commit 'nowhere'"),
        (ReviewSettings(publish="branch", repository="/"), "no git repository"),
        (ReviewSettings(publish="branch", branch_folders=("../elsewhere",)), "names no folder inside"),
    ):
        world = replace(shared, settings=Settings(review=settings))
        _, problems = decide(world, "services", Decision("publish", "ann"))
        assert reason in problems[0].reason
    assert git(repository, "branch", "--list", "hotwash/*") == ""
    assert len(read_drafts(shared.root)[0]) == 1


def test_an_improvement_is_a_commit_that_changes_the_skill(shared: World) -> None:
    """Only where the base still holds what the improvement was drafted from."""
    repository = shared.root.parent
    place = repository / ".claude" / "skills" / "mine" / "SKILL.md"
    text = '---\nname: "mine"\ndescription: "Use when x."\n---\n\nBody.\n'
    place.parent.mkdir(parents=True)
    place.write_text(text)
    git(repository, "add", ".claude")
    git(repository, "commit", "-q", "-m", "a skill")
    better = text + "\n- More.\n"
    for before, refused in (("other\n", True), (text, False)):
        draft = make_draft("mine")
        improves = Improvement(str(place), sha256(before), before)
        draft = replace(draft, text=better, written_sha256=sha256(better), improves=improves)
        write_draft_files(shared.root, renewed(draft))
        report, problems = decide(shared, "mine", Decision("publish", "ann"))
        assert bool(problems) is refused
    (made,) = published_branches(report)
    assert read_at(Base(repository, made.commit), ".claude/skills/mine/SKILL.md") == better.encode()
    assert place.read_text() == text


def renewed(draft: Draft) -> Draft:
    """A draft whose evidence file says what its record does."""
    from curate.drafts import render_evidence

    return replace(draft, evidence_text=render_evidence(draft))


def test_the_command_says_how_to_push(
    shared: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And the form where it will go."""
    monkeypatch.setenv("HOTWASH_REVIEW_PUBLISH", "branch")
    where = ["--store", str(shared.root)]
    assert run_command(["review", "services", *where]) == 0
    assert "- published on the git branch `hotwash/services`, in `.claude/skills/services`" in capsys.readouterr().out
    assert run_command(["review", "services", "publish", *where]) == 0
    told = capsys.readouterr().out
    repository = shared.root.parent
    assert f"branch: hotwash/services in {repository}\npush it: git -C {repository} push -u origin hotwash/ser" in told


@pytest.fixture
def projects(tmp_path: Path) -> World:
    """A store whose draft comes from two projects on this machine, both with a file for agents."""
    root = tmp_path / "store"
    draft = make_draft("services")
    write_draft_files(root, draft)
    for row in draft.evidence:
        name = row.project.rpartition("/")[2]
        folder = tmp_path / name
        if not folder.exists():
            make_repository(folder)
            git(folder, "remote", "add", "origin", f"https://{row.project}.git")
            (folder / "AGENTS.md").write_bytes(
                b"# House rules\r\n\r\n- Be kind.\r\n" if name == "shop" else b"- Be kind."
            )
        session = Session("claude-code", row.session.partition(":")[2], "", started=NOW)
        place = root / episode_path(session)
        place.parent.mkdir(parents=True, exist_ok=True)
        turns = [
            {"line": 1, "end": 1, "cwd": str(folder / "src")},
            {"line": 2, "end": 2, "cwd": str(tmp_path / "gone")},
        ]
        place.write_bytes(pack_episode({"session": row.session, "because": []}, turns))
    return World(root, Settings(), NOW, tmp_path / "home", {})


def test_a_cross_project_lesson_becomes_a_rule_of_its_projects(projects: World, tmp_path: Path) -> None:
    """The form shows the diff; the decision writes the block alone; undo restores every byte."""
    files = [tmp_path / name / "AGENTS.md" for name in ("billing", "shop")]
    before = [file.read_bytes() for file in files]
    shown = show(projects, find_draft(projects.root, "services"), narrow=True)
    line = "- Integration tests need services. Run `make test-int`. (01KB7ZC4S0T2J5Q8XW3N6M9RV1)"
    assert shown.count(f"+{line}") == 2
    assert "**rules** writes no skill" in shown
    report, problems = decide(projects, "services", Decision("rules", "ann"))
    assert problems == ()
    assert published_paths(report) == tuple(map(str, files))
    for file, raw in zip(files, before, strict=True):
        now = file.read_bytes()
        assert now.startswith(raw)
        assert [text in now.decode() for text in (BEGIN, line, END)] == [True] * 3
        assert now.count(b"\r\n") == (now.count(b"\n") if b"\r\n" in raw else 0)
    assert not (projects.home / ".claude").exists()
    undo(projects, report.run)
    assert [file.read_bytes() for file in files] == before
    assert [draft.name for draft in read_drafts(projects.root)[0]] == ["services"]


def test_a_file_that_changes_meanwhile_is_left_alone(
    projects: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the plan and the write: nothing lands, in no file, and the draft waits."""
    place = tmp_path / "shop" / "AGENTS.md"

    def meanwhile(*arguments: object, **more: object) -> object:
        plan = plan_decision(*arguments, **more)  # type: ignore[arg-type]
        place.write_bytes(b"edited\n")
        return plan

    monkeypatch.setattr("flows.review.plan_decision", meanwhile)
    report, problems = decide(projects, "services", Decision("rules", "ann"))
    assert any("changed since it was read" in problem.reason for problem in problems)
    assert place.read_bytes() == b"edited\n"
    assert BEGIN not in (tmp_path / "billing" / "AGENTS.md").read_text()
    assert report.changed == 0
    assert len(read_drafts(projects.root)[0]) == 1


def test_what_is_said_already_or_is_a_principle_is_not_proposed(projects: World, tmp_path: Path) -> None:
    """A principle comes from such a file and never goes back into one; poison and one project make no rule either."""
    draft = find_draft(projects.root, "services")
    for name in ("billing", "shop"):
        place = tmp_path / name / "AGENTS.md"
        place.write_bytes(place.read_bytes() + b"\n\nIntegration tests need services. Run `make test-int`.\n")
    assert review.rule_targets(projects, draft) == ()
    _, problems = decide(projects, "services", Decision("rules", "ann"))
    assert "that does not say it already" in problems[0].reason
    for name in ("billing", "shop"):
        (tmp_path / name / "AGENTS.md").write_text("# Rules\n")
    assert len(review.rule_targets(projects, draft)) == 2
    alone = replace(draft, evidence=tuple(row for row in draft.evidence if row.project.endswith("shop")))
    assert review.rule_targets(projects, alone) == ()
    stated = Solution(
        min(draft.solutions), "Be kind", "knowledge", "Be kind.", type="principle", confidence=1.0, created=NOW
    )
    place = projects.root / "solutions" / "knowledge" / "be-kind-9m9m9m9m.md"
    place.write_text(render_solution(stated))
    assert review.rule_targets(projects, draft) == ()
