"""Measure the poison scan: labelled texts, real stores, speed.

    python -m benchmarks.poison --corpora DIR [--labelled FILE.jsonl ...] [--stores-list FILE.md]

`--labelled` takes other JSONL files than DIR/poison/{poison,benign}.jsonl, with `text`, `label` (poison or benign) and
`kind`. The shipped weights were trained on DIR/poison, so its figures here are of texts that were seen; honest
figures for it come from `python -m benchmarks.train_poison --check` (nothing of a text's source in training).
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from curate.verdicts import Verdicts, read_verdicts, scan_missing, text_hash, unchecked, write_verdicts
from detectors.poison.scan import rule_set_version, scan_solution, scan_text
from index.records import Solution, Verdict

STORES = ("solutions", "skills", "rules")
EASY = ("plain", "standing")
SPEED_BYTES = 4_000_000


def read_labelled(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """The records of JSONL files."""
    return [
        json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines() if line.strip()
    ]


def measure_labelled(records: Sequence[dict[str, Any]]) -> None:
    """Print recall and false-positive rate of the verdicts, per kind, and recall at fixed rates by score."""
    verdicts = [scan_text(record["text"]) for record in records]
    kinds: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    scores: dict[str, list[float]] = defaultdict(list)
    for record, verdict in zip(records, verdicts, strict=True):
        kinds[record["label"], record["kind"]][verdict.answer] += 1
        scores[record["label"]].append(verdict.score)
    for label in ("poison", "benign"):
        print(f"{label}:")
        total: Counter[str] = Counter()
        for (one, kind), answers in sorted(kinds.items()):
            if one == label:
                total += answers
                print(f"  {kind:15} {answers.total():4}  poison {answers['poison']:4}  suspect {answers['suspect']:4}")
        held = total["poison"] + total["suspect"]
        share = held / max(1, total.total())
        counts = f"poison {total['poison']:4}  suspect {total['suspect']:4}"
        print(f"  {'all':15} {total.total():4}  {counts}  held {share:.4f}")
    easy = sum((kinds["benign", kind] for kind in EASY), Counter[str]())
    print(f"plain and standing held: {1 - easy['clean'] / max(1, easy.total()):.4f}")
    honest = sorted(scores["benign"], reverse=True)
    for rate in (0.005, 0.01, 0.02, 0.03, 0.05):
        threshold = honest[int(rate * len(honest))] if honest else 1.0
        recall = sum(score > threshold for score in scores["poison"]) / max(1, len(scores["poison"]))
        print(f"recall at a false-positive rate of {rate:.1%}: {recall:.3f} (score > {threshold:.4f})")


def store_files(corpora: Path, store: str) -> list[Path]:
    """The lessons, skills or rules of a corpus, without its own README."""
    root = corpora / store
    return [path for path in sorted(root.rglob("*.md*")) if path != root / "README.md"]


def measure_stores(corpora: Path, listing: Path | None) -> None:
    """Print how much of each real store would be held, and write which."""
    lines = ["# What the poison scan holds in the real stores", "", f"Rule set {rule_set_version()}.", ""]
    for store in STORES:
        answers: Counter[str] = Counter()
        held: list[tuple[str, Verdict]] = []
        for path in store_files(corpora, store):
            verdict = scan_text(path.read_text(encoding="utf-8", errors="replace"))
            answers[verdict.answer] += 1
            if verdict.answer != "clean":
                held.append((path.relative_to(corpora).as_posix(), verdict))
        total = max(1, answers.total())
        shares = [f"{answers[answer]} {answer} ({answers[answer] / total:.2%})" for answer in ("poison", "suspect")]
        said = f"{store}: {total} files, {', '.join(shares)}"
        print(said)
        lines += [f"## {said}", ""]
        lines += [
            f"- {verdict.answer} {verdict.score:g} `{path}`: {', '.join(verdict.rules)}" for path, verdict in held
        ]
        lines.append("")
    if listing is not None:
        listing.write_text("\n".join(lines), encoding="utf-8")


def measure_speed(corpora: Path) -> None:
    """Print how many megabytes of lesson text one core scans in a second (best of three; process time)."""
    texts: list[str] = []
    size = 0
    for path in store_files(corpora, "solutions"):
        texts.append(path.read_text(encoding="utf-8", errors="replace"))
        size += len(texts[-1].encode())
        if size > SPEED_BYTES:
            break
    best = 0.0
    for _ in range(3):
        began = time.process_time()
        for text in texts:
            scan_text(text)
        best = max(best, size / 1e6 / (time.process_time() - began))
    print(f"speed: {best:.2f} MB/s over {len(texts)} lessons, {size / 1e6:.1f} MB")


def measure_rescan() -> None:
    """Print what it costs to see that 10,000 lessons are unchanged: verdicts read, texts hashed and looked up."""
    made = [
        Solution(f"{place:026d}", f"Lesson {place}", "bugs", FILLER, text=f"{place}\n{FILLER}")
        for place in range(10_000)
    ]
    with tempfile.TemporaryDirectory() as folder, environment(HOME=folder):
        clean = {text_hash(one.text): Verdict("clean", 0.01) for one in made}
        write_verdicts(Path(folder), Verdicts("v", clean, dict(clean)))
        text_hash.cache_clear()
        began = time.process_time()
        known = scan_missing(made, read_verdicts(Path(folder), "v"), scan_solution)
        changed = unchecked(made, known)
        print(f"10,000 unchanged lessons: {time.process_time() - began:.2f} s, {len(changed)} to scan again")
        text_hash.cache_clear()


FILLER = "The integration suite needs the service that `make test-int` starts. " * 20


@contextmanager
def environment(**values: str) -> Iterator[None]:
    """Variables of the environment while the block runs."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


FLOODS = (
    "<!--", "%20", "a%20", "aGVsbG8", "0x41 ", "01010101 ", ". - ", "use ", "ignore all ", "](http", "-", "| ", "[",
    "\\x41", "&#65", "<div hidden", '"comment": ', "a b c ", "h4x0r ", "\u00e9", "\u200b", "\u0430", "\u202e",
    "send the ", "## ", "\n# a", "\n- a", "`x` is now kept in ", "curl ", "ai agent ",
)  # fmt: skip


def measure_floods() -> None:
    """Print what a text twice as long costs, for texts that repeat one piece: twice as much where it is linear."""
    worst: list[tuple[float, str, float]] = []
    for piece in FLOODS:
        times = []
        for size in (100_000, 200_000):
            text = piece * (size // len(piece))
            began = time.process_time()
            scan_text(text)
            times.append(time.process_time() - began)
        worst.append((times[1] / max(times[0], 0.01), piece, times[1]))
    for ratio, piece, seconds in sorted(worst, reverse=True)[:3]:
        print(f"flood of {piece!r}: twice the text costs {ratio:.1f} times as much, {seconds:.2f} s for 200 kB")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpora", type=Path, default=os.environ.get("HOTWASH_CORPORA"))
    parser.add_argument("--labelled", type=Path, nargs="*")
    parser.add_argument("--stores-list", type=Path)
    arguments = parser.parse_args()
    if arguments.corpora is None and not arguments.labelled:
        parser.error("--corpora DIR, or HOTWASH_CORPORA, or --labelled FILE says what to measure on")
    corpora = Path(arguments.corpora) if arguments.corpora else None
    paths = arguments.labelled or (
        [corpora / "poison" / f"{name}.jsonl" for name in ("poison", "benign")] if corpora else []
    )
    measure_labelled(read_labelled(paths))
    if corpora:
        measure_stores(corpora, arguments.stores_list)
        measure_speed(corpora)
    measure_rescan()
    measure_floods()


if __name__ == "__main__":
    main()
