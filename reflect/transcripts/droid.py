"""Reads the sessions of Factory's Droid: JSON lines with messages in Claude's block form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from index.records import Session
from reflect.transcripts.calls import describe_call
from reflect.transcripts.claude_results import judge_result
from reflect.transcripts.lines import Tail, head_values, read_head, read_lines
from reflect.transcripts.project import project_of
from reflect.transcripts.protocol import Mark
from reflect.transcripts.recorder import Place, Recorder, name_of
from reflect.transcripts.text import kind_of, parse_time, string, text_of
from reflect.transcripts.walk import walk_files

agent = "droid"

_SKIPPED = frozenset({"session_start", "todo_state", "session_end", "token_usage", "settings", "compaction_state"})
_BLOCKS = frozenset({"thinking", "image", "redacted_thinking"})


def find(home: Path, env: Mapping[str, str]) -> Iterator[Path]:
    """Sessions under `~/.factory/sessions`."""
    yield from walk_files(home / ".factory" / "sessions", (".jsonl",))


def recognises(path: Path, head: bytes) -> bool:
    """Whether the file begins with Droid's start record."""
    first = next(head_values(head, 1), None)
    return first is not None and first.get("type") == "session_start" and "id" in first


def read(path: Path, mark: Mark | None = None) -> Iterator[Session]:
    """The one session of a file."""
    recorder, tail = Recorder(agent, str(path)), Tail()
    heading: dict[str, Any] = next(head_values(read_head(path), 1), {})
    cwd = string(heading.get("cwd"))
    started = finished = None
    for line in read_lines(path, mark, tail):
        if line.fault:
            recorder.not_understood(line.fault, line.number, f"{line.fault.replace('-', ' ')} in a transcript")
        for value in line.values:
            kind = kind_of(value)
            if isinstance(value, dict) and kind == "message":
                time = parse_time(value.get("timestamp"))
                started, finished = started or time, time or finished
                _take(recorder, value, Place(line.number, line.offset, time, cwd))
            elif kind == "compaction":
                recorder.say("injected", text_of(value.get("summary")), Place(line.number, line.offset))
            elif kind not in _SKIPPED:
                recorder.not_understood(f"unknown-type:{name_of(kind)}", line.number)
    yield recorder.session(
        string(heading.get("id")) or path.stem,
        cwd,
        lines=tail.lines,
        ended_at=tail.ended_at,
        sha256=tail.digest.hexdigest(),
        project=project_of(cwd),
        version=str(heading.get("version", "")),
        started=started,
        finished=finished,
    )


def _take(recorder: Recorder, record: dict[str, Any], place: Place) -> None:
    message, name = record.get("message"), string(record.get("id"))
    message = message if isinstance(message, dict) else {}
    role, content = message.get("role"), message.get("content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    for number, block in enumerate(blocks):
        kind = kind_of(block)
        part = f"{name}#{number}" if name else ""
        if kind == "text" and role == "assistant":
            recorder.say("agent", string(block.get("text")), place, part)
        elif kind == "text" and record.get("visibility") == "user_only":
            recorder.say("injected", string(block.get("text")), place, part)
        elif kind == "text":
            recorder.hear(string(block.get("text")), place, part)
        elif kind == "tool_use":
            recorder.call(describe_call(string(block.get("name")), block.get("input")), place, string(block.get("id")))
        elif kind == "tool_result":
            _take_result(recorder, block, place)
        elif kind not in _BLOCKS:
            recorder.not_understood(f"unknown-block:{name_of(kind)}", place.line)


def _take_result(recorder: Recorder, block: dict[str, Any], place: Place) -> None:
    draft = recorder.result(string(block.get("tool_use_id")), place, text_of(block.get("content")))
    if draft.call is not None:
        result = judge_result(draft.call, draft.text, block.get("is_error") is True, None, "")
        draft.text, draft.outcome, draft.exit_code = result.text, result.outcome, result.exit_code
        draft.refused, draft.said = result.refused, result.said
