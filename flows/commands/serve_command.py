"""Prefect server and UI (unless PREFECT_API_URL names one), all deployments and their schedules, until stopped."""

from __future__ import annotations

import argparse
import os

from flows.commands.common import open_world


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`hotwash serve` has no options of its own; host and port are settings (`serve:` in config.yaml)."""


def call(options: argparse.Namespace) -> int:
    """Become the serving process."""
    from flows.serve import serve

    world = open_world(options)
    serve(world.root, world.settings, os.environ)
