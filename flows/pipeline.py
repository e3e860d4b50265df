"""The chains of stages: a session's end, the weekly pass, the daily one. Each stage plans; the pass applies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from curate.loss_budget import APPROVED
from flows.commits import take_commits
from flows.context import Pass, World, open_pass
from flows.ingest import choose_files, drop_dead_events, ingest
from flows.report import Report
from flows.review import follow_undo
from flows.shared import refresh_shared
from flows.stages import (
    adopt_files,
    conclude,
    consolidate,
    decay,
    deduplicate,
    expire_episodes,
    file_inbox,
    promote,
    quarantine,
    remember,
    revive,
    take_snapshot,
    write_index,
)
from index.changes import Plan
from index.undo import plan_undo
from reflect.spool import read_spool


def session_end(
    world: World, paths: Sequence[Path] | None = None, from_spool: bool = False, dry_run: bool = False
) -> Report:
    """Ingest the given transcripts, else what the spool names, else every new one on this machine; then the inbox,
    the scan, the drafts, the memory and the index."""
    with open_pass(world, "run", dry_run) as run:
        events = () if dry_run else read_spool(world.root)
        ingest(run, choose_files(world, paths, events, from_spool), events, asked=paths is not None)
        drop_dead_events(run, events)
        take_commits(run)
        if not dry_run:
            refresh_shared(world)
        revive(run)
        file_inbox(run)
        quarantine(run)
        promote(run)
        finish(run, memory_when_due=True)
        return run.report


WEEKLY: tuple[tuple[str, Callable[[Pass], None]], ...] = (
    ("bring back what was met again", revive),
    ("file the inbox", file_inbox),
    ("scan", quarantine),
    ("decay", decay),
    ("near-duplicates", deduplicate),
    ("the same in other words", consolidate),
    ("scan what was merged", quarantine),
    ("old episodes", expire_episodes),
    ("draft skills", promote),
)


def curate(world: World, dry_run: bool = False) -> Report:
    """The weekly pass: sessions that no hook reported, then every stage over the whole store.

    The scan comes before anything is merged, and again after: merging launders where a text came from.
    """
    with open_pass(world, "curate", dry_run) as run:
        events = () if dry_run else read_spool(world.root)
        ingest(run, choose_files(world, None, events, from_spool=False), events, asked=False)
        drop_dead_events(run, events)
        take_commits(run)
        if not dry_run:
            refresh_shared(world)
        for number, (what, stage) in enumerate(WEEKLY, 1):
            world.say(f"stage {number} of {len(WEEKLY)}: {what}")
            stage(run)
        finish(run)
        if not dry_run:
            world.say("taking a snapshot")
            take_snapshot(world, run.run)
        return run.report


def daily(world: World, dry_run: bool = False) -> Report:
    """The memory block and the snapshot."""
    with open_pass(world, "daily", dry_run) as run:
        finish(run)
        if not dry_run:
            take_snapshot(world, run.run)
        return run.report


def import_lessons(world: World, paths: Sequence[Path], dry_run: bool = False) -> Report:
    """Adopt lessons that exist already; they pass the same scan as all others."""
    with open_pass(world, "import", dry_run) as run:
        adopt_files(run, paths)
        quarantine(run)
        finish(run)
        return run.report


def rebuild_index(world: World, dry_run: bool = False) -> Report:
    """Only the derived files; the recall cache is made anew, whatever state it is in."""
    with open_pass(world, "index", dry_run) as run:
        write_index(run, whole=True)
        conclude(run)
        return run.report


STAGES: dict[str, Callable[[Pass], None]] = {
    "decay": decay,
    "dedup": deduplicate,
    "consolidate": consolidate,
    "scan": quarantine,
    "promote": promote,
}


def run_stage(world: World, name: str, dry_run: bool = False, approved: bool = False) -> Report:
    """One stage over the store as it stands, then the derived files; where a person `approved`, beyond the loss budget
    too."""
    with open_pass(world, APPROVED if approved else name, dry_run) as run:
        world.say(name)
        STAGES[name](run)
        write_index(run)
        conclude(run)
        return run.report


def undo(world: World, run_id: str, dry_run: bool = False) -> Report:
    """Reverse a run, as a run of its own that can be undone too.

    It is planned under the lock, once what a killed run left half done was rolled back.
    """
    with open_pass(world, "undo", dry_run, run_id) as run:
        return _land_one(run, follow_undo(plan_undo(world.root, run_id), dry_run))


def apply_one(world: World, command: str, plan: Plan, dry_run: bool = False) -> Report:
    """Land one plan that a person asked for, and bring the derived files up to date."""
    with open_pass(world, command, dry_run) as run:
        return _land_one(run, plan)


def _land_one(run: Pass, plan: Plan) -> Report:
    run.land(plan)
    run.scan()
    write_index(run)
    conclude(run)
    return run.report


def refresh(world: World, command: str) -> None:
    """The memory block and the derived files, after the store was changed in another way than by a plan."""
    with open_pass(world, command) as run:
        finish(run)


def finish(run: Pass, memory_when_due: bool = False) -> None:
    """What every chain ends with: the memory block, the derived files, the report."""
    remember(run, memory_when_due)
    write_index(run)
    conclude(run)
