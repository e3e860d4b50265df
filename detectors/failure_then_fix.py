"""A command failed, something was changed, and the same check passed.

Silent on: test-driven work (a test written first, made to pass by the code it tests), a command tried again unchanged,
failures whose fix was never seen to work, and all that detectors/evidence.py does not count as a failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from detectors.evidence import (
    LOOK_AHEAD,
    checks_of,
    error_of,
    failures,
    gone,
    is_edit,
    is_shell,
    is_statement,
    lines_of,
    puts_in_place,
    same_check,
    teaches,
)
from index.records import Episode, Session, Turn

_TEST_PATH = re.compile(
    r"(?:^|[/\\])(?:tests?|specs?|__tests__|e2e)[/\\]|(?:^|[/\\_.-])(?:test|spec)[_.-]|[_.-](?:test|"
    r"spec)s?\.\w{1,5}$|Test\w{0,20}\.\w{1,5}$"
)
_RED = re.compile(
    r"\b(?:red(?: phase|/green|-green)?|tdd|test[- ]first|failing tests? first|should (?:now )?fail|"
    r"expected to fail|expect(?:ed)? (?:it |this |them )?to fail|"
    r"(?:verify|confirm|make sure|see|watch) (?:that )?(?:it|they|the (?:new )?tests?) fails?|as expected)\b",
    re.IGNORECASE,
)


def detect(session: Session) -> Iterator[Episode]:
    """Each failure whose error was gone at the next run of the same check, with the changes made in between."""
    if not teaches(session):
        return
    seen: set[tuple[str, str]] = set()
    for at in failures(session):
        found = resolve(session, at)
        if found is None:
            continue
        changes, check = found
        failed = session.turns[at]
        mark = (error_of(failed), checks_of(failed.command)[-1] if checks_of(failed.command) else failed.command[:80])
        if mark in seen or _is_test_first(session, at, changes):
            continue
        seen.add(mark)
        said = tuple(i for i in range(at + 1, check) if is_statement(session.turns[i]))
        turns = tuple(sorted({at, *said, *changes, check}))
        passed = session.turns[check].outcome == "passed"
        ending = "it passed" if passed else "this error was gone"
        reason = f"`{_short(failed.command or failed.tool)}` failed, {_how(session, changes)}, then {ending}"
        yield Episode("failure_then_fix", session.key, lines_of(session, turns), turns, reason, at, changes, check)


def resolve(session: Session, at: int) -> tuple[tuple[int, ...], int] | None:
    """(what was changed, the run that showed the error gone) for the failure at a position, or None.

    Changes made before a further run with the same error did not help and are not counted.
    """
    failed = session.turns[at]
    signature = error_of(failed)
    changes: list[int] = []
    between: list[int] = []
    for later in range(at + 1, min(len(session.turns), at + LOOK_AHEAD)):
        turn = session.turns[later]
        if is_edit(turn):
            changes.append(later)
        if not is_shell(turn) and not (turn.tool and turn.tool == failed.tool and turn.action == failed.action):
            continue
        if not _runs_again(failed, turn):
            if turn.outcome == "passed" and (checks_of(turn.command) or puts_in_place(turn.command)):
                between.append(later)
            continue
        if turn.outcome == "failed":
            if gone(signature, turn.text) and changes:
                return tuple(changes), later
            if not gone(signature, turn.text):
                changes, between = [], []
            continue
        if turn.outcome != "passed":
            continue
        if changes:
            return tuple(changes), later
        if between:
            return tuple(between[-3:]), later
        if failed.command and turn.command.strip() != failed.command.strip():
            return (later,), later
        return None
    return None


def _runs_again(failed: Turn, later: Turn) -> bool:
    if failed.command or failed.action != "mcp":
        return same_check(failed.command, later.command)
    return failed.tool == later.tool


def is_test(path: str) -> bool:
    """Whether a file is a test, by its name or folder."""
    return _TEST_PATH.search(path) is not None


def _is_test_first(session: Session, at: int, changes: tuple[int, ...]) -> bool:
    """A test was written just before, the fix changed only what is no test, or the failure was announced."""
    start = max(0, at - 12)
    before = session.turns[start:at]
    if any(is_statement(turn) and _RED.search(turn.text[-600:]) for turn in before[-2:]):
        return True
    after = next((t for t in session.turns[at + 1 : at + 3] if is_statement(t)), None)
    if after is not None and re.match(
        r"^(?:good|perfect|great|expected|as expected)\b.{0,120}\bfail", after.text, re.IGNORECASE
    ):
        return True
    wrote_test = False
    for turn in before:
        if is_edit(turn):
            wrote_test = bool(turn.paths) and all(is_test(path) for path in turn.paths)
    edited = [path for i in changes for path in session.turns[i].paths if is_edit(session.turns[i])]
    return wrote_test and bool(edited) and not any(is_test(path) for path in edited)


def _how(session: Session, changes: tuple[int, ...]) -> str:
    paths = list(dict.fromkeys(path for i in changes for path in session.turns[i].paths))
    if paths:
        return f"{', '.join(paths[:3])} changed"
    return f"`{_short(session.turns[changes[-1]].command)}` was run"


def _short(text: str) -> str:
    first = text.strip().split("\n", 1)[0]
    return first if len(first) <= 80 else first[:79] + "…"
