"""Where a published skill goes: into folders as files, or into a repository as a commit; what a person wrote stays."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from curate.branch import PREFIX, Base, Branched, BranchError, read_at, write_branch
from curate.drafts import Draft, Improvement, Published
from index.changes import Change, digest
from index.files import read_bytes
from index.plural import plural
from index.records import Problem
from index.settings import ReviewSettings


def publish_folders(
    draft: Draft, name: str, settings: ReviewSettings, home: Path, base: Base | None
) -> tuple[Path, ...]:
    """The folders that publishing writes to: the improved skill's own, else one below each chosen folder."""
    if draft.improves is not None:
        own = Path(draft.improves.path).parent
        return (own,) if base is None or own.is_relative_to(base.repository) else ()
    if base is not None:
        inside = (Path(os.path.normpath(base.repository / folder)) for folder in settings.branch_folders)
        return tuple(dict.fromkeys(f / name for f in inside if f.is_relative_to(base.repository)))
    folders = (home / folder[2:] if folder.startswith("~/") else Path(folder) for folder in settings.skills_folders)
    return tuple(dict.fromkeys(folder.absolute() / name for folder in folders))


def no_folder(draft: Draft, base: Base | None) -> str:
    """Why there is no folder to publish to, and what to do."""
    if base is None:
        return "review: skills_folders is empty; name a folder"
    if draft.improves is not None:
        return f"{draft.improves.path} does not lie in {base.repository}; set review: publish to files"
    return f"review: branch_folders names no folder inside {base.repository}; name one, such as .claude/skills"


def reader(base: Base | None) -> Callable[[Path], bytes | None]:
    """What gives the bytes that stand at a path now: on disk, or in the commit that a branch starts from."""
    return read_bytes if base is None else lambda place: read_at(base, _inside(base, place))


def _inside(base: Base, place: Path) -> str:
    return place.relative_to(base.repository).as_posix()


def commit_writes(base: Base, writes: Sequence[Change], name: str, draft: Draft, who: str, note: str) -> Branched:
    """The commit that publishes: it says what was met how often, and names no session and no project."""
    if not writes:
        raise BranchError(f"{base.repository}: holds this skill already, byte for byte; reject the draft.")
    seen = (
        f"{plural(len(draft.sessions), 'session')} on {plural(len(draft.days), 'day')} "
        f"in {plural(len(draft.projects), 'project')}"
    )
    noted = f"\n{note}\n" if note else ""
    message = f"{'Improve' if draft.improves else 'Add'} the skill {name}\n\nLearned from {seen}.\n{noted}"
    files = {_inside(base, Path(write.path)): write.after or b"" for write in writes}
    return write_branch(base, f"{PREFIX}{name}", files, f"{message}\nReviewed-by: {who}\n")


def write_published(
    place: Path,
    text: str,
    improves: Improvement | None,
    published: Mapping[str, Published],
    unit: str,
    read: Callable[[Path], bytes | None],
) -> Change | Problem:
    """The change that publishes to `place`; a file that is not as we or the draft know it is never written over."""
    after = text.encode("utf-8")
    before = read(place)
    improved = improves is not None and str(place) == improves.path
    why = "improved skill published" if improves else "skill published"
    if before is None and improved:
        return Problem(str(place), None, "the skill to improve is gone; reject the draft", "target")
    if before is None or before == after:
        return Change(str(place), before, after, why, unit)
    found = digest(before)
    if improves is not None and improved:
        if found == improves.sha256:
            return Change(str(place), before, after, why, unit)
        reason = "changed since the improvement was drafted; run `hotwash promote` to draft it anew"
        return Problem(str(place), None, reason, "target")
    ours = published.get(str(place))
    if ours is not None and ours.sha256 == found:
        return Change(str(place), before, after, why, unit)
    reason = "changed by hand since it was published" if ours else "is there already and is not ours"
    return Problem(str(place), None, f"{reason}; it was left as it is. Publish under another name", "target")


def deepest_first(files: Mapping[str, str]) -> list[tuple[str, str]]:
    """Files so ordered that a folder is empty, and goes, when the last one in it goes."""
    return sorted(files.items(), key=lambda item: (-item[0].count("/"), item[0]))
