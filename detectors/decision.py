"""A choice between two ways, with its reason: the person's, or one of the agent's that was then followed.

Silent on: choices without a named alternative or without a reason, plans that nothing came of, and lists of options.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from detectors.evidence import is_edit, is_person, is_statement, lines_of, teaches
from detectors.person_words import approves
from detectors.sentences import LITERAL, either, sentences
from index.records import Episode, Session

_CHOICE = either(r"""
    \b(?:we|i)(?:'ll| will| should| decided to| chose to| went with|'re going with| are going with)?\b.{0,140}\b(?:instead of|rather than|over)\b
    \bprefer\b.{0,140}\b(?:over|to|instead)\b
    \b(?:use|using|keep|keeping|chose|choose|went with|going with|decided on|stick(?:ing)? with)\b.{2,140}\b(?:instead of|rather than|over)\b
    \bthe (?:right|better|simpler|simplest) (?:choice|option|tool|approach) (?:is|here)\b
    而不是|ではなく|대신
""")  # noqa: E501 - one alternative a line
LONGEST = 700
_SETTLES = either(r"""
    \b(?:let'?s|lets|we(?:'ll| will| should| can)?|i(?:'d| would| will|'ll)?(?: rather)?|please|ok(?:ay)?,?|then|yes,?) ?(?:just )?(?:go(?:ing)? with|stick(?:ing)? (?:with|to)|settle (?:on|for)|keep to|prefer|opt for|choose|pick|went with|decided (?:on|to|for|against))\b
    \b(?:let'?s|we(?:'ll| will)?|i(?:'d| would)?) (?:use|keep|take|do|store|put|run|write|have)\b.{2,120}\b(?:instead of|rather than|over|and not|not)\b
    ^(?:go|stick|stay) with\b|^(?:use|prefer|keep|take)\b.{2,120}\b(?:instead of|rather than|over|and not)\b
    \bwe (?:decided|agreed) (?:to|on|that|against|for)\b
""")  # noqa: E501 - one alternative a line
_GROUNDS = re.compile(
    r"\b(?:because|since|so that|as (?:it|they|that|this|we|the|\w+ (?:is|are|has|have|does|can)))\b|, otherwise\b",
    re.I,
)
# What weighs one way against another without a "because".
_WEIGHED = (
    r"overkill|simpler|easier|faster|cheaper|safer|slower|smaller|lighter|heavier|harder|too (?:\w+)|no need|not worth|"
    r"already (?:has|have|use|run|had|there)|fewer|less|avoids?|saves?|keeps? (?:us|it|the)|"
    r"doesn'?t (?:support|scale|work|need)|"
    r"can'?t|cannot|won'?t|don'?t need|breaks?|unmaintained|deprecated|one less|enough"
)
_JUDGES = re.compile(rf"^(?:it|they|that|this|we|the|[\w.`-]+)(?:'s|'re)? .{{0,80}}\b(?:{_WEIGHED})\b", re.IGNORECASE)
_JUDGED_CLAUSE = re.compile(
    rf"(?:, | [—–-] |; |: )(?:it|they|that|this|we|the|[\w.`-]+)(?:'s|'re)? .{{0,60}}\b(?:{_WEIGHED})\b", re.IGNORECASE
)
_REASON = re.compile(
    r"\b(?:because|since|so that|as it|in order to|to avoid|which (?:avoids|keeps|means))\b|因为|ため|때문|:",
    re.IGNORECASE,
)


def detect(session: Session) -> Iterator[Episode]:
    """Each such statement that an edit naming one of its literals followed."""
    if not teaches(session):
        return
    for at, turn in enumerate(session.turns):
        if is_person(turn) and not session.subagent and persons_choice(turn.text):
            reason = "the person chose between ways and said why"
            yield Episode("decision", session.key, lines_of(session, (at,)), (at,), reason)
        if not is_statement(turn):
            continue
        chosen = next((s for s in sentences(turn.text, 40) if is_choice(s)), "")
        if not chosen:
            continue
        names = [name.strip("`").lower() for name in LITERAL.findall(chosen)]
        change = _followed(session, at, names)
        if not change or any(later.refused for later in session.turns[at : change[-1] + 1]):
            continue
        turns = tuple(sorted({at, *change}))
        reason = "a choice, its reason, and what was written for it"
        yield Episode("decision", session.key, lines_of(session, turns), turns, reason, None, change)


def persons_choice(text: str) -> list[str]:
    """The sentence of a person's message that settles on one way, with its reason; long messages are tasks.

    The reason stands in the sentence, or in the next one where that judges: none without one.
    """
    if len(text) > LONGEST:
        return []
    said = sentences(text)
    for at, one in enumerate(said):
        if not _SETTLES.search(one) or one[-1] == "?":
            continue
        if _GROUNDS.search(one):
            return [one]
        after = next(iter(said[at + 1 : at + 2]), "")
        if _JUDGES.search(after) and after[-1] != "?" and not _SETTLES.search(after):
            return [one, after]
        if _JUDGED_CLAUSE.search(one):
            return [one]
    return []


def is_choice(sentence: str) -> bool:
    """Whether a sentence chooses one named thing over another for a reason."""
    return (
        _CHOICE.search(sentence) is not None
        and _REASON.search(sentence) is not None
        and len(LITERAL.findall(sentence)) >= 1
        and not sentence.rstrip().endswith("?")
    )


def _followed(session: Session, at: int, names: list[str]) -> tuple[int, ...]:
    found = []
    for later in range(at + 1, min(len(session.turns), at + 14)):
        turn = session.turns[later]
        if is_person(turn) and not approves(turn.text):
            break
        if is_edit(turn) and any(name.split("(")[0] in turn.change.lower() for name in names if len(name) > 3):
            found.append(later)
    return tuple(found[:4])
