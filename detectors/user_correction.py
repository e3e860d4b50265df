"""The person turned the agent's way down and said what it should be.

Silent on: refusals without words, stop and go on, what concerns only the moment, questions that the agent answers
without giving in, and complaints that something does not work yet (those are failures).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from detectors.agent_words import concedes, is_order, yields
from detectors.evidence import has_person, is_edit, is_person, is_shell, is_statement, lines_of
from detectors.person_words import (
    approves,
    contradicts,
    is_general,
    is_one_off,
    is_task,
    is_trivial,
    prohibits,
    rejects,
)
from detectors.sentences import either, has_literal, sentences
from index.records import Episode, Session

# Longer messages are tasks and pasted texts; a correction is said in a few sentences.
LONGEST = 900
LONGEST_UNPROMPTED = 500
LEAST_WEIGHT = 4
# What the program did, in place of what the agent should do.
REPORT = either(r"""
    Traceback|Error:|\bexited\b|\bcrash|\bbug\b|버그|バグ|报错|没有显示
    \bi(?:'m| am)? (?:still )?(?:get|got|getting|see|saw|tried|don'?t see|didn'?t see|can'?t see)\b
""")


_TAKE_BACK = either(r"""
    (?:please |no[,.]? )?(?:revert|undo|roll back|back out|take back)\b
""")


# How an agent tells itself what the person meant, where it does not answer them.
_RESTATES = re.compile(
    r"\b(?:the user|the person|you) (?:wants?|(?:would |'d )(?:prefer|like|rather)|prefers?|asked?|means?)\b.{3,160}"
    r"\b(?:instead of|rather than|not|without)\b",
    re.IGNORECASE,
)


def detect(session: Session) -> Iterator[Episode]:
    """Each refusal with words, and each message that corrects what the agent did or claimed, with the answer to it."""
    if not has_person(session):
        return
    for at, turn in enumerate(session.turns):
        if turn.sidechain:
            continue
        if turn.refused:
            where = at if turn.said.strip() else _words_after(session, at)
        else:
            where = at if is_person(turn) and _acted_before(session, at) and not _just_refused(session, at) else None
        if where is None:
            continue
        words = session.turns[where].said if session.turns[where].refused else session.turns[where].text
        if is_trivial(words) or len(words) > (LONGEST if turn.refused else LONGEST_UNPROMPTED) or _is_handover(words):
            continue
        answers = _answers(session, where)
        given = next((i for i in answers if yields(session.turns[i].text)), answers[0] if answers else None)
        reply = session.turns[given].text if given is not None else ""
        if weigh(words, reply, turn.refused and (where == at or turn.action == "edit")) < LEAST_WEIGHT:
            continue
        # What follows a refused command is the work that goes on, not what the words were about.
        change = () if turn.refused and turn.action == "shell" else _changes_after(session, where)
        turns = tuple(sorted({at, where, *([given] if given is not None else []), *change}))
        reason = "the person refused a change and said why" if turn.refused else "the person corrected the agent"
        yield Episode(
            "user_correction",
            session.key,
            lines_of(session, turns),
            turns,
            reason,
            at if turn.refused else None,
            change,
        )


def weigh(words: str, answer: str, refused: bool) -> int:
    """How much a message reads like a correction that holds beyond the moment."""
    weight = 3 * refused + 2 * contradicts(words) + 2 * is_general(words) + has_literal(words)
    granted = yields(answer) or _RESTATES.search(answer[:600]) is not None
    weight += 2 * (granted and (contradicts(words) or is_general(words)))
    weight += 3 * (_TAKE_BACK.match(words) is not None and is_general(words))
    if not refused:
        weight += 2 * prohibits(words) + 2 * rejects(words) - 4 * approves(words)
        argued = concedes(answer) and argues(words)
        weight += 4 * argued
        tasks = 0 if argued else 3 * any(is_task(one) for one in sentences(words)[1:])
        weight -= 6 * is_task(words) if is_task(words) else tasks
        weight -= 2 * (not granted) + 2 * (REPORT.search(words) is not None)
    if is_one_off(words) and not is_general(words):
        weight -= 3
    if len(words.split()) < 4 and not has_literal(words) and words.isascii():
        weight -= 2
    if not refused and words.rstrip().endswith("?") and len(sentences(words)) == 1 and not yields(answer):
        weight -= 2
    return weight


def argues(words: str) -> bool:
    """Whether a message says in a sentence how things are, and in another what is to be done."""
    said = sentences(words)
    states = [one for one in said if len(one.split()) > 3 and not is_order(one) and not is_task(one) and one[-1] != "?"]
    orders = [one for one in said if is_order(one)]
    return bool(states and orders) and REPORT.search(words) is None


def _is_handover(words: str) -> bool:
    return is_one_off(words) and not is_general(words)


def _words_after(session: Session, at: int) -> int | None:
    """Where the person says, right after a refusal, what was wrong."""
    for later in range(at + 1, min(len(session.turns), at + 4)):
        turn = session.turns[later]
        if is_person(turn):
            return later
        if turn.who == "tool" and not turn.refused:
            return None
    return None


def _just_refused(session: Session, at: int) -> bool:
    return any(turn.refused for turn in session.turns[max(0, at - 3) : at])


def _acted_before(session: Session, at: int) -> bool:
    """Whether the agent had said or done something since the person's last message."""
    for turn in reversed(session.turns[:at]):
        if is_person(turn):
            return False
        if is_statement(turn) or is_edit(turn) or is_shell(turn):
            return True
    return False


def _answers(session: Session, at: int) -> list[int]:
    """The agent's next three statements before the person speaks again."""
    found: list[int] = []
    for later in range(at + 1, min(len(session.turns), at + 12)):
        if is_person(session.turns[later]) or len(found) == 3:
            break
        if is_statement(session.turns[later]):
            found.append(later)
    return found


def _changes_after(session: Session, at: int) -> tuple[int, ...]:
    """The edits made up to the person's next message, at most six."""
    found: list[int] = []
    for later in range(at + 1, min(len(session.turns), at + 30)):
        if is_person(session.turns[later]) or len(found) == 6:
            break
        if is_edit(session.turns[later]):
            found.append(later)
    return tuple(found)
