"""Which skills, slash commands and memory files the transcripts show as used: how often, when, by which agent."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from reflect.transcripts.database import MAGIC, columns, open_database, tables
from reflect.transcripts.documents import MAX_DOCUMENT
from reflect.transcripts.lines import NOTHING, read_head, read_lines
from reflect.transcripts.text import parse_time
from reflect.usage_marks import LONGEST_PATH, Mark, UseKind, find_marks, may_hold_marks

# What is kept grows with the names met, not with the transcripts; beyond these bounds new ones are counted, not kept.
MOST_NAMES = 20_000
MOST_CALLS = 200_000
MOST_PLACES = 5_000
_TIME_KEYS = ("timestamp", "time", "ts", "created_at", "time_created", "startTime", "started_at")
_PLACE_KEYS = ("cwd", "directory", "workspaceDirectory")


@dataclass(slots=True)
class Used:
    """How often one skill, command or file was used by one agent. `sessions` counts transcript files."""

    agent: str
    kind: UseKind
    name: str
    path: str = ""
    count: int = 0
    sessions: int = 0
    first: datetime | None = None
    last: datetime | None = None


@dataclass(slots=True)
class Usage:
    """All use found. `files` counts transcripts by agent, `since` their oldest time; `places` are the folders that
    sessions ran in; `failed` the files that could not be read, with the reason; `dropped` uses beyond the bounds."""

    used: dict[tuple[str, str, str, str], Used] = field(default_factory=dict)
    files: Counter[str] = field(default_factory=Counter)
    since: dict[str, datetime] = field(default_factory=dict)
    places: set[str] = field(default_factory=set)
    failed: list[tuple[str, str]] = field(default_factory=list)
    dropped: int = 0


def read_usage(files: Iterable[tuple[str, Path]], say: Callable[[str], None] = lambda text: None) -> Usage:
    """Read the transcripts (agent, file), one record at a time, and count what they show as used.

    A call that stands in several files (a resumed or forked session) counts once. A file that cannot be read is named
    in `failed` and stops nothing.
    """
    usage = Usage()
    calls: set[tuple[str, str]] = set()
    for agent, path in files:
        say(f"looking for skills in {path.name}")
        counting = _Counting(usage, agent, calls)
        try:
            counting.read(path)
        except (OSError, sqlite3.Error) as error:
            usage.failed.append((str(path), str(error)))
        usage.files[agent] += 1
    return usage


@dataclass(slots=True)
class _Counting:
    """The counting of one file: a skill that was called and then shown is one use."""

    usage: Usage
    agent: str
    calls: set[tuple[str, str]]
    announced: Counter[str] = field(default_factory=Counter)
    met: set[tuple[str, str, str, str]] = field(default_factory=set)
    moment: datetime | None = None
    place: str = ""

    def read(self, path: Path) -> None:
        """All of a file: JSON lines, one JSON document, or a database."""
        self.moment = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        head = read_head(path)
        if head.startswith(MAGIC):
            records: Iterator[Any] = _database_records(path)
        elif _is_document(path, head):
            records = _document_records(path)
        else:
            self.look_at_heading(head)
            records = (value for line in read_lines(path, loads=_load) for value in line.values)
        for record in records:
            self.count(record)

    def look_at_heading(self, head: bytes) -> None:
        """The folder and the time of the session, from its first lines."""
        for raw in head.split(b"\n", 8)[:8]:
            with suppress(ValueError):
                self.note(orjson.loads(raw))

    def note(self, record: Any) -> None:
        """Keep a record's time and folder."""
        if not isinstance(record, dict):
            return
        inner = record.get("payload")
        for holder in (record, inner) if isinstance(inner, dict) else (record,):
            for key in _TIME_KEYS:
                if (time := parse_time(holder.get(key))) is not None:
                    self.moment = time
                    oldest = self.usage.since.get(self.agent)
                    self.usage.since[self.agent] = min(time, oldest) if oldest else time
                    break
            for key in _PLACE_KEYS:
                place = holder.get(key)
                if isinstance(place, str) and place:
                    self.place = place[:LONGEST_PATH]
                    if len(self.usage.places) < MOST_PLACES:
                        self.usage.places.add(self.place)

    def count(self, record: Any) -> None:
        """Count every sign of use in a record."""
        self.note(record)
        unique = record.get("uuid") if isinstance(record, dict) else None
        for mark in find_marks(record):
            call = mark.call or (f"{unique} {mark.name}" if isinstance(unique, str) else "")
            if call and (self.agent, f"{call} {mark.path}") in self.calls:
                continue
            if call and len(self.calls) < MOST_CALLS:
                self.calls.add((self.agent, f"{call} {mark.path}"))
            self.add(self.placed(mark))

    def placed(self, mark: Mark) -> Mark:
        """The mark with its path from the root, where the session's folder is known."""
        path = mark.path
        if not path or path.startswith(("/", "~", "$")) or path[1:3] in {":\\", ":/"} or not self.place:
            return mark
        whole = f"{self.place.rstrip('/')}/{path.removeprefix('./')}"
        return mark._replace(path=whole, name=whole if mark.kind == "memory" else mark.name)

    def add(self, mark: Mark) -> None:
        """Count one sign; the text of a skill that was just called adds its place, not a use."""
        short = mark.name.rpartition(":")[2]
        if mark.kind in {"load", "command"}:
            self.announced[short] += 1
        shown_again = mark.kind == "shown" and self.announced[short] > 0
        if shown_again:
            self.announced[short] -= 1
        key = (self.agent, mark.kind, mark.name, mark.path)
        used = self.usage.used.get(key)
        if used is None:
            if len(self.usage.used) >= MOST_NAMES:
                self.usage.dropped += 1
                return
            used = self.usage.used[key] = Used(self.agent, mark.kind, mark.name, mark.path)
        if shown_again:
            return
        used.count += 1
        used.sessions += key not in self.met
        self.met.add(key)
        if self.moment is not None:
            used.first = min(self.moment, used.first) if used.first else self.moment
            used.last = max(self.moment, used.last) if used.last else self.moment


def _load(raw: bytes) -> Any:
    return orjson.loads(raw) if may_hold_marks(raw) else NOTHING


def _is_document(path: Path, head: bytes) -> bool:
    """Whether a file is one JSON document and not JSON lines."""
    if path.suffix != ".json" or path.stat().st_size > MAX_DOCUMENT:
        return False
    first = head.split(b"\n", 1)[0]
    try:
        return not isinstance(orjson.loads(first), dict) or len(first) + 1 >= path.stat().st_size
    except ValueError:
        return True


def _document_records(path: Path) -> Iterator[Any]:
    """The parts of a document: the items of its longest list of mappings, so that each has its own time."""
    raw = path.read_bytes()
    if not may_hold_marks(raw):
        return
    with suppress(ValueError):
        document = orjson.loads(raw.removeprefix(b"\xef\xbb\xbf"))
        if isinstance(document, dict):
            yield {key: value for key, value in document.items() if isinstance(value, str | int | float)}
            for value in document.values():
                yield from value if isinstance(value, list) else [value]
        elif isinstance(document, list):
            yield from document


def _database_records(path: Path) -> Iterator[Mapping[str, Any]]:
    """The rows of every table whose texts hold a mark, JSON texts parsed; the tables differ from agent to agent."""
    with open_database(path) as connection:
        for table in sorted(tables(connection)):
            if table.startswith("sqlite_") or "fts" in table.lower():
                continue
            names = sorted(columns(connection, table))
            listed = ", ".join(f'"{name.replace(chr(34), chr(34) * 2)}"' for name in names)
            if not names:
                continue
            for row in connection.execute(f'SELECT {listed} FROM "{table.replace(chr(34), chr(34) * 2)}"'):  # noqa: S608
                texts = [value for value in row if isinstance(value, str)]
                if any(may_hold_marks(text.encode("utf-8", "replace")) for text in texts):
                    yield {name: _parsed(row[name]) for name in names}


def _parsed(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in {"{", "["}:
        with suppress(ValueError):
            return orjson.loads(value)
    return value
