"""MEMORY.md: a bounded block between two markers that holds the most useful clean lessons, one line each."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import PurePath

from curate.audit_checks import AUTO_BYTES, AUTO_LINES, CODEX_BYTES, HERMES_CHARACTERS
from index.changes import Change, Plan
from index.plural import plural
from index.records import IMPORTANCE_RANK, TRUST_RANK, Solution
from index.settings import MemorySettings
from index.store import MEMORY_FILE

BEGIN = "<!-- hotwash:begin - written by hotwash; edit outside these markers -->"
END = "<!-- hotwash:end -->"
DATED = "Updated "
MAX_LINE = 240
# So many new lessons of high importance are worth a write-back at a session's end; fewer wait for the daily run.
WRITE_BACK = 5
_IDENTITY = re.compile(r"\(([0-9A-Za-z]{20,40})\)$")


def usefulness(solution: Solution, today: date) -> tuple[float, str]:
    """How much a line in MEMORY.md is worth; larger is better, ties go to the newer id.

    Confidence counts most, then importance, what it did for the agent (helpful less harmful, capped), a person's
    priority and trust; a lesson loses a little with each month since its newest evidence.
    """
    evidence = max(solution.verified or date.min, solution.created.date())
    months = max(0, (today - evidence).days) / 30
    worth = (
        solution.confidence
        + 0.4 * IMPORTANCE_RANK[solution.importance]
        + 0.1 * max(-5, min(5, solution.helpful - solution.harmful))
        + 0.8 * max(-1, min(1, solution.priority))
        + 0.2 * TRUST_RANK[solution.trust]
        - 0.03 * min(months, 24)
    )
    return round(worth, 6), solution.id


def memory_line(solution: Solution) -> str:
    """One lesson as one line, with the id that `hotwash why` takes."""
    title = " ".join(solution.title.split())
    room = MAX_LINE - len(solution.id) - 6
    title = title if len(title) <= room else title[: room - 1].rstrip() + "…"
    return f"- {title} ({solution.id})"


def render_block(lines: Sequence[str], today: date) -> str:
    """The managed block with its markers."""
    return (
        "\n".join([BEGIN, f"{DATED}{today.isoformat()}; `hotwash why ID` shows the evidence.", "", *lines, END]) + "\n"
    )


@dataclass(frozen=True, slots=True)
class Room:
    """What a block may take: its characters, and its lines and bytes where the file's reader loads only so much."""

    characters: int
    lines: int = sys.maxsize
    bytes: int = sys.maxsize


def room_in(path: str, around: str, settings: MemorySettings) -> Room:
    """The room for the block in a file that holds the text `around` besides: what the agent that loads it reads of it.

    Claude Code loads the first 200 lines or 25 KB of its auto memory, Codex 32 KiB of AGENTS.md, Hermes 2,200
    characters of its memory (curate/audit_checks.py has the sources).
    """
    characters, parts = settings.max_characters, PurePath(path).parts
    taken = len(around.encode("utf-8", "surrogateescape"))
    if parts[-2:] == ("memory", MEMORY_FILE) and ".claude" in parts:
        return Room(characters, AUTO_LINES - around.count("\n") - 1, AUTO_BYTES - taken)
    if parts[-1:] == ("AGENTS.md",):
        return Room(characters, bytes=CODEX_BYTES - taken)
    if ".hermes" in parts:
        return Room(min(characters, HERMES_CHARACTERS["memory"] - len(around)))
    return Room(characters)


def choose_lines(solutions: Sequence[Solution], room: Room, today: date) -> list[str]:
    """The best lines that fit, best first; a line leaves only for a better one."""
    empty = render_block([], today)
    characters = room.characters - len(empty)
    count, size = room.lines - empty.count("\n"), room.bytes - len(empty.encode())
    lines: list[str] = []
    for solution in sorted(solutions, key=lambda solution: usefulness(solution, today), reverse=True):
        if len(solution.id) + 6 > characters or len(lines) >= count:
            continue  # not even the shortest title fits: once the block is full no more lines are made
        line = memory_line(solution)
        bytes_taken = len(line.encode("utf-8", "surrogateescape")) + 1
        if len(line) + 1 <= characters and bytes_taken <= size:
            lines.append(line)
            characters -= len(line) + 1
            size -= bytes_taken
    return lines


def _split(text: str) -> tuple[str, list[str], str] | None:
    """(before the block, its lesson lines, after it), or None where there is no whole block."""
    start = text.find(BEGIN)
    end = text.find(END, start)
    if start < 0 or end < 0:
        return None
    lines = [line for line in text[start:end].split("\n") if line.startswith("- ")]
    after = text[end + len(END) :]
    return text[:start], lines, after.removeprefix("\n")


def high_lessons(solutions: Sequence[Solution], may_serve: Callable[[Solution], bool]) -> frozenset[str]:
    """The ids of the lessons of high importance that may be held."""
    return frozenset(one.id for one in solutions if one.importance == "high" and may_serve(one))


def why_not_yet(
    existing: bytes | None,
    solutions: Sequence[Solution],
    may_serve: Callable[[Solution], bool],
    seen: Collection[str] | None,
) -> str:
    """Why the block can wait for the daily run; "" where it is to be written now.

    Now means: there is none yet, it holds what may not be served (any more), or five lessons of high importance came
    since the last write-back. `seen` are those that it knew; None where that is not known, then the block tells.
    """
    parts = _split((existing or b"").decode("utf-8", "surrogateescape"))
    if parts is None:
        return ""
    held = {found[1] if (found := _IDENTITY.search(line.strip())) else "" for line in parts[1]}
    if held - {one.id for one in solutions if may_serve(one)}:
        return ""
    new = len(high_lessons(solutions, may_serve) - (held if seen is None else frozenset(seen)))
    if new >= WRITE_BACK:
        return ""
    return f"{new} of {WRITE_BACK} lessons of high importance since the last write-back; the daily run does it"


def plan_memory(
    existing: bytes | None,
    solutions: Sequence[Solution],
    may_serve: Callable[[Solution], bool],
    settings: MemorySettings,
    today: date,
    path: str = MEMORY_FILE,
) -> Plan:
    """Write the block anew where its lines differ; text outside the markers is never touched."""
    text = (existing or b"").decode("utf-8", "surrogateescape")
    parts = _split(text)
    gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
    room = room_in(path, text + gap if parts is None else parts[0] + parts[2], settings)
    lines = choose_lines([solution for solution in solutions if may_serve(solution)], room, today)
    if parts is None:
        if not lines:
            return Plan("memory", skipped=((path, "no lesson to hold yet, or no room for one"),))
        written = text + gap + render_block(lines, today)
    elif parts[1] == lines:
        return Plan("memory", skipped=((path, "already holds the best lessons"),))
    else:
        written = parts[0] + render_block(lines, today) + parts[2]
    change = Change(path, existing, written.encode("utf-8", "surrogateescape"), f"hold {plural(len(lines), 'lesson')}")
    return Plan("memory", (change,))
