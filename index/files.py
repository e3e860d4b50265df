"""The store's files: written whole or not at all, under one writer's lock."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import filelock

from index.errors import StoreError, StoreLocked

LOCK_SECONDS = 60.0
TEMPORARY = ".hotwash-tmp"


def read_bytes(path: Path) -> bytes | None:
    """A file's bytes, or None where there is no such file."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def temporary(path: Path) -> Path:
    """The name under which a file is written before it takes its place; one per path, so that recovery finds it."""
    # A name may have 255 bytes: a long one is told by its hash.
    name = path.name if len(path.name.encode()) < 200 else hashlib.sha256(path.name.encode()).hexdigest()
    return path.with_name(f".{name}{TEMPORARY}")


def write_atomic(path: Path, content: bytes, mtime_ns: int | None = None) -> None:
    """Write a file so that a reader or a crash sees the old bytes or the new ones, never a part."""
    write_parts(path, (content,), mtime_ns)


def write_parts(path: Path, parts: Iterable[bytes], mtime_ns: int | None = None) -> None:
    """`write_atomic` of a content that comes in parts, which need not fit into memory together."""
    path.parent.mkdir(parents=True, exist_ok=True)
    place = temporary(path)
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        for part in parts:
            view = memoryview(part)
            while view:
                view = view[os.write(descriptor, view) :]
        with contextlib.suppress(FileNotFoundError):
            os.fchmod(descriptor, path.stat().st_mode & 0o777)
        os.fsync(descriptor)
    except BaseException:
        with contextlib.suppress(OSError):
            place.unlink()
        raise
    finally:
        os.close(descriptor)
    if mtime_ns is not None:
        os.utime(place, ns=(mtime_ns, mtime_ns))
    place.replace(path)


def write_derived(path: Path, content: bytes) -> bool:
    """Write a derived file only where its bytes differ; true if it was written."""
    if read_bytes(path) == content:
        return False
    write_atomic(path, content)
    sync_folder(path.parent)
    return True


@contextlib.contextmanager
def store_lock(root: Path, seconds: float = LOCK_SECONDS) -> Iterator[None]:
    """Hold the store's one writer's lock; raises StoreLocked after `seconds`. Readers need no lock."""
    try:
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
    except FileNotFoundError as error:
        raise StoreError(f"{root}: no folder can be made there. Name another store with --store.") from error
    try:
        with filelock.FileLock(root / ".lock", timeout=seconds, mode=0o600):
            yield
    except filelock.Timeout as error:
        raise StoreLocked(str(root), seconds) from error


def sync_folder(folder: Path) -> None:
    """Make a rename or removal in `folder` durable, where the file system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def sweep_temporaries(root: Path) -> None:
    """Take away the temporary files that a killed process left; the caller holds the lock, so they are nobody's."""
    for folder, _, names in os.walk(root):
        for name in names:
            if name.startswith(".") and name.endswith(TEMPORARY):
                with contextlib.suppress(OSError):
                    (Path(folder) / name).unlink()
