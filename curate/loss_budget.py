"""How much of the live store the pipeline may archive without a person, over all its runs.

At most `budget_per_pass` of the live store leaves in one pass, and `budget_per_quarter` in any 91 days, each at least
`budget_least` lessons, as a share of a handful is nothing. What fits goes, first come first; the rest waits and is
named. A plan that wants more than a whole quarter's share at once gets nothing: then the dates or the rules are more
likely wrong than the lessons.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from pathlib import Path

from index.changes import Change, Note, Plan
from index.journal import read_journal
from index.settings import DecaySettings
from index.store import JOURNAL, SOLUTIONS

QUARTER_DAYS = 91
COUNTED = frozenset(
    {"decay", "dedup", "consolidate"}
)  # stages that decide by themselves; a person's own are not counted


def loss_budget(
    plan: Plan,
    losses: Iterable[tuple[date, int]],
    live: int,
    today: date,
    settings: DecaySettings,
    *,
    approved: bool = False,
) -> Plan:
    """The part of a plan that the budget allows, the rest as skipped with a note; all of it where a person approved.

    `losses` are (day, lessons that left) of earlier runs, `live` the lessons in the store now. Changes that belong
    together stay together, in the order of the plan.
    """
    units = _units(plan.changes)
    wanted = sum(lost for lost, _ in units)
    if approved or not wanted:
        return plan
    spent = sum(count for day, count in losses if today - timedelta(days=QUARTER_DAYS) < day <= today)
    per_pass = max(int(settings.budget_per_pass * live), settings.budget_least)
    per_quarter = max(int(settings.budget_per_quarter * (live + spent)), settings.budget_least)
    left = min(per_pass, max(per_quarter - spent, 0))
    if wanted <= left:
        return plan
    if wanted > per_quarter:
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
    text = (
        f"{wanted} of {live} lessons would leave; {allowed} may without a person "
        f"({per_pass} a pass, {per_quarter} a quarter of which {spent} are spent)."
    )
    return Plan(plan.stage, tuple(kept), (*plan.skipped, *held), (*plan.notes, Note("budget", "", text)))


def read_losses(root: Path, today: date) -> tuple[tuple[date, int], ...]:
    """(day, lessons that left the live store) for each run of the last quarter, from the journals."""
    found: list[tuple[date, int]] = []
    runs = [read_journal(journal) for journal in sorted((root / JOURNAL).glob("*.jsonl"))]
    # What was undone has come back; newest first, since an undo may be undone itself.
    undone: set[str] = set()
    for head, _, _ in reversed(runs):
        if head.get("undoes") and head.get("run") not in undone:
            undone.add(str(head["undoes"]))
    for head, stages, _ in runs:
        if head.get("run") in undone:
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
    return change.after is None and change.path.startswith(f"{SOLUTIONS}/")


def _units(changes: Sequence[Change]) -> list[tuple[int, list[Change]]]:
    """The changes that belong together, with how many lessons leave by them (those that come count against)."""
    together: dict[str, list[Change]] = {}
    for change in changes:
        together.setdefault(change.unit or change.path, []).append(change)
    units: list[tuple[int, list[Change]]] = []
    for unit in together.values():
        comes = sum(change.before is None and change.path.startswith(f"{SOLUTIONS}/") for change in unit)
        units.append((max(sum(map(_leaves, unit)) - comes, 0), unit))
    return units
