"""Episodes are kept as long as a lesson cites them, and for their time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from curate.retention import plan_retention
from index.records import Episode, Session, Turn
from reflect.custody import render_episode

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def record(days: int | None, name: str) -> bytes:
    """An episode of a session that began so many days ago."""
    started = None if days is None else NOW - timedelta(days=days)
    session = Session("codex", name, "/t", (Turn(1, 1, "agent", "x"),), started=started)
    return render_episode(session, [Episode("d", session.key, (1, 1), (0,), "because")])


def test_only_what_is_old_and_cited_by_nothing_goes() -> None:
    """Young ones, cited ones, undated ones and damaged ones stay, each with the reason."""
    episodes = {
        "episodes/old": record(400, "old"),
        "episodes/cited": record(400, "cited"),
        "episodes/young": record(300, "young"),
        "episodes/undated": record(None, "undated"),
        "episodes/damaged": b"nonsense",
    }
    plan = plan_retention(episodes, {"codex:cited"}, NOW, 365)
    assert [(change.path, change.after) for change in plan.changes] == [("episodes/old", None)]
    assert dict(plan.skipped) == {
        "episodes/cited": "a lesson cites it",
        "episodes/damaged": "its date is not known",
        "episodes/undated": "its date is not known",
        "episodes/young": "young enough",
    }
