"""Bring an archived or quarantined lesson back to the place it had."""

from __future__ import annotations

import argparse

from flows.commands.common import open_world, print_report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash restore`."""
    parser.add_argument("id", metavar="ID", help="a lesson's id, or at least six characters of its start or end")
    parser.add_argument("--dry-run", action="store_true", help="show what would change, and write nothing")


def call(options: argparse.Namespace) -> int:
    """Restore one lesson."""
    from curate.retire import plan_restore
    from flows.pipeline import apply_one
    from index.lookup import find_solution

    world = open_world(options)
    solution = find_solution(world.root, options.id, ("archive", "quarantine"))
    return print_report(apply_one(world, "restore", plan_restore(solution, world.now), options.dry_run), options)
