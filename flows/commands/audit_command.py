"""Audit the skills and memory files of every agent on this machine. Exit code 1 when there is something to do."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from flows.commands.common import open_world, print_json
from index.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash audit`."""
    parser.add_argument(
        "--project", metavar="DIR", help="a project whose skills are looked at too (default: this folder)"
    )


def call(options: argparse.Namespace) -> int:
    """Show the audit; it writes nothing."""
    from flows.audit import audit_json, read_audit, render_audit

    if options.project and not Path(options.project).is_dir():
        raise UsageError(f"{options.project}: is no folder. --project wants a project's folder.")
    world = open_world(options)
    found = read_audit(world, Path(options.project or ".").absolute())
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[2K")
    if options.format == "json":
        print_json(audit_json(found))
    else:
        print(render_audit(found, world.home), end="")
    return 1 if found.findings else 0
