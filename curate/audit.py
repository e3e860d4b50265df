"""The audit of skills and memory files: what is used, what is wrong, what the listing costs; pure."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from curate.audit_checks import Load, listed_text, measure_memory, tokens_of
from curate.audit_findings import (
    ADVICE,
    AuditFinding,
    find_alike,
    find_faults,
    find_ghosts,
    find_never_used,
    find_overlaps,
    project_of,
)
from curate.places import Ground, MemoryFile
from curate.skills import Skill, listing_cost
from index.records import Problem
from reflect.usage import Usage, Used

_USER_KINDS = ("user", "memory", "profile")


@dataclass(frozen=True, slots=True)
class SkillRow:
    """A skill with its use: times loaded, called by its slash command and read as a file; and its listing's cost."""

    agent: str
    name: str
    path: str
    uses: int
    ways: Mapping[str, int]
    last: date | None
    characters: int
    tokens: int


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A memory file with its size against its limit; `reads` counts when it was read or loaded on demand."""

    agent: str
    kind: str
    path: str
    load: Load
    reads: int


@dataclass(frozen=True, slots=True)
class AgentCost:
    """What an agent carries into every session: its skills' listing and the user's memory file. Projects' own skills
    and memory are counted apart, for no session carries those of all projects."""

    agent: str
    skills: int
    characters: int
    tokens: int
    memory_tokens: int
    project_skills: int
    project_tokens: int


@dataclass(frozen=True, slots=True)
class Audit:
    """Everything `hotwash audit` knows. `gone` are skills that transcripts show in use and that are no longer here."""

    skills: tuple[SkillRow, ...] = ()
    memory: tuple[MemoryRow, ...] = ()
    costs: tuple[AgentCost, ...] = ()
    findings: tuple[AuditFinding, ...] = ()
    gone: tuple[tuple[str, str, int, date | None], ...] = ()
    sessions: Mapping[str, int] = field(default_factory=dict)
    since: date | None = None
    failed: tuple[tuple[str, str], ...] = ()


def audit(
    skills: Sequence[Skill],
    unread: Sequence[Problem],
    ground: Ground,
    usage: Usage,
    today: date,
    home: Path,
    ages: Mapping[str, date],
    alike: Iterable[tuple[int, int]] = (),
) -> Audit:
    """Put skills, their use and the memory files together, and say what to do.

    `unread` are the skill files that could not be parsed, `ages` the dates of the skills' files by path, `alike` pairs
    of positions in `skills` whose bodies are near-duplicates.
    """
    uses = _Uses(skills, usage)
    rows = tuple(_skill_row(skill, uses.of[place]) for place, skill in enumerate(skills))
    memory = tuple(_memory_row(file, usage.used.values()) for file in ground.memory)
    findings = [
        *find_ghosts(skills, ground, usage),
        *find_faults(skills, unread),
        *find_alike(skills, alike, home),
        *find_overlaps(skills, home),
        *_memory_findings(memory),
        *find_never_used(skills, [row.uses for row in rows], [row.tokens for row in rows], usage, today, ages),
    ]
    order = list(ADVICE)
    findings.sort(key=lambda one: (order.index(one.kind), one.agent, one.path, one.name, one.text))
    return Audit(
        rows,
        memory,
        _costs(skills, rows, memory, home),
        tuple(dict.fromkeys(findings)),
        uses.gone(ground.commands),
        dict(sorted(usage.files.items())),
        min(usage.since.values()).date() if usage.since else None,
        tuple(usage.failed),
    )


class _Uses:
    """The uses of each skill: by its folder where the transcript names that, else by name, of the same agent first."""

    def __init__(self, skills: Sequence[Skill], usage: Usage) -> None:
        self.of: list[list[Used]] = [[] for _ in skills]
        self.unmatched: list[Used] = []
        by_folder: dict[str, list[int]] = defaultdict(list)
        by_name: dict[str, list[int]] = defaultdict(list)
        for place, skill in enumerate(skills):
            folder = Path(skill.path).parent
            by_folder[str(folder)].append(place)
            for name in {skill.name, folder.name}:
                by_name[name].append(place)
        for used in usage.used.values():
            if used.kind in {"memory", "unknown"} or not used.count:
                continue
            named = by_name.get(used.name) or by_name.get(used.name.rpartition(":")[2], [])
            places = by_folder.get(os.path.normpath(used.path)) if used.path else None
            places = places or [place for place in named if skills[place].agent == used.agent] or named
            for place in places:
                self.of[place].append(used)
            if not places:
                self.unmatched.append(used)

    def gone(self, commands: frozenset[str]) -> tuple[tuple[str, str, int, date | None], ...]:
        """Skills that were loaded and that no folder holds; slash commands may be the agent's own and do not count."""
        counts: Counter[tuple[str, str]] = Counter()
        last: dict[tuple[str, str], date] = {}
        for used in self.unmatched:
            if used.kind == "command" or used.name in commands:
                continue
            key = (used.agent, used.name)
            counts[key] += used.count
            if used.last:
                last[key] = max(used.last.date(), last.get(key, date.min))
        return tuple((*key, counts[key], last.get(key)) for key in sorted(counts))


def _skill_row(skill: Skill, uses: Sequence[Used]) -> SkillRow:
    ways: Counter[str] = Counter()
    for used in uses:
        ways["loaded" if used.kind in {"load", "shown"} else used.kind] += used.count
    cost = listing_cost(skill.agent, skill.name, listed_text(skill))
    hidden = not listed_text(skill)
    last = max((used.last.date() for used in uses if used.last), default=None)
    return SkillRow(
        skill.agent,
        skill.name,
        skill.path,
        sum(ways.values()),
        dict(sorted(ways.items())),
        last,
        0 if hidden else cost.characters,
        0 if hidden else cost.tokens,
    )


def _memory_row(file: MemoryFile, used: Iterable[Used]) -> MemoryRow:
    reads = sum(one.count for one in used if one.kind == "memory" and one.path == file.path)
    return MemoryRow(file.agent, file.kind, file.path, measure_memory(file), reads)


def _memory_findings(memory: Sequence[MemoryRow]) -> Iterator[AuditFinding]:
    for row in memory:
        if row.load.over:
            yield AuditFinding("memory", row.agent, Path(row.path).name, row.path, row.load.over)


def _costs(
    skills: Sequence[Skill], rows: Sequence[SkillRow], memory: Sequence[MemoryRow], home: Path
) -> tuple[AgentCost, ...]:
    agents = sorted({skill.agent for skill in skills} | {row.agent for row in memory})
    found = []
    for agent in agents:
        own = [row for row in rows if row.agent == agent]
        user = [row for row in own if not project_of(row.path, home)]
        found.append(
            AgentCost(
                agent,
                len(user),
                sum(row.characters for row in user),
                tokens_of(sum(row.characters for row in user)),
                sum(row.load.tokens for row in memory if row.agent == agent and row.kind in _USER_KINDS),
                len(own) - len(user),
                tokens_of(sum(row.characters for row in own) - sum(row.characters for row in user)),
            )
        )
    return tuple(found)
