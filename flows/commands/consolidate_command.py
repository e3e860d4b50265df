"""Make one lesson of those that say the same; the sources move to the archive and are cited."""

from __future__ import annotations

import argparse

from flows.commands.common import add_approve, open_world, print_report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash consolidate`."""
    parser.add_argument("--dry-run", action="store_true", help="print the plan, and write nothing")
    add_approve(parser)


def call(options: argparse.Namespace) -> int:
    """Run the stage."""
    from flows.pipeline import run_stage

    return print_report(run_stage(open_world(options), "consolidate", options.dry_run, options.approve), options)
