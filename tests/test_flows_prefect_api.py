"""Talking to a Prefect server with the standard library alone: quick where there is none, and never twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from flows.prefect_api import (
    Server,
    ServerError,
    auth_headers,
    call,
    cancel_run,
    create_session_end_run,
    find_server,
    is_healthy,
    read_serving,
    serve_file,
    store_label,
)
from tests.served import free_port


class Api:
    """A made-up API: answers by path, and keeps what was asked."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, Any]] = {"/api/health": (200, True)}
        self.asked: list[tuple[str, str, Any, str]] = []
        api = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                api.asked.append((self.command, self.path, body, self.headers.get("Authorization", "")))
                status, content = api.answers.get(self.path, (404, {"detail": "not found"}))
                self.send_response(status)
                self.end_headers()
                self.wfile.write(json.dumps(content).encode())

            do_GET = do_POST = answer  # noqa: N815 - the names that http.server calls

            def log_message(self, *arguments: object) -> None:
                """Say nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/api"


@pytest.fixture
def api() -> Iterator[Api]:
    """A made-up API that listens."""
    api = Api()
    thread = threading.Thread(target=api.http.serve_forever)
    thread.start()
    yield api
    api.http.shutdown()
    thread.join()
    api.http.server_close()


def ready(api: Api, root: Path, **more: Any) -> None:
    """Let the API know the session-end deployment of a store."""
    deployment = {"id": "d1", "status": "READY", "paused": False, **more}
    api.answers[f"/api/deployments/name/session-end/{store_label(root)}"] = (200, deployment)
    api.answers["/api/deployments/d1/create_flow_run"] = (201, {"id": "run-1"})


def test_a_session_becomes_a_run_with_its_key(api: Api, tmp_path: Path) -> None:
    """The store, the paths, the name and the idempotency key reach the server."""
    ready(api, tmp_path)
    env = {"PREFECT_API_URL": api.url, "PREFECT_API_AUTH_STRING": "ann:pw"}
    assert create_session_end_run(tmp_path, "claude-code:s1", "key-1", env, ("/t.jsonl",)) == "run-1"
    command, path, body, auth = api.asked[-1]
    assert (command, path) == ("POST", "/api/deployments/d1/create_flow_run")
    assert body == {
        "parameters": {"store": str(tmp_path), "paths": ["/t.jsonl"]},
        "idempotency_key": "key-1",
        "state": {"type": "SCHEDULED"},
        "name": "claude-code:s1",
    }
    assert auth == "Basic YW5uOnB3"


@pytest.mark.parametrize("more", [{"status": "NOT_READY"}, {"paused": True}])
def test_a_deployment_that_nobody_serves_counts_as_no_server(api: Api, tmp_path: Path, more: dict[str, Any]) -> None:
    """The run would wait for ever: the caller runs the stages itself."""
    ready(api, tmp_path, **more)
    assert create_session_end_run(tmp_path, "s", "k", {"PREFECT_API_URL": api.url}) is None


def test_no_server_an_unknown_store_and_a_broken_answer_are_none(api: Api, tmp_path: Path) -> None:
    """Whatever is wrong with the server, the caller goes on without it."""
    assert create_session_end_run(tmp_path, "s", "k", {}) is None
    assert (
        create_session_end_run(tmp_path, "s", "k", {"PREFECT_API_URL": f"http://127.0.0.1:{free_port()}/api"}) is None
    )
    assert create_session_end_run(tmp_path, "s", "k", {"PREFECT_API_URL": "ftp://example.org/api"}) is None
    assert create_session_end_run(tmp_path, "s", "k", {"PREFECT_API_URL": api.url}) is None
    ready(api, tmp_path)
    api.answers["/api/deployments/d1/create_flow_run"] = (500, "broken")
    assert create_session_end_run(tmp_path, "s", "k", {"PREFECT_API_URL": api.url}) is None
    api.answers["/api/health"] = (200, "something else")
    assert not is_healthy(Server(api.url))


@pytest.mark.parametrize(("state", "ended"), [("PAUSED", True), ("RUNNING", True), ("COMPLETED", False)])
def test_only_a_run_that_still_waits_is_ended(api: Api, state: str, ended: bool) -> None:
    """One that came to its end since it was looked at stays as it ended."""
    api.answers["/api/flow_runs/r1"] = (200, {"id": "r1", "state_type": state})
    api.answers["/api/flow_runs/r1/set_state"] = (201, {"status": "ACCEPT"})
    cancel_run(Server(api.url), "r1", "the draft was decided")
    assert [path for command, path, _, _ in api.asked if command == "POST"] == ["/api/flow_runs/r1/set_state"] * ended


def test_errors_say_where_and_what(api: Api) -> None:
    """The address and the server's own words, or that nothing answers."""
    with pytest.raises(ServerError, match="answered 404"):
        call(Server(api.url), "GET", "/nothing")
    with pytest.raises(ServerError, match="no answer"):
        call(Server(f"http://127.0.0.1:{free_port()}/api"), "GET", "/health")


def test_a_proxy_is_not_asked_about_this_machine(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests to the loopback address never leave the machine."""
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{free_port()}")
    assert is_healthy(Server(api.url))


def test_the_server_is_the_named_one_else_the_one_that_serves_this_store(tmp_path: Path) -> None:
    """What `serve` left behind counts only while its process lives."""
    assert find_server(tmp_path, {}) is None
    file = serve_file(tmp_path)
    file.parent.mkdir()
    file.write_text(json.dumps({"api_url": "http://127.0.0.1:1/api", "pid": os.getpid(), "server_pid": None}))
    found = find_server(tmp_path, {})
    assert found is not None
    assert found.api_url == "http://127.0.0.1:1/api"
    named = find_server(tmp_path, {"PREFECT_API_URL": "http://127.0.0.1:2/api/"})
    assert named is not None
    assert named.api_url == "http://127.0.0.1:2/api"
    ended = subprocess.Popen([sys.executable, "-c", "pass"])
    ended.wait()
    for text in (json.dumps({"api_url": "x", "pid": ended.pid}), "{", "[]", '{"pid": "x"}'):
        file.write_text(text)
        assert read_serving(tmp_path) is None


def test_labels_differ_between_stores(tmp_path: Path) -> None:
    """Two stores, or two machines, that share a server do not take each other's runs."""
    labels = {store_label(tmp_path / name) for name in (".hotwash", "hotwash", "a/.hotwash")}
    assert len(labels) == 3
    assert all(label.startswith("hotwash-") for label in labels)


def test_headers() -> None:
    """Prefect's own settings for keys and basic authentication."""
    assert auth_headers({}) == ()
    assert auth_headers({"PREFECT_API_KEY": "k"}) == (("Authorization", "Bearer k"),)


def test_asking_a_server_imports_no_prefect() -> None:
    """It costs the hook's detached part no seconds."""
    heavy = {"prefect", "httpx", "litellm"}
    code = f"import flows.prefect_api, sys; sys.exit(any(name.split('.')[0] in {heavy} for name in sys.modules))"
    assert subprocess.run([sys.executable, "-P", "-c", code], check=False).returncode == 0
