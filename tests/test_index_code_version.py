"""What a cache was made by changes with the source of each module."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from index.code_version import code_version


def made(place: Path, source: str) -> ModuleType:
    """A module whose source lies in a file."""
    place.write_text(source)
    module = ModuleType(place.stem)
    module.__file__ = str(place)
    return module


def test_another_source_is_another_version(tmp_path: Path) -> None:
    """Of any of the modules; the same sources give the same version."""
    first, second = made(tmp_path / "first.py", "a = 1"), made(tmp_path / "second.py", "b = 1")
    same, changed = made(tmp_path / "same.py", "b = 1"), made(tmp_path / "changed.py", "b = 2")
    assert code_version(first, second) == code_version(first, same)
    assert len({code_version(first), code_version(first, second), code_version(first, changed)}) == 3
