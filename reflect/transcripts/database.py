"""Opens an agent's SQLite store for reading only, and leaves it as it was."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

MAGIC = b"SQLite format 3\x00"


@contextmanager
def open_database(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that reads; rows are indexed by name. Raises sqlite3.Error if there is nothing to read.

    A write-ahead log that no process has open is copied together with the database: the last one to close a
    database folds its log in and deletes it, and opening it at all may leave files beside it.
    """
    with tempfile.TemporaryDirectory(prefix="hotwash-") as folder:
        place = _copy(path, Path(folder)) if _has_idle_log(path) else path
        mode = "ro" if place == path else "rw"
        connection = sqlite3.connect(f"file:{quote(str(place))}?mode={mode}", uri=True, timeout=2)
        try:
            connection.row_factory = sqlite3.Row
            connection.text_factory = lambda raw: raw.decode("utf-8", errors="replace")
            yield connection
        finally:
            connection.close()


def _has_idle_log(path: Path) -> bool:
    log, shared = Path(f"{path}-wal"), Path(f"{path}-shm")
    return log.is_file() and log.stat().st_size > 0 and not shared.exists()


def _copy(path: Path, folder: Path) -> Path:
    for suffix in ("", "-wal"):
        shutil.copyfile(f"{path}{suffix}", folder / f"copy.db{suffix}")
    return folder / "copy.db"


def tables(connection: sqlite3.Connection) -> frozenset[str]:
    """The names of the tables."""
    return frozenset(row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'"))


def columns(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    """The names of a table's columns: they come and go with the versions."""
    return frozenset(row[1] for row in connection.execute(f'PRAGMA table_info("{table}")'))
