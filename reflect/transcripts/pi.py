"""Reads the sessions of Pi and of OpenClaw, which keeps them in the same form: a tree of JSON lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from index.records import Session
from reflect.transcripts.branches import Node, dead_records
from reflect.transcripts.calls import Call, describe_call
from reflect.transcripts.lines import Tail, head_values, read_head, read_lines
from reflect.transcripts.outcomes import exit_code_at_end, judge_exit, without_exit_code
from reflect.transcripts.project import project_of
from reflect.transcripts.protocol import Mark
from reflect.transcripts.recorder import Place, Recorder, name_of
from reflect.transcripts.text import kind_of, parse_time, string, text_of
from reflect.transcripts.walk import walk_files

agent = "pi"

_SKIPPED = frozenset(
    "thinking_level_change model_change custom label session_info branch_summary leaf tool_state".split()
)


def find(home: Path, env: Mapping[str, str]) -> Iterator[Path]:
    """Sessions under `~/.pi/agent` (PI_CODING_AGENT_DIR) and of every agent under `~/.openclaw`."""
    root = Path(env["PI_CODING_AGENT_DIR"]) if env.get("PI_CODING_AGENT_DIR") else home / ".pi" / "agent"
    yield from walk_files(root / "sessions", (".jsonl",))
    for folder in sorted((home / ".openclaw" / "agents").glob("*/sessions")):
        yield from walk_files(folder, (".jsonl",))


def recognises(path: Path, head: bytes) -> bool:
    """Whether the file begins with Pi's session record."""
    first = next(head_values(head, 1), None)
    return first is not None and first.get("type") == "session" and "id" in first and "cwd" in first


def read(path: Path, mark: Mark | None = None) -> Iterator[Session]:
    """The one session of a file."""
    reading = _Reading(path)
    if mark is not None:
        first = next(head_values(read_head(path), 1), {})
        reading.take_heading(first)
    for line in read_lines(path, mark, reading.tail):
        if line.fault:
            reading.recorder.not_understood(line.fault, line.number, f"{line.fault.replace('-', ' ')} in a transcript")
        for value in line.values:
            reading.take(value, line.number, line.offset)
    yield reading.session()


class _Reading:
    """One file being read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.recorder, self.tail = Recorder(agent, str(path)), Tail()
        self.heading: dict[str, Any] = {}
        self.nodes: dict[str, Node] = {}
        self.last = ""
        self.finished: datetime | None = None

    def take_heading(self, record: dict[str, Any]) -> None:
        """Keep the first session record."""
        if record.get("type") == "session" and not self.heading:
            self.heading = record

    def take(self, record: Any, line: int, offset: int) -> None:
        """Take in one record."""
        if not isinstance(record, dict):
            self.recorder.not_understood("not-an-object", line, "a line of a transcript that is no JSON object")
            return
        kind, name = kind_of(record), string(record.get("id"))
        self.take_heading(record)
        message = record.get("message")
        message = message if isinstance(message, dict) else {}
        if name and kind != "session":
            if name in self.nodes:
                return
            self.nodes[name] = Node(string(record.get("parentId")), line, message.get("role") == "user")
            self.last = name
        time = parse_time(record.get("timestamp"))
        self.finished = time or self.finished
        place = Place(line, offset, time, string(self.heading.get("cwd")), record=name)
        if kind == "message":
            self._take_message(message, place)
        elif kind == "compaction":
            self.recorder.say("injected", string(record.get("summary")), place, name)
        elif kind == "custom_message":
            self.recorder.say("injected", text_of(record.get("content")), place, name)
        elif kind not in _SKIPPED and kind != "session":
            self.recorder.not_understood(f"unknown-type:{name_of(kind)}", line)

    def _take_message(self, message: dict[str, Any], place: Place) -> None:
        role, content = kind_of(message, "role"), message.get("content")
        if role == "user":
            self.recorder.hear(text_of(content), place, place.record)
        elif role == "assistant":
            self._take_answer(content, place)
        elif role == "toolResult":
            self._take_result(message, place)
        elif role == "bashExecution":
            text = f"$ {string(message.get('command'))}\n{string(message.get('output'))}"
            self.recorder.say("injected", text, place, place.record)
        elif role in {"custom", "hookMessage", "branchSummary", "compactionSummary"}:
            self.recorder.say("injected", text_of(content) or string(message.get("summary")), place, place.record)
        else:
            self.recorder.not_understood(f"unknown-role:{name_of(role)}", place.line)

    def _take_answer(self, content: Any, place: Place) -> None:
        for number, block in enumerate(content if isinstance(content, list) else [{"type": "text", "text": content}]):
            kind = kind_of(block)
            if kind == "text":
                name = f"{place.record}#{number}" if place.record else ""
                self.recorder.say("agent", string(block.get("text")), place, name)
            elif kind == "toolCall":
                call = describe_call(string(block.get("name")), block.get("arguments"))
                self.recorder.call(call, place, string(block.get("id")))
            elif kind != "thinking":
                self.recorder.not_understood(f"unknown-block:{name_of(kind)}", place.line)

    def _take_result(self, message: dict[str, Any], place: Place) -> None:
        text = text_of(message.get("content"))
        draft = self.recorder.result(string(message.get("toolCallId")), place, text)
        call = draft.call or Call("")
        if not call.tool:
            call = draft.call = describe_call(string(message.get("toolName")), {})
        failed = message.get("isError") is True
        if call.action != "shell":
            draft.outcome = "failed" if failed else "passed"
            return
        code = exit_code_at_end(text)
        if failed and code is None:
            draft.outcome = "unknown" if text.rstrip().endswith("aborted") else "failed"
            return
        draft.exit_code = code or 0
        draft.text = without_exit_code(draft.text)
        draft.outcome = judge_exit(call.command, draft.exit_code, draft.text)

    def session(self) -> Session:
        """The session as read, without the branches that were left."""
        dead = dead_records(self.nodes, self.last)
        for draft in self.recorder.drafts:
            draft.dropped = draft.place.record in dead
        heading = self.heading
        cwd = string(heading.get("cwd"))
        return self.recorder.session(
            string(heading.get("id")) or self.path.stem,
            cwd,
            lines=self.tail.lines,
            ended_at=self.tail.ended_at,
            sha256=self.tail.digest.hexdigest(),
            project=project_of(cwd),
            version=str(heading.get("version", "")),
            started=parse_time(heading.get("timestamp")),
            finished=self.finished,
        )
