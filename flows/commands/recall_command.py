"""Ranked solutions for a query, a path, a command or an error, each with why it matched. Only cleared text is given."""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from flows.commands.common import print_json, root_of

if TYPE_CHECKING:
    from index.recall import Found


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash recall`."""
    parser.add_argument("query", nargs="?", default="", metavar="QUERY", help="words")
    parser.add_argument("--path", default="", metavar="P", help="a file that is about to be edited")
    parser.add_argument("--command", default="", metavar="C", help="a command that is about to be run")
    parser.add_argument("--error", default="", metavar="E", help="an error's text, as it was printed")
    parser.add_argument("--project", default="", metavar="NAME", help="prefer lessons of this project")
    parser.add_argument("-k", type=int, default=5, metavar="N", help="at most this many (default: 5)")


def call(options: argparse.Namespace) -> int:
    """Find what fits."""
    from flows.context import read_clock, recall_database
    from index.recall import recall

    databases = [recall_database(root_of(options), os.environ)]
    today = read_clock(os.environ).date()
    found = recall(
        databases, options.query, options.path, options.command, options.error, options.k, options.project, today
    )
    found = newest_of_disputed(root_of(options), found, options.query)
    if options.format == "json":
        print_json([asdict(one) for one in found])
        return 0
    for one in found:
        print(f"{one.title}\n  {one.id}  {one.category}, {one.trust}, confidence {one.confidence:g}")
        print(f"  because: {'; '.join(one.reasons)}")
        print("".join(f"    {line}\n" for line in one.brief.split("\n")))
    if not found:
        print("Nothing fits.")
    return 0


def newest_of_disputed(root: Path, found: list[Found], query: str) -> list[Found]:
    """The hits in their order, but of those that contradict each other the newest first."""
    from detectors.meaning import newest_first
    from index.frontmatter import parse_solution
    from index.records import Solution
    from index.store import read_text

    texts = {one.id: (one.path, read_text(root / one.path)) for one in found}
    read = [parse_solution(path, text) for path, text in texts.values() if isinstance(text, str)]
    solutions = [solution for solution in read if isinstance(solution, Solution)]
    if len(solutions) < len(found):
        return found
    by_id = {one.id: one for one in found}
    return [by_id[solution.id] for solution in newest_first(solutions, query) if solution.id in by_id]
