"""The same error came back three times or more in one session, whether it was solved in the end or not.

Silent on: errors without a telling line, and runs of one test suite whose failures differ.
"""

from __future__ import annotations

from collections.abc import Iterator

from detectors.evidence import error_of, failures, is_statement, lines_of, taken_back, teaches
from detectors.failure_then_fix import resolve
from index.records import Episode, Session

LEAST = 3


def detect(session: Session) -> Iterator[Episode]:
    """Each error that stood at least LEAST times, with its first failure and, where there is one, its fix."""
    if not teaches(session):
        return
    groups: dict[str, list[int]] = {}
    for at in failures(session):
        if signature := error_of(session.turns[at]):
            groups.setdefault(signature, []).append(at)
    undone = taken_back(session)
    for positions in groups.values():
        if len(positions) < LEAST:
            continue
        found = resolve(session, positions[-1], undone)
        changes, check = found if found else ((), None)
        said = _said_after(session, positions[-1], check)
        turns = tuple(sorted({*positions, *said, *changes, *([check] if check is not None else [])}))
        ending = "solved in the end" if found else "never solved"
        reason = f"the same error {len(positions)} times, {ending}"
        yield Episode(
            "repeated_failure", session.key, lines_of(session, turns), turns, reason, positions[0], changes, check
        )


def _said_after(session: Session, at: int, check: int | None) -> list[int]:
    end = check if check is not None else min(len(session.turns), at + 6)
    return [i for i in range(at + 1, end) if is_statement(session.turns[i])]
