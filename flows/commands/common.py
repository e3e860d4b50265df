"""What several subcommands share: the world they run in, progress on a terminal, and how a report is printed."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from flows.context import World, read_world
from flows.progress import begin_progress, end_progress
from flows.render import render_report
from flows.report import Report
from index.errors import UsageError
from index.store import store_root


def root_of(options: argparse.Namespace) -> Path:
    """The store that the options and the environment name; raises UsageError where a file stands in its place."""
    root = store_root(options.store, os.environ)
    if root.exists() and not root.is_dir():
        raise UsageError(f"{root}: is a file, and no folder. Name another store with --store or HOTWASH_HOME.")
    return root


def add_approve(parser: argparse.ArgumentParser) -> None:
    """The option by which a person lets go what waits over the loss budget."""
    text = "let all leave that the plan names, beyond the loss budget too: you have looked at it with --dry-run"
    parser.add_argument("--approve", action="store_true", help=text)


def open_world(options: argparse.Namespace) -> World:
    """The world of a command, with progress on stderr where that is a terminal."""
    return read_world(root_of(options), begin_progress(sys.stderr))


def need_paths(paths: Iterable[Path]) -> None:
    """Raise UsageError for the first path that leads nowhere: before anything is read, so that nothing is half done."""
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path}: there is no such file or folder.")


def say(options: argparse.Namespace, text: str, **facts: object) -> None:
    """An answer of a few words, for people or as JSON."""
    if options.format == "json":
        print_json(facts)
    else:
        print(text)


def print_json(value: object) -> None:
    """One JSON document on stdout."""
    print(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def print_report(report: Report, options: argparse.Namespace) -> int:
    """Print a report as asked; exit code 1 when something failed."""
    end_progress()
    if options.format == "json":
        print_json(report.as_json())
    else:
        print(render_report(report), end="")
    return 1 if report.failed else 0
