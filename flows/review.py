"""Show the drafts and carry out a decision: the one way for the terminal and for the Prefect form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from curate.drafts import Decided, Draft, read_decisions, read_drafts
from curate.improve import overlap
from curate.review import Decision, FindSecrets, Queue, Scan, plan_decision, problem_notes, queue
from curate.skills import read_skills, skill_folders
from detectors.poison.scan import scan_text
from detectors.secrets import find_secrets
from flows.context import World, open_pass
from flows.forms import Findings, render_review
from flows.report import Report, StageLine
from index.changes import Plan
from index.errors import UnknownName
from index.records import Answer, Problem

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
    return render_review(draft, findings, world.settings.review.skills_folders, problem, narrow)


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
        )
        if problems:
            run.report.problems += problems
            run.report.stages.append(StageLine("review", notes=problem_notes(problems)))
            return run.report, problems
        line = run.land(plan)
        refused = tuple(Problem(path, None, f"{reason}; decide again", "refused") for path, reason in line.refused)
        return run.report, refused


def published_paths(plan: Plan | Report) -> tuple[str, ...]:
    """The files outside the store that a decision wrote."""
    changes = plan.changes if isinstance(plan, Plan) else [c for stage in plan.stages for c in stage.changes]
    return tuple(change.path for change in changes if Path(change.path).is_absolute())
