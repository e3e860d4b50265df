"""What hooks saw against what was processed: counted from the ledger, and a person is told of hooks that are silent."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.verdicts import Verdicts
from flows.context import World
from flows.pipeline import session_end
from flows.status import HOOK_DAYS, SILENT_AFTER, Status, read_status, render_status
from index.settings import Settings
from reflect.ledger import Progress, parse_progress, progress_path, read_ledger, render_progress

NOW = datetime(2026, 11, 28, 9, tzinfo=UTC)


@pytest.fixture
def world(tmp_path: Path) -> World:
    home = tmp_path / "home"
    home.mkdir()
    return World(tmp_path / "store", Settings(), NOW, home, {"HOME": str(home)})


def status_of(world: World) -> Status:
    return read_status(world, Verdicts("x", {}))


def keep(world: World, agent: str, reported: list[bool | None], days: float = 1) -> None:
    """Sessions of an agent that ended so many days ago, the last one first."""
    for number, told in enumerate(reported):
        ended = NOW - timedelta(days=days, minutes=number)
        progress = Progress(f"{agent}:s{number}", f"/{agent}/{number}", finished=ended.isoformat(), reported=told)
        path = world.root / progress_path(progress.key, progress.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(render_progress(progress))


def installed(world: World, agent: str, days: float) -> None:
    """The record of an install so many days ago."""
    record = world.root / "installed" / f"{agent}.json"
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text("{}")
    moment = (NOW - timedelta(days=days)).timestamp()
    os.utime(record, (moment, moment))


def transcript(world: World, name: str) -> Path:
    """A session of Claude Code that ended yesterday."""
    path = world.home / ".claude" / "projects" / "-home-mika-shop" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {"type": "user", "uuid": name, "parentUuid": None, "sessionId": name, "cwd": "/home/mika/shop"}
    message = {"role": "user", "content": "Build it."}
    path.write_text(json.dumps({**record, "timestamp": "2026-11-27T08:00:00Z", "message": message}) + "\n")
    return path


def report(world: World, path: Path) -> None:
    """The event that a hook writes at a session's end."""
    event = {"agent": "claude-code", "moment": "end", "session_id": path.stem, "transcript_path": str(path)}
    (world.root / "spool").mkdir(parents=True, exist_ok=True)
    (world.root / "spool" / f"{path.stem}.json").write_text(json.dumps(event))


def reports(world: World) -> Mapping[str, bool | None]:
    return {key.partition(":")[2]: progress.reported for key, progress in read_ledger(world.root).items()}


def test_the_ledger_keeps_whether_a_hook_reported_a_session(world: World) -> None:
    """Also where the event comes after the sweep has read it; nothing is read twice for that, and no event stays."""
    told, late, never = (transcript(world, name) for name in ("told", "late", "never"))
    report(world, told)
    session_end(world)
    assert reports(world) == {"told": True, "late": False, "never": False}
    assert (status_of(world).reported, status_of(world).swept) == (1, 2)
    report(world, late)
    again = session_end(world)
    assert again.counts()["read"] == 0
    assert reports(world) == {"told": True, "late": True, "never": False}
    assert not list((world.root / "spool").glob("*.json"))
    with never.open("a") as file:
        file.write(never.read_text().replace('"uuid": "never"', '"uuid": "more"'))
    with late.open("a") as file:
        file.write(late.read_text().replace('"uuid": "late"', '"uuid": "more"'))
    assert session_end(world).counts()["read"] == 2
    assert reports(world) == {"told": True, "late": True, "never": False}, "what was reported once stays so"
    assert session_end(world).changed == 0


def test_a_record_from_before_this_was_kept_is_read_and_counted_neither_way(world: World) -> None:
    """Nobody is told of silent hooks for it."""
    values = json.loads(render_progress(Progress("codex:a", "/a", finished=NOW.isoformat())))
    del values["reported"]
    old = parse_progress(json.dumps(values).encode())
    assert old == Progress("codex:a", "/a", finished=NOW.isoformat(), reported=None)
    installed(world, "codex", 10)
    keep(world, "codex", [None] * SILENT_AFTER)
    status = status_of(world)
    assert (status.reported, status.swept, status.silent) == (0, 0, ())


def test_only_sessions_of_the_last_days_are_counted(world: World) -> None:
    """By when they ended; of those without a time, by their file's."""
    keep(world, "codex", [True, False, False])
    keep(world, "cursor", [True, False], days=HOOK_DAYS + 1)
    plain = Progress("gemini-cli:a", "/g", mtime_ns=int(NOW.timestamp() * 1e9), reported=True)
    path = world.root / progress_path(plain.key, plain.path)
    path.write_bytes(render_progress(plain))
    skipped = replace(plain, key="gemini-cli:b", path="/h", status="skipped", reason="started by a timer")
    (world.root / progress_path(skipped.key, skipped.path)).write_bytes(render_progress(skipped))
    status = status_of(world)
    assert (status.reported, status.swept) == (2, 2)
    assert f"sessions of the last {HOOK_DAYS} days: 2 reported by a hook, 2 found by the sweep alone" in render_status(
        status
    )


@given(st.lists(st.booleans(), max_size=9), st.booleans())
def test_silent_hooks_need_a_person(tmp_path_factory: pytest.TempPathFactory, told: list[bool], hooked: bool) -> None:
    """Only where they are installed, after enough sessions, and when none of the last was reported."""
    folder = tmp_path_factory.mktemp("silent")
    world = World(folder / "store", Settings(), NOW, folder, {})
    keep(world, "codex", list(told))
    if hooked:
        installed(world, "codex", 10)
    status = status_of(world)
    silent = hooked and len(told) >= SILENT_AFTER and not any(told[:SILENT_AFTER])
    assert status.silent == (("codex",) if silent else ())
    assert any("hotwash doctor" in line for line in status.attention) == silent


def test_sessions_from_before_the_install_say_nothing_of_the_hooks(world: World) -> None:
    """No hook was there to report them."""
    keep(world, "codex", [False] * SILENT_AFTER, days=3)
    installed(world, "codex", 2)
    assert status_of(world).silent == ()
    installed(world, "codex", 4)
    assert status_of(world).silent == ("codex",)
