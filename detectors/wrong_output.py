"""A command ended well, and what it printed was wrong; the agent read that, said why, changed something, ran it again.

No exit code tells of such faults and nobody reports them. Silent on: output that is empty because nothing is written
yet, changes after which the agent still sees something wrong, and faults whose cause was not told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from detectors.agent_words import cause_weight, order_in
from detectors.evidence import (
    LOOK_AHEAD,
    PROGRAM_TEXT,
    checks_of,
    is_edit,
    is_person,
    is_shell,
    is_statement,
    lines_of,
    same_check,
    taken_back,
    teaches,
    telling_line,
    words_of,
)
from detectors.failure_then_fix import CLEARS
from detectors.sentences import LITERAL, either, has_literal, sentences
from index.records import Episode, Session, Turn
from index.signature import command_parts

# How far back the run lies whose output a statement judges.
REACH_BACK = 5
_WRONG = either(r"""
    \b(?:can'?t|cannot|couldn'?t) be (?:right|correct|true)\b|\b(?:does|do|is|are|was|were)(?:n'?t| not) (?:look |seem |quite )?(?:right|correct|what|as expected|expected)\b
    (?:\b(?:is|are|was|were|looks?|seems?|comes? out|came out)|['’]s) (?:still |all |now |completely |clearly |also )?(?:wrong|incorrect|broken|garbled|mangled|off|empty|blank|missing|truncated|cut off|duplicated|doubled|reversed|stale|outdated|scrambled|null|`?None`?|`?undefined`?|`?NaN`?|zero|too (?:high|low|many|few|large|small|big|long|short|late|early|old))\b
    \bexpect(?:ed|ing)?\b.{1,100}\b(?:but|got|instead|not)\b|\bshould(?: have)? (?:be|been|show|shown|print|return|say|contain|give|have)\b.{1,80}\b(?:but|instead|not|rather)\b
    \binstead of\b|\brather than (?=[`"'“\d])|\b(?:twice|double|half|ten times|\d{1,3} ?(?:x|times)) (?:what|the|as)\b|\boff by\b|\bmismatch\w*\b|\bdiscrepancy\b
    \bslipped in\b|\bdoes(?:n'?t| not) belong\b|\bthe default\b|\bleft ?overs?\b|^only \d|^no `|\bno `[^`]+` (?:header|entry|line|row|field|key|column|output)\b|\b(?:it|that|this)(?:['’]s| is) \w+, not \w+
    \balthough\b|\bbut (?:there|we|it) (?:are|is|were|was|have|has|expect\w*) (?:only |just )?[`"\d]|\bappears? (?:twice|two|three|several)\b
    \b(?:shows?|says?|prints?|returns?|gives?|is|are) [`"'“]?(?:undefined|null|NaN|None|nil|\[object Object\])\b
    \bstill (?:says?|shows?|prints?|returns?|reports?|has|have|the (?:old|same)|uses?|contains?|lists?|points?|\d|`|at\b|includes?|missing|empty)
    \b(?:surprising|suspicious|odd|weird|strange|unexpected)(?:ly)?\b|\beven though\b|\bnot what (?:we|i|you) (?:want|expect)\w*
    \b(?:lists?|exports?|prints?|returns?|shows?|finds?|does|contains?|outputs?|gives?|matched|matches) (?:nothing|no \w+|zero|only|every|all|just|the wrong|the same)\b
    \bsame output as (?:in )?the (?:issue|report)\b|\breproduc\w+\b.{0,40}\b(?:bug|issue|problem|behavio\w*)\b|\b(?:wrong|garbled|duplicate|missing) (?:\w+ )?(?:output|value|result|order|column|row|line|character|number|total)s?\b
    不对|不正确|乱码|而不是|不应该|おかしい|文字化け|のはず|ではなく|이상|잘못|깨져
""")  # noqa: E501 - one alternative a line
_NOT_YET = either(r"""
    \b(?:yet|not implemented|skeleton|stub|placeholder|todo|next step|as expected|for now|scaffold\w*|so far)\b
    \bred\b|\btdd\b
""")


_ERROR = re.compile(
    r"\b(?:\w*error|exception|crash\w*|refused|denied|failed|failure|fatal|panic|cannot|unable|not found|"
    r"timed out)\b(?!: \(none\))",
    re.IGNORECASE,
)
_CODE_CHECK = re.compile(
    r"^(?:npm|pnpm|yarn|bun|mise|make|just|task|cargo|go|dotnet|gradlew?|mvnw?|swift|turbo|nx|uv|poetry)\b.*"
    r"(?:test|check|lint|build|vet|clippy|compile|tsc|type)|^(?:pytest|tsc|tsgo|mypy|pyright|ruff|eslint|jest|vitest|rspec|"
    r"golangci-lint|cmake|ctest|phpunit|xcodebuild|tox)\b"
)
# Commands that show what another run said.
_LOGS = re.compile(r"\blogs?\b|\bjournalctl\b|\bdescribe\b|\btail\b|\bdmesg\b|\bevents\b")
# What the agent did itself a moment ago, or took wrongly: nothing about the work.
_OWN_SLIP = either(r"""
    \bi (?:mis(?:read|understood|took|typed|remembered)|overlooked|forgot|accidentally|mistakenly|assumed|missed)\b
    \bmy (?:mistake|bad|apologies|error|typo|edit)\b|\btypo\b|\boops\b|\bapologi[sz]e\b|\bsorry\b
""")


def detect(session: Session) -> Iterator[Episode]:
    """Each wrong output once, with what was changed for it and the run that showed another one."""
    if not teaches(session):
        return
    undone = taken_back(session)
    until = -1
    for at, turn in enumerate(session.turns):
        if at <= until or not is_statement(turn):
            continue
        runs = _judged(session, at)
        if (
            not runs
            or not _comes_again(session, at, runs)
            or not (complaint(turn.text) or _reads_error(session, at, runs))
        ):
            continue
        found = _put_right(session, at, runs, set(undone))
        if found is None:
            continue
        change, shown, check = found
        until = check
        said = tuple(i for i in range(at, check) if is_statement(session.turns[i]))
        turns = tuple(sorted({shown, *said, *change, check}))
        reason = "what a command printed was wrong, and right after a change"
        yield Episode("wrong_output", session.key, lines_of(session, turns), turns, reason, shown, change, check)


def complaint(text: str) -> str:
    """The sentence of a statement that finds an output wrong, or "": none where the work is under way, or a slip."""
    said = sentences(text, 12)
    if any(_NOT_YET.search(one) or _OWN_SLIP.search(one) for one in said[:4]):
        return ""
    return next((one for one in said if _WRONG.search(one)), "")


def _comes_again(session: Session, at: int, runs: list[int]) -> bool:
    """Whether one of some runs is repeated after a position, before the person speaks."""
    for turn in session.turns[at + 1 : at + LOOK_AHEAD]:
        if is_person(turn):
            return False
        if is_shell(turn) and any(_again(session.turns[run], turn) for run in runs):
            return True
    return False


def _checks_code(turn: Turn) -> bool:
    """Whether a run builds, tests or lints and shows an error, its exit code lost in a pipe: a failure like others."""
    return any(_CODE_CHECK.search(check) for check in checks_of(turn.command)) and bool(telling_line(turn.text))


def _reads_error(session: Session, at: int, runs: list[int]) -> bool:
    """Whether a statement says exactly why of an error that stands in the output of a run that ended well."""
    text = session.turns[at].text
    said = sentences(text, 12)
    if any(_NOT_YET.search(one) or _OWN_SLIP.search(one) for one in said[:4]):
        return False
    errors = [error for run in runs if _ERROR.search(error := telling_line(session.turns[run].text))]
    quoted = any(words_of(error) & words_of(text) for error in errors)
    logged = _LOGS.search(session.turns[runs[0]].command) is not None
    return (
        (quoted or (logged and bool(errors)))
        and any(cause_weight(one) for one in said)
        and LITERAL.search(text) is not None
    )


def _judged(session: Session, at: int) -> list[int]:
    """The runs right before a statement, since the person spoke, that ended well and printed something, last first."""
    found = []
    for before in range(at - 1, max(-1, at - 1 - REACH_BACK), -1):
        turn = session.turns[before]
        if is_person(turn) or is_edit(turn):
            break
        ended_well = is_shell(turn) and turn.outcome != "failed" and bool(turn.text.strip())
        if ended_well and not PROGRAM_TEXT.search(turn.command) and not _checks_code(turn):
            found.append(before)
    return found


def _put_right(session: Session, at: int, runs: list[int], undone: set[int]) -> tuple[tuple[int, ...], int, int] | None:
    """(what was changed, the wrong run, the one with another output), where a cause or a remedy was told between."""
    change: list[int] = []
    told = session.turns[at].text
    for later in range(at + 1, min(len(session.turns), at + LOOK_AHEAD)):
        turn = session.turns[later]
        if is_person(turn) or turn.refused:
            return None
        if is_statement(turn):
            told = f"{told}\n{turn.text}"
        if is_edit(turn) and later not in undone:
            change.append(later)
        if not is_shell(turn) or PROGRAM_TEXT.search(turn.command):
            continue
        if turn.outcome == "failed":
            continue
        shown = next((run for run in runs if _again(session.turns[run], turn)), None)
        if shown is None:
            if CLEARS.search(turn.command) and (_named(told, turn.command) or _spoken_of(told, turn.command)):
                change.append(later)
            continue
        if turn.text.strip() == session.turns[shown].text.strip() or not turn.text.strip():
            continue
        retyped = turn.command.strip() != session.turns[shown].command.strip()
        if not change and not (retyped and (_named(told, turn.command) or _adds_an_option(session.turns[shown], turn))):
            continue
        after = next((t for t in session.turns[later + 1 : later + 3] if is_statement(t)), None)
        if after is not None and complaint(after.text):
            return None
        found = explains(told) or (retyped and has_literal(complaint(session.turns[at].text)))
        return (tuple(change[-6:] or [later]), shown, later) if found else None
    return None


def explains(told: str) -> bool:
    """Whether some words say exactly why, or exactly what is to be done."""
    said = sentences(told)
    return any((cause_weight(one) or order_in(one)) and has_literal(one) for one in said) or any(
        cause_weight(one) and (order_in(after) or has_literal(after)) for one, after in pairwise(said)
    )


def _again(before: Turn, later: Turn) -> bool:
    if before.command.strip() == later.command.strip() or same_check(before.command, later.command):
        return True
    # The same look, sorted, filtered or counted otherwise.
    one, other = command_parts(before.command), command_parts(later.command)
    return bool(one) and len(one) > 1 and one[0] == (other or [[]])[0]


def _spoken_of(told: str, command: str) -> bool:
    """Whether words say in plain words what a command does ("has to be restarted")."""
    return any(verb in told.lower() for verb in CLEARS.findall(command) if len(verb) > 4)


def _adds_an_option(before: Turn, later: Turn) -> bool:
    """Whether a command was given options more and is the same otherwise."""
    old, new = before.command.split(), later.command.split()
    return set(old) < set(new) and all(word.startswith("-") for word in new if word not in old)


def _named(told: str, command: str) -> bool:
    """Whether words quote something that a command has."""
    return any(part in command for literal in LITERAL.findall(told) if len(part := literal.strip("`")) > 1)
