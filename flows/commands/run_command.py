"""Ingest finished agent sessions and the inbox: read, redact, reflect, classify, scan, file, index, promote.

With no PATH it finds the sessions of every supported agent on this machine and reads the new ones, reading only.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from flows.commands.common import need_paths, open_world, print_report
from index.errors import UsageError
from reflect.spool import peek_spool

if TYPE_CHECKING:
    from flows.context import World


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash run`."""
    parser.add_argument("paths", nargs="*", metavar="PATH", type=Path, help="transcripts, or folders that hold some")
    parser.add_argument("--from-spool", action="store_true", help="only the sessions that hooks have reported")
    parser.add_argument("--dry-run", action="store_true", help="show what would be written, and write nothing")


def call(options: argparse.Namespace) -> int:
    """Run the session-end chain."""
    from flows.pipeline import session_end

    need_paths(options.paths)
    paths = [path.absolute() for path in options.paths] or None
    world = open_world(options)
    if not world.settings.enabled:
        raise UsageError("hotwash is switched off (HOTWASH_ENABLED, or `enabled:` in config.yaml). Nothing was read.")
    if options.from_spool and not options.dry_run and hand_over(world):
        return 0
    report = session_end(world, paths, options.from_spool, options.dry_run)
    return print_report(report, options)


def hand_over(world: World) -> bool:
    """Give the spooled sessions to a Prefect server that serves this store; false where none does, so that they are
    worked on here. The same event makes the same run, however often it is handed over."""
    from flows.prefect_api import create_session_end_run, read_serving

    if not world.env.get("PREFECT_API_URL") and read_serving(world.root) is None:
        return False
    events = peek_spool(world.root)
    runs = [
        create_session_end_run(world.root, event.key, f"{event.key} {Path(event.path).name}", world.env)
        for event in events
    ]
    return bool(runs) and all(runs)
