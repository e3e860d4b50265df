"""The chains of stages: a session's end, the weekly pass, the daily one. Each stage plans; the pass applies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from flows.context import Pass, World, open_pass
from flows.ingest import choose_files, ingest
from flows.report import Report
from index.changes import write_derived
from index.search import render_index
from index.store import INDEX_FILE
from reflect.inbox import plan_inbox
from reflect.spool import read_spool


def session_end(
    world: World, paths: Sequence[Path] | None = None, from_spool: bool = False, dry_run: bool = False
) -> Report:
    """Ingest the given transcripts, else what the spool names, else every new one on this machine; then the inbox,
    the scan, the memory, the drafts and the index."""
    with open_pass(world, "run", dry_run) as run:
        events = () if dry_run else read_spool(world.root)
        ingest(run, choose_files(world, paths, events, from_spool), events, asked=paths is not None)
        file_inbox(run)
        quarantine(run)
        promote(run)
        finish(run)
        return run.report


def curate(world: World, dry_run: bool = False) -> Report:
    """The weekly pass: sessions that no hook reported, then every stage over the whole store."""
    with open_pass(world, "curate", dry_run) as run:
        events = () if dry_run else read_spool(world.root)
        ingest(run, choose_files(world, None, events, from_spool=False), events, asked=False)
        file_inbox(run)
        quarantine(run)
        decay(run)
        deduplicate(run)
        consolidate(run)
        quarantine(run)
        promote(run)
        finish(run)
        if not dry_run:
            take_snapshot(world)
        return run.report


def daily(world: World, dry_run: bool = False) -> Report:
    """The memory block and the snapshot."""
    with open_pass(world, "daily", dry_run) as run:
        finish(run)
        if not dry_run:
            take_snapshot(world)
        return run.report
