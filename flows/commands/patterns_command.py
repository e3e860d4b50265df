"""Groups of lessons with one root: in the store, or in any folder of markdown lessons. Writes nothing."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from flows.commands.common import need_paths, open_world, print_json
from index.plural import plural

if TYPE_CHECKING:
    from detectors.recurrence import Pattern

LEAST = 3  # lessons; two may be alike by chance


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash patterns`."""
    parser.add_argument("paths", nargs="*", metavar="PATH", type=Path, help="markdown files, or folders of them")


def call(options: argparse.Namespace) -> int:
    """Show the groups."""
    from detectors.recurrence import SUBJECT, find_patterns
    from flows.folders import read_lessons
    from index.store import read_store

    need_paths(options.paths)
    world = open_world(options)
    if options.paths:
        lessons, problems = read_lessons(options.paths)
    else:
        store = read_store(world.root)
        lessons, problems = store.solutions, store.problems
    patterns = find_patterns(lessons, least=LEAST, subject=SUBJECT)
    if options.format == "json":
        print_json({"groups": [as_json(p) for p in patterns], "problems": [str(problem) for problem in problems]})
        return 1 if problems else 0
    for pattern in patterns:
        print(f"{pattern.name} ({plural(len(pattern.paths), 'lesson')}: {pattern.why})")
        print("".join(f"  {path}\n" for path in pattern.paths), end="")
    for problem in problems:
        print(f"unusable {problem}")
    print(f"{plural(len(lessons), 'lesson')}, {plural(len(patterns), 'group')}.")
    return 1 if problems else 0


def as_json(pattern: Pattern) -> dict[str, object]:
    """A group as plain data."""
    return {
        "name": pattern.name,
        "paths": list(pattern.paths),
        "sessions": len(pattern.sessions),
        "projects": len(pattern.projects),
        "why": pattern.why,
    }
