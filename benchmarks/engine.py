"""Measure what Prefect adds to the weekly pass: the weekly flow against a real server, and its own share of the time.

    python -m benchmarks.engine --size 10000

A server is started on a free port of this machine. In a process of its own the weekly flow runs twice over a store made
for it: once with no cache but the verdicts, once with nothing changed. All that is ours (the pass, the audit, the page)
is timed inside; what is left of the flow's time is Prefect's: engine, task, artifacts and its background threads. What
it takes to import Prefect is told apart. Nothing is written outside a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.corpus import write_corpus
from benchmarks.curate import assume_clean
from flows.prefect_api import Server
from flows.serve import clean_environment, start_server, stop_server
from index.settings import ServeSettings
from index.store import SOLUTIONS

# What of `flows.deployments` is ours and not Prefect's.
OURS: tuple[str, ...] = (
    "read_world",
    "read_audit",
    "read_page",
    "read_verdicts",
    "render_page",
    "render_page_markdown",
)
OURS += ("render_report", "read_queue", "write_derived")


def timed_flow(root: Path) -> None:
    """Run the flow twice in this process and print what it took, and what of that was ours."""
    began = time.process_time()
    from prefect import flow, task

    imported = time.process_time() - began
    del flow, task
    from flows import deployments, pipeline

    spent: dict[str, float] = {"cpu": 0.0, "wall": 0.0}

    def timing(work: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: object, **named: object) -> object:
            cpu, wall = time.thread_time(), time.perf_counter()
            try:
                return work(*given, **named)
            finally:
                spent["cpu"] += time.thread_time() - cpu
                spent["wall"] += time.perf_counter() - wall

        return timed

    for name in OURS:
        setattr(deployments, name, timing(getattr(deployments, name)))
    deployments.run_curate = deployments.run_curate.with_options(name="curate")
    deployments.run_curate.fn = timing(pipeline.curate)
    rows = []
    for what in ("cold", "nothing changed"):
        spent.update(cpu=0.0, wall=0.0)
        cpu, wall = time.process_time(), time.perf_counter()
        deployments.weekly(str(root))
        whole = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
        rows.append({"what": what, "ours": dict(spent), "whole": whole})
    print(json.dumps({"import": imported, "rows": rows}))


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def main() -> None:
    """Measure on a corpus made for it."""
    parser = argparse.ArgumentParser(description="Measure Prefect's part in the weekly pass.")
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--root", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.root:
        timed_flow(options.root)
        return
    with tempfile.TemporaryDirectory() as scratch:
        home, root = Path(scratch) / "home", Path(scratch) / "store"
        home.mkdir()
        write_corpus(root / SOLUTIONS, options.size, options.seed)
        env = {**os.environ, "HOME": str(home), "HOTWASH_HOME": str(root)}
        env.pop("PREFECT_API_URL", None)
        os.environ["HOTWASH_HOME"] = str(root)
        assume_clean(root)
        settings = ServeSettings(port=free_port())
        env = clean_environment(env, root, settings)
        env["PYTHONPATH"] = str(Path(__file__).resolve().parent.parent)
        server = start_server(root, settings, env, Server(env["PREFECT_API_URL"], (), 10.0))
        try:
            command = [sys.executable, "-m", "benchmarks.engine", "--root", str(root)]
            done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
        finally:
            stop_server(server)
    told = json.loads(done.stdout.splitlines()[-1])
    print(f"{options.size} lessons; importing Prefect takes {told['import']:.1f} s of CPU, once in a process")
    for row in told["rows"]:
        share = {name: row["whole"][name] / row["ours"][name] - 1 for name in ("cpu", "wall")}
        seconds = row["whole"]["cpu"] - row["ours"]["cpu"]
        print(
            f"{row['what']}: Prefect adds {share['cpu']:.1%} of CPU ({seconds:.2f} s to {row['ours']['cpu']:.1f}), "
            f"{share['wall']:.1%} of time"
        )


if __name__ == "__main__":
    main()
