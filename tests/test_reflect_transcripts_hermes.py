"""Hermes' store is read without touching it: active and compacted messages, outcomes from JSON, idle logs."""

from __future__ import annotations

import gzip
import json
import secrets
import shutil
import sqlite3
from pathlib import Path

import pytest

from index.records import Session
from reflect.transcripts.hermes import find, read, recognises
from reflect.transcripts.protocol import Mark
from reflect.transcripts.registry import read_sessions, recognise

SCHEMA = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, parent_session_id TEXT, started_at REAL, ended_at REAL,
  cwd TEXT, git_branch TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content TEXT,
  tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL, active INTEGER DEFAULT 1,
  compacted INTEGER DEFAULT 0);
INSERT INTO sessions VALUES ('s1', 'cli', NULL, 1794470400.0, NULL, '/home/mika/code/shop', 'main');
INSERT INTO sessions VALUES ('s2', 'cron', NULL, 1794470500.0, NULL, NULL, NULL);
INSERT INTO sessions VALUES ('s3', 'subagent', 's1', 1794470600.0, NULL, NULL, NULL);
"""


def add(connection: sqlite3.Connection, session: str, role: str, content: str, **fields: object) -> None:
    fields |= {"session_id": session, "role": role, "content": content, "timestamp": 1794470401.5}
    names = ", ".join(fields)
    marks = ", ".join("?" for _ in fields)
    connection.execute(f"INSERT INTO messages ({names}) VALUES ({marks})", tuple(fields.values()))  # noqa: S608


def call(command: str, name: str) -> str:
    function = {"name": "terminal", "arguments": json.dumps({"command": command})}
    return json.dumps([{"id": name, "type": "function", "function": function}])


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "state.db"
    connection = sqlite3.connect(path)
    connection.executescript(SCHEMA)
    add(connection, "s1", "system", "You are Hermes.")
    add(connection, "s1", "user", "Fix the build.", active=0, compacted=1)
    add(connection, "s1", "user", "Undone.", active=0)
    add(connection, "s1", "assistant", "", tool_calls=call("make", "c1"))
    add(connection, "s1", "tool", json.dumps({"output": "no rule", "exit_code": 2}), tool_call_id="c1")
    add(connection, "s1", "assistant", "", tool_calls=call("rm -rf x", "c2"))
    blocked = {"output": "", "exit_code": -1, "status": "blocked", "error": "BLOCKED: Command denied by user."}
    add(connection, "s1", "tool", json.dumps(blocked), tool_call_id="c2")
    add(connection, "s1", "user", "[CONTEXT COMPACTION] Earlier turns were compacted.")
    add(connection, "s2", "user", "Nightly.")
    connection.commit()
    connection.close()
    return path


def by_id(path: Path) -> dict[str, Session]:
    return {session.id: session for session in read(path)}


def test_what_compaction_set_aside_is_kept_and_undone_is_not(store: Path) -> None:
    """A turn's line is the number of its message; system prompts are no turns."""
    session = by_id(store)["s1"]
    assert [(t.line, t.end, t.who, t.command, t.outcome) for t in session.turns] == [
        (2, 2, "person", "", "unknown"),
        (4, 5, "tool", "make", "failed"),
        (6, 7, "tool", "rm -rf x", "unknown"),
        (8, 8, "injected", "", "unknown"),
    ]
    assert session.turns[1].text == "no rule"
    assert session.turns[2].refused
    assert (session.cwd, session.branch, session.ended_at) == ("/home/mika/code/shop", "main", 8)


def test_scheduled_and_sub_agents_are_marked(store: Path) -> None:
    """By the source that the store names."""
    sessions = by_id(store)
    assert sessions["s2"].scheduled
    assert sessions["s1+s3"].subagent
    assert sessions["s1+s3"].parent == "hermes:s1"


def test_a_store_is_read_on_from_a_message(store: Path) -> None:
    """Only rows behind the mark come again."""
    sessions = {session.id: session for session in read(store, Mark(5, 5))}
    assert [turn.line for turn in sessions["s1"].turns] == [6, 8]
    assert {name: session.lines for name, session in sessions.items()} == {"s1": 8, "s2": 9, "s1+s3": 5}


def test_reading_leaves_the_store_as_it_was(store: Path, tmp_path: Path) -> None:
    """An idle write-ahead log is neither folded in nor deleted, and no file appears beside it."""
    live = sqlite3.connect(store)
    live.execute("PRAGMA journal_mode=WAL")
    live.execute("PRAGMA wal_autocheckpoint=0")
    add(live, "s1", "user", "Only in the log.")
    live.commit()
    idle = tmp_path / "idle"
    idle.mkdir()
    for suffix in ("", "-wal"):
        shutil.copyfile(f"{store}{suffix}", idle / f"state.db{suffix}")
    live.close()
    before = {path.name: path.read_bytes() for path in idle.iterdir()}
    assert by_id(idle / "state.db")["s1"].turns[-1].text == "Only in the log."
    assert {path.name: path.read_bytes() for path in idle.iterdir()} == before


def test_columns_of_other_versions(tmp_path: Path) -> None:
    """Only the columns that are there are asked for."""
    path = tmp_path / "state.db"
    connection = sqlite3.connect(path)
    connection.executescript(
        "CREATE TABLE sessions (id TEXT); CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT,"
        "content TEXT); INSERT INTO sessions VALUES ('s1'); INSERT INTO messages VALUES (1, 's1', 'user', 'Hi.');"
    )
    connection.close()
    assert [turn.text for turn in by_id(path)["s1"].turns] == ["Hi."]


def test_another_database_is_not_taken_for_a_store(tmp_path: Path) -> None:
    """A store has both tables; a broken one is a problem, not an exception."""
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE sessions (id TEXT)")
    connection.close()
    assert not recognises(path, path.read_bytes())
    path.write_bytes(b"SQLite format 3\x00" + b"x" * 200)
    (session,) = read(path)
    assert session.unread == {"hermes/database": 1}


def test_older_files_are_left_out_where_the_store_has_them(store: Path, tmp_path: Path) -> None:
    """HERMES_HOME and its profiles are looked at; a session in the store is not read from its file again."""
    home = tmp_path / "hermes"
    (home / "sessions").mkdir(parents=True)
    (home / "profiles" / "office").mkdir(parents=True)
    shutil.copy(store, home / "state.db")
    shutil.copy(store, home / "profiles" / "office" / "state.db")
    for name in ("session_s1.json", "session_old.json"):
        (home / "sessions" / name).write_text("{}")
    found = [str(path.relative_to(home)) for path in find(tmp_path, {"HERMES_HOME": str(home)})]
    assert found == ["state.db", "sessions/session_old.json", "profiles/office/state.db"]


def trajectory(prompt: str) -> bytes:
    """One line of a trajectory file: a call that failed, and what the agent said of it."""
    called = '<tool_call>{"name": "terminal", "arguments": {"command": "make"}}</tool_call>'
    content = {"output": "no rule", "exit_code": 2}
    answered = f"<tool_response>{json.dumps({'name': 'terminal', 'content': content})}</tool_response>"
    said = [("human", prompt), ("gpt", called), ("tool", answered), ("gpt", "It has no rule.")]
    record = {"conversations": [{"from": who, "value": text} for who, text in said], "completed": False}
    return json.dumps(record | {"timestamp": "2026-11-12T08:00:00"}).encode() + b"\n"


def test_trajectories_in_gzip_are_read_as_plain_ones(tmp_path: Path) -> None:
    """Known by content, whatever the number of members; a long first line too; under their own path."""
    lines = [trajectory("Build it. " + secrets.token_hex(90_000)), trajectory("And the docs.")]
    plain, packed = tmp_path / "failed_trajectories.jsonl", tmp_path / "failed_trajectories.jsonl.gz"
    plain.write_bytes(b"".join(lines))
    packed.write_bytes(b"".join(map(gzip.compress, lines)))
    assert recognise(packed) == "hermes"
    expected = [(session.id, session.turns, session.lines) for session in read_sessions(plain)]
    found = list(read_sessions(packed))
    assert [(session.id, session.turns, session.lines) for session in found] == expected
    assert len(found) == 2
    assert found[0].turns[1].outcome == "failed"
    assert {session.path for session in found} == {str(packed)}


def test_gzip_that_is_cut_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    """And says so; what holds no trajectories is nobody's."""
    packed = tmp_path / "trajectory_samples.jsonl.gz"
    whole = gzip.compress(trajectory("Build it."))
    packed.write_bytes(whole + gzip.compress(trajectory(secrets.token_hex(9000)))[:-4000])
    first, *rest = read_sessions(packed)
    assert first.turns[1].outcome == "failed"
    assert first.unread["hermes/gzip"] == 1
    assert "what stands before was read" in first.problems[0].reason
    assert sum(session.unread.get("hermes/cut-line", 0) for session in (first, *rest)) == 1
    for other in (gzip.compress(b'{"a": 1}\n'), whole[:12], b"\x1f\x8b and no more"):
        packed.write_bytes(other)
        assert recognise(packed) == ""
