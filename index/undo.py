"""The inverse of a run, read from its journal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from index.changes import Change, Plan, digest
from index.errors import UndoRefused, UnknownName
from index.files import read_bytes
from index.journal import decode_bytes, journal_path, mtime_of, read_journal, read_runs


def plan_undo(root: Path, run_id: str) -> Plan:
    """The inverse of everything a run did; raises UndoRefused where a file is no longer what the run left.

    Several stages may have touched one file: its first bytes come back. A file that is back already is left alone.
    """
    journal = journal_path(root, run_id)
    if not journal.is_file():
        known = ", ".join([run["run"] for run in read_runs(root) if run["stages"]][-5:]) or "none"
        raise UnknownName(f"There is no run {run_id}. The last ones: {known}.")
    _, stages, _ = read_journal(journal)
    if any(line.get("forgotten") for stage in stages for line in stage.changes):
        raise UndoRefused(
            f"Run {run_id} can't be undone: part of what it did was forgotten on purpose, nothing is kept."
        )
    first: dict[str, dict[str, Any]] = {}
    last: dict[str, str | None] = {}
    for line in (line for stage in stages if stage.done for line in stage.changes):
        first.setdefault(line["path"], line)
        last[line["path"]] = line["after"]
    changes: list[Change] = []
    hanging: list[str] = []
    for path, line in first.items():
        now = read_bytes(root / path)
        found = digest(now)
        touched = found == last[path] and mtime_of(root / path) != line["mtime"]
        if found == line["before"] and not touched:
            continue  # it is back already: the run was undone before, or its undoing was killed at the end
        if found != last[path]:
            hanging.append(path)
        else:
            why = f"undo {run_id}: {line['why']}"
            changes.append(Change(path, now, decode_bytes(line["was"]), why, "undo", line["mtime"]))
    if hanging:
        later = [
            run["run"]
            for run in read_runs(root)
            if run.get("run", "") > run_id and _touches(journal_path(root, run["run"]), set(hanging))
        ]
        hint = f"Undo {', '.join(reversed(later))} first." if later else "They were edited by hand; a hand edit stays."
        raise UndoRefused(f"Run {run_id} can't be undone: {', '.join(sorted(hanging))} changed since. {hint}")
    return Plan("undo", tuple(changes))


def _touches(journal: Path, paths: set[str]) -> bool:
    _, stages, _ = read_journal(journal)
    return any(line["path"] in paths for stage in stages for line in stage.changes)
