"""The stages of a pass, each a call of one planning function whose plan the pass lands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from curate.drafts import read_drafts
from curate.memory import plan_memory
from curate.snapshot import SNAPSHOTS, render_snapshot, snapshot_name, snapshots_to_drop
from flows.context import Pass, World
from index.changes import read_bytes, write_derived
from index.search import render_index
from index.store import INDEX_FILE, MEMORY_FILE, known_ids
from reflect.inbox import plan_import, plan_inbox, source_files


def file_inbox(run: Pass) -> None:
    """Move what can be used from the inbox into solutions/."""
    solutions = run.store.solutions
    adopted = {source.sha256 for solution in solutions for source in solution.sources if source.sha256}
    known = known_ids(run.world.root) | {solution.id for solution in solutions}
    run.land(plan_inbox(run.world.root, known, adopted, run.world.settings.redact))


def adopt_files(run: Pass, paths: Sequence[Path]) -> None:
    """Import the lessons that lie below the given paths."""
    solutions = run.store.solutions
    adopted = {source.sha256 for solution in solutions for source in solution.sources if source.sha256}
    known = known_ids(run.world.root) | {solution.id for solution in solutions}
    run.land(plan_import(source_files(paths), known, adopted, run.world.settings.redact))


def remember(run: Pass) -> None:
    """Bring the managed block of MEMORY.md up to date."""
    existing = read_bytes(run.world.root / MEMORY_FILE)
    settings = run.world.settings.memory
    run.land(plan_memory(existing, run.store.solutions, run.may_serve, settings, run.world.now.date()))


def write_index(run: Pass) -> None:
    """Write the derived files that differ: `.index.yaml` and the recall cache."""
    if not run.dry_run:
        write_derived(run.world.root / INDEX_FILE, render_index(run.store.solutions).encode())


def take_snapshot(world: World) -> str:
    """Write today's snapshot and drop those that the policy no longer keeps; returns its path."""
    folder = world.root / SNAPSHOTS
    place = folder / snapshot_name(world.now.date())
    write_derived(place, render_snapshot(world.root))
    names = [path.name for path in folder.glob("hotwash-*.tar.gz")]
    for name in snapshots_to_drop(names, world.settings.snapshot):
        (folder / name).unlink(missing_ok=True)
    return str(place)


def conclude(run: Pass) -> None:
    """Put into the report what the run added and what the store holds now."""
    new = [solution for solution in run.store.solutions if solution.id not in run.known_before]
    run.report.solutions = [(solution, run.verdicts.of(solution)) for solution in new]
    run.report.live = dict(sorted(Counter(solution.category for solution in run.store.solutions).items()))
    run.report.drafts = [draft.name for draft in read_drafts(run.world.root)[0]]
