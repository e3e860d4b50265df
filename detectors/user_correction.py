"""The person turned the agent's way down and said what it should be.

Silent on: refusals without words, stop and go on, what concerns only the moment, questions that the agent answers
without giving in, and complaints that something does not work yet (those are failures).
"""

from __future__ import annotations

from collections.abc import Iterator

from detectors.evidence import is_edit, is_person, is_statement, lines_of, teaches
from detectors.phrases import contradicts, has_literal, is_general, is_one_off, is_trivial, sentences, yields
from index.records import Episode, Session

# Longer messages are tasks and pasted texts; a correction is said in a few sentences.
LONGEST = 900
LEAST_WEIGHT = 4


def detect(session: Session) -> Iterator[Episode]:
    """Each refusal with words, and each message that corrects what the agent did or claimed, with the answer to it."""
    if not teaches(session):
        return
    for at, turn in enumerate(session.turns):
        if turn.sidechain:
            continue
        if turn.refused:
            where = at if turn.said.strip() else _words_after(session, at)
            if where is None:
                continue
            words = turn.said if where == at else session.turns[where].text
            weight = 3
        elif is_person(turn) and _acted_before(session, at) and not _just_refused(session, at):
            where, words, weight = at, turn.text, 0
        else:
            continue
        if is_trivial(words) or len(words) > LONGEST or _is_handover(words):
            continue
        answer = _answer(session, where)
        weight += weigh(words, session.turns[answer].text if answer is not None else "")
        if weight < LEAST_WEIGHT:
            continue
        change = _changes_after(session, where)
        turns = tuple(sorted({at, where, *([answer] if answer is not None else []), *change}))
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


def weigh(words: str, answer: str) -> int:
    """How much a message reads like a correction that holds beyond the moment."""
    weight = 2 * contradicts(words) + 2 * is_general(words) + has_literal(words)
    weight += 2 if yields(answer) and contradicts(words) else 0
    weight -= 3 if is_one_off(words) and not is_general(words) else 0
    weight -= 2 if len(words.split()) < 4 and not has_literal(words) and words.isascii() else 0
    if words.rstrip().endswith("?") and len(sentences(words)) == 1 and not yields(answer):
        weight -= 2
    return weight


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
        if is_statement(turn) or is_edit(turn):
            return True
    return False


def _answer(session: Session, at: int) -> int | None:
    for later in range(at + 1, min(len(session.turns), at + 6)):
        if is_statement(session.turns[later]):
            return later
        if is_person(session.turns[later]):
            return None
    return None


def _changes_after(session: Session, at: int) -> tuple[int, ...]:
    """The edits made up to the person's next message, at most six."""
    found: list[int] = []
    for later in range(at + 1, min(len(session.turns), at + 30)):
        if is_person(session.turns[later]) or len(found) == 6:
            break
        if is_edit(session.turns[later]):
            found.append(later)
    return tuple(found)
