"""docs/scale.md holds: prefect.yaml on a work pool, against a server that keeps its data in PostgreSQL."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.prefect_api import Server, call, create_run, find_deployment, find_runs, is_healthy
from tests.served import free_port, make_draft, wait_for, write_draft_files

POSTGRES = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)), None)
REPOSITORY = Path(__file__).parent.parent
PREFECT = str(Path(sys.executable).parent / "prefect")

pytestmark = [
    pytest.mark.prefect,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(POSTGRES is None, reason="no PostgreSQL on this machine (apt-get install postgresql)"),
    pytest.mark.skipif(os.getuid() != 0, reason="PostgreSQL is started as its own user, which needs root"),
]


@pytest.fixture
def database() -> Iterator[str]:
    """A PostgreSQL of this test's own: its address."""
    assert POSTGRES is not None
    folder, port = Path("/var/tmp") / f"hotwash-test-{os.getpid()}", free_port()
    folder.mkdir()
    shutil.chown(folder, "postgres")
    data, options = folder / "db", f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"

    def run(command: str) -> None:
        subprocess.run(["su", "postgres", "-c", f"{POSTGRES.parent}/{command}"], check=True, stdout=subprocess.DEVNULL)

    run(f"initdb -D {data} -A trust -U prefect")
    try:
        run(f"pg_ctl -D {data} -w -l {folder}/log -o '{options}' start")
        run(f"createdb -h 127.0.0.1 -p {port} -U prefect prefect")
        yield f"postgresql+asyncpg://prefect@127.0.0.1:{port}/prefect"
        run(f"pg_ctl -D {data} -m immediate stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_the_flows_run_on_a_worker_and_a_draft_is_reviewed_there(tmp_path: Path, database: str) -> None:
    """prefect.yaml is deployed; a weekly run gives the waiting draft its review, whose answer publishes it."""
    port = free_port()
    server = Server(f"http://127.0.0.1:{port}/api", (), 10.0)
    root, home, empty = tmp_path / "store", tmp_path / "home", tmp_path / "empty"
    for folder in (home, empty):
        folder.mkdir()
    write_draft_files(root, make_draft("services"))
    write_draft_files(tmp_path / "other", make_draft("services"))
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PREFECT_", "HOTWASH_", "PYTHON"))}
    env = {
        **kept,
        "HOME": str(home),
        "PYTHONSAFEPATH": "1",
        "DO_NOT_TRACK": "1",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_API_URL": server.api_url,
        "PREFECT_HOME": str(tmp_path / "prefect"),
        "PREFECT_SERVER_DATABASE_CONNECTION_URL": database,
        "HOTWASH_WORK_POOL": "hotwash",
        "HOTWASH_STORE": str(root),
        "HOTWASH_STORES": f"{root},{tmp_path / 'other'}",
    }
    log = tmp_path / "log"

    def prefect(*arguments: str, folder: Path = empty) -> None:
        done = subprocess.run([PREFECT, *arguments], env=env, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        with log.open("ab") as output:
            return subprocess.Popen([PREFECT, *arguments], env=env, cwd=empty, stdout=output, stderr=output)

    started = [start("server", "start", "--host", "127.0.0.1", "--port", str(port))]
    try:
        wait_for("the server", lambda: is_healthy(server), 240)
        prefect("work-pool", "create", "hotwash", "--type", "process")
        shutil.copy(REPOSITORY / "prefect.yaml", empty)
        prefect("--no-prompt", "deploy", "--all")
        started.append(start("worker", "start", "--pool", "hotwash"))
        flows = ("session-end", "weekly", "weekly-stores", "daily", "review")
        found = {flow: find_deployment(server, flow, "shared") for flow in flows}
        assert all(found.values())
        identities = {flow: str((deployment or {})["id"]) for flow, deployment in found.items()}
        create_run(server, identities["weekly"], {}, "test-weekly", "by-test")

        def waiting() -> str:
            runs = find_runs(server, identities["review"], ("PAUSED",))
            return str(runs[0]["id"]) if runs else ""

        review = wait_for(f"the review run; see {log.read_text()[-2000:]}", waiting, 240)
        answer = {"decision": "publish", "skill_name": "services", "note": "seen", "who": "ann"}
        call(server, "POST", f"/flow_runs/{review}/resume", {"run_input": answer})
        place = home / ".claude" / "skills" / "services" / "SKILL.md"
        wait_for("the published skill", place.is_file, 240)
        (decision,) = (root / "decisions").glob("review-*.yaml")
        assert "who: ann" in decision.read_text()

        # Both stores in one run: the other's like draft gets a review of its own, and none is ended.
        create_run(server, identities["weekly-stores"], {}, "test-stores", "by-test")
        other = wait_for(f"the other store's review; see {log.read_text()[-2000:]}", waiting, 240)
        assert call(server, "GET", f"/flow_runs/{other}")["parameters"]["store"] == str(tmp_path / "other")
        write_draft_files(root, make_draft("more"))
        create_run(server, identities["weekly"], {}, "test-again", "by-test")
        wait_for("both reviews", lambda: len(find_runs(server, identities["review"], ("PAUSED",))) == 2, 240)
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(240)
