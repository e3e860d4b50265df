"""Which blocks the last snapshot has, so that the next one takes over those whose files did not change.

A file counts as unchanged by its name, mtime, ctime and size; the ctime is this machine's own, so no repository can
bring a cache that is believed. A block is taken over only with the very bytes that were written. Beside the snapshot
nothing is lost with it: it can be deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path

import orjson

from index.files import write_derived
from index.store import CACHE

INDEX = f"{CACHE}/snapshot.json"
VERSION = 2


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a snapshot: its files' names, their times (mtime, ctime in ns and size of each in turn; -1 where they
    may not be trusted), their SHA-256, and the digest of the block's bytes."""

    names: list[str]
    times: list[int]
    hashes: list[str]
    digest: str


@dataclass(frozen=True, slots=True)
class Last:
    """The last snapshot: its file, open, the digest it was written with, and its blocks with where each begins and how
    long it is."""

    name: str = ""
    file: BufferedReader | None = None
    digest: str = ""
    blocks: dict[str, tuple[Block, int, int]] = field(default_factory=dict)

    def take(self, names: list[str], times: list[int]) -> tuple[Block, bytes] | None:
        """The block of these files with its bytes, where all of them are as they were."""
        found = self.blocks.get(names[0])
        if found is None or self.file is None or found[0].names != names or found[0].times != times:
            return None
        block, at, length = found
        content = os.pread(self.file.fileno(), length, at)
        return (block, content) if digest_of(content) == block.digest else None

    def has(self, blocks: Sequence[Block]) -> bool:
        """Whether it holds these blocks, all and no others, and is byte for byte as it was written: it may be what a
        person needs, so that no time is believed here."""
        same = [one.digest for one in blocks] == [block.digest for block, _, _ in self.blocks.values()]
        return self.file is not None and same and _whole(self.file) == self.digest


def digest_of(content: bytes) -> str:
    """A digest of a block's bytes."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


@contextmanager
def open_last(root: Path, folder: Path) -> Iterator[Last]:
    """What is known of the last snapshot; nothing where its file is another by now, or the index damaged."""
    with contextlib.ExitStack() as stack:
        last = Last()
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            kept = orjson.loads((root / INDEX).read_bytes())
            name = kept["snapshot"]
            if kept["version"] == VERSION and Path(name).name == name:
                file = stack.enter_context((folder / name).open("rb"))
                if _stamp(os.fstat(file.fileno())) == kept["stamp"]:
                    blocks = {row[0][0]: (Block(*row[:4]), row[4], row[5]) for row in kept["blocks"]}
                    last = Last(name, file, kept["whole"], blocks)
        yield last


def write_index(root: Path, place: Path, blocks: Sequence[Block], start: int, lengths: Sequence[int]) -> None:
    """Keep the blocks of the snapshot at `place`; the first of them begins at `start`."""
    rows, at = [], start
    for block, length in zip(blocks, lengths, strict=True):
        rows.append((block.names, block.times, block.hashes, block.digest, at, length))
        at += length
    with place.open("rb") as file:
        stamp, whole = _stamp(os.fstat(file.fileno())), _whole(file)
    kept = {"version": VERSION, "snapshot": place.name, "stamp": stamp, "whole": whole, "blocks": rows}
    with contextlib.suppress(TypeError):  # a file's name that is no text: everything is packed anew next time
        write_derived(root / INDEX, orjson.dumps(kept))


def _stamp(stat: os.stat_result) -> list[int]:
    return [stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino]


def _whole(file: BufferedReader) -> str:
    file.seek(0)
    return hashlib.file_digest(file, "blake2b").hexdigest()
