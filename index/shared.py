"""A shared store's own files for git: what is never committed, and which files both sides add lines to."""

from __future__ import annotations

from pathlib import Path

from index.files import read_bytes, write_derived

CONFIG = "# Every setting is optional: docs/reference.md lists them.\nredact:\n  personal_data: true\n"
LINES: dict[str, tuple[str, ...]] = {
    ".gitignore": (".cache/", ".lock", ".forget", ".*.hotwash-tmp", "journal/", "spool/", "snapshots/", "logs/"),
    # Files with a line for each lesson: both sides' lines are kept, and the next run writes what is derived anew.
    ".gitattributes": (".index.yaml merge=union", "MEMORY.md merge=union", "decisions.jsonl merge=union"),
}


def is_shared(root: Path, home: Path) -> bool:
    """Whether a store is that of a repository; one in `home` is personal, also where that is under git."""
    return root.name == ".hotwash" and root.parent != home and (root.parent / ".git").exists()


def missing_lines(root: Path) -> dict[str, tuple[str, ...]]:
    """The lines that a shared store's files for git lack, by file; {} where nothing is missing."""
    lacking = {}
    for name, wanted in LINES.items():
        text = (read_bytes(root / name) or b"").decode("utf-8", "replace")
        present = {line.strip() for line in text.splitlines()}
        if missing := tuple(line for line in wanted if line not in present):
            lacking[name] = missing
    return lacking


def complete_shared(root: Path) -> tuple[str, ...]:
    """Add the lines that are missing, and a config.yaml where there is none; nothing that stands there changes.

    Returns the names of the files that were written.
    """
    written = []
    for name, lines in missing_lines(root).items():
        before = read_bytes(root / name) or b""
        gap = b"" if not before or before.endswith(b"\n") else b"\n"
        if write_derived(root / name, before + gap + ("\n".join(lines) + "\n").encode()):
            written.append(name)
    if not (root / "config.yaml").exists():
        write_derived(root / "config.yaml", CONFIG.encode())
        written.append("config.yaml")
    return tuple(written)
