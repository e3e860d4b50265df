"""`hotwash serve`: what it says when it cannot, and that nothing is lost or done twice over its life."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from curate.drafts import read_decisions
from curate.review import Decision
from flows.context import World
from flows.prefect_api import (
    alive,
    call,
    create_session_end_run,
    find_deployment,
    is_healthy,
    read_serving,
    serve_file,
    store_label,
)
from flows.review import decide
from flows.serve import (
    ServeError,
    check_port,
    clean_environment,
    serve,
    server_trouble,
)
from index.errors import SettingsError
from index.settings import ServeSettings, Settings
from tests.served import Serving, make_draft, wait_for, write_draft_files


def test_the_environment_is_clean_and_quiet(tmp_path: Path) -> None:
    """Nothing of the user's Python path; a server, a home and a password of ours only where none is named."""
    user = {"PYTHONPATH": ".", "PYTHONHOME": "/x", "PATH": "/bin", "PREFECT_SERVER_API_AUTH_STRING": "ann:pw"}
    clean = clean_environment(user, tmp_path, ServeSettings(port=4999))
    assert "PYTHONPATH" not in clean
    assert "PYTHONHOME" not in clean
    assert clean["PYTHONSAFEPATH"] == "1"
    assert clean["PREFECT_API_URL"] == "http://127.0.0.1:4999/api"
    assert clean["PREFECT_HOME"] == str(tmp_path / ".cache" / "prefect")
    assert clean["PREFECT_API_AUTH_STRING"] == "ann:pw"
    assert clean["PREFECT_SERVER_ANALYTICS_ENABLED"] == "false"
    named = clean_environment(
        {"PREFECT_API_URL": "http://x/api", "PREFECT_LOGGING_LEVEL": "DEBUG"}, tmp_path, ServeSettings()
    )
    assert named["PREFECT_API_URL"] == "http://x/api"
    assert named["PREFECT_LOGGING_LEVEL"] == "DEBUG"
    assert "PREFECT_HOME" not in named


def test_only_this_machine_is_served(tmp_path: Path) -> None:
    """A host that others reach is refused, with what to do instead."""
    with pytest.raises(SettingsError, match="PREFECT_API_URL"):
        serve(tmp_path, Settings(serve=ServeSettings(host="0.0.0.0")), {})  # noqa: S104 - that is what is refused


def test_a_taken_port_is_one_clear_line() -> None:
    """Which port, and the three things that help."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(ServeError, match=r"port \d+ on 127.0.0.1 is taken.*HOTWASH_SERVE_PORT"):
            check_port(ServeSettings(port=other.getsockname()[1]))


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("alembic: Can't locate revision identified by 'abc'\n", "made by another version of Prefect"),
        ("sqlite3.OperationalError: attempt to write a readonly database\n", "cannot write there"),
        ("Traceback\nValueError: odd\n\n", "the Prefect server ended: ValueError: odd"),
        ("", "it printed nothing"),
    ],
)
def test_a_server_that_ends_is_one_clear_line(tmp_path: Path, log: str, said: str) -> None:
    """An old database, no write access, anything else."""
    file = tmp_path / ".cache" / "prefect" / "server.log"
    file.parent.mkdir(parents=True)
    file.write_text(log)
    assert said in server_trouble(tmp_path)
    assert "\n" not in server_trouble(tmp_path)


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    """A `hotwash serve`, not yet started; stopped at the end of the test."""
    serving = Serving(tmp_path)
    serving.root.mkdir()
    yield serving
    if serving.process is not None and serving.process.poll() is None:
        serving.stop()


def world_of(serving: Serving) -> World:
    """The world in which the terminal decides."""
    return World(serving.root, Settings(), datetime.now(UTC), serving.home, {})


def end_of(serving: Serving, run: str) -> str:
    """The state in which a run ended, or "" while it has not."""
    state = str(call(serving.server, "GET", f"/flow_runs/{run}")["state_type"])
    return state if state in {"COMPLETED", "FAILED", "CRASHED"} else ""


def states_of(serving: Serving) -> dict[str, str]:
    """Every review run's state by its id."""
    return {str(run["id"]): str(run["state_name"]) for run in serving.reviews()}


@pytest.mark.prefect
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_nothing_is_lost_and_nothing_done_twice_over_a_servers_life(serving: Serving) -> None:
    """Drafts made with no server up, restarts by both signals, a kill, and a deleted database: one waiting run a draft.

    All of it from a project folder that holds packages of our names, with PYTHONPATH=. .
    """
    write_draft_files(serving.root, make_draft("early"))
    serving.start()
    first = serving.suspended("early")
    assert [str(run["id"]) for run in serving.reviews()] == [first]

    # A session becomes one run, however often the hook fires, and the run harvests from the spool.
    env = {"PREFECT_API_URL": serving.server.api_url}
    made = wait_for("the deployment to be served", lambda: create_session_end_run(serving.root, "s", "key-1", env))
    assert create_session_end_run(serving.root, "s", "key-1", env) == made
    ended = wait_for("the session-end run to end", lambda: end_of(serving, str(made)))
    assert ended == "COMPLETED", serving.log
    weekly = find_deployment(serving.server, "weekly", store_label(serving.root))
    assert weekly is not None
    assert weekly["schedules"][0]["schedule"]["cron"] == "30 3 * * 0"

    # A second serve of the same store, and one of another store on the same port, say so in one line.
    second = Serving(serving.folder, serving.port)
    log = serving.log
    process = second.launch()
    assert process.wait(120) == 1
    assert "runs already" in second.log
    (serving.folder / "serve.log").write_text(log)

    # SIGTERM, a restart: the same run waits, and it is the only one.
    server_pid = (read_serving(serving.root) or {})["server_pid"]
    assert serving.stop() == 0
    assert not alive(server_pid)
    assert not serve_file(serving.root).exists()
    assert create_session_end_run(serving.root, "s", "key-2", env) is None
    serving.start()
    assert serving.suspended("early") == first
    assert [str(run["id"]) for run in serving.reviews()] == [first]

    # A kill leaves the server behind; the next serve ends it and goes on.
    server_pid = (read_serving(serving.root) or {})["server_pid"]
    assert serving.stop(signal.SIGKILL) != 0
    assert alive(server_pid)
    serving.start()
    assert not alive(server_pid)
    assert serving.suspended("early") == first

    # What the terminal decides ends the run; Ctrl-C stops as cleanly.
    write_draft_files(serving.root, make_draft("other"))
    other = serving.suspended("other")
    decide(world_of(serving), "early", Decision("publish", "ann"))
    published = serving.home / ".claude" / "skills" / "early" / "SKILL.md"
    stamp = published.stat().st_mtime_ns
    states = {first: "Cancelled", other: "Suspended"}
    wait_for("the decided draft's run to end", lambda: states_of(serving) == states)
    assert serving.stop(signal.SIGINT) == 0

    # The database is only history: without it the open draft gets its run anew, and nothing is published twice.
    for file in (serving.root / ".cache" / "prefect").glob("prefect.db*"):
        file.unlink()
    serving.start()
    anew = serving.suspended("other")
    assert anew != other
    assert [run["name"] for run in serving.reviews()] == ["other"]
    assert published.stat().st_mtime_ns == stamp
    assert len(read_decisions(serving.root)[0]) == 1


@pytest.mark.prefect
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_database_of_another_version_is_one_clear_line(serving: Serving) -> None:
    """Where the file is, that it holds only history, and what to do."""
    folder = serving.root / ".cache" / "prefect"
    folder.mkdir(parents=True)
    with sqlite3.connect(folder / "prefect.db") as database:
        database.execute("create table alembic_version (version_num varchar(32) not null)")
        database.execute("insert into alembic_version values ('fffffffffff0')")
    assert serving.launch().wait(120) == 1
    assert serving.log.count("\n") == 1
    assert "was made by another version of Prefect" in serving.log
    assert not is_healthy(serving.server)


def test_an_orphan_is_only_ended_if_it_is_plainly_ours(tmp_path: Path) -> None:
    """A process id that was given to something else since is left alone."""
    from flows.serve import stop_orphan

    serve_file(tmp_path).parent.mkdir()
    serve_file(tmp_path).write_text(json.dumps({"server_pid": os.getpid()}))
    stop_orphan(tmp_path)
    assert alive(os.getpid())
