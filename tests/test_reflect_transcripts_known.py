"""History that another file already gave is left out once, and nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from index.records import Session, Turn
from reflect.transcripts.known import session_keys, turn_keys, without_known


def session(name: str, *turns: Turn) -> Session:
    return Session("claude-code", name, f"{name}.jsonl", turns)


def test_a_fork_gives_only_what_is_new() -> None:
    """Turns copied from the parent carry the ids of their records."""
    old = Turn(1, 1, "person", "Start.", id="a")
    new = Turn(2, 2, "person", "Go another way.", id="b")
    seen = session_keys(session("parent", old))
    fork = without_known(session("fork", old, new), seen)
    assert fork.turns == (new,)


def test_without_ids_a_long_text_is_known_and_a_short_one_is_not() -> None:
    """A copied output is recognised by what it says; "yes" is said in many places."""
    long = Turn(5, 6, "tool", "x" * 200, command="make test")
    short = Turn(7, 7, "person", "yes")
    seen = session_keys(session("parent", long, short))
    copied = without_known(session("copy", long, short), seen)
    assert copied.turns == (short,)


TURNS = st.builds(
    Turn,
    line=st.just(1),
    end=st.just(1),
    who=st.sampled_from(["person", "agent", "tool"]),
    text=st.text(max_size=200),
    id=st.sampled_from(["", "a", "b", "c"]),
)


@given(turns=st.lists(TURNS))
def test_reading_the_same_again_adds_nothing_that_can_be_named(turns: list[Turn]) -> None:
    """The first reading keeps all; a second one keeps only turns that have no name."""
    whole = session("s", *turns)
    assert without_known(whole, frozenset()).turns == tuple(turns)
    again = without_known(whole, session_keys(whole))
    assert all(not turn_keys(turn) for turn in again.turns)
    assert session_keys(again) <= session_keys(whole)
