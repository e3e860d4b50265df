"""Archive what has no evidence for long: stale at 30 days, archived at 90 by default, slower with trust and use."""

from __future__ import annotations

import argparse

from flows.commands.common import add_approve, open_world, print_report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash decay`."""
    parser.add_argument("--dry-run", action="store_true", help="print the plan, and write nothing")
    add_approve(parser)


def call(options: argparse.Namespace) -> int:
    """Run the stage."""
    from flows.pipeline import run_stage

    return print_report(run_stage(open_world(options), "decay", options.dry_run, options.approve), options)
