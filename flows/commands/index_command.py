"""Rebuild the derived files: .index.yaml and the recall cache; each is written only when it differs."""

from __future__ import annotations

import argparse

from flows.commands.common import open_world, print_report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash index`."""
    parser.add_argument("--dry-run", action="store_true", help="say what would be written, and write nothing")


def call(options: argparse.Namespace) -> int:
    """Rebuild the index."""
    from flows.pipeline import rebuild_index

    return print_report(rebuild_index(open_world(options), options.dry_run), options)
