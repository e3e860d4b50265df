"""Look into the projects on this machine for what lessons name: bounded in time, and only where sessions worked."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from curate.named_things import Checked, ProjectFolders, check_named_things, read_checked, with_earlier
from flows.project_folders import EpisodeFiles, find_episode_files, session_folders, top_folder
from index.records import Solution
from index.shared import is_shared
from reflect.transcripts.project import project_of

CHECK_SECONDS = 10.0  # for all projects together; a folder on a network that hangs must not hold up a pass
MOST_SESSIONS = 5  # of a project, the newest, that are asked for their folders
MOST_PLACES = 8  # folders of a project that are looked into


def check_projects(
    root: Path, home: Path, solutions: Sequence[Solution], today: date, seconds: float = CHECK_SECONDS
) -> tuple[dict[str, Checked], tuple[str, ...]]:
    """What became of the things that each lesson names, by id, and the projects that time did not suffice for.

    A lesson whose project is not on this machine keeps the day that it was last found to hold.
    """
    by_project: dict[str, list[Solution]] = defaultdict(list)
    for solution in solutions:
        if solution.project:
            by_project[solution.project].append(solution)
    done: list[tuple[str, dict[str, Checked]]] = []

    def look() -> None:
        episodes = find_episode_files(root)
        for project, lessons in sorted(by_project.items()):
            folders = ProjectFolders(find_folders(root, home, project, lessons, episodes))
            found = {one.id: check_named_things(one, folders) for one in lessons} if folders.places else {}
            done.append((project, found))

    # A daemon: where a look into a folder never ends, the process ends without it.
    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    looking.join(seconds)
    looked = list(done)
    checks = {identifier: checked for _, found in looked for identifier, checked in found.items()}
    slow = sorted(by_project.keys() - {project for project, _ in looked})
    earlier = {identifier: one.on for identifier, one in read_checked(root).items() if one.on}
    return with_earlier(checks, earlier, today, (one.id for one in solutions)), tuple(slow)


def find_folders(
    root: Path, home: Path, project: str, lessons: Sequence[Solution], episodes: EpisodeFiles
) -> tuple[Path, ...]:
    """The folders of a project that are there: of the repository that the store lies in, and those that the newest of
    the lessons' sessions worked in, as far as they still are of that project."""
    own = (str(root.parent),) if is_shared(root, home) else ()
    newest = sorted(lessons, key=lambda one: one.created, reverse=True)
    keys = list(dict.fromkeys(source.session for one in newest for source in one.sources))[:MOST_SESSIONS]
    worked = [folder for key in keys for folder in session_folders(root, key, episodes)]
    places: dict[Path, None] = {}
    for folder in (*own, *worked):
        top = top_folder(folder)
        if top is None or top in (home, Path(top.anchor)) or project_of(folder) != project:
            continue
        places |= dict.fromkeys((top, Path(folder)))
    return tuple(places)[:MOST_PLACES]
