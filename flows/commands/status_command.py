"""Health: coverage of sessions, what waits, counts, last runs. Exit code 1 when something needs a person."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from flows.commands.common import open_world, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`hotwash status` has no options of its own."""


def call(options: argparse.Namespace) -> int:
    """Show the status."""
    from curate.verdicts import read_verdicts
    from detectors.poison.scan import rule_set_version
    from flows.status import read_status, render_status

    world = open_world(options)
    status = read_status(world, read_verdicts(world.root, rule_set_version()))
    if options.format == "json":
        print_json({**asdict(status), "problems": [str(p) for p in status.problems], "attention": status.attention})
    else:
        print(render_status(status), end="")
    return 1 if status.attention else 0
