"""One compressed, verifiable file of the whole store; or check one, or restore one into an empty folder."""

from __future__ import annotations

import argparse
from pathlib import Path

from flows.commands.common import open_world


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash snapshot`."""
    parser.add_argument("--verify", metavar="FILE", type=Path, help="check a snapshot against its own manifest")
    parser.add_argument(
        "--restore", metavar="FILE", type=Path, help="unpack a snapshot into the store, which must be empty"
    )


def call(options: argparse.Namespace) -> int:
    """Take, check or restore a snapshot."""
    from curate.snapshot import read_snapshot, restore_snapshot
    from flows.stages import take_snapshot

    if options.verify:
        print(f"{options.verify}: {len(read_snapshot(options.verify))} files, all as the manifest says.")
        return 0
    world = open_world(options)
    if options.restore:
        print(f"{restore_snapshot(options.restore, world.root)} files restored into {world.root}.")
        return 0
    print(take_snapshot(world))
    return 0
