"""Which lessons of a pass are alike, by their text and by their meaning, with what is known kept from run to run."""

from __future__ import annotations

import time
from collections.abc import Sequence

from curate.dedup import KeptApart, plan_dedup, text_differences
from detectors.duplicate_files import duplicates_in
from detectors.duplicates import Pair, find_near_duplicates
from detectors.embedding import find_embedder
from detectors.meaning import Judged
from detectors.store_meaning import judge_store
from detectors.trait_cache import TraitCache
from flows.context import Pass
from index.changes import Plan
from index.literals import Difference
from index.records import Solution
from index.store import SOLUTIONS


def near_duplicates(run: Pass, solutions: Sequence[Solution]) -> tuple[Pair, ...]:
    """The pairs of near-duplicates by place in `solutions`, which are lessons of the store; sorted.

    Only what changed since the last pass is read and compared, or all of it by Dask's workers where the settings name
    some. A dry run, which writes nothing and whose store may be ahead of the files, finds the same in memory.
    """
    settings = run.world.settings.dedup
    if run.dry_run:
        return find_near_duplicates([solution.body for solution in solutions], settings)
    place = {solution.path: number for number, solution in enumerate(solutions)}
    folder, spread = run.world.root / SOLUTIONS, run.world.settings.spread
    if spread.dask:
        from flows.spread import spread_duplicates

        found = spread_duplicates(folder, settings, spread)
    else:
        found = duplicates_in(folder, settings, time.time_ns(), run.cache)
    pairs = []
    for one, other, jaccard, ratio in found.pairs:
        a, b = place.get(f"{SOLUTIONS}/{one}"), place.get(f"{SOLUTIONS}/{other}")
        if a is not None and b is not None:
            pairs.append(Pair(min(a, b), max(a, b), jaccard, ratio))
    return tuple(sorted(pairs))


def plan_merges(run: Pass, solutions: Sequence[Solution], pairs: Sequence[Pair], kept_apart: KeptApart) -> Plan:
    """The plan that merges near-duplicates; what two texts differ in is kept from run to run."""
    with TraitCache(run.cache) as known:

        def differ(a: Solution, b: Solution) -> tuple[Difference, ...]:
            return text_differences(a, b, known.differ)

        return plan_dedup(solutions, pairs, run.world.settings.dedup, kept_apart, run.store.mtimes, differ=differ)


def same_meaning(run: Pass, solutions: Sequence[Solution]) -> tuple[Judged, ...]:
    """The judgements on lessons that may say the same in other words, by place in `solutions`.

    What is known of them is kept from run to run; a dry run writes nothing.
    """
    return judge_store(solutions, find_embedder(), run.cache)
