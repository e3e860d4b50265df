"""The memory pack for the start of a session: sure, cleared lessons as markdown, within a bound of tokens."""

from __future__ import annotations

import argparse
import os

from flows.commands.common import open_world, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash pack`."""
    parser.add_argument("query", nargs="?", default="", metavar="QUERY", help="what the session is about")
    parser.add_argument("--project", default="", metavar="NAME", help="lessons of this project and of none")
    parser.add_argument("--branch", default="", metavar="NAME", help="prefer lessons of this branch")
    parser.add_argument("--recent", nargs="*", default=[], metavar="P", help="recently changed files")


def call(options: argparse.Namespace) -> int:
    """Print the pack."""
    from flows.context import recall_database
    from index.recall import build_pack

    world = open_world(options)
    pack = build_pack(
        [recall_database(world.root, os.environ)],
        options.project,
        options.query,
        options.recent,
        options.branch,
        world.settings.memory.pack_tokens,
        world.settings.memory.pack_confidence,
        world.now.date(),
    )
    if options.format == "json":
        print_json({"pack": pack})
    else:
        print(pack, end="")
    return 0
