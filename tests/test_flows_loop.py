"""The whole loop as an agent starts it: the installed hook, the spool, the detached run, the lesson in the store."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from index.store import read_store

EXAMPLES = Path(__file__).parents[1] / "examples"
HOTWASH = [sys.executable, "-I", str(Path(__file__).parents[1] / "hotwash.py")]


@pytest.fixture
def machine(tmp_path: Path) -> dict[str, str]:
    """A home with a space and an umlaut, with sessions and a person's settings in it, and a hostile project."""
    home = tmp_path / "Mika Müller"
    shutil.copytree(EXAMPLES / "claude-code" / "projects", home / ".claude" / "projects")
    (home / ".claude" / "settings.json").write_text('{\n    "model": "opus",   "theme" : "dark"\n}')
    project = tmp_path / "project"
    for name in ("index", "flows", "json"):
        (project / name).mkdir(parents=True)
        (project / name / "__init__.py").write_text("raise SystemExit('imported from the project')")
    keep = {name: os.environ[name] for name in ("PATH",)}
    return {**keep, "HOME": str(home), "PYTHONPATH": ".", "VIRTUAL_ENV": "/nowhere", "PROJECT": str(project)}


def run(machine: dict[str, str], *arguments: str) -> str:
    """A hotwash command in the hostile project."""
    done = subprocess.run(
        [*HOTWASH, *arguments],
        env=machine,
        cwd=machine["PROJECT"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout


def test_a_session_that_ends_leaves_its_lesson_in_the_store(machine: dict[str, str]) -> None:
    """Install, fire the hook as the agent does, wait for what the detached run writes; then uninstall to the byte."""
    home = Path(machine["HOME"])
    config = home / ".claude" / "settings.json"
    before = config.read_bytes()
    run(machine, "install", "claude-code")
    assert config.read_bytes() != before
    installed = config.read_bytes()
    run(machine, "install", "claude-code")
    assert config.read_bytes() == installed
    hook = json.loads(installed)["hooks"]["SessionEnd"][0]["hooks"][0]
    transcript = next(home.rglob("255882bf*.jsonl"))
    payload = {
        "session_id": transcript.stem,
        "transcript_path": str(transcript),
        "cwd": machine["PROJECT"],
        "hook_event_name": "SessionEnd",
        "reason": "prompt_input_exit",
    }
    done = subprocess.run(
        [hook["command"], *hook["args"]],
        input=json.dumps(payload).encode(),
        env=machine,
        cwd=machine["PROJECT"],
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    store = home / ".hotwash"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (store / ".index.yaml").exists():
        time.sleep(0.2)
    titles = [solution.title for solution in read_store(store).solutions]
    assert any("migration" in title for title in titles)
    assert not list((store / "spool").glob("*.json"))
    run(machine, "uninstall", "claude-code")
    assert config.read_bytes() == before
