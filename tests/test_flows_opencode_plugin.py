"""OpenCode's plugin tells the hook what happens and gives the model what the hook answers."""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flows.install.registry import INSTALLERS

NODE = shutil.which("node")
SESSION = """
import { Hotwash } from "./hotwash.mjs"
const hooks = await Hotwash({ directory: "/w" })
const system = { system: [] }
await hooks["experimental.chat.system.transform"]({ sessionID: "s1" }, system)
await hooks["experimental.chat.system.transform"]({ sessionID: "s1" }, system)
await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s1", callID: "c1" }, { args: { command: "make" } })
const after = { output: "boom", metadata: { exit: 2 } }
await hooks["tool.execute.after"]({ tool: "bash", sessionID: "s1", callID: "c1" }, after)
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s1" } } })
await hooks.event({ event: { type: "message.updated", properties: {} } })
await hooks.dispose()
console.log(JSON.stringify({ system: system.system, output: after.output }))
"""
HOOK = """
import json, pathlib, sys
log = pathlib.Path(__file__).with_name("log")
with log.open("a") as file:
    file.write(json.dumps([*sys.argv[1:], json.load(sys.stdin)]) + "\\n")
print(f"lesson for {sys.argv[2]}")
"""


@pytest.mark.skipif(NODE is None, reason="Node.js, which OpenCode's plugins run in, is not installed")
def test_the_plugin_carries_events_and_lessons(tmp_path: Path) -> None:
    """The pack once a session, lessons behind a tool's output, errors asked about, turns and ends told."""
    (tmp_path / "hook script.py").write_text(HOOK)
    text = INSTALLERS["opencode"].plan_install(None, [sys.executable, str(tmp_path / "hook script.py")])
    (tmp_path / "hotwash.mjs").write_text(text, "utf-8")
    (tmp_path / "session.mjs").write_text(SESSION)
    done = subprocess.run([str(NODE), "session.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True)
    shown = json.loads(done.stdout)
    assert shown["system"] == ["lesson for start"]
    assert shown["output"].startswith("boom\n\n")
    assert "lesson for tool" in shown["output"]
    assert "lesson for error" in shown["output"]
    deadline = time.monotonic() + 30
    while len(calls := (tmp_path / "log").read_text().splitlines()) < 5 and time.monotonic() < deadline:
        time.sleep(0.05)
    told = [json.loads(line) for line in calls]
    assert {(agent, moment) for agent, moment, _ in told} == {
        ("opencode", moment) for moment in ("start", "tool", "error", "turn", "end")
    }
    assert all(payload["session_id"] == "s1" for _, _, payload in told)
