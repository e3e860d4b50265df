"""The doctor's checks of what lies outside a store: the installation, the agents' hooks, the server."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

import yaml

from flows.context import World
from flows.doctor_checks import Check
from flows.install.base import Installer, InstallError, hook_command, install, resolve
from flows.install.hooksjson import SCRIPT
from flows.install.registry import INSTALLERS
from flows.prefect_api import Server, auth_headers, find_deployment, is_healthy, read_serving, serve_file, store_label
from index.decode import load_json, safe_yaml
from index.errors import HotwashError

LEAST_PYTHON = (3, 11)
ANSWER_SECONDS = 15.0
# Codex, the strictest, kills a hook that ends a session after a second.
SLOW_SECONDS = 1.0
# A switch that turns all of an agent's hooks off, by agent.
_SWITCHES = {"claude-code": "disableAllHooks"}
_LIST = re.compile(r"\[[^\[\]]{0,2000}" + re.escape(SCRIPT) + r'"\s{0,20}\]')


def check_installation() -> Iterator[Check]:
    """Python, the packages, and whether the `hotwash` that a shell finds answers."""
    shown = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < LEAST_PYTHON:
        yield Check("installation", "bad", f"Python {shown} is too old", "install hotwash with Python 3.11 or later")
    missing = _missing_packages()
    if missing:
        text = f"packages are missing: {', '.join(missing)}"
        yield Check("installation", "bad", text, "install hotwash again: pip install --upgrade hotwash")
    found = shutil.which("hotwash") or shutil.which("hotwash", path=str(Path(sys.executable).parent))
    if found is None:
        text = "a shell finds no command `hotwash`"
        yield Check("installation", "note", text, f"put {Path(sys.executable).parent} on PATH")
        return
    answer, fault = _run([found, "--version"], "", dict(os.environ))
    if fault or not answer.startswith("hotwash "):
        yield Check("installation", "bad", f"{found} does not answer ({fault or answer[:80]!r})", "install it again")
    elif not missing:
        yield Check("installation", "ok", f"{answer.strip()} at {found}, Python {shown}")


def _missing_packages() -> list[str]:
    try:
        wanted = requires("hotwash") or []
    except PackageNotFoundError:
        return ["hotwash itself"]
    names = [re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in wanted if "extra ==" not in line]
    return [name for name in names if not _is_installed(name)]


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def _run(command: Sequence[str], given: str, env: Mapping[str, str]) -> tuple[str, str]:
    """(standard output, what was wrong) of a command."""
    try:
        done = subprocess.run(
            command, input=given, env=dict(env), capture_output=True, text=True, timeout=ANSWER_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return "", f"no answer within {ANSWER_SECONDS:g} s"
    except OSError as error:
        return "", str(error.strerror or error)
    if done.returncode:
        return done.stdout, f"exit code {done.returncode}"
    return done.stdout, f"it printed to stderr: {done.stderr.strip()[:100]}" if done.stderr.strip() else ""


def check_hooks(world: World, agents: frozenset[str]) -> Iterator[Check]:
    """The hooks of each agent: `agents` are those with sessions on this machine. Each distinct command is tried once,
    in a temporary store, with a harmless payload."""
    answers: dict[tuple[str, ...], Check] = {}
    hooked = 0
    for name, installer in INSTALLERS.items():
        path = resolve(installer.config_path(world.env, world.home))
        try:
            text = path.read_text("utf-8")
        except FileNotFoundError:
            text = ""
        except (OSError, UnicodeDecodeError) as error:
            yield Check("hooks", "bad", f"{name}: {path} cannot be read ({error})", "mend the file by hand")
            continue
        if SCRIPT not in text:
            if name in agents:
                text = f"{name} has sessions on this machine and no hooks of ours"
                yield Check("hooks", "note", text, f"hotwash install {name}")
            continue
        hooked += 1
        yield from _check_agent(world, installer, path, text, answers)
    if not hooked:
        text = "no agent reports its sessions or is given lessons"
        yield Check("hooks", "bad", text, f"hotwash install AGENT ({', '.join(INSTALLERS)})")


def _check_agent(
    world: World, installer: Installer, path: Path, text: str, answers: dict[tuple[str, ...], Check]
) -> Iterator[Check]:
    name = installer.agent
    commands = sorted(set(find_commands(text)))
    if not commands:
        yield Check("hooks", "bad", f"{name}: {path} names our script in no command", f"hotwash install {name}")
        return
    if switch := _SWITCHES.get(name):
        with suppress(ValueError):
            if load_json(text).get(switch) is True:
                yield Check("hooks", "bad", f"{name}: {switch} is on in {path}", f"take {switch} out of {path}")
    bad = False
    for command in commands:
        if command not in answers:
            answers[command] = try_hook(command, name, world.env)
        check = answers[command]
        bad = bad or check.state == "bad"
        repair = check.repair or (f"hotwash install {name}" if check.state == "bad" else "")
        yield Check("hooks", check.state, f"{name}: {check.text}", repair)
    if not bad:
        with suppress(InstallError):
            if install(installer, world.root, world.home, world.env, hook_command(), dry_run=True).changed:
                text = f"{name}: the hooks are not those that this installation would write"
                yield Check("hooks", "note", text, f"hotwash install {name}")


def find_commands(text: str) -> Iterator[tuple[str, ...]]:
    """The commands that run our script, without the agent and moment at their end: in JSON, YAML or a
    JavaScript list."""
    with suppress(ValueError):
        yield from _commands_in(load_json(text))
        return
    for found in _LIST.finditer(text):
        with suppress(ValueError, TypeError):
            yield tuple(str(part) for part in load_json(found[0]))
            return
    with suppress(yaml.YAMLError):
        yield from _commands_in(safe_yaml(text))


def _commands_in(value: Any) -> Iterator[tuple[str, ...]]:
    if isinstance(value, list):
        for item in value:
            yield from _commands_in(item)
    elif isinstance(value, dict):
        command, rest = value.get("command"), value.get("args")
        if isinstance(command, str):
            with suppress(ValueError):
                parts = [command, *map(str, rest)] if isinstance(rest, list) else shlex.split(command)
                at = next((place for place, part in enumerate(parts) if part.endswith(SCRIPT)), None)
                if at is not None:
                    yield tuple(parts[: at + 1])
        for item in value.values():
            yield from _commands_in(item)


def try_hook(command: Sequence[str], agent: str, env: Mapping[str, str]) -> Check:
    """Run a hook's command as the agent would, for a session's end and for a prompt, in a store of its own that is
    thrown away; no run is started."""
    if not shutil.which(command[0]):
        return Check("hooks", "bad", f"{command[0]} is not there any more")
    if not Path(command[-1]).is_file():
        return Check("hooks", "bad", f"{command[-1]} is not there any more")
    with tempfile.TemporaryDirectory(prefix="hotwash-doctor-") as folder:
        spool = Path(folder, "spool")
        spool.mkdir()
        (spool / ".start").touch()  # a run counts as started, so that the hook starts none
        kept = {key: value for key, value in env.items() if not key.startswith("HOTWASH_")}
        kept |= {"HOTWASH_HOME": folder, "TMPDIR": folder}
        payload = json.dumps({"session_id": "doctor", "cwd": folder, "prompt": "doctor", "hook_event_name": "doctor"})
        started = time.monotonic()
        _, fault = _run([*command, agent, "end"], payload, kept)
        seconds = time.monotonic() - started
        if not fault:
            _, fault = _run([*command, agent, "prompt"], payload, kept)
        recorded = any(spool.glob("*.json"))
    if fault or not recorded:
        return Check("hooks", "bad", f"{shlex.join(command)} does not answer ({fault or 'it recorded nothing'})")
    if env.get("HOTWASH_ENABLED", "").strip().lower() in {"0", "false", "off", "no"}:
        return Check("hooks", "bad", "HOTWASH_ENABLED switches the hooks off", "unset HOTWASH_ENABLED")
    if seconds > SLOW_SECONDS:
        return Check("hooks", "note", f"the hook answers in {seconds:.1f} s; some agents wait one second")
    return Check("hooks", "ok", "the hook answers and records a session")


def check_server(world: World) -> Iterator[Check]:
    """The server, its deployments and their schedules."""
    serving = read_serving(world.root)
    url = world.env.get("PREFECT_API_URL") or (serving or {}).get("api_url")
    if serve_file(world.root).exists() and serving is None:
        text = f"{serve_file(world.root)} speaks of a server that no longer runs"
        yield Check("server", "note", text, "the next `hotwash serve` replaces it", "serve-file")
    if not url:
        text = "no server: the weekly and daily passes run only when they are called"
        yield Check("server", "note", text, "hotwash serve, or `hotwash curate` and `hotwash daily` from cron")
        return
    server = Server(str(url).rstrip("/"), auth_headers(world.env), 3.0)
    if not is_healthy(server):
        yield Check("server", "bad", f"{server.api_url}: no Prefect server answers", "hotwash serve")
        return
    try:
        lacking = list(_unscheduled(server, store_label(world.root)))
    except HotwashError as error:
        yield Check("server", "bad", str(error), "hotwash serve")
        return
    for text in lacking:
        yield Check("server", "bad", text, "hotwash serve registers it")
    if not lacking:
        yield Check("server", "ok", f"{server.api_url} answers; session-end, weekly, daily and review are deployed")


def _unscheduled(server: Server, label: str) -> Iterator[str]:
    for flow in ("session-end", "weekly", "daily", "review"):
        found = find_deployment(server, flow, label)
        if found is None:
            yield f"the deployment {flow}/{label} is missing"
        elif found.get("paused"):
            yield f"the deployment {flow}/{label} is paused"
        elif flow in {"weekly", "daily"} and not any(one.get("active") for one in found.get("schedules") or []):
            yield f"the deployment {flow}/{label} has no active schedule"
        elif found.get("status") != "READY":
            yield f"nobody serves the deployment {flow}/{label}"
