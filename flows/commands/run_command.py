"""Ingest finished agent sessions and the inbox: read, redact, reflect, classify, scan, file, index, promote.

With no PATH it finds the sessions of every supported agent on this machine and reads the new ones, reading only.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from flows.commands.common import open_world, print_report
from index.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash run`."""
    parser.add_argument("paths", nargs="*", metavar="PATH", type=Path, help="transcripts, or folders that hold some")
    parser.add_argument("--from-spool", action="store_true", help="only the sessions that hooks have reported")
    parser.add_argument("--dry-run", action="store_true", help="show what would be written, and write nothing")


def call(options: argparse.Namespace) -> int:
    """Run the session-end chain."""
    from flows.pipeline import session_end

    for path in options.paths:
        if not path.exists():
            raise UsageError(f"{path}: there is no such file or folder. Give a transcript, or none to find them.")
    paths = [path.absolute() for path in options.paths] or None
    report = session_end(open_world(options), paths, options.from_spool, options.dry_run)
    return print_report(report, options)
