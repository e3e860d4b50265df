"""The daily pass: the memory block, the index and the snapshot."""

from __future__ import annotations

import argparse

from flows.commands.common import open_world, print_report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash daily`."""
    parser.add_argument(
        "--dry-run", action="store_true", help="print the plan that would be applied, and write nothing"
    )


def call(options: argparse.Namespace) -> int:
    """Run the daily pass."""
    from flows.pipeline import daily

    return print_report(daily(open_world(options), options.dry_run), options)
