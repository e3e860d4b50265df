"""Serve this store to an agent over MCP on stdin and stdout: remember, recall, supersede, why. Needs the extra [mcp].

An agent starts it by itself once it is told to, e.g.: claude mcp add hotwash -- hotwash mcp
"""

from __future__ import annotations

import argparse
from pathlib import Path

from flows.commands.common import root_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`hotwash mcp` has no options of its own."""


def call(options: argparse.Namespace) -> int:
    """Serve until the agent closes stdin."""
    from flows.cli import installed_version
    from flows.context import read_world
    from flows.mcp_server import make_server

    root = root_of(options)
    make_server(lambda: read_world(root), Path.cwd(), installed_version()).run("stdio")
    return 0
