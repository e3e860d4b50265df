"""Compare the whole job (read, find, confirm) with datasketch used plainly, rensa, text-dedup and semhash, in one run.

    python benchmarks/rivals.py --size 10000

Each takes its turn in a process of its own, round by round, and answers with pairs of files. All but semhash, whose
idea of likeness is another one, are held against the same exact truth: every pair whose shingles of three words have
a Jaccard similarity of .7 or more; what confirms their candidates is that same measure. CPU is that of the process and
its children, with imports. A library that is not installed is passed over with a line. semhash is given a static model
with random vectors, since its own must be fetched: what it finds says little, what it costs is right.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# In place of this folder, whose modules would hide some of the standard library's (secrets).
sys.path[0] = str(ROOT) if sys.path[0] == str(ROOT / "benchmarks") else sys.path[0]

from benchmarks.corpus import write_corpus  # noqa: E402
from benchmarks.dedup import bodies_of, exact_pairs, peak_mb  # noqa: E402
from detectors.duplicate_files import duplicates_in  # noqa: E402
from index.settings import DedupSettings  # noqa: E402
from index.signature_cache import scan_markdown  # noqa: E402
from index.similarity import jaccard, shingles  # noqa: E402

THRESHOLD = 0.7
PERMUTATIONS = 128
SEMANTIC = 0.9  # semhash's own threshold is a cosine
DIMENSIONS = 256

Pairs = set[tuple[int, int]]


def texts_of(folder: Path) -> list[str]:
    """The bodies below a folder, in the order of the walk."""
    return [body.decode("utf-8", "replace") for body in bodies_of(folder)]


def confirmed(candidates: Iterable[tuple[int, int]], sets: list[frozenset[str]]) -> Pairs:
    """The candidates that reach the threshold by the exact measure."""
    wanted = {(min(pair), max(pair)) for pair in candidates if pair[0] != pair[1]}
    return {pair for pair in wanted if jaccard(sets[pair[0]], sets[pair[1]]) >= THRESHOLD}


def run_hotwash(folder: Path) -> Pairs:
    """Ours, without a cache."""
    place = {path: number for number, path in enumerate(scan_markdown(folder).paths)}
    found = duplicates_in(folder, DedupSettings(), time.time_ns()).pairs
    return {(min(place[pair.a], place[pair.b]), max(place[pair.a], place[pair.b])) for pair in found}


def run_datasketch(folder: Path, params: tuple[int, int] | None = None) -> Pairs:
    """The way of its documentation: a MinHash a text, inserted and queried; the bands that it chooses itself."""
    from datasketch import MinHash, MinHashLSH

    sets = [shingles(text) for text in texts_of(folder)]
    lsh = MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS, params=params)
    sketches = []
    for number, one in enumerate(sets):
        sketch = MinHash(num_perm=PERMUTATIONS)
        sketch.update_batch([shingle.encode() for shingle in one])
        lsh.insert(number, sketch)
        sketches.append(sketch)
    return confirmed(((a, int(b)) for a, sketch in enumerate(sketches) for b in lsh.query(sketch)), sets)


def run_datasketch_wide(folder: Path) -> Pairs:
    """The same with our bands, which find what its own choice misses."""
    settings = DedupSettings()
    return run_datasketch(folder, (settings.bands, settings.rows))


def run_rensa(folder: Path, bands: int) -> Pairs:
    """R-MinHash and its own LSH; more bands find more pairs, from many more candidates."""
    from rensa import RMinHash, RMinHashLSH

    sets = [shingles(text) for text in texts_of(folder)]
    lsh = RMinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS, num_bands=bands)
    sketches = []
    for number, one in enumerate(sets):
        sketch = RMinHash(num_perm=PERMUTATIONS, seed=1)
        sketch.update(list(one))
        lsh.insert(number, sketch)
        sketches.append(sketch)
    return confirmed(((a, b) for a, sketch in enumerate(sketches) for b in lsh.query(sketch)), sets)


def run_text_dedup(folder: Path) -> Pairs:
    """Its MinHash command over a JSON file of the bodies, its own confirmation on; pairs are those of its clusters."""
    texts = texts_of(folder)
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        with (place / "in.jsonl").open("w") as file:
            file.writelines(json.dumps({"text": text, "number": n}) + "\n" for n, text in enumerate(texts))
        settings = DedupSettings()
        (place / "config.toml").write_text(
            "[input]\ninput_type = 'local_files'\nfile_type = 'json'\n"
            f"read_arguments = {{ path = 'json', data_files = ['{place / 'in.jsonl'}'], split = 'train' }}\n\n"
            "[algorithm]\nalgorithm_name = 'minhash'\ntext_column = 'text'\nseed = 1\n"
            f"num_perm = {PERMUTATIONS}\nthreshold = {THRESHOLD}\nbands = {settings.bands}\nrows = {settings.rows}\n"
            "hash_func_name = 'xxh3'\nhash_bits = 64\nngram_size = 3\nmin_length = 1\ncheck_false_positive = true\n"
            "num_proc = 1\nbatch_size = 1000\n\n"
            f"[output]\noutput_dir = '{place / 'out'}'\nskip_filtering = true\nclean_cache = false\n"
            "save_clusters = true\nkeep_index_column = true\nkeep_cluster_column = true\n\n"
            "[debug]\nenable_profiling = false\n"
        )
        program = [sys.executable, "-m", "text_dedup.minhash"]
        done = subprocess.run(program, cwd=place, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"text-dedup failed: {done.stderr[-600:]}")
        return set(_text_dedup_pairs(place / "out"))


def _text_dedup_pairs(out: Path) -> Iterator[tuple[int, int]]:
    assigned: dict[int, int] = pickle.loads((out / "clusters.pickle").read_bytes())  # noqa: S301 - written just now
    clusters: dict[int, list[int]] = defaultdict(list)
    for number, cluster in assigned.items():
        clusters[cluster].append(number)
    for members in clusters.values():
        yield from itertools.combinations(sorted(members), 2)


def run_semhash(folder: Path) -> Pairs:
    """Self-deduplication by vectors and an approximate index."""
    import numpy as np
    from model2vec import StaticModel
    from semhash import SemHash
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    texts = texts_of(folder)
    words = {word for text in texts for word in text.split()}
    vocabulary = {"[UNK]": 0} | {word: number for number, word in enumerate(sorted(words - {"[UNK]"}), 1)}
    tokenizer: Any = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))  # noqa: S106 - a token of text
    tokenizer.pre_tokenizer = Whitespace()
    vectors = np.random.default_rng(1).standard_normal((len(vocabulary), DIMENSIONS)).astype(np.float32)
    model = StaticModel(vectors, tokenizer)
    records = [{"text": text, "number": str(number)} for number, text in enumerate(texts)]
    hashed: Any = SemHash.from_records(records=records, columns=["text"], model=model)
    result = hashed.self_deduplicate(threshold=SEMANTIC)
    return {
        (
            min(int(one.record["number"]), int(other[0]["number"])),
            max(int(one.record["number"]), int(other[0]["number"])),
        )
        for one in result.filtered
        for other in one.duplicates
        if one.record["number"] != other[0]["number"]
    }


RIVALS: dict[str, tuple[str, Callable[[Path], Pairs]]] = {
    "hotwash": ("numpy", run_hotwash),
    "datasketch, its own bands": ("datasketch", run_datasketch),
    "datasketch, our bands": ("datasketch", run_datasketch_wide),
    "rensa, 16 bands": ("rensa", partial(run_rensa, bands=16)),
    "rensa, 32 bands": ("rensa", partial(run_rensa, bands=32)),
    "text-dedup, our bands": ("text_dedup", run_text_dedup),
    "semhash, random vectors": ("semhash", run_semhash),
}


def run_part(name: str, folder: Path) -> None:
    """Run one of them in this process and print what it took and found."""
    found = RIVALS[name][1](folder)
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
    print(json.dumps({"cpu": cpu, "mb": max(peak_mb(), children.ru_maxrss / 1024), "pairs": sorted(found)}))


def main() -> None:
    """Measure all of them and print a table."""
    parser = argparse.ArgumentParser(description="Compare near-duplicate detection with other libraries.")
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=sorted(RIVALS), help="leave out the others, but never ours")
    parser.add_argument("--part", choices=sorted(RIVALS), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        run_part(options.part, options.folder)
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "corpus"
        write_corpus(folder, options.size, options.seed)
        truth = exact_pairs(list(bodies_of(folder)), THRESHOLD)
        took: dict[str, list[dict[str, Any]]] = {}
        for _, name in itertools.product(range(options.rounds), RIVALS):
            left_out = options.only and name not in ("hotwash", *options.only)
            if left_out or importlib.util.find_spec(RIVALS[name][0]) is None:
                continue
            command = [sys.executable, __file__, "--part", name, "--folder", str(folder)]
            env = os.environ | {"HF_HUB_OFFLINE": "1"}
            done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
            if done.returncode:
                print(f"{name}: {done.stderr.strip()[-300:]}", file=sys.stderr)
                continue
            took.setdefault(name, []).append(json.loads(done.stdout.splitlines()[-1]))
    base = median(one["cpu"] for one in took["hotwash"])
    print(f"{options.size} files, {len(truth)} pairs at J >= {THRESHOLD}; CPU of the whole process, hotwash = 1\n")
    print("| | CPU | peak MB | recall at .7 | at .8 | precision |\n| --- | --- | --- | --- | --- | --- |")
    for name, (module, _) in RIVALS.items():
        if name not in took:
            print(f"| {name} | not run (left out, {module} is not installed, or it failed) | | | | |")
            continue
        pairs = {(a, b) for a, b in took[name][-1]["pairs"]}
        cells = [f"{median(one['cpu'] for one in took[name]) / base:.1f}", f"{took[name][-1]['mb']:.0f}"]
        for least in (THRESHOLD, 0.8):
            wanted = {pair for pair, likeness in truth.items() if likeness >= least}
            cells.append(f"{len(wanted & pairs) / max(1, len(wanted)):.4f}")
        cells.append(f"{len(pairs & truth.keys()) / max(1, len(pairs)):.4f}")
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
