"""Write every lesson that the sessions of a folder teach without a model, to be judged by reading.

    python benchmarks/lessons.py FOLDER           # each lesson with its evidence, and how many there are
    python benchmarks/lessons.py FOLDER --titles  # titles alone

FOLDER (else $HOTWASH_CORPORA/transcripts) is searched for transcripts of every agent.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

from detectors.registry import detect_episodes
from reflect.lessons import write_lessons
from reflect.transcripts.registry import read_sessions


def main() -> None:
    """Read, write the lessons to standard output, and close with the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "folder", type=Path, nargs="?", default=Path(os.environ.get("HOTWASH_CORPORA", ".")) / "transcripts"
    )
    parser.add_argument("--titles", action="store_true", help="titles alone")
    given = parser.parse_args()
    sessions = lessons = turns = 0
    spent = 0.0
    for path in sorted(path for path in given.folder.rglob("*") if path.is_file()):
        for session in read_sessions(path):
            sessions += 1
            turns += len(session.turns)
            started = time.perf_counter()
            found = write_lessons(session, detect_episodes(session))
            spent += time.perf_counter() - started
            for lesson in found:
                lessons += 1
                print(f"[{lessons}] {lesson.title}\n    {path.name} lines {lesson.sources[0].lines}")
                if not given.titles:
                    print("    " + lesson.body.strip().replace("\n\n", "\n    "))
                    print(f"    {lesson.category}, {lesson.trust}, {lesson.triggers}\n")
    print(f"{lessons} lessons of {sessions} sessions, {turns} turns; detected and written in {spent:.1f} s")


if __name__ == "__main__":
    main()
