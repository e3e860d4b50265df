"""All readers of transcripts, spelled out, and the questions asked of them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from index.records import Problem, Session
from reflect.transcripts import (
    claude_code,
    codex,
    copilot_cli,
    cursor,
    droid,
    gemini_cli,
    hermes,
    kiro,
    opencode,
    pi,
    swe_agent,
)
from reflect.transcripts.lines import read_head
from reflect.transcripts.protocol import Mark, Reader

# The order matters only for a file that two readers would recognise: the first is taken.
READERS: dict[str, Reader] = {
    "claude-code": claude_code,
    "codex": codex,
    "hermes": hermes,
    "gemini-cli": gemini_cli,
    "cursor": cursor,
    "opencode": opencode,
    "copilot-cli": copilot_cli,
    "droid": droid,
    "pi": pi,
    "kiro": kiro,
    "swe-agent": swe_agent,
}


def find_sessions(home: Path, env: Mapping[str, str]) -> list[tuple[str, Path]]:
    """(agent, file) of every session on this machine, by agent and then path."""
    return [(name, path) for name, reader in READERS.items() for path in reader.find(home, env)]


def recognise(path: Path) -> str:
    """The name of the agent that wrote a file, by its content; "" if no reader knows it. May raise OSError."""
    head = read_head(path)
    return next((name for name, reader in READERS.items() if reader.recognises(path, head)), "")


def read_sessions(path: Path, mark: Mark | None = None) -> Iterator[Session]:
    """The sessions in a file. One that cannot be used gives a session that holds nothing but the problem.

    The log beside a database gives nothing: it is read with the database.
    """
    if path.name.endswith(("-wal", "-shm")) and path.with_name(path.name[:-4]).exists():
        return
    try:
        name = recognise(path)
        if name:
            yield from READERS[name].read(path, mark)
        else:
            yield _unusable(path, *_why_unknown(path))
    except OSError as error:
        yield _unusable(path, "unreadable", f"cannot be read: {error.strerror or error}")


def file_stamp(path: Path) -> tuple[int, int]:
    """(bytes, time of the last change in ns) of a file and of the log beside it, if it is a database."""
    states: list[os.stat_result] = []
    for file in (path, Path(f"{path}-wal")):  # a name of 255 bytes can have no log beside it
        with contextlib.suppress(OSError):
            states.append(file.stat())
    return sum(state.st_size for state in states), max((state.st_mtime_ns for state in states), default=0)


def _why_unknown(path: Path) -> tuple[str, str]:
    if path.stat().st_size == 0:
        return "empty", "is empty; give it again when the agent has written to it"
    return "unknown-format", f"is no transcript of {', '.join(READERS)}"


def _unusable(path: Path, kind: str, reason: str) -> Session:
    problem = Problem(str(path), None, reason, f"unknown/{kind}")
    return Session("unknown", path.stem, str(path), problems=(problem,), unread={f"unknown/{kind}": 1})
