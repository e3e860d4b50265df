"""Groups of lessons with one root: in the store, or in any folder of markdown lessons. Writes nothing."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from flows.commands.common import open_world, print_json
from index.errors import UsageError

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

    for path in options.paths:
        if not path.exists():
            raise UsageError(f"{path}: there is no such file or folder.")
    world = open_world(options)
    lessons = read_lessons(options.paths)[0] if options.paths else read_store(world.root).solutions
    patterns = find_patterns(lessons, least=LEAST, subject=SUBJECT)
    if options.format == "json":
        print_json({"groups": [as_json(pattern) for pattern in patterns]})
        return 0
    for pattern in patterns:
        print(f"{pattern.name} ({len(pattern.paths)} lessons: {pattern.why})")
        print("".join(f"  {path}\n" for path in pattern.paths), end="")
    print(f"{len(lessons)} lessons, {len(patterns)} groups.")
    return 0


def as_json(pattern: Pattern) -> dict[str, object]:
    """A group as plain data."""
    return {
        "name": pattern.name,
        "paths": list(pattern.paths),
        "sessions": len(pattern.sessions),
        "projects": len(pattern.projects),
        "why": pattern.why,
    }
