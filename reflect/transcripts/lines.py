"""JSON lines from a file that may be huge, broken, or still growing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from io import RawIOBase
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from reflect.transcripts.protocol import Mark

# A longer line (an image, a whole file) is counted and passed over: parsing it would take several times its size.
MAX_LINE = 32 * 1024 * 1024
BUFFER = 1 << 18
HEAD = 64 * 1024
MAX_HEAD = 8 * 1024 * 1024
NOTHING = object()
_BOM = b"\xef\xbb\xbf"
_MAGIC = (b"SQLite format 3\0", b"\x28\xb5\x2f\xfd", b"\x1f\x8b")
_DECODER = json.JSONDecoder(strict=False)


@dataclass(slots=True)
class Tail:
    """What is known of the reading so far: bytes and lines passed, and the digest of all bytes passed."""

    ended_at: int = 0
    lines: int = 0
    digest: Any = field(default_factory=hashlib.sha256)


class Line(NamedTuple):
    """One physical line: its number (1-based), its first byte, the values on it, and what was wrong with it."""

    number: int
    offset: int
    values: tuple[Any, ...]
    fault: str = ""


def parse_values(raw: bytes) -> tuple[tuple[Any, ...], str]:
    """All JSON values on one line, and "" or what is wrong with the rest.

    Two objects can stand on one line with nothing between them; text may be no valid UTF-8, hold control characters or
    half surrogate pairs: what can be read is read.
    """
    try:
        return (orjson.loads(raw),), ""
    except ValueError:
        return _parse_slowly(raw)


def _parse_slowly(raw: bytes) -> tuple[tuple[Any, ...], str]:
    text = raw.decode("utf-8", errors="replace").strip(" \t\r\n\0\ufeff")
    if not text and b"\0" in raw:
        return (), "nul-line"
    values: list[Any] = []
    at = 0
    try:
        while at < len(text):
            value, at = _DECODER.raw_decode(text, at)
            values.append(_without_surrogates(value))
            while at < len(text) and text[at] in " \t\r\0":
                at += 1
    except (ValueError, RecursionError):
        return tuple(values), "bad-json"
    return tuple(values), ""


def _without_surrogates(value: Any) -> Any:
    """The value with half surrogate pairs, which no UTF-8 file can hold, replaced."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", errors="replace").decode("utf-8")
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value


def read_lines(
    path: Path, mark: Mark | None = None, tail: Tail | None = None, loads: Callable[[bytes], Any] = orjson.loads
) -> Iterator[Line]:
    """Every line that holds something, up to the size the file has now; `tail` is kept up to date.

    `loads` parses a whole line; it may know a shorter way, give NOTHING for a line that says nothing, or raise
    ValueError, on which the line is read by `parse_values`.
    A last line without its end that does not parse is given with the fault "cut-line" and left out of
    `tail.ended_at`, so that a later reading finds it whole. Raises OSError if the file cannot be read.
    """
    tail = tail if tail is not None else Tail()
    with path.open("rb", buffering=0) as file:
        size = path.stat().st_size
        if mark is not None and 0 < mark.offset <= size:
            _pass_over(file, mark.offset, tail)
            tail.lines = mark.line
        parts: list[bytes] = []  # a line whose end was not reached yet
        held = 0
        while block := file.read(max(0, min(BUFFER, size - tail.ended_at - held))):
            parts.append(block)
            held += len(block)
            if b"\n" in block:
                block, parts = b"".join(parts), []
                rows = block.split(b"\n")
                parts, held = [rest := rows.pop()], len(rest)
                tail.digest.update(memoryview(block)[: len(block) - held])
                del block, rest  # a line of megabytes must not lie in memory twice
                yield from _parse_rows(rows, tail, loads)
            if held >= MAX_LINE:
                yield _pass_over_long(file, size, b"".join(parts), tail)
                parts, held = [], 0
        if held or tail.ended_at < size:
            yield from _last_line(b"".join(parts), tail)


def _parse_rows(rows: list[bytes], tail: Tail, loads: Callable[[bytes], Any]) -> Iterator[Line]:
    """The values on whole lines, given without their ends."""
    end, number = tail.ended_at, tail.lines
    for raw in rows:
        offset = end
        end += len(raw) + 1
        number += 1
        try:
            value = loads(raw if offset else raw.removeprefix(_BOM))
        except ValueError:
            values, fault = _parse_slowly(raw)
        else:
            if value is NOTHING:
                continue
            values, fault = (value,), ""
        if values or fault:
            tail.ended_at, tail.lines = end, number
            yield Line(number, offset, values, fault)
    tail.ended_at, tail.lines = end, number


def _last_line(raw: bytes, tail: Tail) -> Iterator[Line]:
    """The last line, which has no end: kept if it parses, else left for the next reading."""
    offset = tail.ended_at
    values, fault = parse_values(raw if offset else raw.removeprefix(_BOM))
    if fault or not raw:  # without a byte, the file is shorter than it was
        yield Line(tail.lines + 1, offset, values, "cut-line")
        return
    tail.digest.update(raw)
    tail.ended_at += len(raw)
    tail.lines += 1
    if values:
        yield Line(tail.lines, offset, values)


def _pass_over(file: RawIOBase, size: int, tail: Tail) -> None:
    while tail.ended_at < size:
        block = file.read(min(BUFFER, size - tail.ended_at))
        if not block:
            return
        tail.digest.update(block)
        tail.ended_at += len(block)


def _pass_over_long(file: RawIOBase, size: int, raw: bytes, tail: Tail) -> Line:
    """Move behind a line too long to be kept, whose start was read."""
    offset = tail.ended_at
    while raw:
        end = raw.find(b"\n") + 1 or len(raw)
        tail.digest.update(memoryview(raw)[:end])
        tail.ended_at += end
        if raw[end - 1 : end] == b"\n":
            file.seek(tail.ended_at)
            break
        raw = file.read(min(BUFFER, size - tail.ended_at)) or b""
    tail.lines += 1
    return Line(tail.lines, offset, (), "huge-line")


def read_head(path: Path) -> bytes:
    """The first bytes of a file from the first line on that holds a record, where one line is a record; at least that
    line whole, unless it is very long. Of any other file, its first bytes. Raises OSError.

    Before the records a crash, a full disk or another program may have left NUL bytes, half a line or junk.
    """
    with path.open("rb") as file:
        start = file.read(HEAD)
        if b"\n" not in start and len(start) == HEAD:
            start += file.readline(MAX_HEAD)
        if _is_document(start) or _head_values(start):
            return start
        file.seek(0)
        while (at := file.tell()) < MAX_HEAD and (line := file.readline(MAX_HEAD)):
            if any(isinstance(value, dict) for value in parse_values(line)[0]):
                file.seek(at)
                return file.read(max(HEAD, len(line)))
        return start


def _is_document(start: bytes) -> bool:
    """Whether a file begins as a database, an archive, or an object that is written over several lines."""
    first, _, rest = start.removeprefix(_BOM).lstrip().partition(b"\n")
    return start.startswith(_MAGIC) or (first.rstrip() == b"{" and rest.lstrip()[:1] == b'"')


def head_values(head: bytes, limit: int = 12) -> Iterator[dict[str, Any]]:
    """The JSON objects on the first lines of a file's head."""
    return iter(_head_values(head)[:limit])


@lru_cache(maxsize=1)  # every reader is asked about the same head
def _head_values(head: bytes) -> list[dict[str, Any]]:
    lines = head.removeprefix(_BOM).split(b"\n", 12)[:12]
    return [value for raw in lines for value in parse_values(raw)[0] if isinstance(value, dict)]
