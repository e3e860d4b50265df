"""The nouns that two packages or more use, as frozen records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Literal, get_args

Category = Literal["patterns", "bugs", "knowledge"]
Kind = Literal["principle", "semantic", "procedural", "episodic", "reflective"]
Trust = Literal["reviewed", "observed", "external"]
Importance = Literal["low", "medium", "high"]
Origin = Literal["person", "agent", "tool", "web", "mcp", "issue", "import", ""]
Who = Literal["person", "agent", "tool", "injected"]
Action = Literal["", "shell", "edit", "read", "search", "web", "mcp", "task", "other"]
Outcome = Literal["failed", "passed", "unknown"]
Answer = Literal["clean", "suspect", "poison"]

CATEGORIES: tuple[Category, ...] = get_args(Category)
KINDS: tuple[Kind, ...] = get_args(Kind)
TRUSTS: tuple[Trust, ...] = get_args(Trust)
IMPORTANCES: tuple[Importance, ...] = get_args(Importance)
EXTERNAL_ORIGINS: frozenset[str] = frozenset({"web", "mcp", "issue"})

# How a thing is known bounds how sure one may be of it (design contract, section 3).
CONFIDENCE_RANGE: dict[Kind, tuple[float, float]] = {
    "principle": (1.0, 1.0),
    "semantic": (0.7, 0.95),
    "procedural": (0.6, 0.9),
    "episodic": (1.0, 1.0),
    "reflective": (0.7, 0.95),
}
TRUST_RANK: dict[Trust, int] = {"external": 0, "observed": 1, "reviewed": 2}
IMPORTANCE_RANK: dict[Importance, int] = {"low": 0, "medium": 1, "high": 2}


@dataclass(frozen=True, slots=True)
class Problem:
    """Input that could not be used: where it is, and what was wanted, found and to be done next."""

    path: str
    line: int | None
    reason: str
    kind: str = ""

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line is not None else self.path
        return f"{where}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Triggers:
    """What makes a solution fire: gitignore-style path globs, commands, stable parts of error texts."""

    paths: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.paths or self.commands or self.errors)

    def union(self, other: Triggers) -> Triggers:
        """Both sets of triggers, first occurrence first."""
        return Triggers(
            tuple(dict.fromkeys(self.paths + other.paths)),
            tuple(dict.fromkeys(self.commands + other.commands)),
            tuple(dict.fromkeys(self.errors + other.errors)),
        )


@dataclass(frozen=True, slots=True)
class Source:
    """Where a solution comes from: a session and its transcript lines (first, last), and who said it there.

    `ref` is the address or file of external text; `sha256` the hash of an imported file.
    """

    session: str
    lines: tuple[int, int] | None = None
    origin: Origin = ""
    ref: str = ""
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Solution:
    """One lesson: one fact, why it matters, what to do instead. `body` is the markdown below the front matter.

    `path` is relative to the store, with `/`; `text` the whole file as it was read ("" for one not yet written);
    `extra` the front-matter keys that this version does not know, kept as they are.
    """

    id: str
    title: str
    category: Category
    body: str
    type: Kind = "semantic"
    importance: Importance = "medium"
    confidence: float = 0.8
    trust: Trust = "observed"
    tags: tuple[str, ...] = ()
    project: str = ""
    branch: str = ""
    triggers: Triggers = Triggers()
    sources: tuple[Source, ...] = ()
    created: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    verified: date | None = None
    priority: int = 0
    supersedes: tuple[str, ...] = ()
    superseded_by: str | None = None
    helpful: int = 0
    harmful: int = 0
    expires: date | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    path: str = ""
    text: str = ""

    @property
    def sessions(self) -> frozenset[str]:
        """The keys of the sessions it rests on."""
        return frozenset(source.session for source in self.sources)


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said or done in a session; a tool's call and its result are one turn.

    `line` and `end` are the first and last transcript line (1-based; the message's ordinal in a database).
    `who` is "injected" for text that the harness put in (memory, reminders, skills, hook output, summaries): never
    learned from. `text` is what was said, or the tool's output, without ANSI codes and cut in the middle when long.
    `change` is what an edit wrote. `refused` marks a call that the person turned down; the words are in `said`.
    `origin` says whose text it is: "web", "mcp" and "issue" are external.
    """

    line: int
    end: int
    who: Who
    text: str
    id: str = ""
    time: datetime | None = None
    tool: str = ""
    action: Action = ""
    command: str = ""
    paths: tuple[str, ...] = ()
    change: str = ""
    outcome: Outcome = "unknown"
    exit_code: int | None = None
    refused: bool = False
    said: str = ""
    origin: Origin = ""
    ref: str = ""
    cwd: str = ""
    sidechain: bool = False


@dataclass(frozen=True, slots=True)
class Session:
    """One recorded run of an agent, read only. `unread` counts lines that were not understood, by kind.

    `ended_at` is the byte (or row) up to which the file was read, behind `lines` lines; `sha256` is that of all bytes
    up to there. `parent` is the key of the session a sub-agent or fork came from;
    `own` is true for a run of hotwash itself, `scheduled` for one that a timer started: neither teaches.
    """

    agent: str
    id: str
    path: str
    turns: tuple[Turn, ...] = ()
    problems: tuple[Problem, ...] = ()
    unread: Mapping[str, int] = field(default_factory=dict)
    lines: int = 0
    ended_at: int = 0
    sha256: str = ""
    project: str = ""
    cwd: str = ""
    branch: str = ""
    version: str = ""
    started: datetime | None = None
    finished: datetime | None = None
    parent: str = ""
    subagent: bool = False
    own: bool = False
    scheduled: bool = False

    @property
    def key(self) -> str:
        """`<agent>:<session id>`, the name other records know it by."""
        return f"{self.agent}:{self.id}"


@dataclass(frozen=True, slots=True)
class Episode:
    """A span of a session's turns that a detector points at, and why.

    `turns` are positions in `Session.turns`; `failure`, `change` and `check` are those of the failed turn, of what was
    changed and of the check that passed, where the detector knows them.
    """

    detector: str
    session: str
    lines: tuple[int, int]
    turns: tuple[int, ...]
    reason: str
    failure: int | None = None
    change: tuple[int, ...] = ()
    check: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One place in a text that a rule points at. `span` counts characters of the original text."""

    rule: str
    family: str
    severity: Literal["low", "medium", "high"]
    span: tuple[int, int]
    reason: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """A detector's answer about one text; `score` is in 0..1."""

    answer: Answer
    score: float = 0.0
    findings: tuple[Finding, ...] = ()

    @property
    def rules(self) -> tuple[str, ...]:
        """The ids of the rules that fired, in order of their place, each once."""
        return tuple(dict.fromkeys(finding.rule for finding in self.findings))
