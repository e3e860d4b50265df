"""OpenCode's store of both generations, and its exports."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from reflect.transcripts.opencode import find, read, recognises

FIRST = """
CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, version TEXT, time_created INTEGER,
  time_updated INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);
"""
SECOND = "CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER, data TEXT);"


def tool(status: str, **state: Any) -> dict[str, Any]:
    return {"type": "tool", "tool": "bash", "callID": "c1", "state": {"status": status, **state}}


def make(path: Path, schema: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.executescript(schema)
    connection.execute("INSERT INTO session VALUES ('ses_1', NULL, '/home/mika/code/shop', '1.2', 1794470400000, 0)")
    connection.execute("INSERT INTO session VALUES ('ses_2', 'ses_1', '/home/mika/code/shop', '1.2', 1794470500000, 0)")
    return connection


def test_the_first_generation(tmp_path: Path) -> None:
    """Messages and parts in two tables; a failed command is one that completed with an exit code."""
    path = tmp_path / "opencode.db"
    connection = make(path, FIRST)
    rows = [("msg_1", {"role": "user", "time": {"created": 1794470400000}}), ("msg_2", {"role": "assistant"})]
    for number, (name, data) in enumerate(rows):
        connection.execute("INSERT INTO message VALUES (?, 'ses_1', ?, ?)", (name, number, json.dumps(data)))
    done = tool("completed", input={"command": "make"}, output="no rule", metadata={"exit": 2})
    parts = [
        ("p1", "msg_1", {"type": "text", "text": "Fix it."}),
        ("p2", "msg_2", done),
        ("p3", "msg_2", {"type": "odd"}),
    ]
    for name, message, data in parts:
        connection.execute("INSERT INTO part VALUES (?, ?, 'ses_1', ?)", (name, message, json.dumps(data)))
    connection.commit()
    connection.close()
    assert recognises(path, path.read_bytes())
    first, second = read(path)
    assert [(t.line, t.who, t.command, t.outcome, t.exit_code) for t in first.turns] == [
        (1, "person", "", "unknown", None),
        (2, "tool", "make", "failed", 2),
    ]
    assert first.unread == {"opencode/unknown-part:odd": 1}
    assert (second.key, second.subagent) == ("opencode:ses_1+ses_2", True)


def test_the_second_generation(tmp_path: Path) -> None:
    """One table of messages in the order of their sequence."""
    path = tmp_path / "opencode.db"
    connection = make(path, FIRST + SECOND)
    done = {"type": "tool", "id": "c1", "name": "bash"}
    done["state"] = {"status": "error", "input": {"command": "make"}, "content": [], "error": {"message": "boom"}}  # type: ignore[assignment]
    rows: list[tuple[str, str, dict[str, Any]]] = [
        ("m2", "assistant", {"content": [{"type": "text", "text": "I try."}, done]}),
        ("m1", "user", {"text": "Fix it.", "time": {"created": 1794470400000}}),
        ("m3", "compaction", {"summary": "So far."}),
        ("m4", "hologram", {}),
    ]
    order = {"m1": 1, "m2": 2, "m3": 3, "m4": 4}
    for name, kind, data in rows:
        values = (name, kind, order[name], json.dumps(data))
        connection.execute("INSERT INTO session_message VALUES (?, 'ses_1', ?, ?, ?)", values)
    connection.commit()
    connection.close()
    session = next(iter(read(path)))
    assert [(t.line, t.who, t.text, t.outcome) for t in session.turns] == [
        (1, "person", "Fix it.", "unknown"),
        (2, "agent", "I try.", "unknown"),
        (2, "tool", "boom", "failed"),
        (3, "injected", "So far.", "unknown"),
    ]
    assert session.unread == {"opencode/unknown-type:hologram": 1}


def test_a_refusal_with_feedback(tmp_path: Path) -> None:
    """The words that came with the refusal are the person's."""
    error = "The user rejected permission to use this specific tool call with the following feedback: use pnpm"
    export = {
        "info": {"id": "ses_1", "directory": "/x"},
        "messages": [
            {"info": {"role": "assistant"}, "parts": [tool("error", input={"command": "npm i"}, error=error)]}
        ],
    }
    path = tmp_path / "export.json"
    path.write_text(json.dumps(export, indent=1))
    (session,) = read(path)
    assert [(t.refused, t.said, t.outcome) for t in session.turns] == [(True, "use pnpm", "unknown")]


def test_stores_are_found_by_name(tmp_path: Path) -> None:
    """Channel builds have a name of their own; OPENCODE_DB names one outright."""
    folder = tmp_path / ".local" / "share" / "opencode"
    folder.mkdir(parents=True)
    for name in ("opencode.db", "opencode-beta.db", "mine.db"):
        (folder / name).write_bytes(b"")
    assert [path.name for path in find(tmp_path, {})] == ["opencode-beta.db", "opencode.db"]
    assert [path.name for path in find(tmp_path, {"OPENCODE_DB": "mine.db"})] == [
        "mine.db",
        "opencode-beta.db",
        "opencode.db",
    ]


def test_the_older_tree_of_files(tmp_path: Path) -> None:
    """Heading, messages and parts each in a file of their own; a file that cannot be read stops no other."""
    root = tmp_path / ".local" / "share" / "opencode" / "storage"
    done = tool("completed", input={"command": "make"}, output="no rule", metadata={"exit": 2})
    files: dict[str, Any] = {
        "session/9f2c/ses_1.json": {"id": "ses_1", "directory": "/nonexistent/shop", "version": "0.9", "time": {}},
        "session/9f2c/ses_2.json": {"id": "ses_2", "directory": "/nonexistent/shop", "parentID": "ses_1"},
        "message/ses_1/msg_1.json": {"id": "msg_1", "role": "user", "time": {"created": 1794470400000}},
        "message/ses_1/msg_2.json": {"id": "msg_2", "role": "assistant"},
        "part/msg_1/prt_1.json": {"type": "text", "text": "Fix it."},
        "part/msg_2/prt_2.json": done,
        "part/msg_2/prt_3.json": "not an object",
    }
    for name, value in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(json.dumps(value))
    paths = list(find(tmp_path, {}))
    assert [path.name for path in paths] == ["ses_1.json", "ses_2.json"]
    assert all(recognises(path, path.read_bytes()) for path in paths)
    (first,), (second,) = read(paths[0]), read(paths[1])
    assert (first.key, first.project, first.lines) == ("opencode:ses_1", "/nonexistent/shop", 2)
    assert [(t.line, t.who, t.command, t.outcome) for t in first.turns] == [
        (1, "person", "", "unknown"),
        (2, "tool", "make", "failed"),
    ]
    assert first.unread["opencode/bad-json"] == 1
    assert (second.key, second.subagent) == ("opencode:ses_1+ses_2", True)
