"""Which lessons are stale, and which move to the archive because nothing has spoken for them for long.

A lesson of age `a` days (today minus its newest evidence, see `curate.evidence`) is stale from `stale_days * f` and is
archived from `archive_days * f`, where

    f = (2 if reviewed) * (2 if of high importance) * (1 + min(helpful - harmful, 10) / 5, at least 1)
        * (1/2 if priority is below 0)

`principle` lessons and those of priority 1 never leave. One that has expired leaves at once. Staleness is only noted;
the archive is a move with the reason in the front matter, and the file keeps its mtime.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta
from operator import attrgetter

from curate.evidence import Evidence
from curate.named_things import Checked
from curate.retire import plan_restore
from index.changes import Change, Note, Plan, move
from index.frontmatter import edit_frontmatter
from index.plural import plural
from index.records import Solution
from index.settings import DecaySettings
from index.signature import error_signature
from index.store import ARCHIVE, retired_path

SHORTEST_TRIGGER = 12  # characters; a shorter error text is in too many outputs to be exact


def plan_decay(
    solutions: Iterable[Solution],
    evidence: Mapping[str, Evidence],
    today: date,
    settings: DecaySettings,
    mtimes: Mapping[str, int] | None = None,
    checks: Mapping[str, Checked] | None = None,
    taken: Collection[str] = (),
    budget: Callable[[Plan], Plan] = lambda plan: plan,
) -> Plan:
    """Move what is too old to the archive, oldest first; note what is stale and what can no longer be verified.

    `mtimes` in nanoseconds are given to the moved files; `checks` say by id what became of the things a lesson names;
    `taken` are paths that the archive has already. `budget` takes out of the plan what may not leave.
    """
    changes: list[tuple[int, tuple[Change, ...]]] = []
    leaving: dict[str, tuple[Solution, str]] = {}
    skipped: list[tuple[str, str]] = []
    notes: list[Note] = []
    unknown, checks, mtimes = Evidence(None, "unknown"), checks or {}, mtimes or {}
    reasons: dict[tuple[str, date | None], str] = {}  # of many lessons, on few days
    for solution in sorted(solutions, key=attrgetter("path")):
        found = evidence.get(solution.path, unknown)
        checked = checks.get(solution.id)
        if checked is not None and checked.missing:
            notes.append(Note("unverifiable", solution.path, checked.describe()))
        if checked is not None and checked.on and (found.date is None or checked.on > found.date):
            found = Evidence(checked.on, "checked", found.latest)
        if keeps_for_ever(solution):
            skipped.append((solution.path, "never decays"))
            if solution.expires and solution.expires < today:
                notes.append(Note("expired", solution.path, f"expired on {solution.expires}, but it never decays."))
            continue
        slow = slowness(solution)
        age = (today - found.date).days if found.date else 0
        if reason := _why_archive(solution, found, today, settings.archive_days * slow):
            pair = _archive(solution, reason, today, mtimes.get(solution.path), taken)
            leaving[pair[0].path] = solution, reason
            changes.append((-age, pair))
        else:
            why = found.how, found.date
            reasons[why] = kept = reasons.get(why) or _why_keep(found, today)
            skipped.append((solution.path, kept))
            if found.date is not None and age >= settings.stale_days * slow:
                notes.append(Note("stale", solution.path, _stale_text(found, today, settings.archive_days * slow)))
    changes.sort(key=lambda item: (item[0], item[1][0].path))
    plan = budget(Plan("decay", tuple(change for _, pair in changes for change in pair), tuple(skipped), tuple(notes)))
    # The texts only now: of a store that was left alone for long, few of those that are due may leave at once.
    return replace(
        plan, changes=tuple(_with_reason(change, leaving.get(change.path), today) for change in plan.changes)
    )


def slowness(solution: Solution) -> float:
    """The factor on both periods; the formula is at the top of this module."""
    factor = 2.0 if solution.trust == "reviewed" else 1.0
    if solution.importance == "high":
        factor *= 2
    if (helped := solution.helpful - solution.harmful) > 0:
        factor *= 1 + min(helped, 10) / 5
    return factor / 2 if solution.priority < 0 else factor


def keeps_for_ever(solution: Solution) -> bool:
    """Whether the lesson never decays."""
    return solution.type == "principle" or solution.priority >= 1


def matching_archived(errors: Iterable[str], archived: Iterable[Solution]) -> tuple[tuple[Solution, str], ...]:
    """The archived lessons that an error text calls back, each with the trigger that matched exactly.

    A trigger matches where the error contains it word for word (case and spacing aside) or has the same signature.
    What was superseded or is marked to be buried does not come back.
    """
    texts = [f" {_squeeze(error)} " for error in errors]
    signatures = {signature for error in errors if (signature := error_signature(error))}
    found: list[tuple[Solution, str]] = []
    for solution in sorted(archived, key=lambda one: one.path):
        if solution.superseded_by or solution.priority < 0:
            continue
        for trigger in solution.triggers.errors:
            wanted = _squeeze(trigger)
            exact = len(wanted) >= SHORTEST_TRIGGER and any(_has(text, wanted) for text in texts)
            if exact or error_signature(trigger) in signatures:
                found.append((solution, trigger))
                break
    return tuple(found)


def plan_return(
    matches: Iterable[tuple[Solution, str]],
    today: datetime,
    live_paths: Collection[str],
    live_ids: Collection[str] = (),
) -> Plan:
    """Bring archived lessons back to the places they had; where a place or an id is taken, the lesson is left."""
    changes: list[Change] = []
    skipped: list[tuple[str, str]] = []
    for solution, trigger in matches:
        to = solution.path.removeprefix(f"{ARCHIVE}/")
        if to in live_paths or solution.id in live_ids:
            skipped.append((solution.path, "a live lesson has its place or its id"))
            continue
        why = f"called back by its error trigger {trigger!r}"
        changes += [
            Change(change.path, change.before, change.after, why, change.unit)
            for change in plan_restore(solution, today).changes
        ]
    return Plan("return", tuple(changes), tuple(skipped))


def _why_archive(solution: Solution, evidence: Evidence, today: date, after: float) -> str:
    """Why a lesson leaves that may after so many days; "" for one that stays."""
    if solution.expires and solution.expires < today:
        return f"expired on {solution.expires}"
    if evidence.date is None or (today - evidence.date).days < after:
        return ""
    if evidence.latest is not None and (today - evidence.latest).days < after:
        return ""
    return f"no evidence for {plural((today - evidence.date).days, 'day')} (last: {evidence.how} {evidence.date})"


def _why_keep(evidence: Evidence, today: date) -> str:
    if evidence.date is None:
        return "its age is unknown"
    return f"{evidence.how} {plural(max((today - evidence.date).days, 0), 'day')} ago"


def _stale_text(evidence: Evidence, today: date, after: float) -> str:
    last = max(evidence.date or today, evidence.latest or evidence.date or today)
    leaves = last + timedelta(days=-int(-after // 1))
    age = (today - evidence.date).days if evidence.date else 0
    return f"no evidence for {plural(age, 'day')} (last: {evidence.how} {evidence.date}); archived from {leaves} on."


def _archive(
    solution: Solution, why: str, today: date, mtime_ns: int | None, taken: Collection[str]
) -> tuple[Change, ...]:
    to = retired_path(ARCHIVE, solution.path)
    if to in taken:
        to = f"{to.removesuffix('.md')}-{today.isoformat()}.md"
    return move(solution.path, to, solution.text.encode(), why, mtime_ns)


def _with_reason(change: Change, archived: tuple[Solution, str] | None, today: date) -> Change:
    """The change that brings a lesson into the archive, with the reason in its front matter; any other as it is."""
    if archived is None:
        return change
    solution, why = archived
    text = edit_frontmatter(solution.text, {"archived": {"date": today, "why": why}})
    return replace(change, after=text.encode())


def _squeeze(text: str) -> str:
    return " ".join(text.casefold().split())


def _has(text: str, wanted: str) -> bool:
    """Whether `wanted` stands in `text` and is not a part of longer words."""
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if not (text[at - 1].isalnum() and wanted[0].isalnum()) and not (text[end].isalnum() and wanted[-1].isalnum()):
            return True
        at = text.find(wanted, at + 1)
    return False
