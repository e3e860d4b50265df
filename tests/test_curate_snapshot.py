"""Snapshots: verifiable, restorable to the same digest, kept by the policy."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest

from curate.snapshot import (
    SNAPSHOTS,
    read_snapshot,
    render_snapshot,
    restore_snapshot,
    snapshot_name,
    snapshots_to_drop,
    tree_digest,
    write_snapshot,
)
from index.errors import StoreError, UnknownName
from index.settings import SnapshotSettings


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with text, bytes, odd names and a cache."""
    root = tmp_path / "store"
    for name, content in {"solutions/bugs/a b.md": b"x", "episodes/é.gz": b"\0\xff", ".cache/big": b"derived"}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    os.utime(root / "solutions/bugs/a b.md", ns=(10**18, 1_234_567_891_234_567_891))
    return root


def test_a_restored_store_has_the_same_digest_and_times(store: Path, tmp_path: Path) -> None:
    """Everything but what is derived comes back; the same store gives the same bytes."""
    assert render_snapshot(store) == render_snapshot(store)
    file = tmp_path / "s.tar.gz"
    file.write_bytes(render_snapshot(store))
    new = tmp_path / "new"
    assert restore_snapshot(file, new) == 2
    assert tree_digest(new) == tree_digest(store)
    times = [(root / "solutions/bugs/a b.md").stat().st_mtime_ns for root in (store, new)]
    assert times[0] == times[1]


def test_a_damaged_snapshot_is_refused(store: Path, tmp_path: Path) -> None:
    """One flipped byte is found, and nothing is written."""
    file = tmp_path / "s.tar.gz"
    content = bytearray(render_snapshot(store))
    content[len(content) // 2] ^= 0xFF
    file.write_bytes(content)
    with pytest.raises(StoreError, match=r"s\.tar\.gz"):
        restore_snapshot(file, tmp_path / "new")
    assert not (tmp_path / "new").exists()
    with pytest.raises(UnknownName, match="there is no such file"):
        read_snapshot(tmp_path / "none")


def test_nothing_is_restored_over_a_store(store: Path, tmp_path: Path) -> None:
    """A snapshot goes into an empty folder only."""
    file = tmp_path / "s.tar.gz"
    file.write_bytes(render_snapshot(store))
    with pytest.raises(StoreError, match="not empty"):
        restore_snapshot(file, store)


NOW = 2_000_000_000_000_000_000  # long after every file's time


@pytest.fixture
def large(store: Path) -> Path:
    """A store of some blocks."""
    for number in range(200):
        place = store / f"solutions/patterns/{number % 7}/lesson-{number}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"lesson {number}\n" * (number + 1))
        os.utime(place, ns=(10**18 + number * 10**11,) * 2)
    return store


def day(root: Path, number: int) -> Path:
    return root / SNAPSHOTS / snapshot_name(date(2026, 11, number))


def change_it(root: Path) -> None:
    (root / "solutions/patterns/3/lesson-3.md").write_text("changed")


def change_length(root: Path) -> None:
    (root / "solutions/patterns/3/lesson-3.md").write_text("lesson 3\n" * 9)


def touch_it(root: Path) -> None:
    os.utime(root / "solutions/patterns/3/lesson-3.md", ns=(5 * 10**17 + 1,) * 2)


def add_one(root: Path) -> None:
    (root / "solutions/patterns/4/lesson-34.md").write_text("new")


def drop_one(root: Path) -> None:
    (root / "solutions/patterns/5/lesson-5.md").unlink()


def drop_all(root: Path) -> None:
    shutil.rmtree(root / "solutions")


@pytest.mark.parametrize("change", [change_it, change_length, touch_it, add_one, drop_one, drop_all])
def test_what_is_taken_over_is_what_would_be_packed(large: Path, change: Callable[[Path], None]) -> None:
    """After each change the new snapshot has the bytes of one that is made from nothing, and is another file."""
    assert write_snapshot(large, day(large, 1), NOW) == day(large, 1)
    assert day(large, 1).read_bytes() == render_snapshot(large)
    change(large)
    assert write_snapshot(large, day(large, 2), NOW) == day(large, 2)
    assert day(large, 2).read_bytes() == render_snapshot(large) != day(large, 1).read_bytes()


def test_a_file_of_just_now_is_read_again(large: Path) -> None:
    """It may change once more within the same tick, so it is not known by its times."""
    change_it(large)
    stat = (large / "solutions/patterns/3/lesson-3.md").stat()
    index = large / ".cache/snapshot.json"
    write_snapshot(large, day(large, 1), stat.st_ctime_ns + 10**9)
    assert str(stat.st_ctime_ns) not in index.read_text()
    assert write_snapshot(large, day(large, 2), NOW) == day(large, 1)
    assert str(stat.st_ctime_ns) in index.read_text()


@pytest.mark.parametrize("harm", ["nothing", "index gone", "index damaged", "snapshot gone", "snapshot changed"])
def test_what_the_newest_snapshot_holds_is_not_written_again(large: Path, harm: str) -> None:
    """The same store needs no second file; where the newest is no longer what was written, there is a new one."""
    write_snapshot(large, day(large, 1), NOW)
    index = large / ".cache/snapshot.json"
    if harm == "index gone":
        index.unlink()
    elif harm == "index damaged":
        index.write_text('{"version": 1, "snapshot": "../x", "stamp": [], "blocks": [[]]}')
    elif harm == "snapshot gone":
        day(large, 1).unlink()
    elif harm == "snapshot changed":
        day(large, 1).write_bytes(day(large, 1).read_bytes()[:-1])
    found = write_snapshot(large, day(large, 2), NOW)
    assert found == day(large, 1 if harm == "nothing" else 2)
    assert found.read_bytes() == render_snapshot(large)
    assert read_snapshot(found).keys() >= {"solutions/bugs/a b.md"}


@pytest.mark.parametrize("share", [0.0, 0.2, 0.4, 0.5, 0.6, 0.8, 1.0])
def test_a_damaged_snapshot_is_not_taken_for_the_store(large: Path, share: float) -> None:
    """A flipped byte that no time tells of stays in the old snapshot, wherever in it; a sound one is written."""
    write_snapshot(large, day(large, 1), NOW)
    stat = day(large, 1).stat()
    raw = bytearray(day(large, 1).read_bytes())
    raw[int(share * (len(raw) - 1))] ^= 0xFF
    day(large, 1).write_bytes(raw)
    os.utime(day(large, 1), ns=(stat.st_atime_ns, stat.st_mtime_ns))
    index = large / ".cache/snapshot.json"
    index.write_text(index.read_text().replace(str(stat.st_ctime_ns), str(day(large, 1).stat().st_ctime_ns)))
    assert write_snapshot(large, day(large, 2), NOW) == day(large, 2)
    assert day(large, 2).read_bytes() == render_snapshot(large)


def test_the_policy_keeps_days_weeks_and_months() -> None:
    """Of two years of daily snapshots 7 days, 4 weeks and 12 months stay."""
    newest = date(2026, 11, 30)
    names = [snapshot_name(newest - timedelta(days=day)) for day in range(730)]
    kept = set(names) - set(snapshots_to_drop([*names, "other.txt"], SnapshotSettings()))
    assert {snapshot_name(newest - timedelta(days=day)) for day in range(7)} <= kept
    assert 12 + 7 - 1 <= len(kept) <= 7 + 4 + 12
    assert min(kept) >= snapshot_name(date(2025, 12, 1))
