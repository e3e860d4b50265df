"""What a run of a flow leaves for a person to open, on a real server of Prefect's own."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.prefect
def test_each_run_leaves_what_changed_the_drafts_and_the_state_of_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The weekly flow, after a session-end: three artifacts that can be opened, and the page beside the store."""
    from prefect.client.orchestration import get_client
    from prefect.testing.utilities import prefect_test_harness

    from flows.deployments import session_end, weekly

    monkeypatch.setenv("HOTWASH_NOW", "2026-11-28T09:00:00Z")
    store = tmp_path / "store"

    async def read_artifacts() -> dict[str, str]:
        async with get_client() as client:
            return {str(one.key): str(one.data) for one in await client.read_artifacts()}

    with prefect_test_harness(server_startup_timeout=120):
        session_end(str(store), [str(EXAMPLES)])
        weekly(str(store))
        left = asyncio.run(read_artifacts())
    assert {"hotwash-run", "hotwash-curate", "hotwash-drafts", "hotwash-report"} <= set(left)
    assert "takes in solutions/" in left["hotwash-curate"]
    assert "live lessons" in left["hotwash-report"]
    assert "### Merged away" in left["hotwash-report"]
    assert (store / ".cache/report.html").is_file()
