"""A command failed, something was changed, and the same check passed.

Silent on: test-driven work (a test written first, made to pass by the code it tests), a command tried again unchanged,
slips of the agent's own last edit that were put right at once, changes that did not stand or have nothing to do with
the error, failures whose fix was never seen to work, and all that detectors/evidence.py does not count as a failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher

from detectors.agent_words import cause_weight
from detectors.environment_fact import kind_of
from detectors.evidence import (
    LOOK_AHEAD,
    checks_of,
    error_of,
    failures,
    gone,
    is_edit,
    is_failure,
    is_shell,
    is_statement,
    lines_of,
    puts_in_place,
    same_check,
    taken_back,
    teaches,
    telling_line,
    words_of,
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
_TELLS_WHY = re.compile(
    r"\b(?:because|since|due to|turns out|caused by|root cause)\b|\bthe (?:issue|problem|bug|cause) (?:is|was)\b",
    re.IGNORECASE,
)
_NOT_YET = re.compile(
    r"\b(?:not (?:yet )?implemented|isn'?t implemented|does(?:n'?t| not) exist|no such (?:function|method)|yet|"
    r"not defined|undefined|as expected|expected to fail)\b",
    re.IGNORECASE,
)
_SLIP = re.compile(
    r"\b(?:typo|oops|whoops|(?:i|we) (?:forgot|mistyped|accidentally|mis-?spelled|left (?:out|in|a|an|the)|missed)|"
    r"my (?:typo|mistake|bad|edit broke)|slip of mine|(?:mis-?typed|mis-?spelled))\b",
    re.IGNORECASE,
)
# Likeness of a line and its replacement from which the change is one of spelling.
_RESPELLED = 0.85
# What looks at a state or asks a question of it: nothing that it could have cleared.
_PROBES = re.compile(
    r"(?:^| )(?:--?version|version|test|tests|lint|check|vet|fmt|format|typecheck|tsc|ls|list|get|describe|show|status|"
    r"logs?|inspect|info|plan|whoami|ping|view|diff|blame|fetch-logs|ps|top|doctor|help|search|outdated|audit|pytest|"
    r"vitest|jest|mypy|ruff|eslint|curl|wget|compileall|python|node|ruby)(?: |$|:)"
)
# What puts something right by running: installs, starts, makes, brings up to date.
CLEARS = re.compile(
    r"\b(?:install|ci|start|up|generate|gen|codegen|build|migrate|init|login|auth|add|pull|fetch|sync|stop|down|create|"
    r"restore|merge|rebase|skip|continue|upgrade|update|setup|seed|use|enable|link|unlock|clean|prune|bootstrap|"
    r"rollback|restart|reload|reinstall|compile|reset|register|provision|apply|import|export|kill|rm|"
    r"mkdir|cp|mv|ln|chmod)\b"
)
# A shell line that changes a file.
_WRITES = re.compile(r"\bsed -i|\bperl -p?i|[^2&>\d]>>? ?[\w./~$\"'-]|\btee \S|\bpatch -p|\bgit apply\b")
# Limits of the machine, which an edit clears only where it speaks of them.
_OUTSIDE = frozenset({"network", "sandbox", "limit", "tool"})


def detect(session: Session) -> Iterator[Episode]:
    """Each failure whose error was gone at the next run of the same check, with the changes made in between."""
    if not teaches(session):
        return
    seen: set[tuple[str, str]] = set()
    undone = taken_back(session)
    for at in failures(session):
        found = resolve(session, at, undone)
        if found is None:
            continue
        changes, check = found
        failed = session.turns[at]
        mark = (error_of(failed), checks_of(failed.command)[-1] if checks_of(failed.command) else failed.command[:80])
        if _came_back(session, at, check) or _finishes_own_change(session, at, changes):
            continue
        if mark in seen or _is_test_first(session, at, changes) or is_own_slip(session, at, changes, check):
            continue
        seen.add(mark)
        said = tuple(i for i in range(at + 1, check) if is_statement(session.turns[i]))
        turns = tuple(sorted({at, *said, *changes, check}))
        passed = session.turns[check].outcome == "passed"
        ending = "it passed" if passed else "this error was gone"
        reason = f"`{_short(failed.command or failed.tool)}` failed, {_how(session, changes)}, then {ending}"
        yield Episode("failure_then_fix", session.key, lines_of(session, turns), turns, reason, at, changes, check)


def resolve(session: Session, at: int, undone: Mapping[int, int]) -> tuple[tuple[int, ...], int] | None:
    """(what was changed, the run that showed the error gone) for the failure at a position, or None.

    Changes made before a further run with the same error did not help and are not counted, nor are those that were
    taken back later (`undone`, of detectors.evidence.taken_back).
    """
    failed = session.turns[at]
    signature = error_of(failed)
    changes: list[int] = []
    returned: list[int] = []
    between: list[int] = []
    for later in range(at + 1, min(len(session.turns), at + LOOK_AHEAD)):
        turn = session.turns[later]
        if is_edit(turn) and _bears_on(session, at, turn):
            # An edit that puts back what an earlier one took out is a fix only where nothing else was changed.
            if later not in undone:
                changes.append(later)
            elif undone[later] == later:
                returned.append(later)
        if not is_shell(turn) and not (turn.tool and turn.tool == failed.tool and turn.action == failed.action):
            continue
        if not _runs_again(failed, turn):
            if (
                turn.outcome == "passed"
                and _may_clear(session, at, later)
                and not _ERROR_LINE.search(telling_line(turn.text))
            ):
                between.append(later)
            continue
        if turn.outcome == "failed":
            if not gone(signature, turn.text):
                changes, returned, between = [], [], []
                continue
            cleared = [i for i in between if CLEARS.search(session.turns[i].command)]
            if changes or returned or cleared:
                return tuple(changes or returned or cleared[-3:]), later
            if _told(session, at, later) and turn.command.strip() != failed.command.strip():
                return (later,), later
            continue
        if turn.outcome != "passed" and not _seen_gone(signature, turn):
            continue
        if changes or returned:
            return tuple(changes or returned), later
        if between:
            return tuple(between[-3:]), later
        other = turn.command.strip() != failed.command.strip() if failed.command else failed.action == "mcp"
        return ((later,), later) if other and (failed.command or _told(session, at, later)) else None
    return None


def _seen_gone(signature: str, turn: Turn) -> bool:
    """Whether a run of an agent that records no exit code printed something, and nothing that tells of a failure."""
    return (
        turn.outcome == "unknown"
        and turn.exit_code is None
        and bool(turn.text.strip())
        and gone(signature, turn.text)
        and not telling_line(turn.text)
    )


def _told(session: Session, at: int, later: int) -> bool:
    """Whether the agent spoke between a failure and a later run."""
    return any(is_statement(turn) for turn in session.turns[at + 1 : later])


def _finishes_own_change(session: Session, at: int, changes: tuple[int, ...]) -> bool:
    """Whether an error speaks of a name that the session itself took out, and the fix takes out what was left of it.

    That is the rest of a change that was under way, not something that the next reader will meet.
    """
    names = words_of(telling_line(session.turns[at].text))
    before = _words_taken_out(turn for turn in session.turns[:at] if is_edit(turn))
    shared = names & before & _words_taken_out(session.turns[i] for i in changes if is_edit(session.turns[i]))
    # A word or two of a longer line may be in it by chance, a name that it quotes is not.
    quoted = words_of(*_IN_QUOTES.findall(telling_line(session.turns[at].text)))
    return bool(shared & quoted) or (bool(shared) and 3 * len(shared) >= len(names))


_IN_QUOTES = re.compile(r"['\"`‘“]([^'\"`’”]{2,80})['\"`’”]")


def _words_taken_out(edits: Iterable[Turn]) -> frozenset[str]:
    gone: set[str] = set()
    for turn in edits:
        lines = turn.change.split("\n")
        old = words_of(*(line[1:] for line in lines if line.startswith("-")))
        gone |= old - words_of(*(line[1:] for line in lines if line.startswith("+")))
    return frozenset(gone)


def _came_back(session: Session, at: int, check: int) -> bool:
    """Whether the same command failed with the same error once more, soon after the run that did not show it.

    What was done in between was no fix then; the later failure tells its own.
    """
    failed = session.turns[at]
    signature = error_of(failed)
    later = session.turns[check + 1 : check + 1 + LOOK_AHEAD]
    return any(is_failure(t) and same_check(failed.command, t.command) and error_of(t) == signature for t in later)


def _bears_on(session: Session, at: int, edit: Turn) -> bool:
    """Whether an edit may have to do with a failure: one of the machine wants an edit that speaks of it."""
    failed = session.turns[at]
    if kind_of(failed) not in _OUTSIDE:
        return True
    line = telling_line(failed.text)
    return bool(words_of(line, failed.command) & words_of(edit.change[:6000], *edit.paths))


def _may_clear(session: Session, at: int, later: int) -> bool:
    """Whether a command that went through may have cleared a failure: it puts something in place or does something,
    or the error or the agent speaks of it."""
    command, failed = session.turns[later].command, session.turns[at]
    if puts_in_place(command) or _WRITES.search(command):
        return True
    checks = checks_of(command)
    if any(not _PROBES.search(check) for check in checks):
        return True
    said = " ".join(turn.text[-600:] for turn in session.turns[at + 1 : later] if is_statement(turn))
    return any(check in failed.text or check in said for check in checks)


def is_own_slip(session: Session, at: int, changes: tuple[int, ...], check: int) -> bool:
    """Whether a failure came from the agent's own last edit and was put right at once, by spelling or as it said.

    What it said at once decides; else the fix changes, in words hardly at all, lines that an edit just before wrote,
    and no cause is told.
    """
    said = [turn.text for turn in session.turns[at + 1 : check] if is_statement(turn)]
    if said and check - at <= 12 and _SLIP.search(said[0][:300]):
        return True
    edits = [session.turns[i] for i in changes if is_edit(session.turns[i])]
    if not edits or check - at > 8 or any(cause_weight(said_one) for said_one in said):
        return False
    wrote = {
        line[1:].strip()
        for turn in session.turns[max(0, at - 20) : at]
        if is_edit(turn)
        for line in turn.change.split("\n")
        if line.startswith("+")
    }
    return all(_respells(turn.change, wrote) for turn in edits)


def _respells(change: str, wrote: set[str]) -> bool:
    old = [line[1:].strip() for line in change.split("\n") if line.startswith("-") and line[1:].strip()]
    new = [line[1:].strip() for line in change.split("\n") if line.startswith("+") and line[1:].strip()]
    return (
        bool(old)
        and len(old) == len(new) <= 3
        and all(line in wrote for line in old)
        and all(SequenceMatcher(None, a, b, autojunk=False).ratio() > _RESPELLED for a, b in zip(old, new, strict=True))
    )


_ERROR_LINE = re.compile(r"\b[Ee]rror\b")
_INTO = re.compile(r"^\s*(?:cd|pushd) +['\"]?([^\s'\"&;|]+)")


def elsewhere(one: str, other: str) -> bool:
    """Whether two command lines first go into folders of different names: the same check is of other code there."""
    first, second = _INTO.match(one), _INTO.match(other)
    if first is None or second is None:
        return False
    left, right = (found[1].rstrip("/").rsplit("/", 1)[-1] for found in (first, second))
    return left != right and not {left, right} & {"..", ".", "-", "~"}


def shown_error(session: Session, at: int, until: int) -> str:
    """The telling line of a failure: its own, else (its output was cut) that of the next look at it in its folder."""
    failed = session.turns[at]
    own = telling_line(failed.text)
    if own:
        return own
    looks = (
        turn
        for turn in session.turns[at + 1 : until]
        if is_shell(turn) and checks_of(turn.command) and not elsewhere(failed.command, turn.command)
    )
    lines = (telling_line(turn.text) for turn in looks)
    return next((line for line in lines if _ERROR_LINE.search(line)), "")


def _runs_again(failed: Turn, later: Turn) -> bool:
    if elsewhere(failed.command, later.command):
        return False
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
        r"^(?:good|perfect|great|expected|as expected)\b.{0,120}\b(?:fail|needs? to be (?:updated|adapted|changed))",
        after.text,
        re.IGNORECASE,
    ):
        return True
    wrote_test = False
    for turn in before:
        if is_edit(turn):
            wrote_test = bool(turn.paths) and all(is_test(path) for path in turn.paths)
    edited = [path for i in changes for path in session.turns[i].paths if is_edit(session.turns[i])]
    if not (wrote_test and bool(edited) and not any(is_test(path) for path in edited)):
        return False
    return not _test_found_fault(session, at, start, edited)


def _test_found_fault(session: Session, at: int, start: int, edited: list[str]) -> bool:
    """Whether code that was written before its test turned out wrong, and the agent said why: no work led by a test."""
    written = {path for turn in session.turns[start:at] if is_edit(turn) for path in turn.paths}
    said = next((turn.text for turn in session.turns[at + 1 : at + 4] if is_statement(turn)), "")
    return set(edited) <= written and _TELLS_WHY.search(said) is not None and _NOT_YET.search(said) is None


def _how(session: Session, changes: tuple[int, ...]) -> str:
    paths = list(dict.fromkeys(path for i in changes for path in session.turns[i].paths))
    if paths:
        return f"{', '.join(paths[:3])} changed"
    return f"`{_short(session.turns[changes[-1]].command)}` was run"


def _short(text: str) -> str:
    first = text.strip().split("\n", 1)[0]
    return first if len(first) <= 80 else first[:79] + "…"
