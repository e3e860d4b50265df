"""Ranked solutions for a query, a path, a command or an error, each with why it matched. Only cleared text is given.

In a repository with a shared store its lessons are given too; of one id the personal store's text wins.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict
from pathlib import Path

from flows.commands.common import print_json, root_of
from index.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash recall`."""
    parser.add_argument("query", nargs="?", default="", metavar="QUERY", help="words")
    parser.add_argument("--path", default="", metavar="P", help="a file that is about to be edited")
    parser.add_argument("--command", default="", metavar="C", help="a command that is about to be run")
    parser.add_argument("--error", default="", metavar="E", help="an error's text, as it was printed")
    parser.add_argument("--project", default="", metavar="NAME", help="prefer lessons of this project")
    parser.add_argument("-k", type=int, default=5, metavar="N", help="at most this many (default: 5)")


def call(options: argparse.Namespace) -> int:
    """Find what fits."""
    from flows.context import read_clock
    from flows.layers import Question, ask_layers, find_layers, from_project, keep_empty
    from index.settings import read_settings

    root, now = root_of(options), read_clock(os.environ)
    path = from_project(options.path, Path.cwd()) if options.path.strip() else ""
    question = Question(options.query, path, options.command, options.error)
    if not question:
        raise UsageError("hotwash recall: nothing is asked. Give words, or --path, --command or --error.")
    if options.k < 1:
        raise UsageError(f"hotwash recall: -k wants a number of lessons, 1 or more, found {options.k}.")
    found = ask_layers(find_layers(root, Path.cwd(), os.environ), question, options.k, options.project, now.date())
    if not found:
        keep_empty(root, question, options.project, now, read_settings(root, os.environ).redact)
    if options.format == "json":
        print_json([asdict(one) for one in found])
        return 0
    for one in found:
        print(f"{one.title}\n  {one.id}  {one.category}, {one.trust}, confidence {one.confidence:g}")
        print(f"  because: {'; '.join(one.reasons)}")
        print("".join(f"    {line}\n" for line in one.brief.split("\n")))
    if not found:
        print("Nothing fits.")
    return 0
