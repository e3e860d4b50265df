"""Episodes are kept as long as a lesson cites them, and for their time."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from curate.retention import list_episodes, plan_retention
from index.records import Episode, Session, Turn
from index.store import slug
from reflect.custody import episode_path, render_episode

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def record(days: int | None, name: str) -> bytes:
    """An episode of a session that began so many days ago."""
    started = None if days is None else NOW - timedelta(days=days)
    session = Session("codex", name, "/t", (Turn(1, 1, "agent", "x"),), started=started)
    return render_episode(session, [Episode("d", session.key, (1, 1), (0,), "because")])


def episodes() -> dict[str, bytes]:
    """Files named by hand, whose names say nothing."""
    return {
        "episodes/old": record(400, "old"),
        "episodes/cited": record(400, "cited"),
        "episodes/young": record(300, "young"),
        "episodes/undated": record(None, "undated"),
        "episodes/damaged": b"nonsense",
    }


def test_only_what_is_old_and_cited_by_nothing_goes() -> None:
    """Young ones, cited ones, undated ones and damaged ones stay, each with the reason."""
    files = episodes()
    plan = plan_retention(files, files.__getitem__, {"codex:cited"}, NOW, 365)
    assert [(change.path, change.after) for change in plan.changes] == [("episodes/old", None)]
    assert dict(plan.skipped) == {
        "episodes/cited": "a lesson cites it",
        "episodes/damaged": "its date is not known",
        "episodes/undated": "its date is not known",
        "episodes/young": "young enough",
    }


@given(st.lists(st.integers(0, 900), max_size=12, unique=True), st.integers(1, 800), st.integers(0, 3))
def test_what_a_name_tells_is_not_read(ages: list[int], keep: int, every: int) -> None:
    """The plan is that of reading all of them; of those that stay, only the files of the month in question are read."""
    sessions = {f"{slug(str(age))}.{age:x}": age for age in ages}
    files = {}
    for name, age in sessions.items():
        session = Session("codex", name, "/t", (Turn(1, 1, "agent", "x"),), started=NOW - timedelta(days=age))
        files[episode_path(session)] = render_episode(session, [])
    cited = {f"codex:{name}" for number, name in enumerate(sessions) if every and number % every == 0}
    read: list[str] = []

    def look(path: str) -> bytes:
        read.append(path)
        return files[path]

    plan = plan_retention(files, look, cited, NOW, keep)
    unnamed = {f"episodes/{number}": raw for number, raw in enumerate(files[path] for path in sorted(files))}
    plain = plan_retention(unnamed, unnamed.__getitem__, cited, NOW, keep)
    assert {change.before for change in plan.changes} == {change.before for change in plain.changes}
    assert Counter(why for _, why in plan.skipped) == Counter(why for _, why in plain.skipped)
    gone = {change.path for change in plan.changes}
    edge = {f"{NOW - timedelta(days=keep + day):%Y/%m}" for day in (-31, 0, 31, 62)}
    assert all(path in gone or path.split("/", 1)[1][:7] in edge for path in read)


def test_episodes_are_listed_by_their_paths(tmp_path: Path) -> None:
    """Below the months, and nothing else that lies there."""
    for name in ("2026/01/a.jsonl.gz", "2025/12/b.jsonl.gz", "2025/12/b.txt"):
        (tmp_path / "episodes" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "episodes" / name).touch()
    assert sorted(list_episodes(tmp_path)) == ["episodes/2025/12/b.jsonl.gz", "episodes/2026/01/a.jsonl.gz"]
    assert list_episodes(tmp_path / "none") == []
