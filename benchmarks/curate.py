"""Measure the weekly pass without a model: ratios against the bare work on the same bytes.

    python benchmarks/curate.py --size 10000

Each figure is a ratio of medians of CPU time over rounds, every part in a process of its own. The base is that of
`dedup.py`: scan, read, split off the front matter, hash every shingle. A first pass scans every lesson for poison,
which takes by far the longest and is done once in a lesson's life; "cold" is a pass that has these verdicts and no
other cache; "changed" one after 1 % of the lessons changed, new verdicts among them. `.index.yaml` is measured against
scanning and reading the corpus.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
# In place of this folder, whose modules would hide some of the standard library's (secrets).
sys.path[0] = str(ROOT) if sys.path[0] == str(ROOT / "benchmarks") else sys.path[0]

from benchmarks.corpus import NOW, change_corpus, write_corpus  # noqa: E402
from benchmarks.dedup import base_shingles, bodies_of, peak_mb  # noqa: E402
from curate.verdicts import VERDICTS, Verdicts, text_hash, write_verdicts  # noqa: E402
from detectors.poison.scan import rule_set_version  # noqa: E402
from flows.context import World  # noqa: E402
from flows.pipeline import curate  # noqa: E402
from index.records import Verdict  # noqa: E402
from index.search import parse_index, render_index  # noqa: E402
from index.settings import Settings  # noqa: E402
from index.store import CACHE, INDEX_FILE, SOLUTIONS, Store, read_store  # noqa: E402

CHANGED = 0.01


def base(root: Path) -> Callable[[], object]:
    """Scan, read, split, hash."""
    return lambda: base_shingles(root / SOLUTIONS, root)


def read(root: Path) -> Callable[[], object]:
    """Scan and read."""
    return lambda: sum(len(body) for body in bodies_of(root / SOLUTIONS))


def store(root: Path) -> Callable[[], object]:
    """The store as records."""
    return lambda: read_store(root)


def index_write(root: Path) -> Callable[[], object]:
    """`.index.yaml` from records that are there."""
    known: Store = read_store(root)
    return lambda: (root / INDEX_FILE).write_bytes(render_index(known.solutions).encode())


def index_read(root: Path) -> Callable[[], object]:
    """`.index.yaml` as entries."""
    return lambda: parse_index((root / INDEX_FILE).read_text(encoding="utf-8"))


def weekly(root: Path) -> Callable[[], object]:
    """The whole weekly pass, its caches as they are."""
    home = root.parent / "home"
    home.mkdir(exist_ok=True)
    world = World(root, Settings(), datetime.fromtimestamp(NOW + 86_400, UTC), home, {"HOME": str(home)})
    return lambda: curate(world)


def cold(root: Path) -> Callable[[], object]:
    """The same with no cache but the verdicts."""
    for place in sorted((root / CACHE).rglob("*"), reverse=True):
        if place.is_file() and place != root / VERDICTS:
            place.unlink()
    return weekly(root)


PARTS: dict[str, Callable[[Path], Callable[[], object]]] = {
    "base": base,
    "read": read,
    "store": store,
    "first": weekly,
    "cold": cold,
    "same": weekly,
    "changed": weekly,
    "index write": index_write,
    "index read": index_read,
}


def assume_clean(root: Path) -> None:
    """Give every lesson of a store a clean verdict, as a first pass would have left it."""
    clean = {text_hash(solution.text): Verdict("clean") for solution in read_store(root).solutions}
    write_verdicts(root, Verdicts(rule_set_version(), clean, clean))


def run_part(name: str, root: Path) -> None:
    """Run one part in this process and print what it took; what is imported late is imported before."""
    import datasketch  # noqa: F401

    import flows.alike  # noqa: F401

    action = PARTS[name](root)
    cpu, wall = time.process_time(), time.perf_counter()
    action()
    print(json.dumps({"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall, "mb": peak_mb()}))


def main() -> None:
    """Measure on a corpus made for it."""
    parser = argparse.ArgumentParser(description="Measure the weekly pass.")
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--assume-clean", action="store_true", help="leave out the first scan for poison")
    parser.add_argument("--part", choices=sorted(PARTS), help=argparse.SUPPRESS)
    parser.add_argument("--root", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        run_part(options.part, options.root)
        return
    took: dict[str, list[dict[str, float]]] = {name: [] for name in PARTS}
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "store"
        write_corpus(root / SOLUTIONS, options.size, options.seed)
        if options.assume_clean:
            assume_clean(root)
        for turn in range(options.rounds):
            for name in PARTS:
                if name == "first" and (turn or options.assume_clean):
                    continue
                if name == "changed":
                    change_corpus(root / SOLUTIONS, options.size, options.seed, CHANGED, turn)
                    # Files written in the last two seconds are not trusted yet.
                    time.sleep(2.1)
                command = [sys.executable, __file__, "--part", name, "--root", str(root)]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                took[name].append(json.loads(done.stdout.splitlines()[-1]))
    cpu = {name: median(one["cpu"] for one in figures) for name, figures in took.items() if figures}
    print(f"{options.size} lessons, base {1e6 * cpu['base'] / options.size:.1f} us a lesson here; CPU")
    for name in [name for name in ("store", "first", "cold", "same", "changed") if name in cpu]:
        print(f"{name} / base: {cpu[name] / cpu['base']:.2f}, peak {max(one['mb'] for one in took[name]):.0f} MB")
    for name in ("index write", "index read"):
        print(f"{name} / reading the corpus: {cpu[name] / cpu['read']:.2f}")


if __name__ == "__main__":
    main()
