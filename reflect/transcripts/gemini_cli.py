"""Reads the chats of Gemini CLI: JSON lines that write a message again as it grows, formerly one JSON object."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any

from index.records import Outcome, Session
from reflect.transcripts.calls import Call, describe_call
from reflect.transcripts.documents import Document, LineFinder, read_document
from reflect.transcripts.lines import Tail, head_values, parse_values, read_head, read_lines
from reflect.transcripts.outcomes import exit_code_at_end, judge_exit, without_exit_code
from reflect.transcripts.project import project_of
from reflect.transcripts.protocol import SUBAGENT_MARK, Mark
from reflect.transcripts.recorder import Draft, Place, Recorder, name_of
from reflect.transcripts.text import kind_of, parse_time, string, text_of
from reflect.transcripts.walk import walk_files

agent = "gemini-cli"

# The name of a project before there were slugs: the SHA-256 of its folder's path.
_HASH = re.compile(r"[0-9a-f]{64}")
_NOTICES = frozenset({"info", "error", "warning"})
_FILES = "--- Content from referenced files ---"
# PowerShell's parser refuses a line without any exit code.
_REFUSED_LINE = re.compile(r"\bParserError\b|\bFullyQualifiedErrorId\b")


def find(home: Path, env: Mapping[str, str]) -> Iterator[Path]:
    """Chats of all projects under `~/.gemini/tmp`, or where GEMINI_CLI_HOME points."""
    root = Path(env["GEMINI_CLI_HOME"]) if env.get("GEMINI_CLI_HOME") else home
    for path in walk_files(root / ".gemini" / "tmp", (".json", ".jsonl")):
        if "chats" in path.parts:
            yield path


def recognises(path: Path, head: bytes) -> bool:
    """Whether the file begins with the heading of a chat."""
    if b'"sessionId"' not in head or b'"projectHash"' not in head:
        return False
    first = next(head_values(head, 1), None)
    return first is None or "projectHash" in first


def read(path: Path, mark: Mark | None = None) -> Iterator[Session]:
    """The one session of a chat file. It is always read whole: any message may have been written again."""
    chat = _Chat(path)
    if path.suffix == ".json" or not next(head_values(read_head(path), 1), None):
        yield chat.read_document(read_document(path))
        return
    tail = Tail()
    for line in read_lines(path, None, tail):
        if line.fault:
            chat.recorder.not_understood(line.fault, line.number, f"{line.fault.replace('-', ' ')} in a transcript")
        for value in line.values:
            chat.take(value, line.number, line.offset)
    yield chat.session(lines=tail.lines, ended_at=tail.ended_at, sha256=tail.digest.hexdigest())


class _Chat:
    """One chat being read: its heading, and the turns of each message by the message's id."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.recorder = Recorder(agent, str(path))
        self.heading: dict[str, Any] = {}
        self.turns: dict[str, list[Draft]] = {}
        self.finished: datetime | None = None

    def read_document(self, document: Document) -> Session:
        """The session of an older chat."""
        value = document.value
        if document.fault or not isinstance(value, dict):
            self.recorder.not_understood(document.fault or "not-an-object", 1, "a chat that cannot be read")
            value = value if isinstance(value, dict) else {}
        self.heading = {key: item for key, item in value.items() if key != "messages"}
        finder = LineFinder(document.raw)
        messages = value.get("messages")
        last: list[Draft] = []
        for message in messages if isinstance(messages, list) else []:
            name = string(message.get("id")) if isinstance(message, dict) else ""
            line = finder.line_of(name)
            _end_before(last, line)
            self.take_message(message, line, 0)
            last = self.recorder.drafts
        _end_before(last, finder.last + 1)
        return self.session(lines=finder.last, ended_at=len(document.raw), sha256=document.sha256)

    def take(self, record: Any, line: int, offset: int) -> None:
        """Take in one line: heading, change of the heading, rewind, or message."""
        if not isinstance(record, dict):
            self.recorder.not_understood("not-an-object", line, "a line of a transcript that is no JSON object")
        elif "$set" in record:
            changes = record["$set"] if isinstance(record["$set"], dict) else {}
            messages = changes.get("messages")
            if isinstance(messages, list):
                self.turns.clear()
                for message in messages:
                    self.take_message(message, line, offset)
            self.heading.update({key: value for key, value in changes.items() if key != "messages"})
        elif "$rewindTo" in record:
            self._rewind(string(record["$rewindTo"]))
        elif "sessionId" in record and "type" not in record:
            self.heading = {**record, **self.heading}
        else:
            self.take_message(record, line, offset)

    def _rewind(self, name: str) -> None:
        """Drop a message and all after it; all of them, if it is not known."""
        names = list(self.turns)
        for gone in names[names.index(name) if name in names else 0 :]:
            del self.turns[gone]

    def take_message(self, message: Any, line: int, offset: int) -> None:
        """Take in one message; an earlier one with the same id gives way to it, in its place."""
        if not isinstance(message, dict):
            self.recorder.not_understood("not-an-object", line)
            return
        kind = kind_of(message)
        name = string(message.get("id")) or f"line-{line}"
        time = parse_time(message.get("timestamp"))
        self.finished = time or self.finished
        earlier = self.turns.get(name)
        place = Place(earlier[0].place.line if earlier else line, offset, time)
        self.recorder.drafts = []
        if kind == "user":
            self._take_user(message, place, name)
        elif kind == "gemini":
            self._take_answer(message, place, name)
        elif kind not in _NOTICES:
            self.recorder.not_understood(f"unknown-type:{name_of(kind)}", line)
        for draft in self.recorder.drafts:
            draft.end = max(draft.end, line)
        self.turns[name] = self.recorder.drafts or [Draft(place, line, "injected", dropped=True)]

    def _take_user(self, message: dict[str, Any], place: Place, name: str) -> None:
        text, shown = text_of(message.get("content")), text_of(message.get("displayContent"))
        typed, mark, files = (shown, "", "") if shown else text.partition(_FILES)
        self.recorder.hear(typed, place, name)
        if mark or (shown and shown not in text):
            self.recorder.say("injected", files or text, place, f"{name}#files")

    def _take_answer(self, message: dict[str, Any], place: Place, name: str) -> None:
        self.recorder.say("agent", text_of(message.get("content")), place, name)
        calls = message.get("toolCalls")
        for call in calls if isinstance(calls, list) else []:
            if isinstance(call, dict):
                self._take_call(call, place)
            else:
                self.recorder.not_understood("bad-call", place.line)

    def _take_call(self, record: dict[str, Any], place: Place) -> None:
        call = describe_call(string(record.get("name")), record.get("args"))
        name = string(record.get("id"))
        self.recorder.call(call, place, name)
        text = _output(record)
        output = (
            without_exit_code(text).removeprefix("Output: ").removeprefix("(empty)") if call.action == "shell" else text
        )
        draft = self.recorder.result(name, place, output)
        status = record.get("status")
        draft.refused = status == "cancelled"
        draft.outcome, draft.exit_code = _judge(call, status, text, draft.text)
        if call.tool == "ask_user":
            draft.said = draft.text

    def _folder(self) -> str:
        """The project's folder by its slug or hash: one that is listed, or that lies above a file the chat speaks of;
        "" where neither is known."""
        slug, listed = _slug(self.path), _listed(self.path)
        name = slug if _HASH.fullmatch(slug) else string(self.heading.get("projectHash"))
        known = next((folder for folder, its in listed.items() if its == slug or _is_hash_of(name, folder)), "")
        if known or not _HASH.fullmatch(name):
            return known
        files = {path for draft in self.recorder.drafts if draft.call is not None for path in draft.call.paths}
        folders = {str(folder) for path in files for folder in PurePath(path).parents}
        return next((folder for folder in sorted(folders) if _is_hash_of(name, folder)), "")

    def session(self, **facts: Any) -> Session:
        """The session as read."""
        heading = self.heading
        self.recorder.drafts = [draft for drafts in self.turns.values() for draft in drafts]
        folders = heading.get("directories")
        cwd = string(folders[0]) if isinstance(folders, list) and folders else self._folder()
        name = string(heading.get("sessionId")) or self.path.stem
        subagent = heading.get("kind") == "subagent"
        parent = self.path.parent.name if subagent else ""
        return self.recorder.session(
            f"{parent}{SUBAGENT_MARK}{name}" if parent else name,
            cwd,
            project=project_of(cwd) or ("" if _HASH.fullmatch(slug := _slug(self.path)) else slug),
            started=parse_time(heading.get("startTime")),
            finished=self.finished or parse_time(heading.get("lastUpdated")),
            parent=f"{agent}:{parent}" if parent else "",
            subagent=subagent,
            **facts,
        )


def _end_before(drafts: list[Draft], line: int) -> None:
    for draft in drafts:
        draft.end = max(draft.end, line - 1)


def _output(record: dict[str, Any]) -> str:
    """The text of a call's result."""
    parts: list[str] = []
    results = record.get("result")
    for part in results if isinstance(results, list) else []:
        response = part.get("functionResponse") if isinstance(part, dict) else None
        body = response.get("response") if isinstance(response, dict) else None
        if isinstance(body, dict):
            parts.append(text_of(body.get("output")) or text_of(body.get("error")) or text_of(body.get("content")))
        else:
            parts.append(text_of(part))
    return "\n".join(part for part in parts if part) or string(record.get("resultDisplay"))


def _judge(call: Call, status: Any, text: str, output: str) -> tuple[Outcome, int | None]:
    """Outcome and exit code: a shell command that failed is mostly called a success and tells its code in the text."""
    if status == "error":
        return "failed", exit_code_at_end(text)
    if status != "success":
        return "unknown", None
    if call.action != "shell":
        return "passed", None
    code = exit_code_at_end(text)
    if code is None and _REFUSED_LINE.search(text):
        return "failed", None
    return judge_exit(call.command, code or 0, output), code or 0


def _slug(path: Path) -> str:
    """The project's name in the path of a chat."""
    parts = path.parts
    return parts[parts.index("chats") - 1] if "chats" in parts and parts.index("chats") > 0 else ""


def _listed(path: Path) -> dict[str, str]:
    """The folders that Gemini CLI lists beside its chats, each with the slug of its project."""
    if not _slug(path):
        return {}
    place = Path(*path.parts[: path.parts.index("chats") - 2]) / "projects.json"
    try:
        values, _ = parse_values(place.read_bytes())
    except OSError:
        return {}
    listed = values[0].get("projects") if values and isinstance(values[0], dict) else None
    return {folder: string(slug) for folder, slug in listed.items()} if isinstance(listed, dict) else {}


def _is_hash_of(name: str, folder: str) -> bool:
    return hashlib.sha256(folder.encode("utf-8", "replace")).hexdigest() == name
