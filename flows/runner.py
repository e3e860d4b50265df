"""Serve the deployments: register them, run what is due, sweep; the part of `hotwash serve` that needs Prefect."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from zoneinfo import available_timezones

from prefect.runner import Runner
from prefect.schedules import Cron
from prefect.types.entrypoint import EntrypointType

from flows import deployments, review_flow
from flows.context import World, read_world
from flows.prefect_api import Server, create_run, find_deployment, store_label
from flows.review_runs import sweep_reviews
from flows.serve import ServeError, say, server_trouble
from index.errors import HotwashError
from index.settings import ServeSettings, Settings
from index.store import SPOOL

# A spooled event that is older has no run under way: no server was up, or its run failed.
LEFT_SECONDS = 300


async def run_deployments(
    root: Path, settings: Settings, server: Server, process: subprocess.Popen[bytes] | None
) -> None:
    """Register the deployments, then run what is due and sweep, until asked to stop. Raises ServeError."""
    runner = Runner(name=f"hotwash-{store_label(root)}", query_seconds=3, limit=3, pause_on_shutdown=False)
    await register(runner, root, settings.serve)
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    running = asyncio.create_task(runner.start())
    while not runner.started and not running.done():
        await asyncio.sleep(0.05)
    # After the runner has set its own handler: one way to stop, whatever the signal.
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    sweeping = asyncio.create_task(sweep(root, server, settings.serve.sweep_seconds))
    watching = asyncio.create_task(watch(process))
    asked = asyncio.create_task(stop.wait())
    say(f"ready. Reviews and runs: {server.api_url.removesuffix('/api')}/runs")
    done, _ = await asyncio.wait({running, watching, asked}, return_when=asyncio.FIRST_COMPLETED)
    for waiting in (sweeping, watching, asked):
        waiting.cancel()
    if runner.started:
        await runner.astop()
    await asyncio.wait({running}, timeout=15)
    if watching in done:
        raise ServeError(server_trouble(root))
    if running in done and (error := running.exception()) is not None:
        raise ServeError(f"the runner ended: {error}") from error


async def register(runner: Runner, root: Path, settings: ServeSettings) -> None:
    """Make the four deployments known to the server; their code is found by module path."""
    zone, label = local_zone(os.environ), store_label(root)
    schedules = {"weekly": settings.weekly, "daily": settings.daily}
    for flow in (deployments.session_end, deployments.weekly, deployments.daily, review_flow.review):
        cron = schedules.get(flow.name)
        deployment = await flow.ato_deployment(
            name=label,
            parameters={"store": str(root)},
            schedule=Cron(cron, timezone=zone) if cron else None,
            tags=["hotwash"],
            entrypoint_type=EntrypointType.MODULE_PATH,
        )
        await runner.aadd_deployment(deployment)


def local_zone(env: Mapping[str, str], localtime: Path = Path("/etc/localtime")) -> str:
    """The machine's time zone by its name, for schedules that keep their hour through the year; UTC if unknown."""
    named = env.get("TZ", "").removeprefix(":")
    with contextlib.suppress(OSError):
        named = named or localtime.resolve().as_posix().rpartition("zoneinfo/")[2]
    return named if named in available_timezones() else "UTC"


async def watch(process: subprocess.Popen[bytes] | None) -> None:
    """Return when our server's process ends; never for a server that is not ours."""
    while process is None or process.poll() is None:
        await asyncio.sleep(1)


async def sweep(root: Path, server: Server, seconds: float) -> None:
    """Every so often: runs for drafts and spooled sessions that have none. A failure is said once and tried again."""
    said = ""
    while True:
        trouble = ""
        try:
            await asyncio.to_thread(sweep_once, read_world(root), server)
        except HotwashError as error:
            trouble = str(error)
        except Exception as error:
            trouble = f"the sweep failed: {error!r}"
        if trouble and trouble != said:
            say(trouble)
        said = trouble
        await asyncio.sleep(seconds)


def sweep_once(world: World, server: Server) -> None:
    """One sweep: reviews, then sessions that were spooled while no server was up."""
    sweep_reviews(world, server)
    left = left_in_spool(world.root, world.now.timestamp())
    deployment = find_deployment(server, "session-end", store_label(world.root)) if left else None
    if deployment is not None:
        key = f"spool:{left[-1]}:{world.now:%Y%m%dT%H}"
        create_run(server, str(deployment["id"]), {"store": str(world.root)}, key, "spool")


def left_in_spool(root: Path, now: float) -> list[str]:
    """The spooled events that nobody took up for a while, by name; a fresh one has a run under way."""
    names = []
    for path in sorted((root / SPOOL).glob("*.json")):
        with contextlib.suppress(OSError):
            if now - path.stat().st_mtime > LEFT_SECONDS:
                names.append(path.name)
    return names
