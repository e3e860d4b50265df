"""Find near-duplicates and merge them; what differs in a value is shown and never merged.

With PATHs it works on any markdown files outside a store: it prints the clusters and writes nothing.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from flows.commands.common import open_world, print_json, print_report
from index.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash dedup`."""
    parser.add_argument("paths", nargs="*", metavar="PATH", type=Path, help="markdown files, or folders of them")
    parser.add_argument("--dry-run", action="store_true", help="print the plan, and write nothing")


def call(options: argparse.Namespace) -> int:
    """Dedup the store, or look at files; exit code 1 when files hold duplicates."""
    from flows.pipeline import run_stage

    world = open_world(options)
    if not options.paths:
        return print_report(run_stage(world, "dedup", options.dry_run), options)
    from flows.folders import duplicate_clusters, read_lessons

    for path in options.paths:
        if not path.exists():
            raise UsageError(f"{path}: there is no such file or folder.")
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
        print(f"{len(lessons)} files, {len(found['clusters'])} clusters, {len(found['conflicts'])} conflicts.")
    return 1 if found["clusters"] else 0
