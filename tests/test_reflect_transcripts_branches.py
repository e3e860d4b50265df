"""Branches that a person left are dead; parallel calls and interleaved terminals are not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reflect.transcripts.branches import Node, dead_records


def tree(*rows: tuple[str, str, bool]) -> dict[str, Node]:
    return {name: Node(parent, line, typed) for line, (name, parent, typed) in enumerate(rows, 1)}


def test_a_rewound_prompt_and_all_after_it_are_dead() -> None:
    """The person went back before b and typed d instead."""
    nodes = tree(("a", "", True), ("b", "a", True), ("c", "b", False), ("d", "a", True), ("e", "d", False))
    assert dead_records(nodes, "e") == {"b", "c"}


def test_results_of_parallel_calls_stay() -> None:
    """The first result hangs beside the chain, but nobody typed anything there."""
    nodes = tree(("a", "", True), ("b", "a", False), ("c", "b", False), ("r", "b", False), ("s", "c", False))
    assert dead_records(nodes, "s") == frozenset()


def test_two_terminals_on_one_session_both_stay() -> None:
    """Their records interleave: a branch that goes on after the other began was not left."""
    nodes = tree(("a", "", True), ("x", "a", True), ("y", "a", True), ("x2", "x", True), ("y2", "y", False))
    assert dead_records(nodes, "y2") == frozenset()


def test_circles_and_unknown_parents_end_the_search() -> None:
    """A record that is its own ancestor, or whose parent is in no line, is kept."""
    nodes = tree(("a", "a", True), ("b", "c", True), ("c", "b", True), ("d", "gone", True))
    assert dead_records(nodes, "d") == frozenset()


@given(parents=st.lists(st.integers(-1, 12), max_size=12), typed=st.lists(st.booleans(), min_size=12, max_size=12))
def test_the_last_record_and_its_ancestors_always_live(parents: list[int], typed: list[bool]) -> None:
    """Whatever the links, the chain that leads to the end of the file is never dropped."""
    nodes = {str(at): Node(str(parent), at, typed[at]) for at, parent in enumerate(parents)}
    last = str(len(parents) - 1)
    dead = dead_records(nodes, last)
    name, seen = last, set[str]()
    while name in nodes and name not in seen:
        assert name not in dead
        seen.add(name)
        name = nodes[name].parent
