"""The one place that writes memory: apply a plan, and roll back what a killed run left half done.

A plan lands in three steps: every change of the stage goes into `journal/<run>.jsonl` with the bytes it replaces
(fsync), then the files are written one by one (temporary file, fsync, rename), then the journal says the stage is
done. A process that dies in between is rolled back by `recover` before the next run plans anything, so a store is
always as it was before a stage or as it is after it.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from index.changes import Applied, Change, Note, Plan, Run, digest
from index.errors import StoreError
from index.files import read_bytes, sweep_temporaries, sync_folder, temporary, write_atomic
from index.journal import (
    ROLLED_BACK,
    JournalStage,
    append_lines,
    decode_bytes,
    encode_bytes,
    finished_lines,
    half_done,
    is_damaged,
    journal_ended,
    journal_path,
    mtime_of,
    read_journal,
)
from index.store import JOURNAL


def _inside(root: Path, path: str) -> Path:
    """The place of a change; refuses one that a symbolic link leads out of the store."""
    place = root / path
    if Path(path).is_absolute():
        return place
    parent = place.parent.resolve()
    if not parent.is_relative_to(root.resolve()):
        raise StoreError(f"{path}: leads out of the store through a symbolic link; nothing was written there.")
    return place


def _refuse(plan: Plan, root: Path) -> tuple[list[Change], list[tuple[str, str]]]:
    """The changes whose files are still what the plan read, and the rest with the reason."""
    refused: list[tuple[str, str]] = []
    stale_units: set[str] = set()
    for change in plan.changes:
        reason = ""
        try:
            if read_bytes(_inside(root, change.path)) != change.before:
                reason = "changed since it was read"
        except (StoreError, OSError) as error:
            reason = str(error)
        if reason:
            refused.append((change.path, reason))
            stale_units.add(change.unit or change.path)
    fresh = [change for change in plan.changes if (change.unit or change.path) not in stale_units]
    known = {path for path, _ in refused}
    refused += [
        (change.path, "belongs to a change that was refused")
        for change in plan.changes
        if (change.unit or change.path) in stale_units and change.path not in known
    ]
    return fresh, refused


def _land(change: Change, root: Path) -> None:
    place = _inside(root, change.path)
    if change.after is not None:
        write_atomic(place, change.after, change.mtime_ns)
        return
    with contextlib.suppress(FileNotFoundError):
        place.unlink()
    folder = place.parent
    # A folder that a move has emptied goes too; the store's own stay, as people and agents drop files into the inbox.
    with contextlib.suppress(OSError):
        if root.resolve() not in (folder.resolve(), folder.parent.resolve()):
            folder.rmdir()


def start_run(root: Path, run: Run, started: str) -> None:
    """Open the run's journal. Called under the store's lock, before the first plan is applied."""
    append_lines(
        journal_path(root, run.id), [{"run": run.id, "command": run.command, "undoes": run.undoes, "at": started}]
    )


def end_run(root: Path, run: Run, ended: str, counts: dict[str, int]) -> None:
    """Close the run's journal; a run that changed nothing leaves none.

    One with a stage that could not even be rolled back (a full disk) stays open: the next run rolls it back.
    """
    journal = journal_path(root, run.id)
    _, stages, _ = read_journal(journal)
    if half_done(stages):
        return
    if any(stage.changes for stage in stages):
        append_lines(journal, [{"end": ended, "counts": counts}])
    else:
        journal.unlink()


def apply(plan: Plan, root: Path, run: Run) -> Applied:
    """Write every change of a plan, or put back what was written and raise. The caller holds the store's lock.

    A file that is no longer what the plan read is left alone, with the changes that belong to it, and named in the
    answer; the rest goes on.
    """
    fresh, refused = _refuse(plan, root)
    if not fresh:
        return Applied((), tuple(refused))
    journal = journal_path(root, run.id)
    lines: list[dict[str, Any]] = [{"stage": plan.stage, "changes": len(fresh)}]
    lines += [
        {
            "path": change.path,
            "why": change.why,
            "before": digest(change.before),
            "after": digest(change.after),
            "was": encode_bytes(change.before if change.kept is None else change.kept),
            "mtime": mtime_of(root / change.path),
        }
        for change in fresh
    ]
    append_lines(journal, lines)
    try:
        for change in fresh:
            _land(change, root)
        for folder in sorted({(root / change.path).parent for change in fresh}):
            sync_folder(folder)
    except BaseException:
        _roll_back(JournalStage(plan.stage, len(fresh), lines[1:]), root)
        append_lines(journal, [{"stage": f"{plan.stage}{ROLLED_BACK}", "changes": 0}, {"done": plan.stage}])
        raise
    append_lines(journal, [{"done": plan.stage}])
    return Applied(tuple(fresh), tuple(refused))


def _roll_back(stage: JournalStage, root: Path) -> list[str]:
    """Put back what a stage had written; names the files that someone else has changed since, which stay."""
    kept: list[str] = []
    for line in reversed(stage.changes):
        place = root / line["path"]
        with contextlib.suppress(OSError):
            temporary(place).unlink()
        now = digest(read_bytes(place))
        if now == line["before"]:
            continue
        if now != line["after"]:
            kept.append(line["path"])
            continue
        _land(Change(line["path"], None, decode_bytes(line["was"]), "", "", line["mtime"]), root)
    return kept


def recover(root: Path, now: str) -> tuple[Note, ...]:
    """Roll back what a killed run left half done; the caller holds the lock. Says what it did."""
    notes: list[Note] = []
    killed = [path for path in sorted((root / JOURNAL).glob("*.jsonl")) if not journal_ended(path)]
    if killed:
        sweep_temporaries(root)
    for journal in killed:
        if is_damaged(journal):
            # What it says can't be trusted, and must not be lost: it is set aside for a person to look at.
            aside = journal.with_suffix(".damaged")
            journal.replace(aside)
            notes.append(
                Note("damaged", f"{JOURNAL}/{aside.name}", "holds lines that cannot be read; it was set aside.")
            )
            continue
        _, stages, end = read_journal(journal)
        if end is not None:
            continue
        for stage in half_done(stages):
            kept = _roll_back(stage, root)
            notes.append(Note("recovered", journal.stem, f"{stage.name} had been interrupted; it was rolled back."))
            notes += [Note("kept", path, "edited since the interruption; left as it is.") for path in kept]
        finished = [stage for stage in stages if stage.done and stage.changes]
        if finished:
            rewrite = [line for line in journal.read_bytes().split(b"\n") if line]
            write_atomic(journal, b"\n".join(finished_lines(rewrite)) + b"\n")
            append_lines(journal, [{"end": now, "counts": {}, "interrupted": True}])
        else:
            journal.unlink()
    return tuple(notes)
