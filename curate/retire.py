"""What a person does to single lessons: bring one back, replace one by another, release one; each as a plan."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from curate.verdicts import DECISIONS, text_hash
from index.changes import Change, Plan, move
from index.errors import UsageError
from index.frontmatter import edit_frontmatter
from index.records import Solution
from index.store import ARCHIVE, QUARANTINE, retired_path

# Keys that say why a lesson had left the live store; they go when it comes back.
LEFT_KEYS = ("archived", "quarantined")


def without_keys(text: str, keys: tuple[str, ...]) -> str:
    """A file's text without these one-line front-matter keys."""
    header_end = text.find("\n---", 3)
    head, rest = text[:header_end], text[header_end:]
    kept = [line for line in head.split("\n") if not line.startswith(tuple(f"{key}:" for key in keys))]
    return "\n".join(kept) + rest


def plan_restore(solution: Solution, today: datetime) -> Plan:
    """Bring an archived or quarantined lesson back to the place it had; it counts as verified today.

    A quarantined one is scanned again before anything serves it, so it must be released too.
    """
    folder = next((name for name in (ARCHIVE, QUARANTINE) if solution.path.startswith(f"{name}/")), None)
    if folder is None:
        raise UsageError(f"{solution.id} is live already, at {solution.path}.")
    text = edit_frontmatter(without_keys(solution.text, LEFT_KEYS), {"verified": today.date()})
    if solution.superseded_by:
        text = edit_frontmatter(text, {"superseded_by": None})
    to = solution.path.removeprefix(f"{folder}/")
    changes = move(solution.path, to, solution.text.encode(), f"brought back from {folder}", new=text.encode())
    return Plan("restore", changes)


def plan_supersede(old: Solution, new: Solution, why: str) -> Plan:
    """Archive `old` as replaced by `new`; both keep their history."""
    if old.id == new.id:
        raise UsageError("A lesson cannot replace itself.")
    return Plan("supersede", supersede_changes(new, [(old, why or f"replaced by {new.id}")]))


def supersede_changes(
    new: Solution,
    olds: Sequence[tuple[Solution, str]],
    mtimes: Mapping[str, int] | None = None,
    *,
    goes_too: bool = False,
    triggers: bool = False,
) -> tuple[Change, ...]:
    """Each old lesson's move into the archive with its reason, and the new one, which names them.

    `mtimes` in nanoseconds, by path, are kept where they are given. A new one that `goes_too`, since something newer
    still replaces it, is left as it is. With `triggers` it also fires where the old ones did.
    """
    times = mtimes or {}
    unit = f"supersede {new.id}" if len(olds) > 1 else f"supersede {olds[0][0].id}"
    changes: list[Change] = []
    for old, reason in olds:
        retired = edit_frontmatter(old.text, {"superseded_by": new.id, "archived": reason}).encode()
        to = retired_path(ARCHIVE, old.path)
        moved = move(old.path, to, old.text.encode(), reason, times.get(old.path), retired)
        changes += [replace(change, unit=unit) for change in moved]
    if goes_too:
        return tuple(changes)
    values: dict[str, object] = {"supersedes": [*dict.fromkeys((*new.supersedes, *(old.id for old, _ in olds)))]}
    fires = new.triggers
    for old, _ in olds if triggers else ():
        fires = fires.union(old.triggers)
    if fires != new.triggers:
        values["triggers"] = fires
    newer = edit_frontmatter(new.text, values).encode()
    why = "replaces " + ", ".join(old.id for old, _ in olds)
    return (*changes, Change(new.path, new.text.encode(), newer, why, unit, times.get(new.path)))


def plan_release(solution: Solution, by: str, why: str, today: datetime, earlier: bytes | None = None) -> Plan:
    """Mark a lesson as reviewed by a person: what was external or suspect may be served from now on.

    The decision is a file of its own that names the text by hash: nothing that a lesson says of itself clears it, and
    a released lesson that is edited is suspect again. `earlier` is an older decision file on the same lesson.
    """
    if not by.strip() or not why.strip():
        raise UsageError("A release needs a name and a reason: --by NAME --why TEXT.")
    released = {"by": by.strip(), "why": why.strip(), "on": today.date().isoformat()}
    text = edit_frontmatter(solution.text, {"trust": "reviewed", "released": released})
    why_line = f"released by {by.strip()}: {why.strip()}"
    decision = json.dumps({"id": solution.id, "body": text_hash(solution.body), **released}, indent=1) + "\n"
    place = f"{DECISIONS}/release-{solution.id}.json"
    unit = f"release {solution.id}"
    return Plan(
        "release",
        (
            Change(solution.path, solution.text.encode(), text.encode(), why_line, unit),
            Change(place, earlier, decision.encode(), why_line, unit),
        ),
    )
