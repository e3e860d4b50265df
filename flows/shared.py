"""Shared stores that this machine gives lessons from are kept up to date with their files, and never written to.

A repository's store is given from once a person has indexed it here (`hotwash index --store REPO/.hotwash`): a folder
that was merely cloned gives nothing. From then on each run looks at what a pull has changed; scan verdicts and database
lie in the personal store.
"""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

from curate.neighbours import Read, held_against_store
from curate.verdicts import (
    Verdicts,
    read_released,
    read_verdicts,
    scan_missing,
    servable,
    write_verdicts,
)
from detectors.poison.scan import rule_set_version, scan_solution
from flows.context import World
from flows.stages import RECALL_KEY, recall_key
from index.files import read_bytes, write_derived
from index.recall_db import SHARED, build, is_usable
from index.store import QUARANTINE, Store, read_store


def refresh_shared(world: World) -> list[Path]:
    """Bring the databases of all shared stores that were indexed here up to date; the stores that were rebuilt.

    One whose folder has gone is left as it is; a database that cannot be written is for the next run.
    """
    rebuilt = []
    for note in sorted((world.root / SHARED).glob("*.path")):
        root = Path((read_bytes(note) or b"").decode("utf-8", "surrogateescape"))
        if not root.is_absolute() or not root.is_dir() or root == world.root:
            continue
        own = note.with_suffix("")  # a folder of our own for what is known of it
        store = read_store(root)
        verdicts = scan(root, own, store)
        clean = {solution.path: servable(solution, verdicts) for solution in store.solutions}
        today, target = world.now.date(), note.with_suffix(".db")
        key = recall_key(store.solutions, clean, today)
        if is_usable(target) and read_bytes(own / RECALL_KEY) == key:
            continue
        try:
            build(target, store.solutions, clean, today, stale_days=world.settings.decay.stale_days)
        except sqlite3.Error:
            continue
        write_derived(own / RECALL_KEY, key)
        rebuilt.append(root)
    return rebuilt


def scan(root: Path, own: Path, store: Store) -> Verdicts:
    """The verdicts on a shared store's lessons as they stand. What a repository says of its own verdicts is not read;
    what its people have released is, since that is committed and reviewed."""
    known = replace(read_verdicts(own, rule_set_version()), released=read_released(root))
    verdicts = scan_missing(store.solutions, known, scan_solution)
    verdicts = held_against_store(
        store.solutions, verdicts, lambda: read_store(root, QUARANTINE).solutions, read=Read(own)
    )
    write_verdicts(own, verdicts)
    return verdicts
