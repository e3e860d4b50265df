"""A Prefect server seen from outside: is it up, which deployment, create a run. Standard library only, so it is quick.

The detached part of the hook uses it: importing Prefect there would cost seconds only to find that no server is up.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import platform
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from slugify import slugify

from index.decode import load_json
from index.errors import HotwashError
from index.store import CACHE

SERVE_FILE = "serve.json"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
WAITING_STATES = ("SCHEDULED", "PENDING", "RUNNING", "PAUSED", "CANCELLING")


class ServerError(HotwashError):
    """A Prefect server cannot be reached, or refused what was asked."""


@dataclass(frozen=True, slots=True)
class Server:
    """An API to talk to: its address (ending in /api), the headers that let us in, seconds to wait for an answer."""

    api_url: str
    headers: tuple[tuple[str, str], ...] = ()
    timeout: float = 10.0


def store_label(root: Path) -> str:
    """The name of this store's deployments: readable, and its own among machines and stores that share a server."""
    mark = hashlib.sha256(f"{platform.node()}:{root.absolute()}".encode()).hexdigest()[:6]
    return f"{slugify(root.name, max_length=40) or 'store'}-{mark}"


def serve_file(root: Path) -> Path:
    """Where `hotwash serve` says that it runs."""
    return root / CACHE / SERVE_FILE


def read_serving(root: Path) -> dict[str, Any] | None:
    """What `hotwash serve` wrote about itself ({"api_url", "pid", "server_pid"}); None if it is not running."""
    try:
        serving = load_json(serve_file(root).read_text(encoding="utf-8"))
        alive(int(serving["pid"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return dict(serving) if alive(int(serving["pid"])) else None


def alive(pid: int) -> bool:
    """Whether a process with this id runs (also one of another user)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def find_server(root: Path, env: Mapping[str, str], timeout: float = 10.0) -> Server | None:
    """The server to use: the one that PREFECT_API_URL names, else the one that `hotwash serve` runs for this store."""
    url = env.get("PREFECT_API_URL") or (read_serving(root) or {}).get("api_url")
    return Server(str(url).rstrip("/"), auth_headers(env), timeout) if url else None


def auth_headers(env: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The header for Prefect's own settings: an API key, or `user:password` for basic authentication."""
    if key := env.get("PREFECT_API_KEY"):
        return (("Authorization", f"Bearer {key}"),)
    if pair := env.get("PREFECT_API_AUTH_STRING"):
        return (("Authorization", f"Basic {base64.b64encode(pair.encode()).decode()}"),)
    return ()


def call(server: Server, method: str, path: str, body: object = None) -> Any:
    """One request to the API; the parsed answer. Raises ServerError with the address and what went wrong."""
    url = f"{server.api_url}{path}"
    if urlsplit(url).scheme not in {"http", "https"}:
        raise ServerError(f"{server.api_url}: not an http address. Mend PREFECT_API_URL.")
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **dict(server.headers)}
    request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310 - the scheme is checked above
    # A proxy is for other machines: a request to this one must not leave it.
    local = urlsplit(url).hostname in LOOPBACK
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({} if local else None))
    try:
        with opener.open(request, timeout=server.timeout) as answer:
            content = answer.read()
    except urllib.error.HTTPError as error:
        detail = error.read(500).decode("utf-8", "replace")
        raise ServerError(f"{url}: the Prefect server answered {error.code}: {detail}") from error
    except (OSError, ValueError) as error:
        raise ServerError(f"{url}: no answer from the Prefect server: {error}") from error
    try:
        return load_json(content) if content else None
    except ValueError as error:
        raise ServerError(f"{url}: the answer is not Prefect's") from error


def is_healthy(server: Server) -> bool:
    """Whether a Prefect API answers at the address."""
    try:
        return call(server, "GET", "/health") is True
    except ServerError:
        return False


def find_deployment(server: Server, flow: str, label: str) -> dict[str, Any] | None:
    """The deployment `flow/label` as the API gives it, or None."""
    try:
        found = call(server, "GET", f"/deployments/name/{quote(flow)}/{quote(label)}")
    except ServerError as error:
        if " answered 404" in str(error):
            return None
        raise
    return dict(found)


def create_run(
    server: Server, deployment_id: str, parameters: Mapping[str, object], key: str, name: str = ""
) -> dict[str, Any]:
    """Create a run of a deployment; with a key that was used before the run made then comes back instead."""
    body: dict[str, object] = {"parameters": dict(parameters), "idempotency_key": key, "state": {"type": "SCHEDULED"}}
    if name:
        body["name"] = name
    return dict(call(server, "POST", f"/deployments/{deployment_id}/create_flow_run", body))


def find_runs(server: Server, deployment_id: str, states: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """The runs of a deployment, newest first; only those in `states` if any are given."""
    runs: list[dict[str, Any]] = []
    which: dict[str, object] = {"state": {"type": {"any_": list(states)}}} if states else {}
    while True:
        body = {
            "deployments": {"id": {"any_": [deployment_id]}},
            "flow_runs": which,
            "sort": "EXPECTED_START_TIME_DESC",
            "limit": 200,
            "offset": len(runs),
        }
        page = call(server, "POST", "/flow_runs/filter", body)
        runs += page
        if len(page) < 200:
            return runs


def cancel_run(server: Server, run_id: str, why: str) -> None:
    """End a waiting run, saying why; one that came to its end meanwhile stays as it ended."""
    if call(server, "GET", f"/flow_runs/{run_id}").get("state_type") not in WAITING_STATES:
        return
    state = {"type": "CANCELLED", "name": "Cancelled", "message": why}
    call(server, "POST", f"/flow_runs/{run_id}/set_state", {"state": state, "force": True})


def create_session_end_run(
    root: Path, session: str, key: str, env: Mapping[str, str], paths: tuple[str, ...] = (), timeout: float = 2.0
) -> str | None:
    """Give a finished session to the server: the run's id, or None where no server will run it (then run it inline).

    `session` names the run, `key` makes it one run however often the hook fires. A server that is up but whose
    deployment nobody serves counts as none: the run would wait for ever.
    """
    server = find_server(root, env, timeout)
    if server is None or not is_healthy(server):
        return None
    try:
        deployment = find_deployment(server, "session-end", store_label(root))
        if deployment is None or deployment.get("status") != "READY" or deployment.get("paused"):
            return None
        parameters = {"store": str(root), "paths": list(paths)}
        return str(create_run(server, str(deployment["id"]), parameters, key, session)["id"])
    except (ServerError, KeyError, TypeError, ValueError):
        return None
