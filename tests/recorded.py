"""Sessions built by hand, one line a turn, for the tests of detectors and lessons."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from index.records import Action, Origin, Outcome, Session, Turn

START = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)


def person(text: str) -> Turn:
    """Something the person typed."""
    return Turn(0, 0, "person", text, origin="person")


def agent(text: str) -> Turn:
    """Something the agent said."""
    return Turn(0, 0, "agent", text, origin="agent")


def run(command: str, output: str = "", failed: bool = False, exit_code: int | None = None) -> Turn:
    """A shell command and its output."""
    outcome: Outcome = "failed" if failed else "passed"
    code = exit_code if exit_code is not None else int(failed)
    return Turn(
        0,
        0,
        "tool",
        output,
        tool="Bash",
        action="shell",
        command=command,
        outcome=outcome,
        exit_code=code,
        origin="tool",
    )


def edit(path: str, old: str = "", new: str = "") -> Turn:
    """An edit of one file."""
    change = "\n".join(
        [*(f"-{line}" for line in old.split("\n") if old), *(f"+{line}" for line in new.split("\n") if new)]
    )
    return Turn(
        0, 0, "tool", "ok", tool="Edit", action="edit", paths=(path,), change=change, outcome="passed", origin="tool"
    )


def refused(path: str, said: str = "", new: str = "x = 1") -> Turn:
    """An edit that the person turned down, with or without words."""
    return replace(
        edit(path, "", new), outcome="unknown", refused=True, said=said, text="The user doesn't want to proceed"
    )


def tool(name: str, output: str, action: Action = "other", failed: bool = False, origin: Origin = "tool") -> Turn:
    """A call of any other tool."""
    outcome: Outcome = "failed" if failed else "passed"
    return Turn(0, 0, "tool", output, tool=name, action=action, outcome=outcome, origin=origin)


def session(*turns: Turn, **heading: object) -> Session:
    """A session of these turns: lines, ids and times are given in order, one minute apart."""
    placed = tuple(
        replace(turn, line=2 * at + 1, end=2 * at + 2, id=turn.id or f"r{at}", time=START + timedelta(minutes=at))
        for at, turn in enumerate(turns)
    )
    made = Session(
        "claude-code", "s1", "s1.jsonl", placed, project="example.org/acme/shop", branch="main", started=START
    )
    return replace(made, **heading)  # type: ignore[arg-type]
