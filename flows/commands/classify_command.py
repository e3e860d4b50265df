"""The category of each file: one JSON line with path, category, type, confidence and reasons. Writes nothing."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from flows.commands.common import need_paths


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `hotwash classify`."""
    parser.add_argument("paths", nargs="+", metavar="PATH", type=Path, help="markdown files, or folders of them")


def call(options: argparse.Namespace) -> int:
    """Classify files; exit code 1 when one of them could not be read."""
    from index.records import Problem
    from index.store import read_text, walk_markdown
    from reflect.classify import classify_text

    unusable = 0
    need_paths(options.paths)
    for given in options.paths:
        files = [Path(entry.path) for entry in walk_markdown(given)] if given.is_dir() else [given]
        for file in files:
            text = read_text(file)
            if isinstance(text, Problem):
                unusable += 1
                print(json.dumps({"path": str(file), "problem": text.reason}, ensure_ascii=False))
                continue
            judged = classify_text(text)
            print(
                json.dumps(
                    {
                        "path": str(file),
                        "category": judged.category,
                        "type": judged.type,
                        "confidence": judged.confidence,
                        "reasons": list(judged.reasons),
                    },
                    ensure_ascii=False,
                )
            )
    return 1 if unusable else 0
