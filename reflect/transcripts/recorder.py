"""Collects the turns of one session while its file is read, pairing each call with its result."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from sys import intern
from typing import Any

from index.records import Origin, Outcome, Problem, Session, Turn, Who
from reflect.transcripts.calls import Call, relative_path
from reflect.transcripts.foreign import mark_foreign
from reflect.transcripts.injected import split_injected
from reflect.transcripts.protocol import OWN_MARK
from reflect.transcripts.text import AGENT_LIMIT, OUTPUT_LIMIT, PERSON_LIMIT, clean_text

# Beyond so many characters each further text is cut harder: memory stays bounded on files of any size.
SESSION_BUDGET = 24_000_000
TIGHT_LIMIT = 800
MAX_PROBLEMS = 100


@dataclass(slots=True)
class Place:
    """Where a record stands, its id, and when and in which folder it was written."""

    line: int
    offset: int
    time: datetime | None = None
    cwd: str = ""
    sidechain: bool = False
    record: str = ""


@dataclass(slots=True)
class Draft:
    """A turn still to be completed: a call waits for its result."""

    place: Place
    end: int
    who: Who
    text: str = ""
    id: str = ""
    call: Call | None = None
    outcome: Outcome = "unknown"
    exit_code: int | None = None
    refused: bool = False
    said: str = ""
    origin: Origin = ""
    dropped: bool = False

    def turn(self, root: str) -> Turn:
        """The finished turn; paths below `root` are given relative to it."""
        call = self.call
        place = self.place
        if call is None:
            return Turn(
                place.line, self.end, self.who, self.text, self.id, place.time,
                origin=self.origin, cwd=place.cwd, sidechain=place.sidechain,
            )  # fmt: skip
        paths = tuple([relative_path(path, root) for path in call.paths]) if call.paths else ()
        return Turn(
            place.line, self.end, self.who, self.text, self.id, place.time, call.tool, call.action, call.command,
            paths, call.change, self.outcome, self.exit_code,
            self.refused, self.said, call.origin, call.ref, place.cwd, place.sidechain,
        )  # fmt: skip


@dataclass(slots=True)
class Recorder:
    """The turns, problems and counts of one session in the making. `kind` is the agent's name in the counts."""

    agent: str
    path: str
    drafts: list[Draft] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unread: Counter[str] = field(default_factory=Counter)
    waiting: dict[str, Draft] = field(default_factory=dict)
    kept: int = 0

    def not_understood(self, kind: str, line: int, reason: str = "") -> None:
        """Count something that was not understood; with a reason it is a problem, too."""
        self.unread[f"{self.agent}/{kind}"] += 1
        if reason and len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(self.path, line, reason, f"{self.agent}/{kind}"))

    def clean(self, text: str, limit: int) -> str:
        """The text as it is kept, within what the session may still hold."""
        text = clean_text(text, limit if self.kept < SESSION_BUDGET else min(limit, TIGHT_LIMIT))
        self.kept += len(text)
        return text

    def say(self, who: Who, text: str, place: Place, id: str = "") -> None:
        """Add what the agent said, or what the harness put in."""
        text = self.clean(text, AGENT_LIMIT).strip()
        if text:
            origin: Origin = "agent" if who == "agent" else ""
            self.drafts.append(Draft(place, place.line, who, text, id, origin=origin))

    def hear(self, text: str, place: Place, id: str = "") -> None:
        """Add a message of the person, with what the harness put into it set apart."""
        parts = split_injected(text)
        for number, (who, part) in enumerate(parts):
            body = self.clean(part, PERSON_LIMIT if who == "person" else AGENT_LIMIT).strip()
            if body:
                name = id if len(parts) == 1 or not id else f"{id}#{number}"
                self.drafts.append(
                    Draft(place, place.line, who, body, name, origin="person" if who == "person" else "")
                )

    def call(self, call: Call, place: Place, id: str) -> Draft:
        """Add a tool call, to be completed by `result` with the same id."""
        self.kept += len(call.command) + len(call.change)
        draft = Draft(place, place.line, "tool", id=id, call=call)
        self.drafts.append(draft)
        if id:
            self.waiting[id] = draft
        return draft

    def result(self, id: str, place: Place, text: str) -> Draft:
        """The call that the result belongs to, with its output and end; a new one if the call is not in the file."""
        draft = self.waiting.pop(id, None)
        if draft is None:
            draft = Draft(place, place.line, "tool", id=id, call=Call(""))
            self.drafts.append(draft)
        draft.text = self.clean(text, OUTPUT_LIMIT)
        draft.end = max(draft.end, place.line)
        return draft

    def end_before(self, since: int, line: int) -> int:
        """Let the turns from position `since` on reach to the line before `line`; returns where the next ones begin."""
        for draft in self.drafts[since:]:
            draft.end = max(draft.place.line, line - 1)
        return len(self.drafts)

    def session(self, name: str, root: str, **facts: Any) -> Session:
        """The finished session; `facts` are further fields of it. To a sub-agent no person speaks, only its parent."""
        if facts.get("subagent"):
            for draft in self.drafts:
                if draft.who == "person":
                    draft.who, draft.origin = "injected", ""
        return Session(
            self.agent,
            name,
            self.path,
            mark_foreign(self.turns(root), root, facts.get("project", "")),
            tuple(self.problems),
            dict(sorted(self.unread.items())),
            **{"own": is_own(self), "cwd": root, **facts},
        )

    def turns(self, root: str) -> tuple[Turn, ...]:
        """The finished turns in the order of the file."""
        return tuple(draft.turn(root) for draft in self.drafts if not draft.dropped)


def shared(text: Any) -> str:
    """A string that comes back in thousands of records, kept once; empty if it is no string."""
    return intern(text) if type(text) is str else ""


def name_of(kind: str) -> str:
    """A record's kind as it is counted: short, and of harmless characters."""
    return "".join(c if c.isalnum() or c in "-_./" else "?" for c in kind[:40]) or "none"


def is_own(recorder: Recorder) -> bool:
    """Whether the first message marks the session as one of hotwash's own."""
    first = next((draft for draft in recorder.drafts if draft.who in {"person", "injected"}), None)
    return first is not None and OWN_MARK in first.text
