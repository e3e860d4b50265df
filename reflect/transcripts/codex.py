"""Reads the transcripts of Codex CLI: rollout files of JSON lines, sorted by day."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from index.records import Session
from reflect.transcripts.calls import Call, describe_call
from reflect.transcripts.codex_records import (
    BARE,
    CALLS,
    OUTPUTS,
    SKIPPED_EVENTS,
    SKIPPED_ITEMS,
    SKIPPED_TYPES,
    is_scheduled,
    parent_of,
    parse_record,
    user_content,
)
from reflect.transcripts.codex_results import judge_result
from reflect.transcripts.lines import Tail, head_values, read_lines
from reflect.transcripts.packed import ZSTD, find_decompressor, unpacked
from reflect.transcripts.project import project_of
from reflect.transcripts.protocol import OWN_MARK, SUBAGENT_MARK, Mark
from reflect.transcripts.recorder import Draft, Place, Recorder, is_own, name_of, shared
from reflect.transcripts.text import kind_of, parse_time, string, text_of
from reflect.transcripts.walk import walk_files

agent = "codex"

_NO_ZSTD = (
    "compressed by Codex with zstd, which needs the extra `zstd` before Python 3.14: pip install 'hotwash[zstd]', and "
    "it is read by the next run; or run `zstd -d` on it"
)
_ID = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$", re.IGNORECASE)


def find(home: Path, env: Mapping[str, str]) -> Iterator[Path]:
    """Rollout files under `~/.codex`, or where CODEX_HOME points; a compressed one only where the plain one is gone."""
    root = Path(env["CODEX_HOME"]) if env.get("CODEX_HOME") else home / ".codex"
    for folder in ("sessions", "archived_sessions"):
        for path in walk_files(root / folder, (".jsonl", ".jsonl.zst")):
            if path.name.startswith("rollout-") and not (path.suffix == ".zst" and path.with_suffix("").exists()):
                yield path


def recognises(path: Path, head: bytes) -> bool:
    """Whether the file begins with Codex's session record, wrapped or, in the oldest files, bare."""
    if head.startswith(ZSTD):
        return path.name.startswith("rollout-")
    for value in head_values(head, 3):
        payload = value.get("payload")
        if isinstance(payload, dict) and kind_of(value) in {
            "session_meta",
            "response_item",
            "turn_context",
            "event_msg",
        }:
            return True
        if "record_type" in value or ("instructions" in value and "id" in value and "timestamp" in value):
            return True
    return False


def read(path: Path, mark: Mark | None = None) -> Iterator[Session]:
    """The one session of a rollout file."""
    with path.open("rb") as file:
        packed = file.read(4) == ZSTD
    reading = _Reading(str(path), path.name.removesuffix(".zst"))
    if not packed:
        yield reading.read(path, mark)
        return
    decompressor = find_decompressor()
    if decompressor is None:
        reading.recorder.not_understood("zstd", 0, _NO_ZSTD)
        yield reading.session()
        return
    with unpacked(path, decompressor) as (text, fault):
        if fault:
            reading.recorder.not_understood("zstd", 0, fault)
        yield reading.read(text, mark)


@dataclass(slots=True)
class _Reading:
    """One rollout file being read."""

    path: str
    name: str
    tail: Tail = field(default_factory=Tail)
    meta: dict[str, Any] = field(default_factory=dict)
    recorder: Recorder = field(init=False)
    events: Recorder = field(init=False)
    running: dict[str, Draft] = field(default_factory=dict)
    cwd: str = ""
    started: datetime | None = None
    finished: datetime | None = None
    own_start: int = 0
    has_prompts: bool = False
    own: bool = False

    def __post_init__(self) -> None:
        self.recorder = Recorder(agent, self.path)
        # What the events say of messages: used only where a file has no messages of its own.
        self.events = Recorder(agent, self.path)

    def read(self, path: Path, mark: Mark | None) -> Session:
        """The session in a file of JSON lines."""
        if mark is not None:
            self.read_heading(path)
        for number, offset, values, fault in read_lines(path, mark, self.tail, self.parse):
            if fault:
                self.recorder.not_understood(fault, number, f"{fault.replace('-', ' ')} in a transcript")
            for value in values:
                self.record(value, number, offset)
        return self.session()

    def read_heading(self, path: Path) -> None:
        """Take the session record from the start of a file that is read on from a later place."""
        for line in read_lines(path):
            for value in line.values:
                if isinstance(value, dict):
                    self._take_heading(value)
                    self.own = self.own or OWN_MARK in text_of(user_content(value))[:4000]
            if line.number > 20:
                return

    def _take_heading(self, record: dict[str, Any]) -> bool:
        """Keep the first session record, which is the file's own: further ones belong to copied history."""
        bare = "instructions" in record and "id" in record and "type" not in record
        meta = record if bare else record.get("payload")
        if not isinstance(meta, dict) or not (bare or record.get("type") == "session_meta"):
            return False
        if not self.meta:
            self.meta = meta
            self.cwd = shared(meta.get("cwd"))
            self.started = parse_time(meta.get("timestamp")) or parse_time(record.get("timestamp"))
            ordinal = meta.get("subagent_history_start_ordinal")
            self.own_start = ordinal if isinstance(ordinal, int) else 0
        return True

    def parse(self, raw: bytes) -> Any:
        """The record on a line, or NOTHING where it says nothing that is not known."""
        return parse_record(raw, self.cwd, self.has_prompts)

    def record(self, record: Any, line: int, offset: int) -> None:
        """Take in one record."""
        if not isinstance(record, dict):
            self.recorder.not_understood("not-an-object", line, "a line of a transcript that is no JSON object")
            return
        kind = record.get("type")
        payload = record.get("payload")
        if kind != "response_item":
            kind = string(record.get("type", "state" if "record_type" in record else ""))
            if (kind in {"session_meta", ""}) and self._take_heading(record):
                return
            if kind in BARE:
                payload = record
            if kind == "turn_context" and isinstance(payload, dict):
                self.cwd = shared(payload.get("cwd")) or self.cwd
            if kind in SKIPPED_TYPES:
                return
        time = parse_time(record.get("timestamp"))
        self.finished = time or self.finished
        if self.own_start:
            ordinal = record.get("ordinal")
            if isinstance(ordinal, int) and ordinal < self.own_start:
                return
        place = Place(line, offset, time, self.cwd)
        if not isinstance(payload, dict):
            self.recorder.not_understood(f"unknown-type:{name_of(kind_of(record))}", line)
        elif kind == "response_item" or kind in BARE:
            self._take_item(payload, place)
        elif kind == "event_msg":
            self._take_event(payload, place)
        elif kind == "compacted":
            self.recorder.say("injected", string(payload.get("message")), place)
        else:
            self.recorder.not_understood(f"unknown-type:{name_of(kind_of(record))}", line)

    def _take_item(self, item: dict[str, Any], place: Place) -> None:
        kind = kind_of(item)
        if kind == "message":
            self._take_message(item, place)
        elif kind in CALLS:
            self._take_call(item, place)
        elif kind in OUTPUTS:
            self._take_output(item, place)
        elif kind == "web_search_call":
            action = item.get("action")
            given = action if isinstance(action, dict) else item
            self.recorder.call(describe_call("web_search_call", given), place, string(item.get("id")))
        elif kind not in SKIPPED_ITEMS:
            self.recorder.not_understood(f"unknown-item:{name_of(kind_of(item))}", place.line)

    def _take_message(self, item: dict[str, Any], place: Place) -> None:
        role, content, name = kind_of(item, "role"), item.get("content"), string(item.get("id"))
        if role == "assistant":
            self.recorder.say("agent", text_of(content), place, name)
        elif role in {"developer", "system"}:
            self.recorder.say("injected", text_of(content), place, name)
        elif role == "user":
            for number, part in enumerate(content if isinstance(content, list) else [content]):
                self.recorder.hear(text_of(part), place, f"{name}.{number}" if name and number else name)
            self.has_prompts = self.has_prompts or any(draft.who == "person" for draft in self.recorder.drafts[-4:])
        else:
            self.recorder.not_understood(f"unknown-role:{name_of(role)}", place.line)

    def _take_call(self, item: dict[str, Any], place: Place) -> None:
        given: Any = item["arguments"] if "arguments" in item else item.get("input", item.get("action"))
        tool = string(item.get("name")) or kind_of(item)
        if isinstance(given, str) and item.get("type") != "custom_tool_call":
            given = self._parse_arguments(given, place)
        workdir = string(given.get("workdir")) if isinstance(given, dict) else ""
        if workdir:
            place.cwd = shared(workdir)
        namespace = string(item.get("namespace"))
        if namespace.startswith("mcp"):
            tool = f"{namespace.rstrip('_')}__{tool}"
        call = describe_call(tool, given)
        if call.tool == "write_stdin" and isinstance(given, dict):
            earlier = self.running.get(str(given.get("session_id")))
            if earlier is not None and earlier.call is not None:
                call = Call(call.tool, "shell", earlier.call.command, origin=earlier.call.origin, ref=earlier.call.ref)
        self.recorder.call(call, place, string(item.get("call_id")) or string(item.get("id")))

    def _parse_arguments(self, given: str, place: Place) -> Any:
        try:
            return orjson.loads(given)
        except ValueError:
            if given.strip():
                self.recorder.not_understood("bad-arguments", place.line)
            return given

    def _take_output(self, item: dict[str, Any], place: Place) -> None:
        output = item.get("output", item.get("result"))
        name = string(item.get("call_id"))
        waiting = self.recorder.waiting.get(name)
        result = judge_result(waiting.call if waiting and waiting.call else Call(""), output)
        draft = self.recorder.result(name, place, result.text)
        draft.outcome, draft.exit_code, draft.refused = result.outcome, result.exit_code, result.refused
        if result.running:
            self.running[result.running] = draft

    def _take_event(self, event: dict[str, Any], place: Place) -> None:
        kind = kind_of(event)
        if kind == "user_message":
            self.events.hear(string(event.get("message")), place)
        elif kind == "agent_message":
            self.events.say("agent", string(event.get("message")), place)
        elif kind == "item_completed":
            self._take_completed(event.get("item"), place)
        elif kind == "turn_aborted":
            self.recorder.say("injected", f"[turn aborted: {string(event.get('reason')) or 'no reason given'}]", place)
        elif kind == "thread_rolled_back":
            turns = event.get("num_turns")
            self._roll_back(turns if isinstance(turns, int) else 1)
        elif kind not in SKIPPED_EVENTS:
            self.recorder.not_understood(f"unknown-event:{name_of(kind)}", place.line)

    def _take_completed(self, item: Any, place: Place) -> None:
        kind = kind_of(item)
        if isinstance(item, dict) and kind in {"UserMessage", "user_message"}:
            self.events.hear(text_of(item.get("content")) or string(item.get("text")), place, string(item.get("id")))
        elif isinstance(item, dict) and kind in {"AgentMessage", "agent_message"}:
            text = text_of(item.get("content")) or string(item.get("text"))
            self.events.say("agent", text, place, string(item.get("id")))

    def _roll_back(self, turns: int) -> None:
        """Drop the last turns of the person and all that came after each."""
        for recorder in (self.recorder, self.events):
            left = turns
            for draft in reversed(recorder.drafts):
                if left == 0:
                    break
                if not draft.dropped:
                    draft.dropped = True
                    left -= draft.who == "person"

    def session(self) -> Session:
        """The session as read."""
        meta = self.meta
        found = _ID.search(self.name.removesuffix(".jsonl"))
        own_id = string(meta.get("id")) or (found[1] if found else self.name.removesuffix(".jsonl"))
        parent, subagent = parent_of(meta)
        git = meta.get("git")
        git = git if isinstance(git, dict) else {}
        cwd = string(meta.get("cwd")) or self.cwd
        self._merge_events()
        return self.recorder.session(
            f"{parent}{SUBAGENT_MARK}{own_id}" if subagent and parent else own_id,
            cwd,
            lines=self.tail.lines,
            ended_at=self.tail.ended_at,
            sha256=self.tail.digest.hexdigest(),
            project=project_of(cwd, string(git.get("repository_url"))),
            branch=string(git.get("branch")),
            version=string(meta.get("cli_version")),
            started=self.started,
            finished=self.finished,
            parent=f"{agent}:{parent}" if parent else "",
            subagent=subagent,
            own=self.own or is_own(self.recorder),
            scheduled=is_scheduled(meta.get("source")) or is_scheduled(meta.get("originator")),
        )

    def _merge_events(self) -> None:
        """Take the messages from the events where the file has no prompt among its items."""
        if self.has_prompts or not self.events.drafts:
            return
        has_answers = any(draft.who == "agent" for draft in self.recorder.drafts)
        extra = [draft for draft in self.events.drafts if draft.who != "agent" or not has_answers]
        self.recorder.drafts = sorted([*self.recorder.drafts, *extra], key=lambda draft: draft.place.line)
