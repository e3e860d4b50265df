"""What a run did, counted by reason, for people and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from index.changes import Change, Note
from index.records import Problem, Solution, Verdict
from reflect.inbox import REFUSED


@dataclass(frozen=True, slots=True)
class SessionLine:
    """One session as a run saw it: what was read of it and what came out."""

    key: str
    path: str
    status: str
    reason: str = ""
    turns: int = 0
    lines: int = 0
    lessons: tuple[str, ...] = ()
    redacted: Mapping[str, int] = field(default_factory=dict)
    unread: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StageLine:
    """One stage of a run: what landed (or would), what was refused or skipped and why, what a person should see."""

    stage: str
    changes: tuple[Change, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def unusable(self) -> int:
        """How many texts from outside the store were refused; each is a note with its place and the reason."""
        return sum(note.kind == REFUSED for note in self.notes)

    def counts(self) -> dict[str, int]:
        """Written, skipped and refused, as numbers."""
        return {"written": len(self.changes), "skipped": len(self.skipped), "failed": len(self.refused)}


@dataclass(slots=True)
class Report:
    """Everything a run has to say. `solutions` are those written by it, with the verdict on each."""

    command: str
    run: str
    store: str
    dry_run: bool = False
    sessions: list[SessionLine] = field(default_factory=list)
    unchanged: int = 0
    stages: list[StageLine] = field(default_factory=list)
    solutions: list[tuple[Solution, Verdict | None]] = field(default_factory=list)
    drafts: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    live: Mapping[str, int] = field(default_factory=dict)
    model: str = ""
    spent: Mapping[str, float] = field(default_factory=dict)

    @property
    def changed(self) -> int:
        """How many files the run changed, or would."""
        return sum(len(stage.changes) for stage in self.stages)

    @property
    def failed(self) -> bool:
        """True when a session failed, or when all that was to be written or imported was refused."""
        wanted = sum(len(stage.changes) + len(stage.refused) for stage in self.stages)
        wanted += sum(stage.unusable for stage in self.stages if stage.stage == "import" and not stage.skipped)
        return any(line.status == "failed" for line in self.sessions) or (wanted > 0 and self.changed == 0)

    def counts(self) -> dict[str, int]:
        """Read, skipped and failed sessions, files written, and writes and foreign texts refused."""
        statuses = Counter(line.status for line in self.sessions)
        return {
            "read": statuses["read"],
            "skipped": statuses["skipped"] + self.unchanged,
            "failed": statuses["failed"],
            "written": self.changed,
            "refused": sum(len(stage.refused) + stage.unusable for stage in self.stages),
        }

    def unread(self) -> Counter[str]:
        """Transcript lines that were not understood, by kind."""
        total: Counter[str] = Counter()
        for line in self.sessions:
            total.update(line.unread)
        return total

    def as_json(self) -> dict[str, Any]:
        """The report as plain data: the same facts as `text` prints."""
        return {
            "command": self.command,
            "run": self.run,
            "store": self.store,
            "dry_run": self.dry_run,
            "counts": self.counts(),
            "model": self.model,
            "spent": dict(self.spent),
            "sessions": [
                {**asdict(line), "problems": [str(problem) for problem in line.problems]} for line in self.sessions
            ],
            "unread": dict(self.unread()),
            "lessons": [_lesson(solution, verdict) for solution, verdict in self.solutions],
            "stages": [
                {
                    "stage": stage.stage,
                    "changes": [{"sign": c.sign, "path": c.path, "why": c.why} for c in stage.changes],
                    "refused": [{"path": path, "reason": reason} for path, reason in stage.refused],
                    "skipped": [{"path": path, "reason": reason} for path, reason in stage.skipped],
                    "notes": [asdict(note) for note in stage.notes],
                }
                for stage in self.stages
            ],
            "drafts": self.drafts,
            "problems": [str(problem) for problem in self.problems],
            "live": dict(self.live),
        }


def _lesson(solution: Solution, verdict: Verdict | None) -> dict[str, Any]:
    return {
        "id": solution.id,
        "path": solution.path,
        "title": solution.title,
        "category": solution.category,
        "trust": solution.trust,
        "confidence": solution.confidence,
        "sources": [{"session": source.session, "lines": source.lines} for source in solution.sources],
        "verdict": verdict.answer if verdict else None,
        "rules": list(verdict.rules) if verdict else [],
    }
