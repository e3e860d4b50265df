"""Near-duplicates of a large store on several machines: shards signed by Dask's workers, buckets in Redis."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.cache_policies import NO_CACHE

from detectors import bucket_store
from detectors.duplicate_files import Duplicates
from detectors.duplicate_shards import Buckets, Shard, find_from_shards, sign_shard
from index.errors import SettingsError
from index.settings import DedupSettings, SpreadSettings
from index.signature_cache import read_below, scan_markdown
from index.signatures import Int


@task(name="sign", cache_policy=NO_CACHE, persist_result=False)
def sign(root: str, first: int, paths: Sequence[str], settings: DedupSettings, redis: str, name: str) -> Shard:
    """Sign one shard, whose first file has the place `first`, and put its signatures into the buckets."""
    shard = sign_shard(read_below(Path(root)), paths, settings)
    if redis:
        bucket_store.fill(redis, name, settings, first + shard.firsts, shard.signatures, shard.counts)
    return shard


@task(name="join", cache_policy=NO_CACHE, persist_result=False)
def join(redis: str, name: str, settings: DedupSettings, bands: Sequence[int]) -> list[tuple[Int, Int]]:
    """The files that share a bucket, for some of the bands."""
    return [bucket_store.shared(redis, name, settings, band) for band in bands]


@flow(name="spread-dedup", validate_parameters=False, persist_result=False)
def find_spread(root: Path, settings: DedupSettings, spread: SpreadSettings) -> Duplicates:
    """Near-duplicates among the markdown files below `root`, as `duplicates_in` finds them, to the pair."""
    listing = scan_markdown(root)
    paths, size, redis = listing.paths, max(1, spread.shard_files), spread.redis
    name = f"hotwash-{secrets.token_hex(8)}"
    firsts = range(0, len(paths), size)
    try:
        signing = [sign.submit(str(root), at, paths[at : at + size], settings, redis, name) for at in firsts]
        shards = [future.result() for future in signing]
        buckets: list[Buckets] | None = None
        if redis:
            # As many tasks as workers: a band is too little work for one.
            parts = [range(bucket_store.band_count(settings))[at :: spread.workers] for at in range(spread.workers)]
            joining = [join.submit(redis, name, settings, list(part)) for part in parts]
            by_band: dict[int, Buckets] = {}
            for part, future in zip(parts, joining, strict=True):
                by_band.update(zip(part, future.result(), strict=True))
            buckets = [by_band[band] for band in sorted(by_band)]
        return find_from_shards(listing, shards, read_below(root), settings, buckets)
    finally:
        if redis:
            bucket_store.clear(redis, name, settings)


def spread_duplicates(root: Path, settings: DedupSettings, spread: SpreadSettings) -> Duplicates:
    """Run the flow with the task runner that the settings name. Raises SettingsError where the extra is missing."""
    if spread.redis:
        bucket_store.server(spread.redis)
    return find_spread.with_options(task_runner=_runner(spread))(root, settings, spread)


def _runner(spread: SpreadSettings) -> Any:
    try:
        from prefect_dask.task_runners import DaskTaskRunner
    except ImportError:
        raise SettingsError(
            "spread.dask: needs the extra [dask]. Install `hotwash[dask]`, or leave the setting empty."
        ) from None
    if spread.dask == "local":
        return DaskTaskRunner(
            cluster_kwargs={"n_workers": spread.workers, "threads_per_worker": 1, "dashboard_address": None}
        )
    return DaskTaskRunner(address=spread.dask)
