"""Adopt lessons that exist already: docs/solutions, .learnings, lessons.md, MEMORY.md bullets, rules with path scopes.

Nothing is changed where they lie; importing twice adds nothing; what cannot be used is said with path, line and reason.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from flows.commands.common import need_paths, open_world, print_report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash import`."""
    parser.add_argument("paths", nargs="+", metavar="PATH", type=Path, help="markdown files, or folders of them")
    parser.add_argument("--dry-run", action="store_true", help="show what would be adopted, and write nothing")


def call(options: argparse.Namespace) -> int:
    """Import lessons."""
    from flows.pipeline import import_lessons

    need_paths(options.paths)
    paths = [path.absolute() for path in options.paths]
    return print_report(import_lessons(open_world(options), paths, options.dry_run), options)
