"""Forget a lesson, a session, a project or a string for good: out of snapshots and journals too, with proof.

It cannot be undone, so nothing goes without --yes; without it what would go is shown. A merge that holds a lesson's
words is taken apart and its other sources come back. A hash is kept, so that no later run or restore brings it back.
"""

from __future__ import annotations

import argparse

from flows.commands.common import open_world, print_json
from index.plural import plural

MOST_LINES = 40


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash forget`."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--lesson", metavar="ID", help="a lesson's id, or at least six characters of its start or end")
    what.add_argument("--session", metavar="KEY", help="AGENT:ID, or the start of its id: all that it alone has taught")
    what.add_argument("--project", metavar="NAME", help="a project as lessons name it: all its sessions and lessons")
    what.add_argument("--string", metavar="TEXT", help="a text, replaced wherever it stands, in upper or lower case")
    parser.add_argument("--yes", action="store_true", help="do it; it cannot be undone")
    parser.add_argument("--dry-run", action="store_true", help="show what would go, and write nothing")


def call(options: argparse.Namespace) -> int:
    """Show what would go, or let it go and prove it."""
    from curate.forget import Target
    from curate.tombstones import KINDS
    from flows.forget import forget, plan_forget

    world = open_world(options)
    kind = next(kind for kind in KINDS if getattr(options, kind) is not None)
    target = Target(kind, getattr(options, kind))
    done = options.yes and not options.dry_run
    result = forget(world, target) if done else plan_forget(world, target)[1]
    proof = result.proof
    if options.format == "json":
        looked = None if proof is None else {"files": proof.files, "hits": list(proof.hits)}
        print_json(
            {
                "kind": kind,
                "forgotten": done,
                "changes": list(result.lines),
                "notes": list(result.notes),
                "proof": looked,
            }
        )
    else:
        for line in result.lines[:MOST_LINES]:
            print(line)
        if len(result.lines) > MOST_LINES:
            print(f"... and {len(result.lines) - MOST_LINES} more")
        for note in result.notes:
            print(f"note: {note}")
    if proof is None:
        if options.format == "text" and not options.dry_run:
            if not result.lines:
                print("This store holds it nowhere; with --yes it is kept out from now on.")
            print("Nothing was forgotten yet. It cannot be undone: run again with --yes.")
        return 0 if options.dry_run else 2
    if options.format == "text":
        hits = plural(len(proof.hits), "hit")
        print(f"Looked through {plural(proof.files, 'file')}, databases and packed ones included: {hits}.")
        for hit in proof.hits:
            print(f"  still in {hit}")
    return 1 if proof.hits else 0
