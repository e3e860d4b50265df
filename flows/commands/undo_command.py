"""Reverse a run: every byte and modification time comes back, or nothing is touched and the reason is said."""

from __future__ import annotations

import argparse

from flows.commands.common import open_world, print_json, print_report
from index.plural import plural


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash undo`."""
    parser.add_argument("run", nargs="?", metavar="RUN", help="the run to reverse; without it the runs are listed")
    parser.add_argument("--dry-run", action="store_true", help="show what would come back, and write nothing")


def call(options: argparse.Namespace) -> int:
    """Undo a run, or list the runs."""
    from flows.pipeline import undo
    from index.journal import read_runs

    world = open_world(options)
    if options.run:
        return print_report(undo(world, options.run, options.dry_run), options)
    runs = read_runs(world.root)
    if options.format == "json":
        print_json(runs)
        return 0
    for run in runs:
        changes = sum(run["stages"].values())
        state = f"undone by {run['undone_by']}" if run["undone_by"] else plural(changes, "change")
        print(f"{run['run']}  {state}")
    if not runs:
        print("No run has changed this store yet.")
    return 0
