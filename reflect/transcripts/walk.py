"""Files below a folder in a fixed order, through links but never in circles."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

MAX_DEPTH = 12


def walk_files(root: Path, suffixes: tuple[str, ...], skip: frozenset[str] = frozenset()) -> Iterator[Path]:
    """Every file below `root` whose name ends so, sorted; folders named in `skip` or seen before are left out."""
    yield from _walk(root, suffixes, skip, set(), MAX_DEPTH)


def _walk(
    folder: Path, suffixes: tuple[str, ...], skip: frozenset[str], seen: set[tuple[int, int]], depth: int
) -> Iterator[Path]:
    try:
        state = folder.stat()
        if (state.st_dev, state.st_ino) in seen or depth == 0:
            return
        seen.add((state.st_dev, state.st_ino))
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in found:
        try:
            is_folder, is_file = entry.is_dir(), entry.is_file()
        except OSError:
            continue
        if is_folder and entry.name not in skip:
            yield from _walk(Path(entry.path), suffixes, skip, seen, depth - 1)
        elif is_file and entry.name.endswith(suffixes):
            yield Path(entry.path)
