"""Find near-duplicates and merge them; what differs in a value is shown and never merged.

With PATHs it works on any markdown files outside a store: it prints the clusters and writes nothing.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from flows.commands.common import add_approve, need_paths, open_world, print_json, print_report
from index.errors import UsageError
from index.plural import plural

if TYPE_CHECKING:
    from flows.context import World


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash dedup`."""
    parser.add_argument("paths", nargs="*", metavar="PATH", type=Path, help="markdown files, or folders of them")
    parser.add_argument("--keep-both", nargs=2, metavar="ID", help="never merge these two, until one of them changes")
    parser.add_argument("--dry-run", action="store_true", help="print the plan, and write nothing")
    add_approve(parser)


def call(options: argparse.Namespace) -> int:
    """Dedup the store, or look at files; exit code 1 when files hold duplicates."""
    from flows.pipeline import run_stage

    world = open_world(options)
    if options.keep_both:
        return _keep_both(world, options)
    if not options.paths:
        return print_report(run_stage(world, "dedup", options.dry_run, options.approve), options)
    from flows.folders import duplicate_clusters, read_lessons

    need_paths(options.paths)
    lessons, problems = read_lessons(options.paths)
    found = duplicate_clusters(lessons, world.settings.dedup)
    if options.format == "json":
        print_json({**found, "files": len(lessons), "problems": [str(problem) for problem in problems]})
    else:
        for cluster in found["clusters"]:
            print(f"keep {cluster['keep']}")
            for path, likeness in zip(cluster["drop"], cluster["similarity"], strict=True):
                print(f"  drop {path} ({likeness:.2f})")
        for conflict in found["conflicts"]:
            print(f"conflict {conflict['path']}: {conflict['text']}")
        for problem in problems:
            print(f"unusable {problem}")
        counts = [plural(len(lessons), "file")]
        counts += [plural(len(found[kind]), kind.removesuffix("s")) for kind in ("clusters", "conflicts")]
        print(", ".join(counts) + ".")
    return 1 if found["clusters"] or problems else 0


def _keep_both(world: World, options: argparse.Namespace) -> int:
    from curate.dedup import DECISIONS_FILE, render_decision
    from curate.review import current_user
    from flows.pipeline import apply_one
    from index.changes import Change, Plan
    from index.files import read_bytes
    from index.lookup import find_solution

    a, b = (find_solution(world.root, name, ("solutions",)) for name in options.keep_both)
    if a.id == b.id:
        raise UsageError(f"hotwash dedup: --keep-both wants two lessons, and {a.id} is one.")
    before = read_bytes(world.root / DECISIONS_FILE)
    line = render_decision(a, b, current_user(), world.now.date().isoformat())
    change = Change(DECISIONS_FILE, before, (before or b"") + line.encode(), f"keep both {a.id} and {b.id}")
    return print_report(apply_one(world, "keep-both", Plan("keep-both", (change,)), options.dry_run), options)
