"""Show the drafts and carry out a decision: the one way for the terminal and for the Prefect form."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from curate.branch import Base, Branched, BranchError, create_branch, delete_branch, find_base
from curate.drafts import DECISIONS, Decided, Draft, parse_decided, read_decisions, read_drafts
from curate.improve import overlap
from curate.review import Decision, FindSecrets, Queue, Scan, plan_decision, problem_notes, queue, stalled
from curate.rules import RuleFile, render_rule_diff, rule_files, rule_line
from curate.skills import read_skills, skill_folders
from detectors.poison.scan import scan_text
from detectors.secrets import find_secrets
from flows.context import Pass, World, open_pass
from flows.forms import Findings, render_review
from flows.project_folders import project_folders
from flows.report import Report, StageLine
from index.changes import Change, Note, Plan
from index.errors import HotwashError, UnknownName
from index.files import write_derived
from index.lookup import find_solution
from index.plural import plural
from index.records import Answer, Problem
from index.store import CACHE

STALLED = f"{CACHE}/reviews.stalled"
SEVERITY: dict[Answer, int] = {"clean": 0, "suspect": 1, "poison": 2}


class NoSuchDraft(UnknownName):
    """There is no draft of that name."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"There is no draft {name!r}. Waiting: {', '.join(known) or 'none'}.")


@dataclass(frozen=True, slots=True)
class Scanners:
    """The two scans that a draft passes before it is shown and again when it is published."""

    scan: Scan = scan_text
    find_secrets: FindSecrets = find_secrets


def read_queue(world: World) -> tuple[Queue, tuple[Decided, ...], tuple[Problem, ...]]:
    """The drafts by what they wait for, the decisions so far, and the files of either that cannot be read."""
    drafts, problems = read_drafts(world.root)
    decisions, more = read_decisions(world.root)
    return queue(drafts, decisions, world.now.date(), world.settings.promote), decisions, (*problems, *more)


def stalled_line(world: World) -> str:
    """One line when drafts have waited too long, for status and for a session's start; "" otherwise."""
    queue, decisions, _ = read_queue(world)
    count, since = stalled(queue.open, decisions, world.now.date(), world.settings.review.stalled_days)
    if since is None:
        return ""
    waiting = plural(count, "draft skill has waited", "draft skills have waited")
    return f"{waiting} for a decision since {since.isoformat()}: `hotwash review` lists what waits."


def note_stalled(world: World) -> None:
    """Keep that line where the hook at a session's start finds it: it computes nothing of its own."""
    place, line = world.root / STALLED, stalled_line(world)
    with contextlib.suppress(OSError):
        if line:
            write_derived(place, f"hotwash: {line}\n".encode())
        else:
            place.unlink(missing_ok=True)


def find_draft(root: Path, name: str) -> Draft:
    """The draft of that name; raises NoSuchDraft."""
    drafts, _ = read_drafts(root)
    for draft in drafts:
        if draft.name == name:
            return draft
    raise NoSuchDraft(name, [draft.name for draft in drafts])


def show(world: World, draft: Draft, problem: str = "", narrow: bool = False, scanners: Scanners | None = None) -> str:
    """What a person is shown of a draft, scanned as it stands now; `narrow` for the Prefect form."""
    scanners = scanners or Scanners()
    texts = draft.files.values()
    worst = max((scanners.scan(text) for text in texts), key=lambda verdict: SEVERITY[verdict.answer])
    findings = Findings(worst, sum(len(scanners.find_secrets(text)) for text in texts))
    line = rule_line(draft)
    diffs = tuple(render_rule_diff(file, line) for file in rule_targets(world, draft))
    return render_review(draft, findings, world.settings.review, problem, narrow, diffs)


def rule_targets(world: World, draft: Draft) -> tuple[RuleFile, ...]:
    """The files for agents that a draft may become a rule in: those of its projects, where there are two or more.

    A principle comes from such a file and is never written into one.
    """
    if len(draft.projects) < 2 or draft.improves is not None:
        return ()
    if any(_is_principle(world.root, identity) for identity in draft.solutions):
        return ()
    return rule_files(project_folders(world.root, draft), rule_line(draft))


def _is_principle(root: Path, identity: str) -> bool:
    try:
        return find_solution(root, identity).type == "principle"
    except HotwashError:
        return False  # it has gone, by a merge or by hand


def merge_choices(world: World, draft: Draft, most: int = 5) -> tuple[str, ...]:
    """The names of the skills that a draft may be merged into, those with the most words in common first."""
    skill = draft.skill()
    if isinstance(skill, Problem) or draft.improves is not None:
        return ()
    skills, _ = read_skills(skill_folders(world.home))
    shares = {other.name: overlap(skill.description, f"{other.name} {other.description}") for other in skills}
    return tuple(sorted(shares, key=lambda name: (-shares[name], name))[:most])


def decide(
    world: World, name: str, decision: Decision, project: Path | None = None, scanners: Scanners | None = None
) -> tuple[Report, tuple[Problem, ...]]:
    """Carry out a decision as one journaled run: its report, and why it could not be done (then nothing changed).

    Raises NoSuchDraft where the draft has gone.
    """
    scanners = scanners or Scanners()
    with open_pass(world, "review") as run:
        draft = find_draft(world.root, name)
        decisions, _ = read_decisions(world.root)
        skills, _ = read_skills(skill_folders(world.home, project)) if decision.choice == "merge" else ((), ())
        try:
            base = find_publish_base(world) if decision.choice == "publish" else None
        except BranchError as error:
            return _refused(run, (Problem("config.yaml", None, str(error), "branch"),))
        plan, problems = plan_decision(
            draft,
            decision,
            now=world.now,
            settings=world.settings.review,
            home=world.home,
            decisions=decisions,
            scan=scanners.scan,
            find_secrets=scanners.find_secrets,
            skills=skills,
            base=base,
            rules=rule_targets(world, draft) if decision.choice == "rules" else (),
        )
        if problems:
            return _refused(run, problems)
        # The branch comes first: a run that is killed in between finds it again, while a decision would be lost on it.
        made = [branched for branched in branches(plan.changes)[0] if create_branch(branched)]
        try:
            line = run.land(plan)
        except BaseException:
            for branched in made:
                delete_branch(branched)
            raise
        refused = tuple(Problem(path, None, f"{reason}; decide again", "refused") for path, reason in line.refused)
        if refused:
            for branched in made:
                delete_branch(branched)
        note_stalled(world)
        return run.report, refused


def _refused(run: Pass, problems: tuple[Problem, ...]) -> tuple[Report, tuple[Problem, ...]]:
    run.report.problems += problems
    run.report.stages.append(StageLine("review", notes=problem_notes(problems)))
    return run.report, problems


def find_publish_base(world: World) -> Base | None:
    """Where the branch of a published skill starts, None where skills are published as files. Raises BranchError."""
    settings = world.settings.review
    if settings.publish == "files":
        return None
    if settings.publish != "branch":
        raise BranchError(f"review: publish: wanted files or branch, found {settings.publish!r}.")
    named = settings.repository
    place = world.home / named[2:] if named.startswith("~/") else Path(named) if named else world.root
    return find_base(place, settings.branch_base)


def branches(changes: Sequence[Change]) -> tuple[list[Branched], list[Branched]]:
    """The branches that records of decisions among the changes name: (those that come, those that go)."""
    coming: list[Branched] = []
    going: list[Branched] = []
    for change in changes:
        if change.path.startswith(f"{DECISIONS}/review-"):
            for content, found in ((change.after, coming), (change.before, going)):
                read = parse_decided(change.path, (content or b"").decode("utf-8", "replace"))
                if isinstance(read, Decided) and read.branch is not None:
                    found.append(read.branch)
    return [new for new in coming if new not in going], [old for old in going if old not in coming]


def follow_undo(plan: Plan, dry_run: bool) -> Plan:
    """Take away the branches whose decision is undone, make those again whose undoing is; the plan with notes of it.

    Raises BranchError, before anything is touched, where a branch has other commits by now.
    """
    coming, going = branches(plan.changes)
    notes = [Note("branch", old.repository, f"takes away {old.name}") for old in going]
    notes += [Note("branch", new.repository, f"makes {new.name} again") for new in coming]
    if not dry_run:
        for old in going:
            delete_branch(old)
        for new in coming:
            create_branch(new)
    return replace(plan, notes=(*plan.notes, *notes)) if notes else plan


def published_branches(report: Report) -> list[Branched]:
    """The branches that a decision made."""
    return branches([change for stage in report.stages for change in stage.changes])[0]


def published_paths(plan: Plan | Report) -> tuple[str, ...]:
    """The files outside the store that a decision wrote."""
    changes = plan.changes if isinstance(plan, Plan) else [c for stage in plan.stages for c in stage.changes]
    return tuple(change.path for change in changes if Path(change.path).is_absolute())
