"""Measure near-duplicate detection: ratios against the bare work on the same bytes, and recall against exact truth.

    python benchmarks/dedup.py --size 10000
    python benchmarks/dedup.py --folder PATH --rounds 3

Each figure is a ratio of medians over interleaved rounds, every part in a process of its own, in CPU time; seconds say
more about the machine. The base is scan + read + split off the front matter + one pass from bytes to shingle hashes.
Truth is every pair at .7 and above by exact Jaccard, from a prefix-filter join over all shingles (Bayardo, Ma, Srikant,
"Scaling up all pairs similarity search", 2007) that shares neither signatures nor bands with what is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
# In place of this folder, whose modules would hide some of the standard library's (secrets).
sys.path[0] = str(ROOT) if sys.path[0] == str(ROOT / "benchmarks") else sys.path[0]

import numpy as np  # noqa: E402

from benchmarks.corpus import change_corpus, write_corpus  # noqa: E402
from detectors.duplicate_files import Duplicates, duplicates_in  # noqa: E402
from detectors.duplicates import distinct_hashes, jaccard_of  # noqa: E402
from index.settings import DedupSettings  # noqa: E402
from index.signature_cache import read_below, scan_markdown  # noqa: E402
from index.signatures import U64, Int, batches, body_hash, shingle  # noqa: E402
from index.similarity import strip_front_matter  # noqa: E402

SETTINGS = DedupSettings()
CHANGED = 0.01
CHUNK = 2_000_000


def bare_scan(folder: Path, _: Path) -> None:
    """Only list the folder and ask for each file's times and size."""
    waiting = [str(folder)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    entry.stat(follow_symlinks=False)


def bodies_of(folder: Path) -> Iterator[bytes]:
    """Every body below a folder, in the order of the walk."""
    read = read_below(folder)
    return (strip_front_matter(read(path)) for path in scan_markdown(folder).paths)


def base_shingles(folder: Path, _: Path) -> None:
    """Scan, read, split, and hash every shingle."""
    for batch in batches(bodies_of(folder)):
        shingle(batch)


def base_digest(folder: Path, _: Path) -> None:
    """Scan, read, split, and hash every body as a whole."""
    for body in bodies_of(folder):
        body_hash(body)


def full_pass(folder: Path, _: Path) -> Duplicates:
    """Everything, in memory."""
    import datasketch  # noqa: F401 - imported before the clock starts, like numpy

    return duplicates_in(folder, SETTINGS, time.time_ns())


def cached_pass(folder: Path, cache: Path) -> Duplicates:
    """Everything that the cache does not know."""
    return duplicates_in(folder, SETTINGS, time.time_ns(), cache)


PARTS: dict[str, Callable[[Path, Path], object]] = {
    "bare": bare_scan,
    "base": base_shingles,
    "digest": base_digest,
    "full": full_pass,
    "cold": cached_pass,
    "same": cached_pass,
    "changed": cached_pass,
}


def run_part(name: str, folder: Path, cache: Path) -> None:
    """Run one part in this process and print what it took."""
    if name in ("full", "cold"):
        import datasketch  # noqa: F401 - its import is told apart
    imported = "datasketch" in sys.modules
    cpu, wall = time.process_time(), time.perf_counter()
    found = PARTS[name](folder, cache)
    figures = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    figures["mb"] = peak_mb()
    if isinstance(found, Duplicates):
        figures |= {"pairs": len(found.pairs), "clusters": len(found.clusters), "signed": found.signed}
        if name in ("same", "changed"):
            assert imported == ("datasketch" in sys.modules), "a small run must not import datasketch"
    print(json.dumps(figures))


def peak_mb() -> float:
    """The most memory this process ever had; getrusage would count what its parent had when it was started."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(name: str, folder: Path, cache: Path) -> dict[str, float]:
    """Run one part in a process of its own."""
    command = [sys.executable, __file__, "--part", name, "--folder", str(folder), "--cache", str(cache)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def exact_pairs(bodies: Sequence[bytes], threshold: float) -> dict[tuple[int, int], float]:
    """Every pair of bodies whose Jaccard similarity reaches the threshold, with its value; none is left to chance."""
    sets = list(distinct_hashes(bodies))
    sizes = np.array([len(one) for one in sets], dtype=np.int64)
    owners = np.repeat(np.arange(len(sets), dtype=np.int64), sizes)
    values, ranks, often = np.unique(np.concatenate(sets), return_inverse=True, return_counts=True)
    # Two sets alike enough share one of the rarest (size - ceil(threshold * size) + 1) values of each.
    by_rarity = np.empty(len(values), dtype=np.int64)
    by_rarity[np.argsort(often, kind="stable")] = np.arange(len(values))
    order = np.lexsort((by_rarity[ranks], owners))
    place = np.arange(len(owners)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    prefix = place < (sizes - np.ceil(threshold * sizes - 1e-9) + 1)[owners]
    tokens, holders = by_rarity[ranks][order][prefix], owners[order][prefix]
    bits = _bitmaps(sets)
    codes = [np.empty(0, dtype=np.uint64)]
    for a, b in _shared(tokens, holders):
        codes.append(_may_be_alike(a, b, sizes, bits, threshold))
    found: dict[tuple[int, int], float] = {}
    for code in np.unique(np.concatenate(codes)).tolist():
        pair = (code >> 32, code & 0xFFFFFFFF)
        likeness = jaccard_of(sets[pair[0]], sets[pair[1]])
        if likeness >= threshold:
            found[pair] = likeness
    return found


def _bitmaps(sets: Sequence[U64]) -> U64:
    """Each set as 1,024 bits: sets that differ in many bits differ in at least as many values."""
    bits = np.zeros((len(sets), 16), dtype=np.uint64)
    for row, values in enumerate(sets):
        hashed = values >> np.uint64(54)
        np.bitwise_or.at(bits[row], (hashed >> np.uint64(6)).astype(np.int64), np.uint64(1) << (hashed & np.uint64(63)))
    return bits


def _shared(tokens: Int, holders: Int) -> Iterator[tuple[Int, Int]]:
    """Pairs of holders of one token, a good many at a time."""
    order = np.lexsort((holders, tokens))
    tokens, holders = tokens[order], holders[order]
    starts = np.concatenate([[0], np.flatnonzero(tokens[1:] != tokens[:-1]) + 1])
    lengths = np.diff(starts, append=len(tokens))
    for length in np.unique(lengths[lengths > 1]).tolist():
        runs = starts[lengths == length]
        for ahead in range(1, length):
            first = np.arange(length - ahead)
            step = max(1, CHUNK // len(first))
            for at in range(0, len(runs), step):
                places = (runs[at : at + step, None] + first).ravel()
                yield holders[places], holders[places + ahead]


def _may_be_alike(a: Int, b: Int, sizes: Int, bits: U64, threshold: float) -> U64:
    """The pairs that sizes and bitmaps do not rule out."""
    small, large = np.minimum(sizes[a], sizes[b]), np.maximum(sizes[a], sizes[b])
    kept = small >= threshold * large
    a, b = a[kept], b[kept]
    differ = np.bitwise_count(bits[a] ^ bits[b]).sum(axis=1)
    # |A xor B| >= differ, and J = (|A| + |B| - x) / (|A| + |B| + x) with x = |A xor B|.
    both = sizes[a] + sizes[b]
    kept = both - differ >= threshold * (both + differ) - 1e-9
    return np.unique((a[kept].astype(np.uint64) << np.uint64(32)) | b[kept].astype(np.uint64))


def report_truth(folder: Path, found: Duplicates) -> None:
    """Print recall and precision of a pass against exact truth."""
    paths = scan_markdown(folder).paths
    truth = exact_pairs(list(bodies_of(folder)), SETTINGS.threshold)
    place = {path: number for number, path in enumerate(paths)}
    pairs = {(min(place[pair.a], place[pair.b]), max(place[pair.a], place[pair.b])) for pair in found.pairs}
    for least in (0.7, 0.8, 0.9):
        wanted = {pair for pair, likeness in truth.items() if likeness >= least}
        share = len(wanted & pairs) / len(wanted) if wanted else 1.0
        print(f"recall at J >= {least}: {share:.4f} of {len(wanted)} pairs")
    print(f"precision: {len(pairs & truth.keys()) / len(pairs) if pairs else 1.0:.4f} of {len(pairs)} pairs")
    missed = sorted((truth[pair] for pair in truth.keys() - pairs), reverse=True)
    print(f"most alike pair missed: {missed[0]:.3f}" if missed else "no pair missed")


def report_ratios(folder: Path, size: int, seed: int, rounds: int, fixed: bool) -> None:
    """Print the ratios, each of medians over interleaved rounds."""
    took: dict[str, list[dict[str, float]]] = {name: [] for name in PARTS}
    with tempfile.TemporaryDirectory() as scratch:
        for turn in range(rounds):
            cache = Path(scratch) / f"cache-{turn}"
            for name in PARTS:
                if name == "changed":
                    if fixed:
                        continue
                    change_corpus(folder, size, seed, CHANGED, turn)
                    # Files written in the last two seconds are not trusted yet.
                    time.sleep(2.1)
                took[name].append(measure(name, folder, cache))
            shutil.rmtree(cache)
    cpu = {name: median(one["cpu"] for one in figures) for name, figures in took.items() if figures}
    wall = {name: median(one["wall"] for one in figures) for name, figures in took.items() if figures}
    print(f"base: {1e6 * cpu['base'] / size:.1f} us a file here (scan, read, split, hash shingles); CPU (wall)")
    rows = (
        ("full pass / base", "full", "base"),
        ("full pass / base with a digest of each body instead of shingle hashes", "full", "digest"),
        ("first pass with cache / base", "cold", "base"),
        ("nothing changed / scan with stat", "same", "bare"),
        (f"{CHANGED:.0%} changed / scan with stat", "changed", "bare"),
        (f"{CHANGED:.0%} changed / full pass", "changed", "full"),
    )
    for title, above, below in rows:
        if above in cpu:
            print(f"{title}: {cpu[above] / cpu[below]:.2f} ({wall[above] / wall[below]:.2f})")
    for name in ("full", "cold", "same", "changed"):
        if took[name]:
            last = took[name][-1]
            print(
                f"{name}: peak {max(one['mb'] for one in took[name]):.0f} MB, {last['pairs']:.0f} pairs, "
                f"{last['clusters']:.0f} clusters, {last['signed']:.0f} texts signed"
            )


def main() -> None:
    """Measure, on a corpus made for it or on a folder of one's own."""
    parser = argparse.ArgumentParser(description="Measure near-duplicate detection.")
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="measure on this folder of markdown, which is not written to")
    parser.add_argument("--no-truth", action="store_true", help="leave out the exact join")
    parser.add_argument("--part", choices=sorted(PARTS), help=argparse.SUPPRESS)
    parser.add_argument("--cache", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        run_part(options.part, options.folder, options.cache)
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch) / "corpus"
        if options.folder is None:
            write_corpus(folder, options.size, options.seed)
        listing = scan_markdown(folder)
        size = len(listing.paths)
        print(f"{size} files, {sum(listing.times[2::3]) / size:.0f} bytes each")
        if not options.no_truth:
            report_truth(folder, full_pass(folder, Path()))
        report_ratios(folder, size, options.seed, options.rounds, fixed=options.folder is not None)


if __name__ == "__main__":
    main()
