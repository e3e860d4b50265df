"""Run every benchmark, or those named, one after another: the figures of README.md in this folder.

    HOTWASH_CORPORA=DIR python -m benchmarks [NAME ...]

What needs DIR is left out, with a line, where it is not set. Each part runs in a process of its own. All of them take
about an hour on two cores; nothing outside temporary folders is written.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

CORPORA = "{corpora}"
# Each benchmark with the arguments of the figures in README.md; CORPORA stands for the folder of data.
RUNS: dict[str, tuple[tuple[str, ...], ...]] = {
    "ingest": (("--mb", "50"), ("--mb", "200", "--rounds", "2")),
    "lessons": ((f"{CORPORA}/transcripts", "--titles"),),
    "train_classifier": ((f"{CORPORA}/solutions",),),
    "redaction": ((f"{CORPORA}/transcripts",),),
    "train_poison": (("--corpora", CORPORA, "--check"),),
    "poison": (("--corpora", CORPORA),),
    "poison_stores": ((),),
    "poison_minja": ((),),
    "poison_pipeline": ((),),
    "dedup": (("--size", "10000"), ("--size", "100000", "--rounds", "3")),
    "rivals": (("--size", "10000"),),
    "curate": (("--size", "2000", "--rounds", "1"),),
    "engine": (("--size", "2000"),),
    "meaning": ((CORPORA,),),
    "rounds": (("--model", "adversary"), ("--model", "none")),
    "patterns": ((CORPORA,),),
    "trigger": ((f"{CORPORA}/trigger",),),
    "retrieval": ((CORPORA,),),
    "hooks": ((),),
    "usage": ((f"{CORPORA}/transcripts",),),
}


def main(names: list[str]) -> int:
    """Run them; the exit code is 1 when one failed."""
    unknown = [name for name in names if name not in RUNS]
    if unknown:
        print(f"there is no benchmark {unknown[0]!r}; known: {', '.join(RUNS)}", file=sys.stderr)
        return 2
    corpora = os.environ.get("HOTWASH_CORPORA", "")
    failed = []
    for name in names or RUNS:
        for given in RUNS[name]:
            shown = f"python -m benchmarks.{name} {' '.join(given)}".strip()
            print(f"\n== {shown}", flush=True)
            if not corpora and any(CORPORA in word for word in given):
                print("left out: HOTWASH_CORPORA names no folder of data")
                continue
            words = [word.replace(CORPORA, corpora) for word in given]
            began = time.monotonic()
            done = subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *words], check=False)
            print(f"-- {time.monotonic() - began:.0f} s, exit code {done.returncode}", flush=True)
            failed += [shown] * (done.returncode != 0)
    for shown in failed:
        print(f"failed: {shown}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
