"""Reads the agent transcripts of Cursor: lines with a role, without ids, times or tool results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from index.records import Session
from reflect.transcripts.calls import describe_call
from reflect.transcripts.lines import Tail, head_values, read_lines
from reflect.transcripts.protocol import Mark
from reflect.transcripts.recorder import Place, Recorder, name_of
from reflect.transcripts.text import kind_of, string
from reflect.transcripts.walk import walk_files

agent = "cursor"

_HIDDEN = "[REDACTED]"
_SKIPPED = frozenset({"turn_ended", "turn_started", "session_started", "session_ended"})


def find(home: Path, env: Mapping[str, str]) -> Iterator[Path]:
    """Transcripts of all projects under `~/.cursor/projects`."""
    for path in walk_files(home / ".cursor" / "projects", (".jsonl",)):
        if "agent-transcripts" in path.parts:
            yield path


def recognises(path: Path, head: bytes) -> bool:
    """Whether the first lines have a role and a message but no type or id."""
    for value in head_values(head, 3):
        if kind_of(value, "role") in {"user", "assistant"} and isinstance(value.get("message"), dict):
            return "type" not in value and "uuid" not in value
    return False


def read(path: Path, mark: Mark | None = None) -> Iterator[Session]:
    """The one session of a transcript. How a call ended is never recorded: all outcomes are unknown."""
    recorder, tail = Recorder(agent, str(path)), Tail()
    for line in read_lines(path, mark, tail):
        if line.fault:
            recorder.not_understood(line.fault, line.number, f"{line.fault.replace('-', ' ')} in a transcript")
        for value in line.values:
            _take(recorder, value, line.number, line.offset)
    parts = path.parts
    at = parts.index("agent-transcripts") if "agent-transcripts" in parts else 0
    yield recorder.session(
        path.stem,
        "",
        lines=tail.lines,
        ended_at=tail.ended_at,
        sha256=tail.digest.hexdigest(),
        project=parts[at - 1] if at > 0 else "",
    )


def _take(recorder: Recorder, record: Any, line: int, offset: int) -> None:
    role = kind_of(record, "role")
    if role not in {"user", "assistant"}:
        kind = kind_of(record)
        if kind not in _SKIPPED:
            recorder.not_understood(f"unknown-type:{name_of(kind)}", line)
        return
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    place = Place(line, offset)
    for block in blocks if isinstance(blocks, list) else ():
        kind = kind_of(block)
        if kind == "text" and role == "user":
            recorder.hear(string(block.get("text")), place)
        elif kind == "text":
            recorder.say("agent", string(block.get("text")).replace(_HIDDEN, ""), place)
        elif kind == "tool_use":
            recorder.call(describe_call(string(block.get("name")), block.get("input")), place, string(block.get("id")))
        elif kind not in {"image", "thinking", "tool_result"}:
            recorder.not_understood(f"unknown-block:{name_of(kind)}", line)
    if not isinstance(blocks, list):
        recorder.not_understood("bad-message", line, "a message without content")
