"""Decide about one draft: publish, reject, later or merge, as a plan. The terminal and the Prefect form share it."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from curate.branch import Base, BranchError
from curate.drafts import (
    ACCEPTED,
    DETAILS_FILE,
    EVIDENCE_FILE,
    Choice,
    Decided,
    Draft,
    Improvement,
    Published,
    published_targets,
    render_decided,
    render_evidence,
    sha256,
)
from curate.improve import improved_text
from curate.publish import commit_writes, deepest_first, no_folder, publish_folders, reader, write_published
from curate.rules import RuleFile, add_rule, rule_line
from curate.skills import SKILL_FILE, Skill, check_skill, plain, render_skill
from index.changes import Change, Note, Plan, digest, move
from index.records import Problem, Verdict
from index.settings import PromoteSettings, ReviewSettings
from index.store import ARCHIVE

QUEUE_DAYS = 7

Scan = Callable[[str], Verdict]
FindSecrets = Callable[[str], Sequence[object]]


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person chose. Empty `name` and `description` keep the draft's; `into` is the skill to merge into."""

    choice: Choice
    who: str
    name: str = ""
    description: str = ""
    note: str = ""
    into: str = ""


@dataclass(frozen=True, slots=True)
class Queue:
    """The drafts by what they wait for: open for review, the next weeks' turn, a date, or new evidence (expired)."""

    open: tuple[Draft, ...] = ()
    waiting: tuple[Draft, ...] = ()
    later: tuple[Draft, ...] = ()
    expired: tuple[Draft, ...] = ()


def queue(drafts: Sequence[Draft], decisions: Sequence[Decided], today: date, settings: PromoteSettings) -> Queue:
    """Which drafts are put before a person now: oldest first, at most `drafts_per_week` in seven days.

    A draft that nobody decided for `expire_days` is no longer shown; promote renews it when there is new evidence.
    """
    postponed = {
        decided.digest: decided.until
        for decided in decisions
        if decided.choice == "later" and decided.until is not None
    }
    since = today - timedelta(days=QUEUE_DAYS)
    recent = sum(decided.choice in {*ACCEPTED, "reject"} and decided.when.date() > since for decided in decisions)
    free = max(0, settings.drafts_per_week - recent)
    later = [draft for draft in drafts if postponed.get(draft.digest, today) > today]
    left = [draft for draft in drafts if draft not in later]
    expired = [draft for draft in left if (today - draft.created).days > settings.expire_days]
    ready = [draft for draft in left if draft not in expired]
    return Queue(tuple(ready[:free]), tuple(ready[free:]), tuple(later), tuple(expired))


def stalled(opened: Sequence[Draft], decisions: Sequence[Decided], today: date, days: int) -> tuple[int, date | None]:
    """How many open drafts have waited for `days` or more, and since when the oldest has; (0, None) for none.

    A draft that was put off waits since the day on which it came back.
    """
    back = {found.digest: found.until for found in decisions if found.choice == "later" and found.until is not None}
    since = [max(draft.created, back.get(draft.digest, draft.created)) for draft in opened]
    late = [day for day in since if (today - day).days >= days]
    return len(late), min(late, default=None)


def current_user() -> str:
    """The name of whoever runs this, for the record; "unknown" where the system has none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


def final_skill(draft: Draft, decision: Decision) -> tuple[str, str]:
    """The name and the text that would be published: the draft's, with what the person edited."""
    skill = draft.skill()
    if isinstance(skill, Problem):
        return draft.name, draft.text
    name = decision.name.strip() or skill.name
    description = plain(decision.description) or skill.description
    if draft.improves is not None or (name, description) == (skill.name, skill.description):
        return skill.name, draft.text
    return name, render_skill(Skill(name, description, skill.body, skill.metadata))


def check_text(path: str, text: str, scan: Scan, find_secrets: FindSecrets) -> tuple[Problem, ...]:
    """Why a text may not be published as it stands: poison, or a secret."""
    problems = []
    verdict = scan(text)
    if verdict.answer == "poison":
        rules = ", ".join(verdict.rules) or "no rule named"
        problems.append(Problem(path, None, f"judged poison ({rules}); reject it, or edit the file", "poison"))
    if find_secrets(text):
        problems.append(Problem(path, None, "holds what looks like a secret; take it out of the file", "secret"))
    return tuple(problems)


def needs_reason(draft: Draft, scan: Scan) -> str:
    """Why publishing this draft needs a note that says why it may be trusted; "" if it needs none."""
    if draft.tainted:
        return "some of its evidence comes from web pages, issues or tool servers"
    suspect = any(scan(text).answer == "suspect" for text in draft.files.values())
    return "the poison scan finds it suspect" if suspect else ""


def plan_decision(
    draft: Draft,
    decision: Decision,
    *,
    now: datetime,
    settings: ReviewSettings,
    home: Path,
    decisions: Sequence[Decided],
    scan: Scan,
    find_secrets: FindSecrets,
    skills: Sequence[Skill] = (),
    base: Base | None = None,
    rules: Sequence[RuleFile] = (),
) -> tuple[Plan, tuple[Problem, ...]]:
    """What a decision changes, or why it can't be carried out (then the plan is empty).

    Published files are changes with absolute paths, of one unit with the draft's move to the archive and the record of
    the decision: they land together, and undoing the run takes them back. With `base` they are a commit instead, which
    is written and which no branch holds yet; the record names it. `rules` are the files that a rule may be added to.
    """
    unit = f"review {draft.name}"
    if decision.choice == "merge":
        return _plan_merge(draft, decision, now, skills, unit)
    until = now.date() + timedelta(days=settings.later_days) if decision.choice == "later" else None
    record = Decided(
        draft.name, draft.digest, decision.choice, decision.who, now, decision.note.strip(),
        draft.name, draft.sessions, draft.solutions, until,
    )  # fmt: skip
    if decision.choice == "later":
        return Plan("review", (_record(record, unit),)), ()
    if decision.choice == "reject":
        return Plan("review", (*_archive(draft, now, unit, "rejected"), _record(record, unit))), ()
    if decision.choice == "rules":
        return _plan_rules(draft, record, rules, scan, find_secrets, unit)
    skill_name, text = final_skill(draft, decision)
    files = {**draft.files, SKILL_FILE: text}
    problems = [problem for name, content in files.items() for problem in check_text(name, content, scan, find_secrets)]
    if draft.improves is None:
        problems += check_skill(text, skill_name, f"{draft.folder}/{SKILL_FILE}")
    reason = needs_reason(draft, scan)
    if reason and not decision.note.strip():
        problems.append(Problem(SKILL_FILE, None, f"{reason}: say in the note why it may be trusted", "reason"))
    folders = publish_folders(draft, skill_name, settings, home, base)
    if not folders:
        problems.append(Problem("config.yaml", None, no_folder(draft, base), "target"))
    known, read = published_targets(decisions), reader(base)
    writes: list[Change] = []
    for place, content in ((folder / name, content) for folder in folders for name, content in deepest_first(files)):
        change = write_published(place, content, draft.improves, known, unit, read)
        if isinstance(change, Problem):
            problems.append(change)
        else:
            writes.append(change)
    if problems:
        return Plan("review"), tuple(problems)
    targets = tuple(Published(write.path, digest(write.after) or "") for write in writes)
    record = replace(record, name=skill_name, targets=targets)
    needed = [write for write in writes if write.before != write.after]
    if base is not None:
        try:
            record = replace(record, branch=commit_writes(base, needed, skill_name, draft, record.who, record.note))
        except BranchError as error:
            return Plan("review"), (Problem(str(base.repository), None, str(error), "branch"),)
        needed = []
    return Plan("review", (*needed, *_archive(draft, now, unit, "published"), _record(record, unit))), ()


def _plan_rules(
    draft: Draft, record: Decided, rules: Sequence[RuleFile], scan: Scan, find_secrets: FindSecrets, unit: str
) -> tuple[Plan, tuple[Problem, ...]]:
    """The draft becomes one line in the managed block of its projects' files for agents; nothing else is written."""
    line = rule_line(draft)
    problems = list(check_text(SKILL_FILE, line, scan, find_secrets))
    reason = needs_reason(draft, scan)
    if reason and not record.note:
        problems.append(Problem(SKILL_FILE, None, f"{reason}: say in the note why it may be trusted", "reason"))
    if not rules:
        reason = "no AGENTS.md or CLAUDE.md of two or more of its projects is known here that does not say it already"
        problems.append(Problem(SKILL_FILE, None, reason, "target"))
    if problems:
        return Plan("review"), tuple(problems)
    writes = [
        Change(str(file.path), file.before, add_rule(file.before, line), f"rule for {file.project}", unit)
        for file in rules
    ]
    targets = tuple(Published(write.path, digest(write.after) or "") for write in writes)
    record = replace(record, targets=targets)
    archived = _archive(draft, record.when, unit, "made a rule")
    return Plan("review", (*writes, *archived, _record(record, unit))), ()


def _archive(draft: Draft, now: datetime, unit: str, why: str) -> tuple[Change, ...]:
    """The draft's files go to the archive, in a folder of their own."""
    folder = f"{ARCHIVE}/{draft.folder}-{now.astimezone(UTC):%Y%m%dT%H%M%S}-{draft.digest[:8]}"
    files = {**draft.files, EVIDENCE_FILE: draft.evidence_text}
    moves = [
        move(f"{draft.folder}/{name}", f"{folder}/{name}", text.encode("utf-8"), f"draft {why}")
        for name, text in deepest_first(files)
    ]
    return tuple(replace(change, unit=unit) for pair in moves for change in pair)


def _record(decided: Decided, unit: str) -> Change:
    content = render_decided(decided).encode("utf-8")
    return Change(decided.path, None, content, f"decided: {decided.choice} by {decided.who}", unit)


def _plan_merge(
    draft: Draft, decision: Decision, now: datetime, skills: Sequence[Skill], unit: str
) -> tuple[Plan, tuple[Problem, ...]]:
    """The draft becomes a proposed improvement of an existing skill, to be seen as a diff before it is published."""
    wanted = decision.into.strip()
    chosen = next((skill for skill in skills if wanted in {skill.name, skill.path}), None)
    if chosen is None:
        known = ", ".join(sorted({skill.name for skill in skills})[:8]) or "none"
        reason = f"there is no skill {wanted!r} to merge into. Known: {known}"
        return Plan("review"), (Problem(SKILL_FILE, None, reason, "merge"),)
    skill = draft.skill()
    if isinstance(skill, Problem):
        return Plan("review"), (skill,)
    text = improved_text(chosen.text, f"{skill.body}\n\n{draft.details}")
    if text == chosen.text:
        return Plan("review"), (Problem(chosen.path, None, "says all of it already; reject the draft", "merge"),)
    improves = Improvement(chosen.path, sha256(chosen.text), chosen.text)
    merged = replace(draft, text=text, details="", written_sha256=sha256(text), improves=improves)
    record = Decided(
        draft.name, draft.digest, "merge", decision.who, now, decision.note.strip(),
        chosen.name, draft.sessions, draft.solutions,
    )  # fmt: skip
    changes: tuple[Change, ...] = (
        Change(f"{draft.folder}/{SKILL_FILE}", draft.text.encode(), text.encode(), "merged into a skill", unit),
        Change(
            f"{draft.folder}/{EVIDENCE_FILE}", draft.evidence_text.encode(), render_evidence(merged).encode(),
            "merged into a skill", unit,
        ),
        _record(record, unit),
    )  # fmt: skip
    if draft.details:
        gone = Change(f"{draft.folder}/{DETAILS_FILE}", draft.details.encode(), None, "merged into a skill", unit)
        changes = (*changes, gone)
    return Plan("review", changes), ()


def problem_notes(problems: Iterable[Problem]) -> tuple[Note, ...]:
    """Problems as notes, for a report."""
    return tuple(Note(problem.kind or "problem", problem.path, problem.reason) for problem in problems)
