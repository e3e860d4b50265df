"""Finds the branches that a person left by rewinding: Claude Code's records form a tree and the file keeps them all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Node(NamedTuple):
    """One record's place in the tree: its parent's id ("" for none), its line, and whether a person typed it."""

    parent: str
    line: int
    typed: bool = False


def dead_records(nodes: Mapping[str, Node], last: str) -> frozenset[str]:
    """The ids of records on branches that were left.

    The live chain leads back from the last record. Parallel tool calls also hang beside it, and two terminals on one
    session interleave: so a branch is dead only if a person typed something on it and all of it lies before the
    record with which the live chain goes on from the same place.
    """
    live_child = _live_children(nodes, last)
    branches: dict[str, list[str]] = {}
    roots: dict[str, str] = {}
    for name, node in nodes.items():
        if name in live_child:
            continue
        if node.parent in roots and name not in roots:  # as a rule a parent stands before its children
            root = roots[name] = roots[node.parent]
        else:
            root = _branch_root(name, nodes, live_child, roots)
        if root:
            branches.setdefault(root, []).append(name)
    dead: set[str] = set()
    for root, members in branches.items():
        follower = live_child.get(nodes[root].parent, "")
        typed = any(nodes[name].typed for name in members)
        if follower and typed and max(nodes[name].line for name in members) < nodes[follower].line:
            dead.update(members)
    return frozenset(dead)


def _live_children(nodes: Mapping[str, Node], last: str) -> dict[str, str]:
    """Each record of the live chain with the one that follows it there, "" for the last. Circles end the chain."""
    chain: dict[str, str] = {}
    name, child = last, ""
    while name in nodes and name not in chain:
        chain[name] = child
        name, child = nodes[name].parent, name
    return chain


def _branch_root(name: str, nodes: Mapping[str, Node], live: Mapping[str, str], roots: dict[str, str]) -> str:
    """The first record of the branch that a record is on; "" where no way leads to the live chain."""
    trail: list[str] = []
    root = ""
    while name in nodes:
        if name in roots:
            root = roots[name]
            break
        roots[name] = ""  # a circle ends here
        trail.append(name)
        if nodes[name].parent in live:
            root = name
            break
        name = nodes[name].parent
    roots.update(dict.fromkeys(trail, root))
    return root
