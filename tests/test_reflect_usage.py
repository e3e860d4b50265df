"""Use over whole transcripts: counted once, with its time, from lines, documents and databases."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from reflect.usage import Usage, read_usage


def load(skill: str, call: str, time: str = "2026-11-02T10:00:00Z") -> dict[str, Any]:
    """A record in which Claude Code loads a skill."""
    part = {"type": "tool_use", "id": call, "name": "Skill", "input": {"skill": skill}}
    return {
        "type": "assistant",
        "uuid": f"u-{call}",
        "timestamp": time,
        "cwd": "/srv/app",
        "message": {"content": [part]},
    }


def shown(skill: str) -> dict[str, Any]:
    """The record that follows, with the skill's text."""
    text = f"Base directory for this skill: /srv/app/.claude/skills/{skill}\n\n# {skill}"
    return {"type": "user", "uuid": f"s-{skill}", "timestamp": "2026-11-02T10:00:01Z", "message": {"content": text}}


def write(path: Path, *records: dict[str, Any]) -> Path:
    """A transcript of JSON lines."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def counts(usage: Usage) -> dict[tuple[str, str], int]:
    """(kind, name) of everything that was used, with how often."""
    return {(used.kind, used.name): used.count for used in usage.used.values() if used.count}


def test_a_skill_that_is_called_and_then_shown_is_one_use(tmp_path: Path) -> None:
    """The text that follows a call adds the skill's place, not a second use."""
    usage = read_usage([("claude-code", write(tmp_path / "a.jsonl", load("ship", "t1"), shown("ship")))])
    assert counts(usage) == {("load", "ship"): 1}
    assert "/srv/app/.claude/skills/ship" in {used.path for used in usage.used.values()}


def test_a_call_that_stands_in_two_files_counts_once(tmp_path: Path) -> None:
    """A resumed session repeats what came before; two different calls are two uses, in two sessions."""
    first = write(tmp_path / "a.jsonl", load("ship", "t1"))
    second = write(tmp_path / "b.jsonl", load("ship", "t1"), load("ship", "t2", "2026-11-05T10:00:00Z"))
    usage = read_usage([("claude-code", first), ("claude-code", second)])
    (used,) = usage.used.values()
    assert (used.count, used.sessions) == (2, 2)
    assert used.first is not None
    assert used.last is not None
    assert (used.first.day, used.last.day) == (2, 5)


def test_places_and_paths_come_from_the_sessions_folder(tmp_path: Path) -> None:
    """A path that a session names from its folder is kept from the root."""
    record = {"type": "assistant", "cwd": "/srv/app", "timestamp": "2026-11-02T10:00:00Z"}
    call = {"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "AGENTS.md"}}
    usage = read_usage([("claude-code", write(tmp_path / "a.jsonl", {**record, "message": {"content": [call]}}))])
    assert counts(usage) == {("memory", "/srv/app/AGENTS.md"): 1}
    assert usage.places == {"/srv/app"}


def test_a_database_and_a_document_are_read_as_well(tmp_path: Path) -> None:
    """The rows of a store and the messages of one JSON document hold the same calls."""
    call = [{"id": "c1", "function": {"name": "skill_view", "arguments": '{"name": "ship"}'}}]
    with closing(sqlite3.connect(tmp_path / "state.db")) as db:
        db.execute("create table messages (id integer primary key, tool_calls text, timestamp real)")
        db.execute("insert into messages (tool_calls, timestamp) values (?, 1793600000.0)", (json.dumps(call),))
        db.commit()
    turn = {
        "timestamp": "2026-11-02T10:00:00Z",
        "toolCalls": [{"id": "g", "name": "activate_skill", "args": {"name": "x1"}}],
    }
    (tmp_path / "chat.json").write_text(json.dumps({"messages": [turn]}, indent=1))
    usage = read_usage([("hermes", tmp_path / "state.db"), ("gemini-cli", tmp_path / "chat.json")])
    assert counts(usage) == {("load", "ship"): 1, ("load", "x1"): 1}
    assert {used.last.year for used in usage.used.values() if used.last} == {2026}


def test_a_file_that_cannot_be_read_is_named_and_stops_nothing(tmp_path: Path) -> None:
    """Broken files are in `failed` with the reason; the others are counted."""
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"SQLite format 3\x00" + b"\xff" * 200)
    good = write(tmp_path / "a.jsonl", load("ship", "t1"))
    usage = read_usage([("hermes", broken), ("hermes", tmp_path / "none.jsonl"), ("claude-code", good)])
    assert {Path(path).name for path, _ in usage.failed} == {"broken.db", "none.jsonl"}
    assert counts(usage) == {("load", "ship"): 1}
