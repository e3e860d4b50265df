"""Reads the sessions of Hermes Agent: its SQLite store, older versions' JSON files, and trajectories, in gzip too."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from index.records import Session
from reflect.transcripts.calls import describe_call
from reflect.transcripts.database import MAGIC, columns, open_database, tables
from reflect.transcripts.documents import LineFinder, read_document
from reflect.transcripts.hermes_results import judge_result
from reflect.transcripts.hermes_trajectories import is_trajectory, read_trajectories
from reflect.transcripts.lines import MAX_HEAD, Tail, head_values, read_head, read_lines
from reflect.transcripts.packed import GZIP, first_line, gzip_decompressor, unpacked
from reflect.transcripts.project import project_of
from reflect.transcripts.protocol import SUBAGENT_MARK, Mark
from reflect.transcripts.recorder import Place, Recorder, name_of, shared
from reflect.transcripts.text import kind_of, parse_time, string, text_of

agent = "hermes"

_SESSION_COLUMNS = "id source parent_session_id started_at ended_at end_reason cwd git_branch".split()
_MESSAGE_COLUMNS = "id role content tool_call_id tool_calls tool_name timestamp active compacted observed".split()
_ROLES = frozenset({"system", "session_meta", "developer"})


def find(home: Path, env: Mapping[str, str]) -> Iterator[Path]:
    """The stores under `~/.hermes` (HERMES_HOME, or Windows' local folder) and its profiles; older session files."""
    root = home / ".hermes"
    if env.get("HERMES_HOME"):
        root = Path(env["HERMES_HOME"])
    elif env.get("LOCALAPPDATA") and not root.is_dir():
        root = Path(env["LOCALAPPDATA"]) / "hermes"
    for folder in (root, *sorted((root / "profiles").glob("*"))):
        store = folder / "state.db"
        known = _ids(store) if store.is_file() else frozenset()
        if store.is_file():
            yield store
        for path in sorted((folder / "sessions").glob("*.json*")):
            if path.suffix in {".json", ".jsonl"} and path.stem.removeprefix("session_") not in known:
                yield path


def _ids(store: Path) -> frozenset[str]:
    """The sessions in a store: older versions wrote each of them to a file as well."""
    try:
        with open_database(store) as connection:
            return frozenset(str(row[0]) for row in connection.execute("SELECT id FROM sessions"))
    except (sqlite3.Error, OSError):
        return frozenset()


def recognises(path: Path, head: bytes) -> bool:
    """Whether the file is a Hermes store, a session file of an older version, or trajectories."""
    if head.startswith(MAGIC):
        return _is_store(path)
    if head.startswith(GZIP):
        return path.name.endswith(".jsonl.gz") and is_trajectory(first_line(path, gzip_decompressor, MAX_HEAD))
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:4096]
    if is_trajectory(head):
        return True
    if b'"session_start"' in head and b'"session_id"' in head and b'"type"' not in start[:40]:
        return True
    return any(value.get("role") == "session_meta" for value in head_values(head, 1))


def _is_store(path: Path) -> bool:
    try:
        with open_database(path) as connection:
            return {"sessions", "messages"} <= tables(connection)
    except (sqlite3.Error, OSError):
        return False


def read(path: Path, mark: Mark | None = None) -> Iterator[Session]:
    """The sessions in a store or file. In a store a turn's line is the number of its message."""
    head = read_head(path)
    if head.startswith(MAGIC):
        yield from _read_store(path, mark)
    elif head.startswith(GZIP):
        with unpacked(path, gzip_decompressor) as (text, fault):
            yield from read_trajectories(agent, path, mark, text, fault)
    elif is_trajectory(head):
        yield from read_trajectories(agent, path, mark)
    elif path.suffix == ".jsonl":
        yield _read_gateway(path, mark)
    else:
        yield _read_file(path)


def _read_store(path: Path, mark: Mark | None) -> Iterator[Session]:
    try:
        with open_database(path) as connection:
            known = columns(connection, "sessions")
            wanted = [name for name in _SESSION_COLUMNS if name in known]
            order = "started_at, id" if "started_at" in known else "id"
            for row in connection.execute(f"SELECT {', '.join(wanted)} FROM sessions ORDER BY {order}").fetchall():  # noqa: S608
                yield _read_session(connection, path, dict(row), mark)
    except sqlite3.Error as error:
        recorder = Recorder(agent, str(path))
        recorder.not_understood("database", 0, f"cannot be read as a database: {error}")
        yield recorder.session(path.stem, "")


def _read_session(connection: sqlite3.Connection, path: Path, about: dict[str, Any], mark: Mark | None) -> Session:
    recorder = Recorder(agent, str(path))
    reading, digest = _Messages(recorder, shared(about.get("cwd"))), hashlib.sha256()
    for row in _messages(connection, about["id"], mark.offset if mark else 0):
        digest.update(repr(tuple(row.values())).encode("utf-8", "replace"))
        reading.take(row, row["id"], row["id"] - 1)
    name, parent = str(about["id"]), string(about.get("parent_session_id"))
    source = string(about.get("source"))
    subagent = source == "subagent"
    cwd = string(about.get("cwd"))
    return recorder.session(
        f"{parent}{SUBAGENT_MARK}{name}" if subagent and parent else name,
        cwd,
        lines=max(reading.last, mark.line if mark else 0),
        ended_at=max(reading.last, mark.offset if mark else 0),
        sha256="" if mark else digest.hexdigest(),
        project=project_of(cwd),
        branch=string(about.get("git_branch")),
        started=parse_time(about.get("started_at")),
        finished=reading.finished or parse_time(about.get("ended_at")),
        parent=f"{agent}:{parent}" if parent else "",
        subagent=subagent,
        scheduled=source == "cron",
    )


def _messages(connection: sqlite3.Connection, session: str, after: int) -> Iterator[dict[str, Any]]:
    """A session's messages in order: those in use, and those that compaction set aside; undone ones are gone."""
    known = columns(connection, "messages")
    wanted = [name for name in _MESSAGE_COLUMNS if name in known]
    in_use = ""
    if "active" in known:
        in_use = "AND (active = 1 OR compacted = 1)" if "compacted" in known else "AND active = 1"
    query = f"SELECT {', '.join(wanted)} FROM messages WHERE session_id = ? AND id > ? {in_use} ORDER BY id"  # noqa: S608
    for row in connection.execute(query, (session, after)):
        yield dict(row)


def _read_file(path: Path) -> Session:
    recorder = Recorder(agent, str(path))
    document = read_document(path)
    value = document.value
    if document.fault or not isinstance(value, dict):
        recorder.not_understood(document.fault or "not-an-object", 1, "an older session file that cannot be read")
    value = value if isinstance(value, dict) else {}
    cwd = string(value.get("cwd"))
    reading = _Messages(recorder, cwd)
    finder = LineFinder(document.raw)
    messages = value.get("messages")
    begun = 0
    for message in messages if isinstance(messages, list) else []:
        line = finder.line_of("role")
        begun = recorder.end_before(begun, line)
        reading.take(message, line, 0)
        finder.at += 1
    recorder.end_before(begun, finder.last + 1)
    return recorder.session(
        string(value.get("session_id")) or path.stem.removeprefix("session_"),
        cwd,
        lines=finder.last,
        ended_at=len(document.raw),
        sha256=document.sha256,
        project=project_of(cwd),
        started=parse_time(value.get("session_start")),
        finished=parse_time(value.get("last_updated")) or reading.finished,
        scheduled=value.get("platform") == "cron",
    )


def _read_gateway(path: Path, mark: Mark | None) -> Session:
    recorder = Recorder(agent, str(path))
    reading, tail = _Messages(recorder, ""), Tail()
    for line in read_lines(path, mark, tail):
        if line.fault:
            recorder.not_understood(line.fault, line.number, f"{line.fault.replace('-', ' ')} in a transcript")
        for value in line.values:
            reading.take(value, line.number, line.offset)
    return recorder.session(
        path.stem,
        "",
        lines=tail.lines,
        ended_at=tail.ended_at,
        sha256=tail.digest.hexdigest(),
        started=reading.started,
        finished=reading.finished,
    )


class _Messages:
    """Takes messages in the shape of the OpenAI interface, as Hermes keeps them."""

    def __init__(self, recorder: Recorder, cwd: str) -> None:
        self.recorder, self.cwd = recorder, cwd
        self.started = self.finished = parse_time(None)
        self.last = 0
        self.seen: set[tuple[str, str, str]] = set()

    def take(self, message: Any, line: int, offset: int) -> None:
        """Take in one message."""
        recorder = self.recorder
        if not isinstance(message, dict):
            recorder.not_understood("not-an-object", line, "a message that is no JSON object")
            return
        self.last = max(self.last, line)
        time = parse_time(message.get("timestamp"))
        self.started, self.finished = self.started or time, time or self.finished
        role, text = kind_of(message, "role"), _content(message.get("content"))
        place = Place(line, offset, time, self.cwd)
        calls = _tool_calls(message.get("tool_calls"))
        if self._is_copy(role, text, message, calls):
            return
        if role == "user":
            if text.startswith("[IMPORTANT: You are running as a scheduled") or message.get("observed"):
                recorder.say("injected", text, place, _name(message))
            else:
                recorder.hear(text, place, _name(message))
        elif role == "assistant":
            recorder.say("agent", text, place, _name(message))
            for call in calls:
                self._take_call(call, place)
        elif role == "tool":
            self._take_result(message, text, place)
        elif role not in _ROLES:
            recorder.not_understood(f"unknown-role:{name_of(role)}", line)

    def _is_copy(self, role: Any, text: str, message: dict[str, Any], calls: list[dict[str, Any]]) -> bool:
        """Whether compaction copied this message: it set the first one aside."""
        if "compacted" not in message:
            return False
        key = (str(role), text, string(message.get("tool_call_id")) or "".join(string(c.get("id")) for c in calls))
        copied = key in self.seen and bool(key[2] or len(text) > 40)
        self.seen.add(key)
        return copied

    def _take_call(self, call: dict[str, Any], place: Place) -> None:
        function = call.get("function")
        function = function if isinstance(function, dict) else call
        given = function.get("arguments")
        if isinstance(given, str):
            try:
                given = orjson.loads(given)
            except ValueError:
                self.recorder.not_understood("bad-arguments", place.line)
        name = string(function.get("name"))
        self.recorder.call(describe_call(name, given), place, string(call.get("id")) or string(call.get("call_id")))

    def _take_result(self, message: dict[str, Any], text: str, place: Place) -> None:
        name = string(message.get("tool_call_id"))
        draft = self.recorder.result(name, place, "")
        call = draft.call
        if call is None:
            return
        if not call.tool:
            call = draft.call = describe_call(string(message.get("tool_name")) or string(message.get("name")), {})
        result = judge_result(call, text)
        draft.text = self.recorder.clean(result.text, 6000)
        draft.outcome, draft.exit_code, draft.refused = result.outcome, result.exit_code, result.refused


def _content(content: Any) -> str:
    """A message's text; a list of parts is stored as JSON in a string."""
    if isinstance(content, str) and content.startswith('[{"type"'):
        try:
            return text_of(orjson.loads(content))
        except ValueError:
            return content
    return text_of(content)


def _tool_calls(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except ValueError:
            return []
    return [call for call in value if isinstance(call, dict)] if isinstance(value, Iterable) else []


def _name(message: dict[str, Any]) -> str:
    name = message.get("id")
    return str(name) if isinstance(name, str | int) else ""
