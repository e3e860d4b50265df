"""Decide about one draft: publish, reject, later or merge, as a plan. The terminal and the Prefect form share it."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from curate.drafts import (
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
from curate.skills import SKILL_FILE, Skill, check_skill, plain, render_skill
from index.changes import Change, Note, Plan, digest, move
from index.files import read_bytes
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
    recent = sum(decided.choice in {"publish", "reject"} and decided.when.date() > since for decided in decisions)
    free = max(0, settings.drafts_per_week - recent)
    later = [draft for draft in drafts if postponed.get(draft.digest, today) > today]
    left = [draft for draft in drafts if draft not in later]
    expired = [draft for draft in left if (today - draft.created).days > settings.expire_days]
    ready = [draft for draft in left if draft not in expired]
    return Queue(tuple(ready[:free]), tuple(ready[free:]), tuple(later), tuple(expired))


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
) -> tuple[Plan, tuple[Problem, ...]]:
    """What a decision changes, or why it can't be carried out (then the plan is empty).

    Published files are changes with absolute paths, of one unit with the draft's move to the archive and the record of
    the decision: they land together, and undoing the run takes them back.
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
    skill_name, text = final_skill(draft, decision)
    files = {**draft.files, SKILL_FILE: text}
    problems = [problem for name, content in files.items() for problem in check_text(name, content, scan, find_secrets)]
    if draft.improves is None:
        problems += check_skill(text, skill_name, f"{draft.folder}/{SKILL_FILE}")
    reason = needs_reason(draft, scan)
    if reason and not decision.note.strip():
        problems.append(Problem(SKILL_FILE, None, f"{reason}: say in the note why it may be trusted", "reason"))
    folders = _folders(draft, skill_name, settings, home)
    if not folders:
        problems.append(Problem("config.yaml", None, "review: skills_folders is empty; name a folder", "target"))
    known = published_targets(decisions)
    writes: list[Change] = []
    for place, content in ((folder / name, content) for folder in folders for name, content in _deepest_first(files)):
        change = _write(place, content, draft.improves, known, unit)
        if isinstance(change, Problem):
            problems.append(change)
        else:
            writes.append(change)
    if problems:
        return Plan("review"), tuple(problems)
    targets = tuple(Published(write.path, digest(write.after) or "") for write in writes)
    record = replace(record, name=skill_name, targets=targets)
    needed = [write for write in writes if write.before != write.after]
    return Plan("review", (*needed, *_archive(draft, now, unit, "published"), _record(record, unit))), ()


def _folders(draft: Draft, name: str, settings: ReviewSettings, home: Path) -> tuple[Path, ...]:
    """The folders that publishing writes to: the improved skill's own, else one below each chosen folder."""
    if draft.improves is not None:
        return (Path(draft.improves.path).parent,)
    folders = (home / folder[2:] if folder.startswith("~/") else Path(folder) for folder in settings.skills_folders)
    return tuple(dict.fromkeys(folder.absolute() / name for folder in folders))


def _write(
    place: Path, text: str, improves: Improvement | None, published: Mapping[str, Published], unit: str
) -> Change | Problem:
    """The change that publishes to `place`; a file that is not as we or the draft know it is never written over."""
    after = text.encode("utf-8")
    before = read_bytes(place)
    improved = improves is not None and str(place) == improves.path
    why = "improved skill published" if improves else "skill published"
    if before is None and improved:
        return Problem(str(place), None, "the skill to improve is gone; reject the draft", "target")
    if before is None or before == after:
        return Change(str(place), before, after, why, unit)
    found = digest(before)
    if improves is not None and improved:
        if found == improves.sha256:
            return Change(str(place), before, after, why, unit)
        reason = "changed since the improvement was drafted; run `hotwash promote` to draft it anew"
        return Problem(str(place), None, reason, "target")
    ours = published.get(str(place))
    if ours is not None and ours.sha256 == found:
        return Change(str(place), before, after, why, unit)
    reason = "changed by hand since it was published" if ours else "is there already and is not ours"
    return Problem(str(place), None, f"{reason}; it was left as it is. Publish under another name", "target")


def _deepest_first(files: Mapping[str, str]) -> list[tuple[str, str]]:
    """Files so ordered that a folder is empty, and goes, when the last one in it goes."""
    return sorted(files.items(), key=lambda item: (-item[0].count("/"), item[0]))


def _archive(draft: Draft, now: datetime, unit: str, why: str) -> tuple[Change, ...]:
    """The draft's files go to the archive, in a folder of their own."""
    folder = f"{ARCHIVE}/{draft.folder}-{now.astimezone(UTC):%Y%m%dT%H%M%S}-{draft.digest[:8]}"
    files = {**draft.files, EVIDENCE_FILE: draft.evidence_text}
    moves = [
        move(f"{draft.folder}/{name}", f"{folder}/{name}", text.encode("utf-8"), f"draft {why}")
        for name, text in _deepest_first(files)
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
