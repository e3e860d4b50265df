"""What a reader of one agent's transcripts offers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from index.records import Session

# Between a session's id and its sub-agent's id, so that the root of a key is found without a table.
SUBAGENT_MARK = "+"
# A first prompt that carries this text belongs to a run of hotwash itself.
OWN_MARK = "<hotwash-run>"


@dataclass(frozen=True, slots=True)
class Mark:
    """Where to read on in a file that grew: `line` lines lie before byte `offset`, which starts a line.

    For a database, `offset` is the number of the last row read.
    """

    offset: int
    line: int


class Reader(Protocol):
    """One agent's transcripts. A module with these names is a reader.

    Reading never raises on what a file holds: what was not understood is counted in `Session.unread` by kind.
    """

    agent: str

    def find(self, home: Path, env: Mapping[str, str]) -> Iterator[Path]:
        """The session files on this machine, in a fixed order."""

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether a file that begins with `head` is one of this agent's."""

    def read(self, path: Path, mark: Mark | None = None) -> Iterator[Session]:
        """The sessions in a file; with a mark, only the turns from there on, under the same heading."""
