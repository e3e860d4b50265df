"""Landing a plan as a run, and what a store then holds."""

from __future__ import annotations

from pathlib import Path

from index.apply import apply, end_run, start_run
from index.changes import Plan, Run

NOW = "2026-11-30T12:00:00+00:00"


def land(root: Path, plan: Plan, name: str = "r1") -> tuple[tuple[str, str], ...]:
    """Apply one plan as a run of its own."""
    run = Run(name, "test")
    start_run(root, run, NOW)
    applied = apply(plan, root, run)
    end_run(root, run, NOW, {})
    return applied.refused


def files_of(root: Path) -> dict[str, tuple[bytes, int]]:
    """Bytes and mtimes of everything but the journal and the lock."""
    return {
        path.relative_to(root).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in root.rglob("*")
        if path.is_file() and path.parent.name != "journal" and path.name != ".lock"
    }
