"""All readers of transcripts, spelled out, and the two questions asked of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from index.records import Problem, Session
from reflect.transcripts import claude_code, codex
from reflect.transcripts.lines import read_head
from reflect.transcripts.protocol import Mark, Reader

# The order matters only for files that two readers would recognise: the first is taken.
READERS: dict[str, Reader] = {
    "claude-code": claude_code,
    "codex": codex,
}


def find_sessions(home: Path, env: Mapping[str, str]) -> list[tuple[str, Path]]:
    """(agent, file) of every session on this machine, by agent and then path."""
    return [(name, path) for name, reader in READERS.items() for path in reader.find(home, env)]


def recognise(path: Path) -> str:
    """The name of the agent that wrote a file, by its content; "" if no reader knows it."""
    head = read_head(path)
    return next((name for name, reader in READERS.items() if reader.recognises(path, head)), "")


def read_sessions(path: Path, mark: Mark | None = None) -> Iterator[Session]:
    """The sessions in a file. One that cannot be read gives a session that holds nothing but the problem."""
    try:
        name = recognise(path)
        if name:
            yield from READERS[name].read(path, mark)
            return
        yield _unusable(path, "unknown-format", "no agent's transcript is recognised in it")
    except OSError as error:
        yield _unusable(path, "unreadable", f"cannot be read: {error.strerror or error}")


def _unusable(path: Path, kind: str, reason: str) -> Session:
    problem = Problem(str(path), None, reason, f"unknown/{kind}")
    return Session("unknown", path.stem, str(path), problems=(problem,), unread={f"unknown/{kind}": 1})
