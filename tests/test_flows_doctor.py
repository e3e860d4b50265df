"""`hotwash doctor`: what is well is said to be, what is broken is found, and --fix mends what is safe."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from flows.cli import run_command
from flows.doctor_machine import find_commands, try_hook
from flows.install.base import hook_command
from flows.install.registry import INSTALLERS
from index.store import store_root

LESSON = """---
id: 01KB7ZC4S0T2J5Q8XW3N6M9RVE
title: Integration tests need services
category: bugs
confidence: 0.85
triggers:
  commands: ["pytest tests/integration"]
created: 2026-11-29T18:03:11Z
---
The suite needs Postgres, which `make test-int` starts.
"""


@pytest.fixture
def store(own_home: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A store with one lesson, indexed, and hooks in Claude Code."""
    root = store_root(None, os.environ)
    assert run_command(["index"]) == 0
    (root / "solutions" / "bugs" / "tests-need-services.md").write_text(LESSON)
    assert run_command(["index"]) == 0
    assert run_command(["install", "claude-code"]) == 0
    capsys.readouterr()
    return root


def examine(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, object]]:
    """Exit code and answer of the doctor."""
    code = run_command(["doctor", "--format", "json", *options])
    return code, json.loads(capsys.readouterr().out)


def bad(found: dict[str, object]) -> list[str]:
    """The areas that need a repair."""
    checks = found["checks"]
    assert isinstance(checks, list)
    return [str(check["area"]) for check in checks if check["state"] == "bad"]


def test_a_store_that_is_well_is_said_to_be(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing to repair: exit code 0, and the doctor itself leaves no trace in the store."""
    before = {path: path.stat().st_mtime_ns for path in store.rglob("*") if path.is_file()}
    code, found = examine(capsys)
    assert (code, bad(found)) == (0, [])
    assert {path: path.stat().st_mtime_ns for path in store.rglob("*") if path.is_file()} == before


def test_what_is_broken_is_found_and_fix_mends_what_is_derived(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Index, database, modes and leftovers come right; the lesson is not touched."""
    lesson = store / "solutions" / "bugs" / "tests-need-services.md"
    kept = lesson.read_bytes()
    (store / ".index.yaml").write_text("nonsense\n")
    (store / ".cache" / "recall.db").write_text("no database")
    store.chmod(0o755)
    left = store / "solutions" / ".x.md.hotwash-tmp"
    left.write_text("half")
    fresh = store / "solutions" / ".y.md.hotwash-tmp"
    fresh.write_text("being written")
    os.utime(left, (time.time() - 7200, time.time() - 7200))
    code, found = examine(capsys)
    assert code == 1
    assert sorted(bad(found)) == ["index", "index", "store", "store"]
    code, found = examine(capsys, "--fix")
    assert (code, bad(found)) == (0, [])
    assert lesson.read_bytes() == kept
    assert (left.exists(), fresh.exists()) == (False, True)
    assert store.stat().st_mode & 0o777 == 0o700


def test_what_only_a_person_can_mend_stays_and_is_told(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that does not parse and an event that waits are found again after --fix."""
    (store / "solutions" / "bugs" / "broken.md").write_text("---\nid: x\n---\n")
    event = store / "spool" / "1.json"
    event.write_text("{}")
    os.utime(event, (time.time() - 20_000, time.time() - 20_000))
    code, found = examine(capsys, "--fix")
    assert code == 1
    assert sorted(bad(found)) == ["lessons", "spool"]
    assert event.exists()


def test_a_run_that_did_not_end_is_rolled_back_by_fix(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An open journal is found; --fix has the next run close it."""
    (store / "journal" / "20261101T000000000Z-run-aaaa.jsonl").write_text('{"run":"20261101T000000000Z-run-aaaa"}\n')
    code, found = examine(capsys)
    assert (code, bad(found)) == (1, ["journal"])
    assert examine(capsys, "--fix")[0] == 0


def test_a_lesson_that_can_never_come_up_is_told_and_is_no_failure(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No trigger, and too unsure for the pack: a note, with what to do."""
    (store / "solutions" / "bugs" / "quiet.md").write_text(
        LESSON.replace("M9RVE", "M9RVF").replace('triggers:\n  commands: ["pytest tests/integration"]\n', "")
        .replace("category: bugs", "category: bugs\ntype: procedural").replace("0.85", "0.6")
    )  # fmt: skip
    run_command(["index"])
    capsys.readouterr()
    code, found = examine(capsys)
    assert code == 0
    assert "quiet.md can never come up" in json.dumps(found)


def test_settings_that_cannot_be_read_do_not_stop_the_rest(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The settings are named as bad, and all other checks are made with the defaults."""
    (store / "config.yaml").write_text("decay: {stale_days: soon}\n")
    code, found = examine(capsys)
    assert (code, bad(found)) == (1, ["settings"])


def test_a_hook_whose_program_is_gone_is_found(store: Path, own_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command in the agent's own settings is tried; the settings are never changed."""
    settings = own_home / ".claude" / "settings.json"
    settings.write_text(settings.read_text().replace(hook_command()[0], "/gone/python"))
    before = settings.read_bytes()
    code, found = examine(capsys, "--fix")
    assert (code, bad(found)) == (1, ["hooks"])
    assert "hotwash install claude-code" in json.dumps(found)
    assert settings.read_bytes() == before


@pytest.mark.parametrize("agent", sorted(INSTALLERS))
def test_the_command_of_every_agents_config_is_found_again(agent: str) -> None:
    """What install writes, the doctor reads: one command, without agent and moment."""
    text = INSTALLERS[agent].plan_install(None, hook_command())
    assert set(find_commands(text)) == {tuple(hook_command())}


def test_a_hook_is_tried_in_a_store_of_its_own(own_home: Path, tmp_path: Path) -> None:
    """It answers, and neither the personal store nor a run of it comes into being."""
    check = try_hook(hook_command(), "claude-code", {**os.environ, "HOTWASH_HOME": str(tmp_path / "store")})
    assert check.state in {"ok", "note"}, check
    assert not (tmp_path / "store").exists()
    assert not (own_home / ".hotwash").exists()


def test_a_hook_that_prints_to_stderr_or_records_nothing_is_bad(tmp_path: Path) -> None:
    """A script of the right name that does nothing does not count as answering."""
    script = tmp_path / "hotwash_hook.py"
    script.write_text("")
    assert try_hook([hook_command()[0], str(script)], "codex", os.environ).state == "bad"
    script.write_text("import sys; sys.stderr.write('no')")
    assert "stderr" in try_hook([hook_command()[0], str(script)], "codex", os.environ).text


def test_a_shared_store_that_would_not_merge_is_found_and_completed(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A team's store whose files for git were lost: the lines come back, what else stands there stays."""
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "repo")
    assert run_command(["init", "--shared"]) == 0
    shared = tmp_path / "repo" / ".hotwash"
    (shared / ".gitattributes").write_text("*.md text")
    capsys.readouterr()
    run_command(["doctor", "--store", str(shared)])
    assert ".gitattributes lacks .index.yaml merge=union" in capsys.readouterr().out
    run_command(["doctor", "--fix", "--store", str(shared)])
    assert "completed .gitattributes" in capsys.readouterr().out
    assert (shared / ".gitattributes").read_text().splitlines()[:2] == ["*.md text", ".index.yaml merge=union"]
