"""How fast the audit reads transcripts for signs of use, against only reading their lines.

    python benchmarks/usage.py [FOLDER] [--times N]

FOLDER holds transcripts of any agent (default: $HOTWASH_CORPORA/transcripts); each is read N times as
a file of its own.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from reflect.transcripts.registry import recognise
from reflect.usage import read_usage


def find_transcripts(folder: Path) -> Iterator[tuple[str, Path]]:
    """(agent, file) of the JSON-lines transcripts below a folder."""
    for path in sorted(folder.rglob("*.jsonl")):
        agent = recognise(path)
        if agent:
            yield agent, path


def read_lines_only(files: list[tuple[str, Path]]) -> int:
    """The bytes of all lines: what no reader can do without."""
    total = 0
    for _, path in files:
        with path.open("rb") as file:
            total += sum(map(len, file))
    return total


def main(arguments: list[str]) -> int:
    """Print megabytes a second of processor time for both, their ratio and the peak of memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "folder", nargs="?", type=Path, default=Path(os.environ.get("HOTWASH_CORPORA", ""), "transcripts")
    )
    parser.add_argument("--times", type=int, default=10)
    options = parser.parse_args(arguments)
    found = list(find_transcripts(options.folder))
    if not found:
        print(f"{options.folder}: no transcripts there; give a folder that holds some.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        files = []
        for at in range(options.times):
            for number, (agent, path) in enumerate(found):
                copy = Path(scratch, f"{at}-{number}-{path.name}")
                shutil.copyfile(path, copy)
                files.append((agent, copy))
        started = time.process_time()
        size = read_lines_only(files) / 1e6
        between = time.process_time()
        usage = read_usage(files)
        ended = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    plain, ours = between - started, ended - between
    print(f"{len(files)} files, {size:.0f} MB, {sum(one.count for one in usage.used.values())} uses found")
    print(
        f"lines alone {size / plain:.0f} MB/s, uses {size / ours:.0f} MB/s: {ours / plain:.1f} times; "
        f"peak {peak:.0f} MB"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
