"""The proof that a thing is forgotten: every file of a store is searched for it, unpacked, databases included."""

from __future__ import annotations

import io
import sqlite3
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from curate.tombstones import PREFIX
from curate.traces import Traces

SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True)
class Proof:
    """How many files were looked through (those packed in others counted too), and where something was found."""

    files: int
    hits: tuple[str, ...] = ()


def all_files(root: Path) -> Iterator[Path]:
    """Every regular file below a folder, hidden ones, caches and snapshots too; not git's own, and no links."""
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.is_symlink() and ".git" not in path.relative_to(root).parts:
            yield path


def prove(root: Path, traces: Traces, others: Iterable[Path] = ()) -> Proof:
    """Search every file of a store, and others that belong to it; a file that cannot be searched is a hit too."""
    files = 0
    hits: list[str] = []
    for path in (*all_files(root), *others):
        if not path.is_file():
            continue
        name = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
        if f"/{PREFIX}" in f"/{name}":
            files += 1  # holds a hash, and no text
            continue
        try:
            for inner, found in _search(name, path.read_bytes(), traces, path):
                files += 1
                hits += [inner] if found or traces.found_in(inner) else []
        except (OSError, EOFError, ValueError, zlib.error, tarfile.TarError, sqlite3.Error) as error:
            files += 1
            hits.append(f"{name} (cannot be searched: {error})")
    return Proof(files, tuple(hits))


def _search(name: str, raw: bytes, traces: Traces, place: Path | None = None) -> Iterator[tuple[str, bool]]:
    """(name, whether it shows) of a file and of each file packed in it."""
    if name.endswith(".tar.gz"):
        yield name, False
        with tarfile.open(fileobj=io.BytesIO(raw), mode="r:gz") as tar:
            for member in tar:
                opened = tar.extractfile(member) if member.isfile() else None
                if opened:
                    yield from _search(f"{name}: {member.name}", opened.read(), traces)
    elif raw.startswith(SQLITE) and place is not None:
        yield name, traces.found_in_bytes(raw) or any(traces.found_in(text) for text in _texts(place))
    else:
        yield name, traces.found_in_bytes(raw)


def _texts(database: Path) -> Iterator[str]:
    """Every text and blob of every table that can be read, the words of full-text indexes among them."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db:
        for (table,) in db.execute("select name from sqlite_master where type = 'table'").fetchall():
            quoted = str(table).replace('"', '""')
            for row in db.execute(f'select * from "{quoted}"'):  # noqa: S608 - a name that the database itself gave
                for value in row:
                    if isinstance(value, str):
                        yield value
                    elif isinstance(value, bytes):
                        yield value.decode("utf-8", "replace")
