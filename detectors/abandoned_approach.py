"""Something was tried, did not do, and was taken back.

Silent on: files put back to look at a difference, generated files restored, changes of mind without a reason, and slips
put right at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from detectors.agent_words import cause_weight
from detectors.evidence import is_person, is_statement, lines_of, taken_back, teaches
from detectors.sentences import either, has_literal, sentences
from index.records import Episode, Session

_SAID = either(r"""
    \b(?:revert(?:ing|ed)?|undo(?:ing)?|abandon(?:ing|ed)?|(?:a )?different approach|another approach|dead end)\b
    \b(?:roll(?:ing|ed)? (?:it |this |that )?back|back(?:ing|ed)? (?:it |this |that )?out|go(?:ing)? back to|went back to)\b
    \b(?:won'?t|doesn'?t|didn'?t|not going to) work\b|\bdrop(?:ping)? (?:this|that|the) (?:approach|idea|\w+)\b
    \b(?:put(?:ting)?|tak(?:e|ing)) (?:it|this|that|the \w+|them) back\b|\bback to square one\b|\bscrap(?:ping)? (?:this|that)\b
    换(?:一?个|种)(?:方法|思路)|回滚|撤销|別の方法|やめて|되돌리
""")  # noqa: E501 - one alternative a line
# Where a statement only says how it went, this is the reason.
_OUTCOME = re.compile(
    r"\b(?:slower|worse|heavier|no faster|no better|not help|made it|breaks?|broke|only moves|same error|still fails|"
    r"too (?:slow|large|complex|fragile|brittle)|conflicts? with|incompatible)\b",
    re.IGNORECASE,
)
REACH = 40
LONGEST_ORDER = 500


def detect(session: Session) -> Iterator[Episode]:
    """Each group of edits that was taken back at one point, with the statement or the order that gives the reason."""
    if not teaches(session):
        return
    undone = taken_back(session)
    for back in sorted(set(undone.values())):
        tried = [at for at, when in undone.items() if when == back and at != back]
        at: int | None = _reason_at(session, tried, back) if tried else None
        if at is None:
            continue
        turns = tuple(sorted({*tried[-3:], at, back}))
        reason = "an approach was tried, given up for a reason and taken back"
        yield Episode("abandoned_approach", session.key, lines_of(session, turns), turns, reason, None, (back,))


def _reason_at(session: Session, tried: list[int], back: int) -> int | None:
    """Where it is said why: by the agent between the last attempt and just after the taking back, or by the person."""
    start = max(tried[-1] + 1, back - REACH)
    near = [*range(back - 1, start - 1, -1), *range(back + 1, min(back + 3, len(session.turns)))]
    at: int
    for at in near:
        turn = session.turns[at]
        if is_statement(turn) and gives_up(turn.text):
            return at
        if is_person(turn) and at < back and len(turn.text) < LONGEST_ORDER and _SAID.search(turn.text):
            return at if reasons(turn.text, order=False) else None
    return None


def gives_up(text: str) -> bool:
    """Whether a statement gives something up, or says that it did no good, and why."""
    said = sentences(text, 12)
    given_up = any(_SAID.search(sentence) or _OUTCOME.search(sentence) for sentence in said)
    return given_up and bool(reasons(text))


def reasons(text: str, order: bool = True) -> list[str]:
    """The sentences that say why something did not do: exact, and naming a cause or an outcome.

    Without `order` every exact sentence beside the order itself counts: a person who takes something back says why.
    """
    said = [one for one in sentences(text, 12) if has_literal(one)]
    if not order:
        return [one for one in said if not _SAID.search(one)]
    return [one for one in said if cause_weight(one) or _OUTCOME.search(one)]
