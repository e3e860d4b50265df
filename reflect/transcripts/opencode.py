"""Reads the sessions of OpenCode: its SQLite store of either generation, the tree of JSON files before it
(`storage/session/<project>/<id>.json`, `message/<session>/`, `part/<message>/`), and `opencode export` files."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from index.records import Session
from reflect.transcripts.calls import Call, describe_call
from reflect.transcripts.database import MAGIC, columns, open_database, tables
from reflect.transcripts.documents import LineFinder, read_document
from reflect.transcripts.outcomes import judge_exit
from reflect.transcripts.project import project_of
from reflect.transcripts.protocol import SUBAGENT_MARK, Mark
from reflect.transcripts.recorder import Draft, Place, Recorder, name_of, shared
from reflect.transcripts.text import kind_of, parse_time, string, text_of

agent = "opencode"

_SKIPPED_PARTS = frozenset(
    "reasoning step-start step-finish patch snapshot agent retry file compaction subtask thinking".split()
)
_SKIPPED_MESSAGES = frozenset({"agent-switched", "model-switched"})
_REFUSED = ("The user rejected permission", "The user has specified a rule which prevents")
_FEEDBACK = "feedback:"


def find(home: Path, env: Mapping[str, str]) -> Iterator[Path]:
    """The stores under `~/.local/share/opencode` (XDG_DATA_HOME), or the one that OPENCODE_DB names."""
    data = Path(env["XDG_DATA_HOME"]) if env.get("XDG_DATA_HOME") else home / ".local" / "share"
    folder = data / "opencode"
    named = folder / env["OPENCODE_DB"] if env.get("OPENCODE_DB") else None
    found = {path for path in folder.glob("opencode*.db") if path.is_file()}
    if named is not None and named.is_file():
        found.add(named)
    yield from sorted(found)
    yield from sorted((folder / "storage" / "session").glob("*/ses_*.json"))


def recognises(path: Path, head: bytes) -> bool:
    """Whether the file is an OpenCode store or an export."""
    if head.startswith(MAGIC):
        try:
            with open_database(path) as connection:
                return "session" in tables(connection) and bool({"message", "session_message"} & tables(connection))
        except (sqlite3.Error, OSError):
            return False
    start = head[:4096]
    if _is_tree(path):
        return start.lstrip().startswith(b"{") and b'"ses_' in start
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and b'"info"' in start and b'"ses_' in start


def read(path: Path, mark: Mark | None = None) -> Iterator[Session]:
    """The sessions of a store, or the one of an export. In a store a turn's line is the message's ordinal."""
    with path.open("rb") as file:
        is_store = file.read(16) == MAGIC
    if is_store:
        yield from _read_store(path)
    elif _is_tree(path):
        yield _read_tree(path)
    else:
        yield _read_export(path)


def _is_tree(path: Path) -> bool:
    """Whether a file is the heading of a session in the older tree of files."""
    return path.name.startswith("ses_") and path.parent.parent.name == "session"


def _read_tree(path: Path) -> Session:
    """A session of the older tree; a turn's line is the message's ordinal. File names are in order of time."""
    recorder = Recorder(agent, str(path))
    info = _parse(path.read_bytes(), recorder)
    reading, finder = _Reading(recorder, string(info.get("directory"))), LineFinder(b"")
    root, name = path.parents[2], string(info.get("id")) or path.stem
    digest = hashlib.sha256()
    for file in sorted((root / "message" / name).glob("*.json")):
        parts = [one.read_bytes() for one in sorted((root / "part" / file.stem).glob("*.json"))]
        raw = file.read_bytes()
        digest.update(raw + b"".join(parts))
        message = {"id": file.stem, **_parse(raw, recorder)}
        reading.take(message, [_parse(part, recorder) for part in parts], finder)
    facts = {"lines": finder.ordinal, "ended_at": finder.ordinal, "sha256": digest.hexdigest()}
    time = info.get("time")
    return reading.session(
        name,
        string(info.get("parentID")),
        string(info.get("version")),
        time if isinstance(time, dict) else {},
        facts,
    )


def _read_export(path: Path) -> Session:
    document = read_document(path)
    value = document.value if isinstance(document.value, dict) else {}
    recorder = Recorder(agent, str(path))
    if document.fault or not value:
        recorder.not_understood(document.fault or "not-an-object", 1, "an export that cannot be read")
    info = value.get("info")
    info = info if isinstance(info, dict) else {}
    reading = _Reading(recorder, string(info.get("directory")))
    finder = LineFinder(document.raw)
    messages = value.get("messages")
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, dict):
            reading.take(message.get("info"), message.get("parts"), finder)
        else:
            recorder.not_understood("not-an-object", finder.line)
    if finder.raw:
        recorder.end_before(reading.open, finder.last + 1)
    facts = {"lines": finder.last, "ended_at": len(document.raw), "sha256": document.sha256}
    return reading.session(
        string(info.get("id")) or path.stem,
        string(info.get("parentID")),
        string(info.get("version")),
        (info.get("time") or {}) if isinstance(info.get("time"), dict) else {},
        facts,
    )


def _read_store(path: Path) -> Iterator[Session]:
    try:
        with open_database(path) as connection:
            known = tables(connection)
            for row in connection.execute("SELECT * FROM session ORDER BY time_created, id").fetchall():
                yield _read_session(connection, known, path, dict(row))
    except sqlite3.Error as error:
        recorder = Recorder(agent, str(path))
        recorder.not_understood("database", 0, f"cannot be read as a database: {error}")
        yield recorder.session(path.stem, "")


def _read_session(connection: sqlite3.Connection, known: frozenset[str], path: Path, about: dict[str, Any]) -> Session:
    recorder = Recorder(agent, str(path))
    reading = _Reading(recorder, string(about.get("directory")))
    name = str(about["id"])
    finder, digest = LineFinder(b""), hashlib.sha256()
    if "message" in known and "part" in known:
        for info, parts in _messages(connection, name, recorder):
            digest.update(repr((info, parts)).encode("utf-8", "replace"))
            reading.take(info, parts, finder)
    if "session_message" in known:
        for kind, value in _second_messages(connection, name, recorder):
            digest.update(repr((kind, value)).encode("utf-8", "replace"))
            reading.take_second(kind, value, finder)
    facts = {"lines": finder.ordinal, "ended_at": finder.ordinal, "sha256": digest.hexdigest()}
    time = {"created": about.get("time_created"), "updated": about.get("time_updated")}
    return reading.session(name, string(about.get("parent_id")), string(about.get("version")), time, facts)


def _messages(connection: sqlite3.Connection, session: str, recorder: Recorder) -> Iterator[tuple[Any, list[Any]]]:
    query = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
    for row in connection.execute(query, (session,)).fetchall():
        parts = connection.execute("SELECT data FROM part WHERE message_id = ? ORDER BY id", (row["id"],))
        info = _parse(row["data"], recorder)
        yield {**info, "id": row["id"]}, [_parse(part["data"], recorder) for part in parts]


def _second_messages(
    connection: sqlite3.Connection, session: str, recorder: Recorder
) -> Iterator[tuple[str, dict[str, Any]]]:
    order = "seq" if "seq" in columns(connection, "session_message") else "time_created, id"
    query = f"SELECT id, type, data FROM session_message WHERE session_id = ? ORDER BY {order}"  # noqa: S608
    for row in connection.execute(query, (session,)):
        yield str(row["type"]), {**_parse(row["data"], recorder), "id": row["id"]}


def _parse(data: Any, recorder: Recorder) -> dict[str, Any]:
    try:
        value = orjson.loads(data)
    except (ValueError, TypeError):
        value = None
    if isinstance(value, dict):
        return value
    recorder.not_understood("bad-json", 0)
    return {}


class _Reading:
    """One session being read, of either generation."""

    def __init__(self, recorder: Recorder, cwd: str) -> None:
        self.recorder, self.cwd = recorder, cwd
        self.finished = parse_time(None)
        self.open = 0

    def take(self, info: Any, parts: Any, finder: LineFinder) -> None:
        """Take in one message of the first generation: its heading and its parts."""
        info = info if isinstance(info, dict) else {}
        name, role = string(info.get("id")), kind_of(info, "role")
        line = finder.line_of(name) if not finder.raw else finder.line
        time = _created(info)
        self.finished = time or self.finished
        if role not in {"user", "assistant"}:
            self.recorder.not_understood(f"unknown-role:{name_of(role)}", line)
            return
        for number, part in enumerate(parts if isinstance(parts, list) else []):
            if not isinstance(part, dict):
                self.recorder.not_understood("not-an-object", line)
                continue
            if finder.raw and kind_of(part) in {"text", "tool"}:
                line = finder.line_of(string(part.get("callID")) or str(part.get("type")))
                finder.at += 1
                self.open = self.recorder.end_before(self.open, line)
            self._take_part(role, part, Place(line, 0, time, shared(self.cwd)), f"{name}#{number}" if name else "")

    def _take_part(self, role: Any, part: dict[str, Any], place: Place, name: str) -> None:
        kind = kind_of(part)
        if kind == "text":
            text = string(part.get("text"))
            if role == "assistant":
                self.recorder.say("agent", text, place, name)
            elif part.get("synthetic") or part.get("ignored"):
                self.recorder.say("injected", text, place, name)
            else:
                self.recorder.hear(text, place, name)
        elif kind == "tool":
            state = part.get("state")
            self._take_call(string(part.get("tool")), string(part.get("callID")), state, place)
        elif kind not in _SKIPPED_PARTS:
            self.recorder.not_understood(f"unknown-part:{name_of(kind)}", place.line)

    def _take_call(self, tool: str, name: str, state: Any, place: Place) -> None:
        state = state if isinstance(state, dict) else {}
        call = describe_call(tool, state.get("input"))
        self.recorder.call(call, place, name)
        if kind_of(state, "status") not in {"completed", "error"}:
            return
        error = state.get("error")
        message = string(error) or (string(error.get("message")) if isinstance(error, dict) else "")
        text = text_of(state.get("output")) or text_of(state.get("content")) or message
        draft = self.recorder.result(name, place, text)
        _judge(draft, call, state, message)

    def take_second(self, kind: str, value: dict[str, Any], finder: LineFinder) -> None:
        """Take in one message of the second generation."""
        time = _created(value)
        self.finished = time or self.finished
        name = string(value.get("id"))
        place = Place(finder.line_of(name), 0, time, shared(self.cwd))
        if kind == "user":
            self.recorder.hear(string(value.get("text")), place, name)
        elif kind in {"synthetic", "system", "compaction"}:
            self.recorder.say("injected", string(value.get("text")) or string(value.get("summary")), place, name)
        elif kind == "shell":
            # A command that the person ran in the agent's prompt.
            self.recorder.say(
                "injected", f"$ {string(value.get('command'))}\n{string(value.get('output'))}", place, name
            )
        elif kind == "assistant":
            content = value.get("content")
            for number, part in enumerate(content if isinstance(content, list) else []):
                self._take_second_part(part, place, f"{name}#{number}")
        elif kind not in _SKIPPED_MESSAGES:
            self.recorder.not_understood(f"unknown-type:{name_of(kind)}", place.line)

    def _take_second_part(self, part: Any, place: Place, name: str) -> None:
        kind = kind_of(part)
        if kind == "text":
            self.recorder.say("agent", string(part.get("text")), place, name)
        elif kind == "tool":
            self._take_call(string(part.get("name")), string(part.get("id")), part.get("state"), place)
        elif kind not in _SKIPPED_PARTS:
            self.recorder.not_understood(f"unknown-part:{name_of(kind)}", place.line)

    def session(
        self, name: str, parent: str, version: str, time: Mapping[str, Any], facts: Mapping[str, Any]
    ) -> Session:
        """The session as read. One with a parent was started by an agent."""
        return self.recorder.session(
            f"{parent}{SUBAGENT_MARK}{name}" if parent else name,
            self.cwd,
            project=project_of(self.cwd),
            version=version,
            started=parse_time(time.get("created")),
            finished=self.finished or parse_time(time.get("updated")),
            parent=f"{agent}:{parent}" if parent else "",
            subagent=bool(parent),
            **facts,
        )


def _judge(draft: Draft, call: Call, state: dict[str, Any], error: str) -> None:
    """Set how a call ended: by its status, and for a command by the exit code in its metadata."""
    if error.startswith(_REFUSED):
        draft.refused = error.startswith(_REFUSED[0])
        draft.said = error.partition(_FEEDBACK)[2].strip()
        return
    if error.startswith(("Tool execution aborted", "Aborted")):
        return
    metadata = state.get("metadata") or state.get("structured")
    code = metadata.get("exit") if isinstance(metadata, dict) else None
    if isinstance(code, int) and not isinstance(code, bool):
        draft.exit_code = code
        draft.outcome = judge_exit(call.command, code, draft.text)
    else:
        draft.outcome = "failed" if state.get("status") == "error" else "passed"


def _created(value: Mapping[str, Any]) -> Any:
    time = value.get("time")
    return parse_time(time.get("created")) if isinstance(time, dict) else None
