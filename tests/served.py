"""Made-up drafts, and a `hotwash serve` of its own for the tests that need a real Prefect server."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from curate.drafts import EVIDENCE_FILE, Draft, Evidence, render_evidence, sha256
from curate.skills import Skill, render_skill
from flows.prefect_api import Server, find_deployment, find_runs, is_healthy, store_label

Found = TypeVar("Found")

BODY = """# Integration tests need services

The integration suite needs Postgres and Redis, which `make test-int` starts.

## When

- The output shows `could not connect to server`.

## Steps

1. Run `make test-int`.

## Pitfalls

- Bare `pytest tests/integration` fails, which looks like a network fault.

## Verify

- The output no longer shows `could not connect to server`.
"""
DESCRIPTION = "Use when tests in tests/integration fail with 'could not connect to server'."


MADE = date(2026, 11, 29)


def make_draft(
    name: str = "integration-services", *, tainted: bool = False, body: str = BODY, created: date = MADE
) -> Draft:
    """A draft as promote writes it, with three sessions of evidence."""
    text = render_skill(Skill(name, DESCRIPTION, body, {"hotwash-sessions": "3"}))
    rows = tuple(
        Evidence(f"claude-code:s{number}", f"2026-11-2{number}", f"example.org/acme/{project}", (number, number + 9),
                 f"01KB7ZC4S0T2J5Q8XW3N6M9RV{number}", tainted and number == 3, ("Run `make test-int`.",))
        for number, project in ((1, "shop"), (2, "billing"), (3, "shop"))
    )  # fmt: skip
    draft = Draft(name, text, rows, "the same error text and the same fix", created, sha256(text))
    return Draft(**{**{key: getattr(draft, key) for key in Draft.__slots__}, "evidence_text": render_evidence(draft)})


def write_draft_files(root: Path, draft: Draft) -> None:
    """Put a draft where the store keeps drafts."""
    for name, text in {**draft.files, EVIDENCE_FILE: draft.evidence_text}.items():
        path = root / draft.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def wait_for(what: str, look: Callable[[], Found], seconds: float = 120.0) -> Found:
    """What `look` gives as soon as it is true; fails saying what was waited for."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := look():
            return found
        time.sleep(0.5)
    raise AssertionError(f"waited {seconds:g} s in vain for {what}")


def free_port() -> int:
    """A port of this machine that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Serving:
    """A `hotwash serve` started from a project that holds packages of our names, with PYTHONPATH=. ."""

    folder: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[str] | None = None

    @property
    def root(self) -> Path:
        """The store."""
        return self.folder / "store"

    @property
    def home(self) -> Path:
        """The user's home."""
        return self.folder / "home"

    @property
    def server(self) -> Server:
        """The API of the server it starts."""
        return Server(f"http://127.0.0.1:{self.port}/api", (), 10.0)

    @property
    def log(self) -> str:
        """What it has said."""
        return (self.folder / "serve.log").read_text(encoding="utf-8")

    def environment(self, **more: str) -> dict[str, str]:
        """The environment of a user whose project shadows our packages."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PREFECT_", "HOTWASH_"))}
        return {
            **kept,
            "HOME": str(self.home),
            "PYTHONPATH": ".",
            "HOTWASH_SERVE_PORT": str(self.port),
            "HOTWASH_SERVE_SWEEP_SECONDS": "1",
            **more,
        }

    def start(self, **more: str) -> None:
        """Start it and wait until it says that it is ready."""
        self.launch(**more)
        wait_for("hotwash serve to be ready", self._ready, 240)

    def launch(self, **more: str) -> subprocess.Popen[str]:
        """Start it."""
        project = self.folder / "project"
        for name in ("index", "detectors", "reflect", "curate", "flows", "tests"):
            (project / name).mkdir(parents=True, exist_ok=True)
            (project / name / "__init__.py").write_text("raise SystemExit('the project was imported')\n")
        self.home.mkdir(exist_ok=True)
        command = [str(Path(sys.executable).parent / "hotwash"), "serve", "--store", str(self.root)]
        with (self.folder / "serve.log").open("w") as log:
            self.process = subprocess.Popen(
                command, cwd=project, env=self.environment(**more), stdout=log, stderr=log, text=True
            )
        return self.process

    def _ready(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.log
        return "ready." in self.log

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ask it to stop; its exit code."""
        if self.process is None:
            return 0
        self.process.send_signal(number)
        return self.process.wait(60)

    def reviews(self) -> list[Mapping[str, Any]]:
        """Every review run that the server has, newest first."""
        if not is_healthy(self.server):
            return []
        deployment = find_deployment(self.server, "review", store_label(self.root))
        return list(find_runs(self.server, str(deployment["id"]))) if deployment else []

    def suspended(self, name: str) -> str:
        """The id of the suspended review run of a draft, once there is one."""
        return wait_for(
            f"a suspended run of {name} in {self.reviews()} {self.log}",
            lambda: next(
                (str(run["id"]) for run in self.reviews() if run["name"] == name and run["state_name"] == "Suspended"),
                "",
            ),
        )
