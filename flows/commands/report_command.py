"""Write the report: one HTML page of lessons, sessions, use, upkeep, poison, spending and the audit."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

from flows.commands.common import open_world, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash report`."""
    parser.add_argument(
        "--output", metavar="FILE", type=Path, help="where to (default: .cache/report.html in the store)"
    )
    parser.add_argument("--no-audit", action="store_true", help="leave out the audit, which reads every transcript")


def call(options: argparse.Namespace) -> int:
    """Write the page and print its path; with --format json print the facts instead, and write a page only if asked."""
    from curate.verdicts import read_verdicts
    from detectors.poison.scan import rule_set_version
    from flows.audit import audit_json, read_audit
    from flows.page.facts import REPORT_FILE, read_page
    from flows.page.html import render_page
    from index.errors import StoreError
    from index.files import write_derived

    world = open_world(options)
    audit = None if options.no_audit else read_audit(world)
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[2K")
    facts = read_page(world, read_verdicts(world.root, rule_set_version()), audit)
    target = options.output or world.root / REPORT_FILE
    if options.output or options.format == "text":
        try:
            write_derived(target, render_page(facts, world.home).encode("utf-8", "replace"))
        except OSError as error:
            raise StoreError(f"{target}: cannot be written ({error.strerror}). Choose another --output.") from error
    if options.format == "json":
        print_json({**asdict(facts), "audit": audit_json(audit) if audit else None})
    else:
        print(target)
    return 0
