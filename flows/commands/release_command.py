"""Clear a suspect or external lesson: a person's name and reason are kept in it, and it may be served."""

from __future__ import annotations

import argparse

from flows.commands.common import open_world, print_report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash release`."""
    parser.add_argument("id", metavar="ID", help="the lesson's id, or at least six characters of its start or end")
    parser.add_argument("--by", metavar="NAME", required=True, help="who has read it")
    parser.add_argument("--why", metavar="TEXT", required=True, help="why it may be believed")
    parser.add_argument("--dry-run", action="store_true", help="show what would change, and write nothing")


def call(options: argparse.Namespace) -> int:
    """Release one lesson."""
    from curate.retire import plan_release
    from curate.verdicts import DECISIONS
    from flows.pipeline import apply_one
    from index.files import read_bytes
    from index.lookup import find_solution

    world = open_world(options)
    solution = find_solution(world.root, options.id, ("solutions",))
    earlier = read_bytes(world.root / DECISIONS / f"release-{solution.id}.json")
    plan = plan_release(solution, options.by, options.why, world.now, earlier)
    return print_report(apply_one(world, "release", plan, options.dry_run), options)
