"""Something was tried, said not to do, and taken back.

Silent on: files put back to look at a difference, generated files restored, and changes of mind without a reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from detectors.agent_words import cause_weight
from detectors.evidence import is_edit, is_person, is_shell, is_statement, lines_of, teaches
from detectors.sentences import either, has_literal, sentences
from index.records import Episode, Session

_TAKE_BACK = re.compile(
    r"\bgit (?:-C \S{1,200} )?(?:checkout (?:HEAD |\S{1,60} )?-- |restore (?!--staged)|reset --hard|revert )|"
    r"\bgit stash (?:drop|push|save)?\b"
)
_SAID = either(r"""
    \b(?:revert(?:ing|ed)?|undo(?:ing)?|abandon(?:ing|ed)?|(?:a )?different approach|another approach|dead end)\b
    \b(?:roll(?:ing|ed)? (?:it |this |that )?back|back(?:ing|ed)? (?:it |this |that )?out|go back to|went back to)\b
    \b(?:won'?t|doesn'?t|didn'?t|not going to) work\b|\bdrop(?:ping)? (?:this|that) (?:approach|idea)\b
    换(?:一?个|种)(?:方法|思路)|回滚|撤销|別の方法|やめて|되돌리
""")
REACH = 40


def detect(session: Session) -> Iterator[Episode]:
    """Each statement that gives up an approach for a reason, with the edits that were taken back."""
    if not teaches(session):
        return
    for at, turn in enumerate(session.turns):
        if not is_statement(turn) or not gives_up(turn.text):
            continue
        tried = [i for i in range(max(0, at - REACH), at) if is_edit(session.turns[i])]
        back = _taken_back(session, at, tried)
        if not tried or back is None:
            continue
        turns = tuple(sorted({*tried[-3:], at, back}))
        reason = "an approach was tried, given up for a reason and taken back"
        yield Episode("abandoned_approach", session.key, lines_of(session, turns), turns, reason, None, (back,))


def gives_up(text: str) -> bool:
    """Whether a statement gives something up and says why, naming it exactly."""
    said = sentences(text, 12)
    given_up = any(_SAID.search(sentence) for sentence in said)
    return given_up and any(cause_weight(sentence) and has_literal(sentence) for sentence in said)


def _taken_back(session: Session, at: int, tried: list[int]) -> int | None:
    """The command or the inverse edit that undid the attempt, before the person's next message."""
    wrote = {line[1:].strip() for i in tried for line in session.turns[i].change.split("\n") if line.startswith("+")}
    wrote = {line for line in wrote if len(line) > 8}
    for later in range(at + 1, min(len(session.turns), at + 10)):
        turn = session.turns[later]
        if is_person(turn):
            return None
        if is_shell(turn) and turn.outcome == "passed" and _TAKE_BACK.search(turn.command):
            return later
        if is_edit(turn):
            gone = {line[1:].strip() for line in turn.change.split("\n") if line.startswith("-")}
            kept = {line[1:].strip() for line in turn.change.split("\n") if line.startswith("+")}
            if len((gone - kept) & wrote) >= 2:
                return later
    return None
