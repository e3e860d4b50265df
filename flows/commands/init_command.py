"""Make a store: the personal one, or with --shared one in this repository that a team commits and reviews."""

from __future__ import annotations

import argparse
from pathlib import Path

from flows.commands.common import root_of, say
from index.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash init`."""
    parser.add_argument("--shared", action="store_true", help="in <repository>/.hotwash, to be committed")


def call(options: argparse.Namespace) -> int:
    """Create what is missing; nothing that exists is changed."""
    from index.shared import complete_shared
    from index.store import make_store

    root = root_of(options)
    if options.shared:
        top = next((p for p in (Path.cwd(), *Path.cwd().parents) if (p / ".git").exists()), None)
        if top is None:
            raise UsageError("hotwash init --shared: this folder is in no git repository. Change into one first.")
        root = top / ".hotwash"
    make_store(root)
    if options.shared:
        complete_shared(root)
    say(options, f"The store is {root}.", store=str(root))
    return 0
