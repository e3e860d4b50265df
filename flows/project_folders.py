"""Where the projects of a draft lie on this machine, from the folders that its sessions worked in."""

from __future__ import annotations

import hashlib
from pathlib import Path

from curate.drafts import Draft
from index.files import read_bytes
from index.store import EPISODES
from reflect.custody import read_episode
from reflect.transcripts.project import project_of


def project_folders(root: Path, draft: Draft) -> dict[str, list[Path]]:
    """The top folders of each of the draft's projects that are there still, by project."""
    found: dict[str, list[Path]] = {}
    for row in draft.evidence:
        for cwd in (*session_folders(root, row.session), row.project):
            top = _top(cwd)
            known = found.get(row.project, [])
            if top is not None and top not in known and project_of(str(top)) == row.project:
                found[row.project] = [*known, top]
    return found


def session_folders(root: Path, session: str) -> list[str]:
    """The folders that a session's kept turns worked in, each once."""
    tail = hashlib.sha256(session.encode()).hexdigest()[:6]
    folders: dict[str, None] = {}
    for path in sorted((root / EPISODES).rglob(f"*-{tail}.jsonl.gz")):
        head, rows = read_episode(read_bytes(path) or b"")
        if head.get("session") == session:
            folders |= dict.fromkeys(str(row["cwd"]) for row in rows if row.get("cwd"))
    return list(folders)


def _top(folder: str) -> Path | None:
    """The repository that a folder lies in, else the folder itself; None where there is no such folder."""
    place = Path(folder)
    try:
        if not place.is_absolute() or not place.is_dir():
            return None
        return next((parent for parent in (place, *place.parents) if (parent / ".git").exists()), place)
    except OSError:
        return None
