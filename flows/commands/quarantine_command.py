"""Pull all that derives from a source that turned out bad: lessons, merges of them, drafts and published skills.

It says what it pulled; `hotwash undo` brings it back. Exit code 1 where nothing derives from the source.
"""

from __future__ import annotations

import argparse

from flows.commands.common import open_world, print_report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash quarantine`."""
    parser.add_argument(
        "--source", metavar="SOURCE", required=True, help="a session's key, an address, or a file's SHA-256"
    )
    parser.add_argument("--why", metavar="TEXT", default="", help="the reason, kept with what is pulled")
    parser.add_argument("--dry-run", action="store_true", help="show what would be pulled, and write nothing")


def call(options: argparse.Namespace) -> int:
    """Quarantine what derives from a source."""
    from curate.drafts import read_decisions, read_drafts
    from curate.quarantine import plan_quarantine_source
    from flows.pipeline import apply_one
    from index.errors import StoreError
    from index.files import read_bytes
    from index.store import ARCHIVE, QUARANTINE, read_store

    world = open_world(options)
    plan = plan_quarantine_source(
        read_store(world.root).solutions,
        options.source,
        options.why,
        retired=[one for folder in (ARCHIVE, QUARANTINE) for one in read_store(world.root, folder).solutions],
        drafts=read_drafts(world.root)[0],
        decisions=read_decisions(world.root)[0],
        read=lambda path: read_bytes(world.root / path),
    )
    if not plan.notes:
        raise StoreError(f"{options.source}: nothing in this store derives from it; `hotwash why ID` shows sources.")
    return print_report(apply_one(world, "quarantine", plan, options.dry_run), options)
