"""Snapshots: the whole store in one compressed, verifiable file, kept by a policy."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tarfile
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import chain
from pathlib import Path

from curate.snapshot_cache import Block, Last, digest_of, open_last, write_index
from curate.tar_blocks import MANIFEST, cut_blocks, mtime_of, pack_block, pack_end, pack_manifest, sha256
from index.decode import load_json
from index.errors import StoreError, UnknownName
from index.files import TEMPORARY, sync_folder, write_atomic, write_parts
from index.settings import SnapshotSettings
from index.store import CACHE

SNAPSHOTS = "snapshots"
MOST_HELD = 64 << 20  # of a snapshot in memory
RACY_NS = 2_000_000_000
LEFT_OUT = frozenset({CACHE, SNAPSHOTS, ".lock", "logs"})


def walk_files(root: Path) -> Iterator[Path]:
    """Every regular file of a store, sorted; caches, snapshots and the lock left out, links never followed."""
    return (Path(entry.path) for _, entry in _walk(str(root)))


def _walk(folder: str, prefix: str = "") -> Iterator[tuple[str, os.DirEntry[str]]]:
    with os.scandir(folder) as listed:
        entries = sorted(listed, key=lambda entry: entry.name)
    for entry in entries:
        if (not prefix and entry.name in LEFT_OUT) or entry.name.endswith(TEMPORARY):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path, f"{prefix}{entry.name}/")
        elif entry.is_file(follow_symlinks=False):
            yield prefix + entry.name, entry


def tree_digest(root: Path) -> str:
    """One SHA-256 over the paths and bytes of a store."""
    whole = hashlib.sha256()
    for path in walk_files(root):
        whole.update(path.relative_to(root).as_posix().encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()


def render_snapshot(root: Path) -> bytes:
    """A gzipped tar of the store with a manifest of hashes first; modification times are kept, the clock is not."""
    packed = list(_pack(root, Last(), 0))
    return b"".join((pack_manifest(_hashes(block for block, _ in packed)), *(raw for _, raw in packed), pack_end()))


def pack_snapshot(files: Mapping[str, tuple[bytes, int]]) -> bytes:
    """A snapshot of these files: (bytes, mtime in ns) by name; the same files in one order give the same bytes."""
    blocks = cut_blocks((name, len(content), (content, mtime_ns)) for name, (content, mtime_ns) in files.items())
    packed = [pack_block([(name, *file) for name, _, file in block]) for block in blocks]
    return b"".join((pack_manifest({name: sha256(file[0]) for name, file in files.items()}), *packed, pack_end()))


def write_snapshot(root: Path, place: Path, now_ns: int, but: Collection[str] = ()) -> Path:
    """Write the store's snapshot at `place`, as `render_snapshot` gives it, unless the newest one holds the very same;
    returns where it lies.

    Only what changed since the last one is read and packed again. `now_ns` is the machine's present time, `but` are
    paths to leave out.
    """
    folder = root / SNAPSHOTS
    folder.mkdir(parents=True, exist_ok=True)
    with open_last(root, folder) as last, tempfile.SpooledTemporaryFile(MOST_HELD, dir=str(folder)) as spool:
        blocks: list[Block] = []
        lengths: list[int] = []
        for block, raw in _pack(root, last, now_ns, but):
            blocks.append(block)
            lengths.append(spool.write(raw))
        first = pack_manifest(_hashes(blocks))
        newest = max((path.name for path in folder.glob("hotwash-*.tar.gz") if _day(path.name)), default="")
        if last.name == newest and last.has(blocks):
            place = folder / last.name
        else:
            spool.seek(0)
            write_parts(place, chain((first,), iter(lambda: spool.read(1 << 20), b""), (pack_end(),)))
            sync_folder(folder)
        write_index(root, place, blocks, len(first), lengths)
    return place


def _pack(root: Path, last: Last, now_ns: int, but: Collection[str] = ()) -> Iterator[tuple[Block, bytes]]:
    """Each block of the store's files with its bytes, taken over from the last snapshot where no file changed."""
    for listed in cut_blocks(one for one in _list(root) if one[0] not in but):
        names = [name for name, _, _ in listed]
        times = [number for _, size, (_, mtime, ctime) in listed for number in (mtime, ctime, size)]
        known = last.take(names, times)
        if known is None:
            files = [(name, *read) for name, _, (path, _, _) in listed if (read := _read(path))]
            raw = pack_block((name, content, stat.st_mtime_ns) for name, content, stat in files)
            times = [number for _, _, stat in files for number in _trusted(stat, now_ns)]
            hashes = [sha256(content) for _, content, _ in files]
            known = Block([name for name, _, _ in files], times, hashes, digest_of(raw)), raw
        if known[0].names:
            yield known


def _list(root: Path) -> Iterator[tuple[str, int, tuple[str, int, int]]]:
    """(name, size, (path, mtime, ctime in ns)) of every file."""
    for name, entry in _walk(str(root)):
        with contextlib.suppress(FileNotFoundError):
            stat = entry.stat(follow_symlinks=False)
            yield name, stat.st_size, (entry.path, stat.st_mtime_ns, stat.st_ctime_ns)


def _read(path: str) -> tuple[bytes, os.stat_result] | None:
    """A file's bytes with its times; None where it has gone since."""
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123  a store's every file
            stat = os.fstat(file.fileno())
            return file.readall(), stat
    except FileNotFoundError:
        return None


def _trusted(stat: os.stat_result, now_ns: int) -> tuple[int, int, int]:
    """The times that a file is known by; one touched just now may change again within the same tick."""
    if max(stat.st_mtime_ns, stat.st_ctime_ns) > now_ns - RACY_NS:
        return -1, -1, -1
    return stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size


def _hashes(blocks: Iterable[Block]) -> dict[str, str]:
    return {name: found for block in blocks for name, found in zip(block.names, block.hashes, strict=True)}


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
                    files[member.name] = (opened.read(), mtime_of(member))
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
