"""One command reruns every figure: no benchmark is left out of it, and each of them starts."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from benchmarks.__main__ import RUNS, main

FOLDER = Path(__file__).parents[1] / "benchmarks"
# What the others are made with, and the command itself.
PARTS = {"__init__", "__main__", "corpus", "poison_openings"}


def test_every_benchmark_is_run() -> None:
    """Those on disk, those that the command runs, and those that the README names."""
    on_disk = {path.stem for path in FOLDER.glob("*.py")} - PARTS
    named = set(re.findall(r"`(\w+)[ `]", "\n".join(re.findall(r"^## .*$", (FOLDER / "README.md").read_text(), re.M))))
    assert on_disk == set(RUNS)
    assert on_disk <= named, f"README.md has no section for {sorted(on_disk - named)}"


def test_each_one_starts() -> None:
    """All of them can be imported in one process without doing anything."""
    words = ";".join(f"import benchmarks.{name}" for name in RUNS)
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=False, cwd=FOLDER.parent)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_unknown_name_is_wrong_use() -> None:
    """Exit 2."""
    assert main(["no-such"]) == 2
