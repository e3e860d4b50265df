"""Snapshots: the whole store in one compressed, verifiable file, kept by a policy."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path

from index.decode import load_json
from index.errors import StoreError, UnknownName
from index.files import write_atomic
from index.settings import SnapshotSettings
from index.store import CACHE

SNAPSHOTS = "snapshots"
MANIFEST = "MANIFEST.json"
LEFT_OUT = frozenset({CACHE, SNAPSHOTS, ".lock", "logs"})


def walk_files(root: Path, folder: Path | None = None) -> Iterator[Path]:
    """Every regular file of a store, sorted; caches, snapshots and the lock left out, links never followed."""
    for entry in sorted(os.scandir(folder or root), key=lambda entry: entry.name):
        if (folder is None and entry.name in LEFT_OUT) or entry.name.endswith(".hotwash-tmp"):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from walk_files(root, Path(entry.path))
        elif entry.is_file(follow_symlinks=False):
            yield Path(entry.path)


def tree_digest(root: Path) -> str:
    """One SHA-256 over the paths and bytes of a store."""
    whole = hashlib.sha256()
    for path in walk_files(root):
        whole.update(path.relative_to(root).as_posix().encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()


def render_snapshot(root: Path) -> bytes:
    """A gzipped tar of the store with a manifest of hashes first; modification times are kept, the clock is not."""
    found = [(path.relative_to(root).as_posix(), path) for path in walk_files(root)]
    return pack_snapshot({name: (path.read_bytes(), path.stat().st_mtime_ns) for name, path in found})


def pack_snapshot(files: Mapping[str, tuple[bytes, int]]) -> bytes:
    """A snapshot of these files: (bytes, mtime in ns) by name; the same files in one order give the same bytes."""
    manifest = {name: hashlib.sha256(content).hexdigest() for name, (content, _) in files.items()}
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=6, mtime=0, filename="") as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        _add(tar, MANIFEST, json.dumps(manifest, indent=1, sort_keys=True).encode(), 0)
        for name, (content, mtime_ns) in files.items():
            _add(tar, name, content, mtime_ns)
    return buffer.getvalue()


def _add(tar: tarfile.TarFile, name: str, content: bytes, mtime_ns: int) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    info.mode = 0o600
    info.mtime = mtime_ns // 1_000_000_000
    info.pax_headers = {"mtime": f"{mtime_ns / 1_000_000_000:.9f}"}
    tar.addfile(info, io.BytesIO(content))


def read_snapshot(path: Path) -> dict[str, tuple[bytes, int]]:
    """(bytes, mtime in ns) by name of a snapshot whose every file matches its manifest; raises StoreError otherwise."""
    files: dict[str, tuple[bytes, int]] = {}
    if not path.is_file():
        raise UnknownName(f"{path}: there is no such file. The store's own snapshots lie in its {SNAPSHOTS}/ folder.")
    try:
        with tarfile.open(path, mode="r:gz") as tar:
            for member in tar:
                opened = tar.extractfile(member) if member.isfile() else None
                if opened:
                    files[member.name] = (opened.read(), int(member.mtime * 1_000_000_000))
        manifest = load_json(files.pop(MANIFEST)[0])
    except (OSError, EOFError, tarfile.TarError, KeyError, ValueError) as error:
        raise StoreError(f"{path}: not a snapshot that can be read ({error}). Choose another one.") from error
    wrong = sorted(
        {name for name, digest in manifest.items() if name not in files}
        | {name for name, (content, _) in files.items() if hashlib.sha256(content).hexdigest() != manifest.get(name)}
    )
    if wrong:
        raise StoreError(
            f"{path}: {wrong[0]} does not match the manifest. The snapshot is damaged; choose another one."
        )
    return files


Files = Mapping[str, tuple[bytes, int]]


def restore_snapshot(path: Path, root: Path, clean: Callable[[Files], Files] = lambda files: files) -> int:
    """Unpack a snapshot into an empty or missing folder; returns the number of files. `clean` takes out of it what was
    forgotten since."""
    files = clean(read_snapshot(path))
    if root.exists() and any(walk_files(root)):
        raise StoreError(f"{root}: is not empty. Restore into a new folder, then put it in place.")
    for name, (content, mtime_ns) in files.items():
        place = root / name
        if not place.resolve().is_relative_to(root.resolve()):
            raise StoreError(f"{path}: {name} leads out of the store. The snapshot is not one of ours.")
        write_atomic(place, content, mtime_ns)
    return len(files)


def snapshot_name(today: date) -> str:
    """The file name of a day's snapshot."""
    return f"hotwash-{today.isoformat()}.tar.gz"


def snapshots_to_drop(names: Iterable[str], settings: SnapshotSettings) -> Sequence[str]:
    """Which snapshots the policy no longer keeps: the newest of each of the last days, weeks and months stay."""
    days = sorted((day for name in names if (day := _day(name))), reverse=True)
    kept: set[date] = set(days[: settings.daily])
    for count, period in (
        (settings.weekly, lambda d: d.isocalendar()[:2]),
        (settings.monthly, lambda d: (d.year, d.month)),
    ):
        seen: list[object] = []
        for day in days:
            if period(day) not in seen and len(seen) < count:
                seen.append(period(day))
                kept.add(day)
    return [snapshot_name(day) for day in sorted(set(days) - kept)]


def _day(name: str) -> date | None:
    try:
        return date.fromisoformat(name.removeprefix("hotwash-").removesuffix(".tar.gz"))
    except ValueError:
        return None
