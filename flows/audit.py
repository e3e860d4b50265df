"""The audit of this machine: reads skills, transcripts and memory files, and shows what was found."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from curate.audit import Audit, SkillRow, audit
from curate.audit_findings import ADVICE
from curate.places import read_ground
from curate.skills import Skill, read_skills
from flows.context import World
from index.plural import plural
from index.settings import DedupSettings
from reflect.transcripts.registry import find_sessions
from reflect.usage import read_usage

HEADINGS = {
    "ghost": "Ghosts",
    "invalid": "Invalid front matter",
    "long-description": "Descriptions too long",
    "duplicate": "Duplicates",
    "overlap": "Overlaps",
    "drift": "Copies that differ",
    "memory": "Memory files over their limit",
    "never-used": "Never used",
    "long-body": "Long skills",
}
MOST_LINES = 40


def read_audit(world: World, project: Path | None = None) -> Audit:
    """Look at everything on this machine; writes nothing. `project` is one more folder to look for skills in."""
    usage = read_usage(find_sessions(world.home, world.env), world.say)
    places = {Path(place) for place in usage.places if place.startswith("/")} | ({project} if project else set())
    ground = read_ground(world.home, world.env, {top for place in places for top in _tops(place)})
    skills, unread = read_skills(ground.folders)
    skills = tuple({skill.path: skill for skill in skills}.values())
    ages = dict(_ages(skills))
    return audit(skills, unread, ground, usage, world.now.date(), world.home, ages, _alike(skills))


def _tops(place: Path) -> Iterator[Path]:
    """A session's folder, and the repository around it."""
    yield place
    with suppress(OSError):
        top = next((folder for folder in place.parents if (folder / ".git").exists()), None)
        if top is not None:
            yield top


def _ages(skills: Iterable[Skill]) -> Iterator[tuple[str, date]]:
    for skill in skills:
        with suppress(OSError):
            yield skill.path, datetime.fromtimestamp(Path(skill.path).stat().st_mtime, UTC).date()


def _alike(skills: Sequence[Skill]) -> list[tuple[int, int]]:
    if len(skills) < 2:
        return []
    from detectors.duplicates import find_near_duplicates

    return [(pair.a, pair.b) for pair in find_near_duplicates([skill.body for skill in skills], DedupSettings())]


def audit_json(found: Audit) -> dict[str, Any]:
    """The audit as plain data; each finding with what to do."""
    return {
        "sessions": dict(found.sessions),
        "since": found.since,
        "costs": [asdict(cost) for cost in found.costs],
        "findings": [{**asdict(one), "do": ADVICE[one.kind]} for one in found.findings],
        "skills": [asdict(row) for row in found.skills],
        "memory": [asdict(row) for row in found.memory],
        "gone": [{"agent": a, "name": n, "uses": count, "last": last} for a, n, count, last in found.gone],
        "failed": [{"path": path, "reason": reason} for path, reason in found.failed],
    }


def render_audit(found: Audit, home: Path) -> str:
    """The audit for people: what was looked at, the costs, the skills by use, and the findings with what to do."""
    sections = [
        _looked_at(found),
        _cost_lines(found),
        _skill_lines(found.skills, home),
        _memory_lines(found, home),
        _gone_lines(found),
        *_finding_sections(found, home),
        [f"{plural(len(found.findings), 'finding')}."],
    ]
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def _looked_at(found: Audit) -> list[str]:
    sessions = ", ".join(f"{count} {agent}" for agent, count in found.sessions.items() if count)
    lines = [
        f"Looked at {plural(len(found.skills), 'skill')}, {plural(len(found.memory), 'memory file')} and "
        + (f"the transcripts on this machine ({sessions})" if sessions else "no transcripts: none are on this machine")
        + (f" since {found.since}." if found.since else ".")
    ]
    lines += [f"  could not be read: {path}: {reason}" for path, reason in found.failed]
    return lines


def _cost_lines(found: Audit) -> list[str]:
    if not found.costs:
        return []
    head = ("agent", "skills", "listing", "tokens", "memory", "in projects")
    rows = [
        (
            cost.agent,
            str(cost.skills),
            f"{cost.characters:,} characters",
            f"{cost.tokens:,}",
            f"{cost.memory_tokens:,} tokens",
            f"{plural(cost.project_skills, 'skill')}, {cost.project_tokens:,} tokens",
        )
        for cost in found.costs
    ]
    return ["What each session carries before it starts (four characters a token)", *_table([head, *rows])]


def _skill_lines(rows: Sequence[SkillRow], home: Path) -> list[str]:
    if not rows:
        return []
    ordered = sorted(rows, key=lambda row: (row.agent, -row.uses, row.name, row.path))
    cells = [("agent", "skill", "used", "last", "tokens", "where")]
    cells += [
        (row.agent, row.name[:48], _uses(row), str(row.last or "never"), str(row.tokens), short(row.path, home))
        for row in ordered
    ]
    return ["Skills", *_table(cells)]


def _uses(row: SkillRow) -> str:
    told = ", ".join(f"{count} {way}" for way, count in row.ways.items() if count)
    return told or "0"


def _memory_lines(found: Audit, home: Path) -> list[str]:
    if not found.memory:
        return []
    cells = [("agent", "lines", "tokens", "file")]
    cells += [
        (
            row.agent,
            f"{row.load.lines:,}",
            f"{row.load.tokens:,}",
            short(row.path, home) + ("  !" * bool(row.load.over)),
        )
        for row in sorted(found.memory, key=lambda row: (row.agent, -row.load.tokens, row.path))
    ]
    return ["Memory files", *_table(cells)]


def _gone_lines(found: Audit) -> list[str]:
    if not found.gone:
        return []
    rows = [
        f"  {name} ({agent}): {plural(count, 'time')}, last {last or 'unknown'}"
        for agent, name, count, last in found.gone
    ]
    return ["Used by sessions, and in no folder of this machine (of a removed project, or the agent's own)", *rows]


def _finding_sections(found: Audit, home: Path) -> Iterator[list[str]]:
    for kind, advice in ADVICE.items():
        group = [one for one in found.findings if one.kind == kind]
        if not group:
            continue
        lines = [f"{HEADINGS[kind]} ({len(group)}). {advice}"]
        if kind == "never-used":
            yield [*lines, *_never_used_lines(found)]
            continue
        for one in group[:MOST_LINES]:
            about = f"{one.name}" + (f" ({one.agent})" if one.agent else "")
            lines.append(
                f"  {about}: {one.text.replace(f'{home}{os.sep}', f'~{os.sep}')}"
                + (f"\n    {short(one.path, home)}" if one.path else "")
            )
        if len(group) > MOST_LINES:
            lines.append(f"  ... and {len(group) - MOST_LINES} more (--format json lists them)")
        yield lines


def _never_used_lines(found: Audit) -> Iterator[str]:
    """By agent: the names with what each costs a session; the table above says where they lie."""
    paths = {one.path for one in found.findings if one.kind == "never-used"}
    for agent in sorted({row.agent for row in found.skills if row.path in paths}):
        rows = [row for row in found.skills if row.path in paths and row.agent == agent]
        sessions = sum(found.sessions.values()) if agent == "agents" else found.sessions.get(agent, 0)
        named = ", ".join(f"{row.name} {row.tokens}" for row in sorted(rows, key=lambda row: (-row.tokens, row.name)))
        total = sum(row.tokens for row in rows)
        yield f"  {agent}, in {plural(sessions, 'session')}, {total:,} tokens in each:"
        yield textwrap.fill(
            named, 116, initial_indent="    ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
        )


def short(path: str, home: Path) -> str:
    """A path with `~` for the home folder."""
    return f"~{os.sep}{Path(path).relative_to(home)}" if Path(path).is_relative_to(home) else path


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
