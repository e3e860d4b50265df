"""Reads Hermes trajectories: one session a line, with calls and results inside the text of its messages."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from index.records import Session
from reflect.transcripts.calls import describe_call
from reflect.transcripts.hermes_results import judge_result
from reflect.transcripts.lines import Tail, head_values, read_lines
from reflect.transcripts.protocol import Mark
from reflect.transcripts.recorder import Place, Recorder, name_of
from reflect.transcripts.text import kind_of, parse_time, string

_SKIPPED = frozenset({"system"})


def is_trajectory(head: bytes) -> bool:
    """Whether a file that begins so holds trajectories."""
    return any("conversations" in value for value in head_values(head, 1))


def read_trajectories(
    agent: str, path: Path, mark: Mark | None, text: Path | None = None, fault: str = ""
) -> Iterator[Session]:
    """One session for each line; its id comes from its content, since the file gives none.

    A line that holds none is counted with the session after it, behind the last one with a session that is empty.
    `text` is the file in which a compressed one was unpacked, `fault` what was wrong with it.
    """
    tail, recorder = Tail(), Recorder(agent, str(path))
    if fault:
        recorder.not_understood("gzip", 0, fault)
    for line in read_lines(text or path, mark, tail):
        if line.fault:
            recorder.not_understood(line.fault, line.number, f"{line.fault.replace('-', ' ')} in a transcript")
        for value in line.values:
            yield _read(recorder, value, line.number, line.offset, tail)
            recorder = Recorder(agent, str(path))
    if recorder.unread:
        yield recorder.session(path.stem, "", lines=tail.lines, ended_at=tail.ended_at)


def _read(recorder: Recorder, value: Any, line: int, offset: int, tail: Tail) -> Session:
    messages = value.get("conversations") if isinstance(value, dict) else None
    if not isinstance(messages, list):
        recorder.not_understood("not-a-trajectory", line)
        messages = []
    time = parse_time(value.get("timestamp")) if isinstance(value, dict) else None
    reading = _Conversation(recorder)
    for message in messages:
        if isinstance(message, dict):
            reading.take(message, Place(line, offset, time))
        else:
            recorder.not_understood("not-an-object", line)
    first = next((draft.text for draft in recorder.drafts if draft.who == "person"), "")
    name = hashlib.sha256(f"{value.get('timestamp') if isinstance(value, dict) else line}\n{first}".encode())
    return recorder.session(
        f"trajectory-{name.hexdigest()[:16]}",
        "",
        lines=line,
        ended_at=tail.ended_at,
        started=time,
        finished=time,
    )


class _Conversation:
    """Takes the messages of one trajectory. Ids of calls come again in each turn: pairs are found by name and order."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.count = 0
        self.waiting: list[tuple[str, str]] = []

    def take(self, message: dict[str, Any], place: Place) -> None:
        """Take in one message."""
        who, text = kind_of(message, "from"), string(message.get("value"))
        if who == "human":
            self.recorder.hear(text, place)
        elif who == "gpt":
            text = _without_thought(text)
            spoken, calls = _cut(text, "tool_call")
            self.recorder.say("agent", spoken, place)
            for body in calls:
                self._take_call(body, place)
        elif who == "tool":
            for body in _cut(text, "tool_response")[1]:
                self._take_result(body, place)
        elif who not in _SKIPPED:
            self.recorder.not_understood(f"unknown-role:{name_of(who)}", place.line)

    def _take_call(self, body: str, place: Place) -> None:
        value = self._parse(body, place)
        tool = string(value.get("name"))
        self.count += 1
        name = f"call-{self.count}"
        self.waiting.append((tool, name))
        self.recorder.call(describe_call(tool, value.get("arguments")), place, name)

    def _take_result(self, body: str, place: Place) -> None:
        value = self._parse(body, place)
        tool = string(value.get("name"))
        found = next((pair for pair in self.waiting if pair[0] == tool), None)
        if found:
            self.waiting.remove(found)
        draft = self.recorder.result(found[1] if found else "", place, "")
        if draft.call is None or not draft.call.tool:
            draft.call = describe_call(tool, {})
        result = judge_result(draft.call, value.get("content", body))
        draft.text = self.recorder.clean(result.text, 6000)
        draft.outcome, draft.exit_code, draft.refused = result.outcome, result.exit_code, result.refused

    def _parse(self, body: str, place: Place) -> dict[str, Any]:
        try:
            value = orjson.loads(body.strip())
        except ValueError:
            value = None
        if isinstance(value, dict):
            return value
        self.recorder.not_understood("bad-json-in-text", place.line)
        return {}


def _without_thought(text: str) -> str:
    """The text without the thinking at its start; its closing tag may come more than once."""
    if "<think>" not in text[:200] and "</think>" not in text:
        return text
    return text.rpartition("</think>")[2].strip() if "</think>" in text else text.partition("<think>")[0]


def _cut(text: str, tag: str) -> tuple[str, list[str]]:
    """The text without the elements of that name, and their bodies."""
    bodies: list[str] = []
    rest: list[str] = []
    at = 0
    while (start := text.find(f"<{tag}>", at)) >= 0:
        end = text.find(f"</{tag}>", start)
        rest.append(text[at:start])
        bodies.append(text[start + len(tag) + 2 : end if end >= 0 else len(text)])
        at = end + len(tag) + 3 if end >= 0 else len(text)
    rest.append(text[at:])
    return "".join(rest), bodies
