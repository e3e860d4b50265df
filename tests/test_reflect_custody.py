"""The record that a lesson cites: small, deterministic, growing with the session."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from index.records import Episode, Session, Turn
from reflect.custody import KEPT_CHARACTERS, cut_middle, episode_path, read_episode, render_episode

WHEN = datetime(2026, 11, 29, tzinfo=UTC)
TURNS = tuple(Turn(n, n, "agent", f"turn {n}", time=WHEN) for n in range(1, 21))
SESSION = Session("claude-code", "abc", "/t.jsonl", TURNS, started=WHEN, lines=20)


def episode(*turns: int) -> Episode:
    """An episode over some turns."""
    return Episode("d", SESSION.key, (turns[0] + 1, turns[-1] + 1), turns, "because")


def test_only_the_cited_turns_and_their_neighbours_are_kept() -> None:
    """Everything else of the session is not copied."""
    head, turns = read_episode(render_episode(SESSION, [episode(5)]))
    assert head["session"] == "claude-code:abc"
    assert head["because"][0]["reason"] == "because"
    assert [turn["line"] for turn in turns] == [5, 6, 7]
    assert render_episode(SESSION, [episode(5)]) == render_episode(SESSION, [episode(5)])


def test_a_later_reading_adds_and_takes_nothing_away() -> None:
    """A grown session keeps what an earlier lesson cites."""
    first = render_episode(SESSION, [episode(2)])
    both = read_episode(render_episode(SESSION, [episode(15)], first))[1]
    assert [turn["line"] for turn in both] == [2, 3, 4, 15, 16, 17]


@given(st.text(max_size=20_000))
def test_a_long_text_keeps_both_ends_and_says_what_was_cut(text: str) -> None:
    """The command is at the start, the error at the end."""
    cut = cut_middle(text)
    assert len(cut) <= KEPT_CHARACTERS + 60
    assert cut.startswith(text[:2000])
    assert cut.endswith(text[-2000:])
    assert (cut == text) == (len(text) <= KEPT_CHARACTERS)


def test_a_path_is_plain_and_differs_between_sessions() -> None:
    """Ids of odd characters make safe names that do not clash."""
    paths = {episode_path(replace(SESSION, id=name)) for name in ("a/b", "a-b", "../x", "é")}
    assert len(paths) == 4
    assert all(path.startswith("episodes/2026/11/claude-code-") and ".." not in path for path in paths)


def test_a_damaged_record_is_empty_not_an_error() -> None:
    """Whatever stands there."""
    assert read_episode(b"nonsense") == ({}, [])
