"""Replace a lesson by another: the old one moves to the archive and names its successor."""

from __future__ import annotations

import argparse

from flows.commands.common import open_world, print_report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash supersede`."""
    parser.add_argument("id", metavar="ID", help="the lesson that is wrong or old")
    parser.add_argument("--by", metavar="NEW", required=True, help="the lesson that replaces it")
    parser.add_argument("--why", metavar="TEXT", default="", help="the reason, kept with the archived lesson")
    parser.add_argument("--dry-run", action="store_true", help="show what would change, and write nothing")


def call(options: argparse.Namespace) -> int:
    """Supersede one lesson."""
    from curate.retire import plan_supersede
    from flows.pipeline import apply_one
    from index.lookup import find_solution

    world = open_world(options)
    old = find_solution(world.root, options.id, ("solutions",))
    new = find_solution(world.root, options.by, ("solutions",))
    return print_report(apply_one(world, "supersede", plan_supersede(old, new, options.why), options.dry_run), options)
