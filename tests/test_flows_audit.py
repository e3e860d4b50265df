"""`hotwash audit` on a home folder with a skill, a session and a memory file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from flows.cli import run_command


@pytest.fixture
def machine(own_home: Path) -> Path:
    """A home with two skills, of which one was used in six sessions, and a memory file that is too long."""
    for name in ("ship", "idle"):
        folder = own_home / ".claude" / "skills" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(
            f'---\nname: {name}\ndescription: "Use when {name} is wanted."\n---\n# {name}\n'
        )
        os.utime(folder / "SKILL.md", (1_700_000_000, 1_700_000_000))
    sessions = own_home / ".claude" / "projects" / "-app"
    (sessions / "memory").mkdir(parents=True)
    (sessions / "memory" / "MEMORY.md").write_text("note\n" * 250)
    for at in range(6):
        call = {"type": "tool_use", "id": f"t{at}", "name": "Skill", "input": {"skill": "ship"}}
        head = {"sessionId": f"s{at}", "uuid": f"u{at}", "parentUuid": None, "cwd": "/nowhere"}
        line = {**head, "type": "assistant", "timestamp": "2026-11-02T10:00:00Z", "message": {"content": [call]}}
        (sessions / f"s{at}.jsonl").write_text(json.dumps(line) + "\n")
    return own_home


def test_the_table_names_use_cost_and_what_to_do(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Findings give exit code 1; paths are shown from the home folder."""
    assert run_command(["audit", "--project", str(machine)]) == 1
    text = capsys.readouterr().out
    assert "6 loaded  2026-11-02" in text
    assert "claude-code, in 6 sessions" in text
    assert "250 lines" in text
    assert "~/.claude/skills/idle/SKILL.md" in text
    assert str(machine) not in text


def test_json_holds_the_same_findings_and_nothing_is_written(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON alone on stdout, each finding with its advice; the home is as it was."""
    before = sorted(str(path) for path in machine.rglob("*"))
    assert run_command(["audit", "--format", "json", "--project", str(machine)]) == 1
    found = json.loads(capsys.readouterr().out)
    assert {(one["kind"], one["name"]) for one in found["findings"]} == {
        ("memory", "MEMORY.md"),
        ("never-used", "idle"),
    }
    assert all(one["do"] for one in found["findings"])
    assert sorted(str(path) for path in machine.rglob("*")) == before


def test_a_machine_without_agents_has_nothing_to_do(own_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 0, and it says that there was nothing to look at."""
    assert run_command(["audit", "--project", str(own_home)]) == 0
    assert "no transcripts" in capsys.readouterr().out
