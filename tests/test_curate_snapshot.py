"""Snapshots: verifiable, restorable to the same digest, kept by the policy."""

from __future__ import annotations

import os
from datetime import date, timedelta
from pathlib import Path

import pytest

from curate.snapshot import (
    read_snapshot,
    render_snapshot,
    restore_snapshot,
    snapshot_name,
    snapshots_to_drop,
    tree_digest,
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
    times = [(root / "solutions/bugs/a b.md").stat().st_mtime for root in (store, new)]
    assert times[0] == pytest.approx(times[1], abs=1e-5)


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


def test_the_policy_keeps_days_weeks_and_months() -> None:
    """Of two years of daily snapshots 7 days, 4 weeks and 12 months stay."""
    newest = date(2026, 11, 30)
    names = [snapshot_name(newest - timedelta(days=day)) for day in range(730)]
    kept = set(names) - set(snapshots_to_drop([*names, "other.txt"], SnapshotSettings()))
    assert {snapshot_name(newest - timedelta(days=day)) for day in range(7)} <= kept
    assert 12 + 7 - 1 <= len(kept) <= 7 + 4 + 12
    assert min(kept) >= snapshot_name(date(2025, 12, 1))
