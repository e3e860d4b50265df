"""A solution by its id, wherever it lies: live, archived or quarantined."""

from __future__ import annotations

from pathlib import Path

from index.errors import UsageError
from index.records import Solution
from index.store import ARCHIVE, QUARANTINE, SOLUTIONS, read_store

FOLDERS = (SOLUTIONS, ARCHIVE, QUARANTINE)
SHORTEST = 6


def find_solution(root: Path, name: str, folders: tuple[str, ...] = FOLDERS) -> Solution:
    """The one solution whose id is `name`, or begins or ends with it (at least six characters).

    Raises UsageError where none or several match, naming them.
    """
    wanted = name.upper()
    found: dict[str, Solution] = {}
    for folder in folders:
        for solution in read_store(root, folder).solutions:
            whole = solution.id == wanted
            part = len(wanted) >= SHORTEST and (solution.id.startswith(wanted) or solution.id.endswith(wanted))
            if whole or part:
                found.setdefault(solution.id, solution)
    if wanted in found:
        return found[wanted]
    if len(found) == 1:
        return next(iter(found.values()))
    if found:
        raise UsageError(f"{name}: means any of {', '.join(sorted(found))}. Give more of the id.")
    raise UsageError(f"{name}: no lesson with that id in {', '.join(folders)}. `hotwash recall` finds ids.")
