"""Files are written whole, by one writer, under names that fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from index.errors import StoreLocked
from index.files import store_lock, temporary, write_derived


def test_a_derived_file_is_written_only_when_it_differs(tmp_path: Path) -> None:
    """The second write is none."""
    assert write_derived(tmp_path / "x", b"1")
    assert not write_derived(tmp_path / "x", b"1")


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    """A second writer is told so, after its time is over."""
    with store_lock(tmp_path), pytest.raises(StoreLocked, match="another hotwash"), store_lock(tmp_path, 0.05):
        pass


def test_a_temporary_name_fits_where_the_file_name_fits(tmp_path: Path) -> None:
    """A name of 255 bytes can still be written beside itself."""
    path = tmp_path / ("x" * 255)
    write_derived(path, b"1")
    assert path.read_bytes() == b"1"
    assert len(temporary(path).name.encode()) <= 255
