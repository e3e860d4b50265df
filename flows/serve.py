"""`hotwash serve`: a Prefect server where none is named, the deployments with their schedules, and a sweep.

The store is the truth and the server's database only history: it may be deleted at any time. Everything runs in one
clean process (no PYTHONPATH, an empty working directory), since our packages bear plain names that a user's project
may have too; Prefect's own processes inherit that.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from flows.prefect_api import (
    LOOPBACK,
    Server,
    alive,
    auth_headers,
    is_healthy,
    read_serving,
    serve_file,
)
from index.decode import load_json
from index.errors import HotwashError, SettingsError
from index.files import write_atomic
from index.settings import ServeSettings, Settings, read_settings
from index.store import CACHE, make_store

PREFECT_FOLDER = "prefect"
SERVER_LOG = "server.log"
QUIET = {
    # The form of a suspended run is only in the V1 interface (seen with Prefect 3.9.1).
    "PREFECT_SERVER_UI_V2_ENABLED": "false",
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "180",
    "PREFECT_LOGGING_LEVEL": "WARNING",
    "PREFECT_SERVER_LOGGING_LEVEL": "WARNING",
    "PREFECT_CLI_PROMPT": "false",
}


class ServeError(HotwashError):
    """`hotwash serve` cannot go on."""


def neutral_folder(root: Path) -> Path:
    """An empty folder to work in: no package, no .env and no prefect.toml of anybody's project is found there."""
    return root / CACHE / "serve"


def clean_environment(env: Mapping[str, str], root: Path, settings: ServeSettings) -> dict[str, str]:
    """The environment for Prefect's processes: no Python path of the user's, quiet, and a server and home of ours
    where PREFECT_API_URL names none."""
    dropped = {"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONWARNINGS"}
    clean = {key: value for key, value in env.items() if key not in dropped}
    clean["PYTHONSAFEPATH"] = "1"
    if not clean.get("PREFECT_API_URL"):
        clean["PREFECT_API_URL"] = f"http://{_bracketed(settings.host)}:{settings.port}/api"
        clean["PREFECT_HOME"] = str(root / CACHE / PREFECT_FOLDER)
        clean["HOTWASH_SERVE_OWN"] = "1"
        # The server asks for this pair, so our own calls must bring it.
        if pair := clean.get("PREFECT_SERVER_API_AUTH_STRING"):
            clean.setdefault("PREFECT_API_AUTH_STRING", pair)
    return {**{key: value for key, value in QUIET.items() if key not in clean}, **clean}


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def serve(root: Path, settings: Settings, env: Mapping[str, str]) -> NoReturn:
    """Become the serving process: same process id, clean environment, neutral folder. Does not return.

    Raises SettingsError for a host that is not loopback, ServeError where the store cannot be written.
    """
    if settings.serve.host not in LOOPBACK:
        reason = f"serve: host {settings.serve.host!r} is not this machine; wanted one of {', '.join(sorted(LOOPBACK))}"
        raise SettingsError(f"{reason}. To serve others, run a Prefect server and set PREFECT_API_URL.")
    folder = neutral_folder(root)
    try:
        make_store(root)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.chdir(folder)
    except OSError as error:
        raise ServeError(f"{error.filename}: cannot be written ({error.strerror}). Choose another --store.") from error
    sys.stdout.flush()
    sys.stderr.flush()
    command = [sys.executable, "-P", "-m", "flows.serve", str(root)]
    os.execve(sys.executable, command, clean_environment(env, root, settings.serve))  # noqa: S606 - no shell is meant


def say(text: str) -> None:
    """One line for whoever started us; standard output is left to results."""
    print(f"hotwash serve: {text}", file=sys.stderr, flush=True)


def main(arguments: list[str]) -> int:
    """Serve until SIGTERM or Ctrl-C; 0 after a clean stop, 1 with one line where it cannot go on."""
    root = Path(arguments[0])
    env = dict(os.environ)
    server_process: subprocess.Popen[bytes] | None = None
    try:
        settings = read_settings(root, env)
        server = Server(env["PREFECT_API_URL"].rstrip("/"), auth_headers(env))
        own = env.get("HOTWASH_SERVE_OWN") == "1"
        running = read_serving(root)
        if running is not None and running["pid"] != os.getpid():
            raise ServeError(f"it runs already (process {running['pid']}, {running['api_url']}).")
        if own:
            server_process = start_server(root, settings.serve, env, server)
        elif not is_healthy(server):
            raise ServeError(f"{server.api_url}: no Prefect server answers there. Start it, or unset PREFECT_API_URL.")
        note_serving(root, server, server_process)
        # Only now: importing Prefect costs seconds, and a taken port should be told at once.
        from flows.runner import run_deployments

        asyncio.run(run_deployments(root, settings, server, server_process))
    except KeyboardInterrupt:
        return 0
    except HotwashError as error:
        say(str(error))
        return 1
    finally:
        forget_serving(root)
        if server_process is not None:
            stop_server(server_process)
    return 0


def note_serving(root: Path, server: Server, process: subprocess.Popen[bytes] | None) -> None:
    """Say where this store is served, for the hook's detached part and for a second `serve`."""
    serving = {"api_url": server.api_url, "pid": os.getpid(), "server_pid": process.pid if process else None}
    write_atomic(serve_file(root), json.dumps(serving).encode())


def forget_serving(root: Path) -> None:
    """Take that away again, if it is about this process and no other."""
    if (read_serving(root) or {}).get("pid") == os.getpid():
        serve_file(root).unlink(missing_ok=True)


def start_server(
    root: Path, settings: ServeSettings, env: Mapping[str, str], server: Server
) -> subprocess.Popen[bytes]:
    """Start a Prefect server of this store's and wait until it answers. Raises ServeError with what is wrong."""
    stop_orphan(root)
    check_port(settings)
    log = root / CACHE / PREFECT_FOLDER / SERVER_LOG
    log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    command = [sys.executable, "-P", "-m", "prefect", "server", "start", "--analytics-off"]
    command += ["--host", settings.host, "--port", str(settings.port)]
    with log.open("wb") as output:
        # A session of its own: Ctrl-C reaches us alone, and we stop the server last.
        process = subprocess.Popen(
            command, env=dict(env), stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    note_serving(root, server, process)
    deadline = time.monotonic() + settings.start_seconds
    quick = Server(server.api_url, server.headers, 2.0)
    try:
        while not is_healthy(quick):
            if process.poll() is not None:
                raise ServeError(server_trouble(root))
            if time.monotonic() > deadline:
                raise ServeError(f"the Prefect server did not answer within {settings.start_seconds:g} s; see {log}.")
            time.sleep(0.3)
    except BaseException:
        stop_server(process)
        raise
    return process


def server_trouble(root: Path) -> str:
    """Why the server ended, in one line, from what it printed."""
    folder = root / CACHE / PREFECT_FOLDER
    log = (folder / SERVER_LOG).read_text("utf-8", "replace")
    if "Can't locate revision" in log or "No such revision" in log:
        return (
            f"{folder / 'prefect.db'} was made by another version of Prefect. It holds only history: "
            "move it away and start again."
        )
    if "readonly database" in log or "Permission denied" in log or "unable to open database" in log:
        return f"{folder}: the server cannot write there. Mend its permissions, or choose another --store."
    last = next((line.strip() for line in reversed(log.splitlines()) if line.strip()), "it printed nothing")
    return f"the Prefect server ended: {last[:300]} (all of it: {folder / SERVER_LOG})."


def check_port(settings: ServeSettings) -> None:
    """Raise ServeError if something else listens on our port."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            raise ServeError(
                f"port {settings.port} on {settings.host} is taken ({error.strerror}). Stop what runs there, set "
                "HOTWASH_SERVE_PORT to another, or PREFECT_API_URL to a Prefect server that runs already."
            ) from error


def stop_orphan(root: Path) -> None:
    """Stop a server that a killed `serve` of this store left behind; nothing else is ever touched."""
    try:
        serving = load_json(serve_file(root).read_text(encoding="utf-8"))
        pid = int(serving["server_pid"])
    except (OSError, ValueError, KeyError, TypeError):
        return
    command = Path(f"/proc/{pid}/cmdline")
    with contextlib.suppress(OSError):
        # Process ids are used again: only what is plainly a Prefect server of ours is ended.
        if alive(pid) and b"prefect\0server\0start" in command.read_bytes():
            os.kill(pid, signal.SIGTERM)
            for _ in range(100):
                if not alive(pid):
                    break
                time.sleep(0.1)


def stop_server(process: subprocess.Popen[bytes]) -> None:
    """Ask the server to end, and insist after ten seconds."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
