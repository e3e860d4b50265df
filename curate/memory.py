"""MEMORY.md: a bounded block between two markers that holds the most useful clean lessons, one line each."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from datetime import date

from index.changes import Change, Plan
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


def choose_lines(solutions: Sequence[Solution], settings: MemorySettings, today: date) -> list[str]:
    """The best lines that fit the bound, best first; a line leaves only for a better one."""
    room = settings.max_characters - len(render_block([], today))
    lines: list[str] = []
    for solution in sorted(solutions, key=lambda solution: usefulness(solution, today), reverse=True):
        line = memory_line(solution)
        if len(line) + 1 <= room:
            lines.append(line)
            room -= len(line) + 1
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
    lines = choose_lines([solution for solution in solutions if may_serve(solution)], settings, today)
    text = (existing or b"").decode("utf-8", "surrogateescape")
    parts = _split(text)
    if parts is None:
        if not lines:
            return Plan("memory", skipped=((path, "no lesson to hold yet"),))
        gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        written = text + gap + render_block(lines, today)
    elif parts[1] == lines:
        return Plan("memory", skipped=((path, "already holds the best lessons"),))
    else:
        written = parts[0] + render_block(lines, today) + parts[2]
    change = Change(path, existing, written.encode("utf-8", "surrogateescape"), f"hold {len(lines)} lessons")
    return Plan("memory", (change,))
