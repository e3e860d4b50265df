"""Plain folders of markdown outside a store, looked at by single stages; nothing is written there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from curate.dedup import decide_merges
from index.frontmatter import parse_solution
from index.records import Problem, Solution
from index.settings import DedupSettings
from index.store import read_text, walk_markdown
from reflect.adopt import adopt_lesson, parse_lesson


def read_lessons(paths: Iterable[Path]) -> tuple[tuple[Solution, ...], tuple[Problem, ...]]:
    """Every markdown file below the paths as one solution each, ours or anybody's, and the files that are none."""
    lessons: list[Solution] = []
    problems: list[Problem] = []
    for given in paths:
        for file in [Path(entry.path) for entry in walk_markdown(given)] if given.is_dir() else [given]:
            read = _read_lesson(file)
            if isinstance(read, Problem):
                problems.append(read)
            else:
                lessons.append(read)
    return tuple(lessons), tuple(problems)


def _read_lesson(file: Path) -> Solution | Problem:
    text = read_text(file)
    if isinstance(text, Problem):
        return text
    own = parse_solution(str(file), text)
    if isinstance(own, Solution):
        return own
    foreign = parse_lesson(str(file), text)
    if isinstance(foreign, Problem):
        foreign = parse_lesson(str(file), text, loose=True)
    if isinstance(foreign, Problem):
        return foreign
    written = datetime.fromtimestamp(int(file.stat().st_mtime), UTC)
    adopted = adopt_lesson(foreign, f"file:{file}", written)
    return replace(adopted, path=str(file), text=text)


def duplicate_clusters(lessons: Sequence[Solution], settings: DedupSettings) -> dict[str, Any]:
    """The clusters of near-duplicates with the file to keep, the conflicts, and what was left apart and why."""
    from detectors.duplicates import find_near_duplicates

    pairs = find_near_duplicates([lesson.body for lesson in lessons], settings)
    merges, skipped, notes = decide_merges(lessons, pairs, settings)
    return {
        "clusters": [
            {
                "keep": lessons[merge.keep].path,
                "drop": [lessons[place].path for place in merge.drop],
                "similarity": list(merge.similarity),
            }
            for merge in merges
        ],
        "conflicts": [{"path": note.path, "text": note.text} for note in notes],
        "skipped": [{"path": path, "reason": reason} for path, reason in skipped],
    }
