"""A lesson, the turns it rests on, and its history."""

from __future__ import annotations

import argparse

from flows.commands.common import print_json, root_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash why`."""
    parser.add_argument("id", metavar="ID", help="a lesson's id, or at least six characters of its start or end")


def call(options: argparse.Namespace) -> int:
    """Show why a lesson is believed."""
    from curate.verdicts import read_verdicts
    from detectors.poison.scan import rule_set_version
    from flows.why import render_why, why_json
    from index.lookup import find_solution

    root = root_of(options)
    facts = why_json(root, find_solution(root, options.id), read_verdicts(root, rule_set_version()))
    if options.format == "json":
        print_json(facts)
    else:
        print(render_why(facts), end="")
    return 0
