"""One compressed, verifiable file of the whole store; or check one, or restore one into an empty folder."""

from __future__ import annotations

import argparse
from pathlib import Path

from flows.commands.common import open_world, say
from index.errors import UsageError
from index.plural import plural


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
        count = len(read_snapshot(options.verify))
        text = f"{options.verify}: {plural(count, 'file')}, all as the manifest says."
        say(options, text, snapshot=str(options.verify), files=count)
        return 0
    world = open_world(options)
    if options.restore:
        from curate.tombstones import read_tombstones
        from flows.forget import clean_snapshot
        from index.store import store_root

        # What was forgotten since stays so: by the store that the snapshot came from, the usual one, or its own word.
        stores = (world.root, options.restore.absolute().parent.parent, store_root(None, world.env))
        stones = read_tombstones(*dict.fromkeys(stores))
        count = restore_snapshot(options.restore, world.root, lambda files: clean_snapshot(files, stones))
        text = f"{plural(count, 'file')} restored into {world.root}."
        say(options, text, snapshot=str(options.restore), files=count, store=str(world.root))
        return 0
    if not world.root.is_dir():
        raise UsageError(f"{world.root}: there is no store here to take a snapshot of. Name another one with --store.")
    place = take_snapshot(world)
    say(options, place, snapshot=place)
    return 0
