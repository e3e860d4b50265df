"""Measure the finding of patterns on groups that a reader made.

    python -m benchmarks.patterns [CORPORA] [--list]        or with HOTWASH_CORPORA set

Reads CORPORA/solutions (pattern_groups.jsonl, manifest.jsonl, the files); writes nothing. A group counts as found when
one of ours holds at least half of its lessons, and at least two. Precision is that of pairs: of the pairs of grouped
lessons that stand together in one of ours, how many stand together in a reader's group. `--list` prints every group, to
be read by a person: the reader's groups are not exhaustive.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from benchmarks.meaning import read_lesson, read_rows
from detectors.recurrence import ROOT, SUBJECT, Pattern, find_patterns

LEAST = 3


def measure(groups: Sequence[frozenset[str]], patterns: Sequence[Pattern]) -> tuple[int, int, int]:
    """(groups found, pairs of grouped lessons together in ours, those of them together in a reader's group)."""
    ours = [frozenset(pattern.paths) for pattern in patterns]
    found = sum(any(2 * len(group & own) >= len(group) and len(group & own) > 1 for own in ours) for group in groups)
    grouped = frozenset().union(*groups)
    pairs = [pair for own in ours for pair in combinations(sorted(own & grouped), 2)]
    right = sum(any(a in group and b in group for group in groups) for a, b in pairs)
    return found, len(pairs), right


def main(arguments: Sequence[str]) -> None:
    """Print the figures over several thresholds, the one in use marked."""
    chosen = [argument for argument in arguments if not argument.startswith("-")]
    root = Path(chosen[0] if chosen else os.environ.get("HOTWASH_CORPORA", "corpora")) / "solutions"
    if not (root / "pattern_groups.jsonl").is_file():
        print(f"skipped, no {root}/pattern_groups.jsonl")
        return
    groups = [frozenset(row["paths"]) for row in read_rows(root / "pattern_groups.jsonl")]
    rows = [row for row in read_rows(root / "manifest.jsonl") if row["kind"] == "head" and row["role"] == "lesson"]
    lessons = [read_lesson(root, row) for row in rows]
    for subject in (0.08, 0.1, SUBJECT, 0.14, 0.18, 0.24, ROOT):
        patterns = find_patterns(lessons, least=LEAST, subject=subject)
        found, pairs, right = measure(groups, patterns)
        mark = " (in use)" if subject == SUBJECT else ""
        members = sum(len(pattern.paths) for pattern in patterns)
        precision = f"{right / max(1, pairs):.3f} ({right} of {pairs})"
        print(f"subject {subject:.2f}{mark}: found {found} of {len(groups)}, pairwise precision {precision}; ", end="")
        print(f"{len(patterns)} groups with {members} of {len(lessons)} lessons")
    if "--list" in arguments:
        for pattern in find_patterns(lessons, least=LEAST, subject=SUBJECT):
            print(f"\n{pattern.strength:.2f} {pattern.name}\n  {pattern.why}")
            print("".join(f"  - {path}\n" for path in pattern.paths), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
