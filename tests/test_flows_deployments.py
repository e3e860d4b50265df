"""What a run of a flow leaves for a person to open, on a real server of Prefect's own."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from prefect import flow

from flows.context import World
from flows.report import Report

pytestmark = pytest.mark.prefect

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    """One server of Prefect's own for this file; a second writer of a store asks again soon."""
    from prefect.testing.utilities import prefect_test_harness

    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PREFECT_SERVER_TASKS_TAG_CONCURRENCY_SLOT_WAIT_SECONDS", "0.5")
        with prefect_test_harness(server_startup_timeout=180):
            yield


def test_each_run_leaves_what_changed_the_drafts_and_the_state_of_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The weekly flow, after a session-end: three artifacts that can be opened, and the page beside the store."""
    from prefect.client.orchestration import get_client

    from flows.deployments import session_end, weekly

    monkeypatch.setenv("HOTWASH_NOW", "2026-11-28T09:00:00Z")
    store = tmp_path / "store"

    async def read_artifacts() -> dict[str, str]:
        async with get_client() as client:
            return {str(one.key): str(one.data) for one in await client.read_artifacts()}

    session_end(str(store), [str(EXAMPLES)])
    weekly(str(store))
    left = asyncio.run(read_artifacts())
    assert {"hotwash-run", "hotwash-curate", "hotwash-drafts", "hotwash-report"} <= set(left)
    assert "takes in solutions/" in left["hotwash-curate"]
    assert "live lessons" in left["hotwash-report"]
    assert "### Merged away" in left["hotwash-report"]
    assert (store / ".cache/report.html").is_file()


def test_several_stores_are_mapped_in_one_run_with_one_writer_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the same time, never twice in one store; a store that fails stops no other, and is named in the end."""
    from prefect.client.orchestration import get_client

    from flows import pipeline
    from flows.deployments import curate_store, limit_writers, weekly_stores, writer_tag

    monkeypatch.setenv("HOTWASH_NOW", "2026-11-28T09:00:00Z")
    stores = [tmp_path / name for name in ("shop", "billing")]
    for store in stores:
        (store / "inbox").mkdir(parents=True)
        (store / "inbox" / "note.md").write_text(f"# {store.name} wants its port first\n\nPass --port.\n")
    both = threading.Barrier(2)
    at_work: list[str] = []
    most: list[int] = []
    curate = pipeline.curate

    def meeting(world: World, dry_run: bool = False) -> Report:
        both.wait(120)
        return curate(world, dry_run=dry_run)

    def alone(world: World, dry_run: bool = False) -> Report:
        at_work.append(world.root.name)
        time.sleep(0.5)
        most.append(len(at_work))
        report = curate(world, dry_run=dry_run)
        at_work.pop()
        return report

    @flow
    def two_writers() -> None:
        tagged = curate_store.with_options(tags=[writer_tag(stores[0])])
        for future in [tagged.submit(str(stores[0])), tagged.submit(str(stores[0]))]:
            future.result()

    monkeypatch.setattr(pipeline, "curate", meeting)
    counts = weekly_stores(f"{stores[0]}, {stores[1]},")
    assert set(counts) == {str(store) for store in stores}
    limit_writers([writer_tag(stores[0])])
    with get_client(sync_client=True) as client:
        assert client.read_concurrency_limit_by_tag(writer_tag(stores[0])).concurrency_limit == 1
    monkeypatch.setattr(pipeline, "curate", alone)
    two_writers()
    assert most == [1, 1]
    broken = tmp_path / "broken"
    broken.write_text("a file")
    with pytest.raises(RuntimeError, match=rf"{broken}: FileExistsError"):
        weekly_stores([str(broken), str(stores[0])])
    for store in stores:
        assert len(list((store / "solutions").rglob("*.md"))) == 1
