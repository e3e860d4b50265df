"""Gemini CLI's chats: messages that are written again, rewinds, changes of the heading, hidden failures."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from index.records import Session
from reflect.transcripts.gemini_cli import find, read

HEADING = {"sessionId": "g1", "projectHash": "abc", "startTime": "2026-11-12T08:00:00Z", "kind": "main"}


def chat(tmp_path: Path, *records: Any) -> Session:
    path = tmp_path / "session-2026-11-12T08-00-g1.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in (HEADING, *records)))
    (session,) = read(path)
    return session


def user(name: str, text: str) -> dict[str, Any]:
    return {"id": name, "type": "user", "content": [{"text": text}]}


def answer(name: str, text: str, *calls: Any) -> dict[str, Any]:
    return {"id": name, "type": "gemini", "content": text, "toolCalls": list(calls)}


def shell(command: str, output: str, status: str = "success") -> dict[str, Any]:
    result = [{"functionResponse": {"response": {"output": output}}}]
    return {"id": "k", "name": "run_shell_command", "args": {"command": command}, "status": status, "result": result}


def test_the_last_writing_of_a_message_wins(tmp_path: Path) -> None:
    """It keeps the place of the first, and its lines reach to the last."""
    session = chat(tmp_path, answer("m1", "I"), user("m2", "Go on."), answer("m1", "I look."))
    assert [(t.line, t.end, t.text) for t in session.turns] == [(2, 4, "I look."), (3, 3, "Go on.")]


def test_a_rewind_drops_a_message_and_all_after_it(tmp_path: Path) -> None:
    """All of them, if the message is not known."""
    records = [user("m1", "One."), user("m2", "Two."), user("m3", "Three.")]
    assert [t.text for t in chat(tmp_path, *records, {"$rewindTo": "m2"}).turns] == ["One."]
    assert chat(tmp_path, *records, {"$rewindTo": "gone"}).turns == ()


def test_a_change_of_the_heading_may_carry_the_messages(tmp_path: Path) -> None:
    """`$set` replaces what it names."""
    session = chat(tmp_path, user("m1", "One."), {"$set": {"directories": ["/x"], "messages": [user("m9", "Nine.")]}})
    assert ([t.text for t in session.turns], session.cwd) == (["Nine."], "/x")


@pytest.mark.parametrize(
    ("output", "status", "outcome", "code", "text"),
    [
        ("Output: no rule\nExit Code: 2\nProcess Group PGID: 7", "success", "failed", 2, "no rule"),
        ("Output: ok\nProcess Group PGID: 7", "success", "passed", 0, "ok"),
        ("Output: x\n+ FullyQualifiedErrorId : InvalidEndOfLine", "success", "failed", None, None),
        ("Output: ok", "cancelled", "unknown", None, "ok"),
        ("boom", "error", "failed", None, "boom"),
    ],
)
def test_a_success_can_be_a_failure(
    tmp_path: Path, output: str, status: str, outcome: str, code: int | None, text: str | None
) -> None:
    """A failed command is called a success: its exit code stands in the text, or only PowerShell's error does."""
    (turn,) = chat(tmp_path, answer("m1", "", shell("make", output, status))).turns
    assert (turn.outcome, turn.exit_code) == (outcome, code)
    assert text is None or turn.text == text


def test_the_project_is_found_by_its_slug(tmp_path: Path) -> None:
    """`projects.json` beside the chats says which folder a slug stands for."""
    chats = tmp_path / ".gemini" / "tmp" / "shop" / "chats"
    chats.mkdir(parents=True)
    (tmp_path / ".gemini" / "projects.json").write_text(json.dumps({"projects": {"/nonexistent/shop": "shop"}}))
    (chats / "session-1.jsonl").write_text(json.dumps(HEADING) + "\n")
    (path,) = find(tmp_path, {})
    (session,) = read(path)
    assert (session.cwd, session.project) == ("/nonexistent/shop", "/nonexistent/shop")


@pytest.mark.parametrize("known", ["listed", "spoken of", "unknown"])
def test_the_project_is_found_by_its_hash(tmp_path: Path, known: str) -> None:
    """In the list, or above a file that the chat read; a bare hash is no project's name."""
    folder = "/nonexistent/shop"
    name = hashlib.sha256(folder.encode()).hexdigest()
    chats = tmp_path / ".gemini" / "tmp" / name / "chats"
    chats.mkdir(parents=True)
    listed = {folder: "shop"} if known == "listed" else {}
    (tmp_path / ".gemini" / "projects.json").write_text(json.dumps({"projects": {"/other": "other", **listed}}))
    read_file = {"id": "k", "name": "read_file", "args": {"absolute_path": f"{folder}/src/app.py"}, "status": "success"}
    spoken = [answer("m1", "", read_file)] if known == "spoken of" else []
    heading = {**HEADING, "projectHash": name}
    path = chats / "session-1.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in (heading, *spoken)))
    (session,) = read(path)
    wanted = "" if known == "unknown" else folder
    assert (session.cwd, session.project) == (wanted, wanted)
    assert [turn.paths for turn in session.turns] == [("src/app.py",) for _ in spoken]


def test_notices_are_known_and_other_kinds_are_counted(tmp_path: Path) -> None:
    """info, error and warning are the program's own notices."""
    session = chat(tmp_path, {"id": "i", "type": "info", "content": "x"}, {"id": "h", "type": "hologram"})
    assert session.unread == {"gemini-cli/unknown-type:hologram": 1}
