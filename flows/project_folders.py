"""What the kept episodes tell: a session's turns, and where projects lie on this machine by the folders worked in."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from curate.drafts import Draft
from index.files import read_bytes
from index.store import EPISODES
from reflect.custody import read_episode
from reflect.transcripts.project import project_of

ENDING = ".jsonl.gz"
EpisodeFiles = Mapping[str, Sequence[Path]]


def project_folders(root: Path, draft: Draft) -> dict[str, list[Path]]:
    """The top folders of each of the draft's projects that are there still, by project."""
    found: dict[str, list[Path]] = {}
    for row in draft.evidence:
        for cwd in (*session_folders(root, row.session), row.project):
            top = top_folder(cwd)
            known = found.get(row.project, [])
            if top is not None and top not in known and project_of(str(top)) == row.project:
                found[row.project] = [*known, top]
    return found


def session_folders(root: Path, session: str, episodes: EpisodeFiles | None = None) -> list[str]:
    """The folders that a session's kept turns worked in, each once; `episodes` spares a look through all files."""
    tail = _tail(session)
    paths = sorted((root / EPISODES).rglob(f"*-{tail}{ENDING}")) if episodes is None else episodes.get(tail, ())
    folders: dict[str, None] = {}
    for path in paths:
        head, rows = read_episode(read_bytes(path) or b"")
        if head.get("session") == session:
            folders |= dict.fromkeys(str(row["cwd"]) for row in rows if row.get("cwd"))
    return list(folders)


def find_episode_files(root: Path) -> EpisodeFiles:
    """The files of all episodes by the last part of their names, which is made of the session's key."""
    found: dict[str, list[Path]] = {}
    for path in sorted((root / EPISODES).rglob(f"*{ENDING}")):
        found.setdefault(path.name.removesuffix(ENDING).rpartition("-")[2], []).append(path)
    return found


def kept_turns(root: Path) -> Callable[[str], list[dict[str, Any]]]:
    """A function that gives a session's kept turns, none where they are kept no longer; it reads each file once."""
    files: EpisodeFiles | None = None

    @cache
    def turns(session: str) -> list[dict[str, Any]]:
        nonlocal files
        files = find_episode_files(root) if files is None else files
        read = [read_episode(read_bytes(path) or b"") for path in files.get(_tail(session), ())]
        return [row for head, rows in read if head.get("session") == session for row in rows]

    return turns


def _tail(session: str) -> str:
    return hashlib.sha256(session.encode()).hexdigest()[:6]


def top_folder(folder: str) -> Path | None:
    """The repository that a folder lies in, else the folder itself; None where there is no such folder."""
    place = Path(folder)
    try:
        if not place.is_absolute() or not place.is_dir():
            return None
        return next((parent for parent in (place, *place.parents) if (parent / ".git").exists()), place)
    except OSError:
        return None
