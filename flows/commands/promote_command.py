"""Draft a skill of what three independent sessions on two days have shown."""

from __future__ import annotations

import argparse

from flows.commands.common import open_world, print_report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash promote`."""
    parser.add_argument("--dry-run", action="store_true", help="print the plan, and write nothing")


def call(options: argparse.Namespace) -> int:
    """Run the stage."""
    from flows.pipeline import run_stage

    return print_report(run_stage(open_world(options), "promote", options.dry_run), options)
