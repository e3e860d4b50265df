"""docs/scale.md holds: shards signed by Dask's workers and buckets in a real Redis give the clusters of one process."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.corpus import write_corpus
from detectors import bucket_store
from detectors.duplicate_files import duplicates_in
from detectors.duplicate_shards import find_from_shards, sign_shard
from index.errors import SettingsError
from index.settings import DedupSettings, SpreadSettings
from index.signature_cache import Listing, read_below, scan_markdown
from tests.served import free_port, wait_for

SETTINGS = DedupSettings()
SERVER = shutil.which("redis-server")
NOW = 1_900_000_000_000_000_000

needs_redis = pytest.mark.skipif(SERVER is None, reason="no Redis on this machine (apt-get install redis-server)")
needs_dask = pytest.mark.skipif(find_spec("prefect_dask") is None, reason="the [dask] extra is not installed")


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[str]:
    """The address of a Redis server of this test's own."""
    assert SERVER is not None
    port = free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(tmp_path)]
    process = subprocess.Popen([SERVER, *options], stdout=subprocess.DEVNULL)
    url = f"redis://127.0.0.1:{port}/0"
    try:
        wait_for("redis", lambda: _answers(url), 30)
        yield url
    finally:
        process.terminate()
        process.wait(30)


def _client(url: str):  # type: ignore[no-untyped-def]
    import redis

    return redis.Redis(**bucket_store.server(url))


def _answers(url: str) -> bool:
    import redis

    try:
        return bool(_client(url).ping())
    except redis.ConnectionError:
        return False


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A corpus with near-duplicates, equal files, short texts, a text without words and one in two shards."""
    root = tmp_path / "corpus"
    write_corpus(root, 300, 3)
    for number in range(6):
        (root / f"short-{number}.md").write_text(
            f"Run `make test` before a push to {'main' if number < 4 else 'dev'}.\n"
        )
        (root / f"empty-{number}.md").write_text("---\nid: x\n---\n\n")
    return root


def in_shards(root: Path, size: int, redis: str = "") -> object:
    """What signing in shards gives; with `redis` the buckets are there."""
    listing, read = scan_markdown(root), read_below(root)
    shards = []
    for at in range(0, len(listing.paths), size):
        shard = sign_shard(read, listing.paths[at : at + size], SETTINGS)
        if redis:
            bucket_store.fill(redis, "test", SETTINGS, at + shard.firsts, shard.signatures, shard.counts)
        shards.append(shard)
    buckets = None
    if redis:
        buckets = [bucket_store.shared(redis, "test", SETTINGS, n) for n in range(bucket_store.band_count(SETTINGS))]
        bucket_store.clear(redis, "test", SETTINGS)
    return find_from_shards(listing, shards, read, SETTINGS, buckets)


@pytest.mark.parametrize("size", [3, 37, 10_000])
def test_shards_of_any_size_give_what_one_process_gives(folder: Path, size: int) -> None:
    whole = duplicates_in(folder, SETTINGS, NOW)
    assert len(whole.pairs) > 20
    assert in_shards(folder, size) == whole


def test_a_file_that_cannot_be_read_fails_alone(folder: Path) -> None:
    """It vanished between the listing and its turn: it is told, and the others are found."""
    listing = scan_markdown(folder)
    listed = Listing(["gone.md", *listing.paths], listing.times[:3] + listing.times)
    shard = sign_shard(read_below(folder), listed.paths, SETTINGS)
    found = find_from_shards(listed, [shard], read_below(folder), SETTINGS)
    assert [path for path, _ in found.failed] == ["gone.md"]
    assert found.pairs == duplicates_in(folder, SETTINGS, NOW).pairs


@needs_redis
def test_buckets_in_redis_give_the_same_pairs_and_leave_nothing(folder: Path, redis: str) -> None:
    assert in_shards(folder, 70, redis) == duplicates_in(folder, SETTINGS, NOW)
    assert _client(redis).dbsize() == 0


@needs_redis
@needs_dask
@pytest.mark.prefect
@pytest.mark.slow
def test_dask_workers_and_redis_give_the_clusters_of_one_machine(
    folder: Path, redis: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two worker processes sign four shards; the clusters are those of one process, and Redis is empty again."""
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    from prefect.testing.utilities import prefect_test_harness

    from flows.spread import spread_duplicates

    with prefect_test_harness(server_startup_timeout=180):
        found = spread_duplicates(folder, SETTINGS, SpreadSettings("local", 2, 80, redis))
    assert found == duplicates_in(folder, SETTINGS, NOW)
    assert _client(redis).dbsize() == 0


@pytest.mark.parametrize("url", ["", "localhost:6379", "http://a", "redis://", "redis://a:0x1", "redis://a/b"])
def test_a_wrong_address_is_told(url: str) -> None:
    with pytest.raises(SettingsError, match=r"spread.redis: wanted an address"):
        bucket_store.server(url)


def test_the_parts_of_an_address() -> None:
    found = bucket_store.server("rediss://me:p%40ss@host:7000/2")
    assert found == {"host": "host", "port": 7000, "db": 2, "username": "me", "password": "p@ss", "ssl": True}
