"""Leaves out the turns that another file of the same story already gave: forks, resumes and backups copy history."""

from __future__ import annotations

import hashlib
from collections.abc import Set as AbstractSet
from dataclasses import replace

from index.records import Session, Turn

_TOO_SHORT = 80


def turn_keys(turn: Turn) -> tuple[str, ...]:
    """The name under which a turn is known again: its record's id with a hash of what it says, since some agents count
    their ids anew in each session. Without an id a short text ("yes") has no name: it stands in many places.
    """
    said = f"{turn.who}\0{turn.command or turn.change}\0{turn.text}"
    if not turn.id and len(said) <= _TOO_SHORT:
        return ()
    return (f"{turn.id}:{hashlib.sha256(said.encode('utf-8', errors='replace')).hexdigest()}",)


def session_keys(session: Session) -> frozenset[str]:
    """The names of all turns of a session: what later sessions of the same story are held against."""
    return frozenset(key for turn in session.turns for key in turn_keys(turn))


def without_known(session: Session, seen: AbstractSet[str]) -> Session:
    """The session without the turns known from `seen`: by the record's id, or for one without an id by its text.

    Within one session nothing is dropped: the agent may say a thing twice.
    """
    kept = tuple(turn for turn in session.turns if not _is_known(turn, seen))
    return session if len(kept) == len(session.turns) else replace(session, turns=kept)


def _is_known(turn: Turn, seen: AbstractSet[str]) -> bool:
    keys = turn_keys(turn)
    return bool(keys) and keys[0] in seen
