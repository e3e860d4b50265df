"""The memory pack for the start of a session: sure, cleared lessons as markdown, within a bound of tokens."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from flows.commands.common import open_world, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash pack`."""
    parser.add_argument("query", nargs="?", default="", metavar="QUERY", help="what the session is about")
    parser.add_argument("--project", default="", metavar="NAME", help="lessons of this project and of none")
    parser.add_argument("--branch", default="", metavar="NAME", help="prefer lessons of this branch")
    parser.add_argument("--recent", nargs="*", default=[], metavar="P", help="recently changed files")


def call(options: argparse.Namespace) -> int:
    """Print the pack."""
    from flows.layers import Question, find_layers, keep_empty
    from index.recall import build_pack
    from index.tokens import find_counter

    world = open_world(options)
    pack = build_pack(
        [layer.database for layer in find_layers(world.root, Path.cwd(), os.environ)],
        options.project,
        options.query,
        options.recent,
        options.branch,
        world.settings.memory.pack_tokens,
        world.settings.memory.pack_confidence,
        world.now.date(),
        find_counter(),
    )
    if not pack:
        keep_empty(world.root, Question(options.query), options.project, world.now, world.settings.redact)
    if options.format == "json":
        print_json({"pack": pack})
    else:
        print(pack, end="")
    return 0
