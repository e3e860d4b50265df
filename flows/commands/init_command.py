"""Make a store: the personal one, or with --shared one in this repository that a team commits and reviews."""

from __future__ import annotations

import argparse
from pathlib import Path

from flows.commands.common import root_of
from index.errors import UsageError

SHARED_IGNORE = ".cache/\n.lock\n.forget\n.*.hotwash-tmp\njournal/\nspool/\nsnapshots/\nlogs/\n"
# Files with a line for each lesson: both sides' lines are kept, and the next run writes what is derived anew.
SHARED_MERGES = ".index.yaml merge=union\nMEMORY.md merge=union\ndecisions.jsonl merge=union\n"
SHARED_CONFIG = "# Every setting is optional; `hotwash --help` names the reference.\nredact:\n  personal_data: true\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash init`."""
    parser.add_argument("--shared", action="store_true", help="in <repository>/.hotwash, to be committed")


def call(options: argparse.Namespace) -> int:
    """Create what is missing; nothing that exists is changed."""
    from index.files import write_derived
    from index.store import make_store

    root = root_of(options)
    if options.shared:
        top = next((p for p in (Path.cwd(), *Path.cwd().parents) if (p / ".git").exists()), None)
        if top is None:
            raise UsageError("hotwash init --shared: this folder is in no git repository. Change into one first.")
        root = top / ".hotwash"
    make_store(root)
    if options.shared:
        shared = ((".gitignore", SHARED_IGNORE), (".gitattributes", SHARED_MERGES), ("config.yaml", SHARED_CONFIG))
        for name, text in shared:
            if not (root / name).exists():
                write_derived(root / name, text.encode())
    print(f"The store is {root}.")
    return 0
