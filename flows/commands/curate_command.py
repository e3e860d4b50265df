"""The weekly pass: sweep sessions, scan, decay, dedup, consolidate, promote, memory, index, snapshot."""

from __future__ import annotations

import argparse

from flows.commands.common import open_world, print_report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash curate`."""
    parser.add_argument(
        "--dry-run", action="store_true", help="print the plan that would be applied, and write nothing"
    )


def call(options: argparse.Namespace) -> int:
    """Run the weekly pass."""
    from flows.pipeline import curate

    return print_report(curate(open_world(options), options.dry_run), options)
