"""Reads the transcripts of Claude Code: JSON lines under `projects/`, one record a content block."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from index.records import Session
from reflect.transcripts.branches import Node, dead_records
from reflect.transcripts.calls import describe_call
from reflect.transcripts.claude_records import (
    ATTACHMENTS,
    BLOCKS,
    HEAD_TYPES,
    SKIPPED,
    SYSTEM,
    is_injected,
    is_typed,
    only_thinks,
    parse_record,
)
from reflect.transcripts.claude_results import judge_result
from reflect.transcripts.lines import Tail, head_values, read_lines
from reflect.transcripts.project import project_of
from reflect.transcripts.protocol import OWN_MARK, SUBAGENT_MARK, Mark
from reflect.transcripts.recorder import Place, Recorder, name_of, shared
from reflect.transcripts.text import kind_of, parse_time, string, text_of
from reflect.transcripts.walk import walk_files

agent = "claude-code"
# A record so few lines behind a text that came out of the queue, with the same words, is that text once more.
NEAR_LINES = 20

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)


def find(home: Path, env: Mapping[str, str]) -> Iterator[Path]:
    """Main and sub-agent transcripts under `~/.claude/projects`, or where CLAUDE_CONFIG_DIR points."""
    root = Path(env["CLAUDE_CONFIG_DIR"]) if env.get("CLAUDE_CONFIG_DIR") else home / ".claude"
    yield from walk_files(root / "projects", (".jsonl",), frozenset({"memory", "tool-results"}))


def recognises(path: Path, head: bytes) -> bool:
    """Whether records of Claude Code are at the start of the file."""
    for value in head_values(head):
        kind = kind_of(value)
        if kind in HEAD_TYPES and "sessionId" in value and ("parentUuid" in value or "uuid" in value):
            return True
        if kind in {"summary", "file-history-snapshot", "queue-operation"} and (
            "leafUuid" in value or "snapshot" in value or "operation" in value
        ):
            return True
    return False


def read(path: Path, mark: Mark | None = None) -> Iterator[Session]:
    """The main session of a file and after it each sub-agent that older versions recorded in the same file."""
    reading = _Reading(str(path), file_id=path.stem)
    if mark is not None:
        reading.read_heading(path)
        reading.read_on = True
    for line in read_lines(path, mark, reading.tail, parse_record):
        if line.fault:
            reading.main.not_understood(line.fault, line.number, f"{line.fault.replace('-', ' ')} in a transcript")
        for value in line.values:
            reading.record(value, line.number, line.offset)
    yield from reading.sessions()


@dataclass(slots=True)
class _Heading:
    """What the first records say of the session."""

    session: str = ""
    cwd: str = ""
    branch: str = ""
    version: str = ""
    started: datetime | None = None
    agent_id: str = ""
    complete: bool = False

    def take(self, record: dict[str, Any], time: datetime | None) -> None:
        """Take what is still missing."""
        self.session = self.session or string(record.get("sessionId"))
        self.cwd = self.cwd or string(record.get("cwd"))
        self.branch = self.branch or string(record.get("gitBranch"))
        self.version = self.version or string(record.get("version"))
        self.started = self.started or time
        self.agent_id = self.agent_id or string(record.get("agentId"))
        self.complete = bool(self.session and self.cwd and self.branch and self.version and self.started)


@dataclass(slots=True)
class _Reading:
    """One file being read: the main session and the sub-agents in it."""

    path: str
    file_id: str
    tail: Tail = field(default_factory=Tail)
    heading: _Heading = field(default_factory=_Heading)
    main: Recorder = field(init=False)
    is_subagent_file: bool = field(init=False)
    takers: dict[str, Callable[[Recorder, dict[str, Any], Place], None]] = field(init=False)
    groups: dict[str, Recorder] = field(default_factory=dict)
    group_of: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)
    background: dict[str, str] = field(default_factory=dict)
    queue: list[str] = field(default_factory=list)
    handed: dict[str, int] = field(default_factory=dict)
    last: str = ""
    finished: datetime | None = None
    scheduled: bool = False
    own: bool = False
    read_on: bool = False

    def __post_init__(self) -> None:
        self.main = Recorder(agent, self.path)
        self.is_subagent_file = self.file_id.startswith("agent-")
        self.takers = {
            "user": self._take_user,
            "assistant": self._take_assistant,
            "system": self._take_system,
            "attachment": self._take_attachment,
            "progress": self._take_progress,
        }

    def read_heading(self, path: Path) -> None:
        """Take the heading from the start of a file that is read on from a later place."""
        started = False
        for line in read_lines(path, loads=parse_record):
            for value in line.values:
                if isinstance(value, dict) and kind_of(value) in HEAD_TYPES:
                    self.heading.take(value, parse_time(value.get("timestamp")))
                    if not started and kind_of(value) == "user":
                        self._note_start(value)
                        started = True
            if line.number > 200 or (started and self.heading.complete):
                return

    def record(self, record: Any, line: int, offset: int) -> None:
        """Take in one record."""
        if not isinstance(record, dict):
            self.main.not_understood("not-an-object", line, "a line of a transcript that is no JSON object")
            return
        kind = kind_of(record)
        if kind == "queue-operation":
            self._take_queued(record, Place(line, offset, parse_time(record.get("timestamp"))))
            return
        take = self.takers.get(kind)
        if take is None and kind not in SKIPPED:
            self.main.not_understood(f"unknown-type:{name_of(kind_of(record))}", line)
            return
        uuid = string(record.get("uuid"))
        sidechain = record.get("isSidechain") is True or self.is_subagent_file
        if uuid:
            if uuid in self.nodes:  # written twice
                return
            parent = record.get("parentUuid") or record.get("logicalParentUuid")
            parent = parent if isinstance(parent, str) else ""
            self.nodes[uuid] = Node(parent, line, kind == "user" and is_typed(record))
            if not sidechain:
                self.last = uuid
        if take is None:
            return
        apart = sidechain and not self.is_subagent_file
        recorder = self._recorder(record, uuid) if apart else self.main
        if self.heading.complete and (kind == "progress" or only_thinks(record)):
            return
        stamp = record.get("timestamp")
        time = parse_time(stamp)
        if time is not None:
            self.finished = time
        elif stamp is not None:
            self.main.not_understood("bad-time", line)
        if not self.heading.complete:
            self.heading.take(record, time)
        take(recorder, record, Place(line, offset, time, shared(record.get("cwd")), sidechain, uuid))

    def _recorder(self, record: dict[str, Any], uuid: str) -> Recorder:
        """The recorder of the sub-agent that a sidechain record belongs to."""
        group = string(record.get("agentId")) or self.group_of.get(string(record.get("parentUuid")), "") or uuid[:8]
        self.group_of[uuid] = group
        if group not in self.groups:
            self.groups[group] = Recorder(agent, self.path)
        return self.groups[group]

    def _note_start(self, record: dict[str, Any]) -> None:
        """Mark a session that a timer started or that is a run of ours, by its first message."""
        if record.get("type") != "user":
            return
        message = record.get("message")
        content = message.get("content") if isinstance(message, dict) else ""
        self.own = self.own or OWN_MARK in text_of(content)[:4000]
        for key in ("promptSource", "origin"):
            value = record.get(key)
            source = string(value.get("kind")) if isinstance(value, dict) else string(value)
            self.scheduled = self.scheduled or "cron" in source or "schedul" in source

    def _take_user(self, recorder: Recorder, record: dict[str, Any], place: Place) -> None:
        if not recorder.drafts and not self.read_on:
            self._note_start(record)
        message = record.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, str):
            self._take_text(recorder, record, content, place)
            return
        if not isinstance(content, list):
            recorder.not_understood("bad-message", place.line, "a user record without content")
            return
        texts: list[str] = []
        for block in content:
            kind = kind_of(block)
            if kind == "tool_result":
                self._take_result(recorder, record, block, place)
            elif kind == "text":
                texts.append(string(block.get("text")))
            elif kind in BLOCKS:
                texts.append(f"[{kind} dropped]")
            else:
                recorder.not_understood(f"unknown-block:{name_of(kind)}", place.line)
        if texts:
            self._take_text(recorder, record, "\n".join(texts), place)

    def _take_queued(self, record: dict[str, Any], place: Place) -> None:
        """Words typed while the agent was busy: some versions hand them over without a record of their own.

        What the person typed goes before notices of finished tasks, which wait in the same queue.
        """
        operation = kind_of(record, "operation")
        if operation == "enqueue":
            self.queue.append(string(record.get("content")))
        elif operation in {"remove", "dequeue"} and self.queue:
            first = next((n for n, text in enumerate(self.queue) if not text.startswith(("{", "<"))), 0)
            text = self.queue.pop(first)
            if operation == "remove" and text and not text.startswith(("{", "<")):
                self.handed[text] = place.line
                self.main.hear(text, place)
        elif operation in {"popAll", "clear"}:
            self.queue.clear()

    def _was_handed(self, text: str, line: int) -> bool:
        """Whether a record only says again what came out of the queue just before."""
        return line - self.handed.pop(text, -NEAR_LINES - 1) <= NEAR_LINES

    def _take_text(self, recorder: Recorder, record: dict[str, Any], text: str, place: Place) -> None:
        if is_injected(record):
            recorder.say("injected", text, place, place.record)
        elif not self._was_handed(text, place.line):
            recorder.hear(text, place, place.record)

    def _take_result(self, recorder: Recorder, record: dict[str, Any], block: dict[str, Any], place: Place) -> None:
        raw = text_of(block.get("content"))
        draft = recorder.result(string(block.get("tool_use_id")), place, raw)
        call = draft.call
        if call is None:
            return
        if call.tool == "Bash" and raw.startswith("Command running in background with ID: "):
            self.background[raw[39:].split(".")[0].split()[0] if raw[39:].split() else ""] = call.command
        denial = string(record.get("toolDenialKind"))
        result = judge_result(call, draft.text, block.get("is_error") is True, record.get("toolUseResult"), denial)
        draft.text, draft.outcome, draft.exit_code = result.text, result.outcome, result.exit_code
        draft.refused, draft.said = result.refused, result.said

    def _take_assistant(self, recorder: Recorder, record: dict[str, Any], place: Place) -> None:
        message = record.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not isinstance(blocks, list):
            recorder.not_understood("bad-message", place.line, "an assistant record without content")
            return
        who = "injected" if record.get("isApiErrorMessage") else "agent"
        for number, block in enumerate(blocks):
            kind = kind_of(block)
            if kind == "tool_use":
                self._take_call(recorder, block, place)
            elif kind == "text":
                name = place.record if number == 0 else f"{place.record}#{number}"
                recorder.say(who, string(block.get("text")), place, name)  # type: ignore[arg-type]
            elif kind not in BLOCKS:
                recorder.not_understood(f"unknown-block:{name_of(kind)}", place.line)

    def _take_call(self, recorder: Recorder, block: dict[str, Any], place: Place) -> None:
        given = block.get("input")
        if isinstance(given, dict) and "command" not in given:
            shell = string(given.get("bash_id")) or string(given.get("task_id"))
            given = {**given, "command": self.background[shell]} if shell in self.background else given
        recorder.call(describe_call(string(block.get("name")), given), place, string(block.get("id")))

    def _take_system(self, recorder: Recorder, record: dict[str, Any], place: Place) -> None:
        kind = kind_of(record, "subtype")
        if kind == "local_command":
            recorder.say("injected", string(record.get("content")), place, place.record)
        elif kind and kind not in SYSTEM:
            recorder.not_understood(f"unknown-system:{name_of(kind)}", place.line)

    def _take_attachment(self, recorder: Recorder, record: dict[str, Any], place: Place) -> None:
        body = record.get("attachment")
        kind = kind_of(body)
        if isinstance(body, dict) and kind == "queued_command":
            if body.get("commandMode") == "task-notification" or body.get("isMeta"):
                recorder.say("injected", text_of(body.get("prompt")), place, place.record)
            elif not self._was_handed(prompt := text_of(body.get("prompt")), place.line):
                recorder.hear(prompt, place, place.record)
        elif isinstance(body, dict) and kind == "hook_additional_context":
            recorder.say("injected", text_of(body.get("content")), place, place.record)
        elif kind not in ATTACHMENTS:
            recorder.not_understood(f"unknown-attachment:{name_of(kind)}", place.line)

    def _take_progress(self, recorder: Recorder, record: dict[str, Any], place: Place) -> None:
        """Progress only stands in the tree."""

    def sessions(self) -> Iterator[Session]:
        """The main session, then the sub-agents in the order of their first record."""
        dead = dead_records(self.nodes, self.last)
        for draft in self.main.drafts:
            draft.dropped = draft.place.record in dead
        heading = self.heading
        main_id = self.file_id if _UUID.fullmatch(self.file_id) else heading.session or self.file_id
        if self.is_subagent_file:
            name = heading.agent_id or self.file_id.removeprefix("agent-")
            yield self._session(self.main, f"{heading.session or 'unknown'}{SUBAGENT_MARK}{name}", heading.session)
            return
        yield self._session(self.main, main_id, "")
        for name, recorder in self.groups.items():
            yield self._session(recorder, f"{main_id}{SUBAGENT_MARK}{name}", main_id)

    def _session(self, recorder: Recorder, name: str, parent: str) -> Session:
        heading = self.heading
        return recorder.session(
            name,
            heading.cwd,
            lines=self.tail.lines,
            ended_at=self.tail.ended_at,
            sha256=self.tail.digest.hexdigest(),
            project=project_of(heading.cwd),
            branch=heading.branch,
            version=heading.version,
            started=heading.started,
            finished=self.finished,
            parent=f"{agent}:{parent}" if parent else "",
            subagent=bool(parent) or self.is_subagent_file,
            own=self.own,
            scheduled=self.scheduled,
        )
