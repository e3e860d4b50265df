"""How much of the live store the pipeline may archive without a person, over all its runs.

At most `budget_per_pass` of the live store leaves in one pass, by whichever of its stages, and `budget_per_quarter` in
any 91 days, each at least `budget_least` lessons, as a share of a handful is nothing. What fits goes, first come first;
the rest waits and is named. A plan that wants more than a whole quarter's share gets nothing: then the dates or the
rules are more likely wrong than the lessons. What a person let go counts for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from pathlib import Path

from index.changes import Change, Note, Plan
from index.journal import read_journal
from index.plural import plural
from index.settings import DecaySettings
from index.store import JOURNAL, SOLUTIONS

QUARTER_DAYS = 91
# Stages that decide by themselves; a person's own are not counted.
COUNTED = frozenset({"decay", "dedup", "newer", "consolidate"})
_LIVE = f"{SOLUTIONS}/"
APPROVED = "approve"  # the command of a run in which a person let all go that was planned


def loss_budget(
    plan: Plan,
    losses: Iterable[tuple[date, int]],
    live: int,
    today: date,
    settings: DecaySettings,
    *,
    passed: int = 0,
    approved: bool = False,
) -> Plan:
    """The part of a plan that the budget allows, the rest as skipped with a note; all of it where a person approved.

    `losses` are (day, lessons that left) of earlier runs, `live` the lessons in the store now, `passed` those that
    earlier stages of this pass took. Changes that belong together stay together, in the order of the plan.
    """
    units = _units(plan.changes)
    wanted = sum(lost for lost, _ in units)
    if approved or not wanted:
        return plan
    spent = passed + sum(count for day, count in losses if today - timedelta(days=QUARTER_DAYS) < day <= today)
    per_pass = max(int(settings.budget_per_pass * (live + passed)), settings.budget_least)
    per_quarter = max(int(settings.budget_per_quarter * (live + spent)), settings.budget_least)
    left = max(min(per_pass - passed, per_quarter - spent), 0)
    if wanted <= left:
        return plan
    if passed + wanted > per_quarter:
        left = 0
    kept: list[Change] = []
    held: list[tuple[str, str]] = []
    allowed = 0
    for lost, unit in units:
        if lost <= left:
            left -= lost
            allowed += lost
            kept += unit
        else:
            held += [(change.path, "over the loss budget; waits for review") for change in unit if _leaves(change)]
    command = "consolidate" if plan.stage == "newer" else plan.stage
    text = (
        f"{wanted} of {plural(live, 'lesson')} would leave; {allowed} may without a person: at most {per_pass} a pass "
        f"and {per_quarter} a quarter ({spent} spent), and none of a plan beyond the quarter's. The rest waits: "
        f"look at it with `hotwash {command} --dry-run`, let it go with `hotwash {command} --approve`."
    )
    return Plan(plan.stage, tuple(kept), (*plan.skipped, *held), (*plan.notes, Note("budget", "", text)))


def lessons_lost(changes: Iterable[Change]) -> int:
    """How many lessons leave the live store by these changes, those that come counted against them."""
    live = [change for change in changes if change.path.startswith(_LIVE)]
    return max(sum([(change.after is None) - (change.before is None) for change in live]), 0)


def read_losses(root: Path, today: date, but: str = "") -> tuple[tuple[date, int], ...]:
    """(day, lessons that left the live store) for each run of the last quarter, from the journals, but of the run
    `but` and of those that a person approved."""
    found: list[tuple[date, int]] = []
    runs = [read_journal(journal) for journal in sorted((root / JOURNAL).glob("*.jsonl"))]
    # What was undone has come back; newest first, since an undo may be undone itself.
    undone: set[str] = set()
    for head, _, _ in reversed(runs):
        if head.get("undoes") and head.get("run") not in undone:
            undone.add(str(head["undoes"]))
    for head, stages, _ in runs:
        if head.get("run") in undone or head.get("run") == but or head.get("command") == APPROVED:
            continue
        try:
            day = date.fromisoformat(str(head.get("at", ""))[:10])
        except ValueError:
            continue
        if not today - timedelta(days=QUARTER_DAYS) < day <= today:
            continue
        lost = 0
        for stage in stages:
            if stage.name in COUNTED and stage.done:
                paths = [line for line in stage.changes if str(line["path"]).startswith(f"{SOLUTIONS}/")]
                gone = sum(line["after"] is None for line in paths)
                lost += max(gone - sum(line["before"] is None for line in paths), 0)
        if lost:
            found.append((day, lost))
    return tuple(found)


def _leaves(change: Change) -> bool:
    return change.after is None and change.path.startswith(_LIVE)


def _units(changes: Sequence[Change]) -> list[tuple[int, list[Change]]]:
    """The changes that belong together, with how many lessons leave by them (those that come count against)."""
    together: dict[str, list[Change]] = {}
    lost: dict[str, int] = {}
    for change in changes:
        unit = change.unit or change.path
        together.setdefault(unit, []).append(change)
        if change.path.startswith(_LIVE):
            lost[unit] = lost.get(unit, 0) + (change.after is None) - (change.before is None)
    return [(max(lost.get(unit, 0), 0), members) for unit, members in together.items()]
