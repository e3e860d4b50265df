"""The person asked for something to be remembered, or stated a rule that holds always.

Silent on: questions ("do you remember"), what was always or never the case, text that the person only pasted, and long
task descriptions, where "must always" is a product's requirement and no rule for the agent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from detectors.evidence import has_person, is_person, lines_of
from detectors.person_words import asks_to_remember, asks_to_save, states_a_rule
from detectors.sentences import sentences
from index.records import Episode, Session, Turn

LONGEST_ORDER = 4000
LONGEST_RULE = 700
MOST_SAVED = 4
_PASTED = re.compile(r"(?m)^.{0,80}(?:Traceback \(most|\w*(?:Error|Exception): )|^\s{2,}at \S|^ {0,4}(?:➜|❯) ")


def detect(session: Session) -> Iterator[Episode]:
    """Each message of the person with such an order; a refusal's words count as well."""
    if not has_person(session):
        return
    seen: set[str] = set()
    for at, turn in enumerate(session.turns):
        found = remembered(turn)
        key = " ".join(found).lower()
        if not found or key in seen:
            continue
        seen.add(key)
        yield Episode("explicit_memory", session.key, lines_of(session, (at,)), (at,), "the person asked to keep this")


def remembered(turn: Turn) -> list[str]:
    """The sentences of a turn that the person wants kept, in order."""
    if turn.sidechain:
        return []
    words = turn.said if turn.refused else turn.text if is_person(turn) else ""
    if not words or len(words) > LONGEST_ORDER:
        return []
    said = sentences(words)
    if any(asks_to_save(one) for one in said) and len(said) > 1:
        return [one for one in said if not asks_to_save(one)][:MOST_SAVED]
    # A rule stands at the head of a message that goes on with a pasted output.
    pasted = _PASTED.search(words)
    prose = sentences(words[: pasted.start()] if pasted else words)
    short = (pasted.start() if pasted else len(words)) <= LONGEST_RULE
    return [s for s in said if asks_to_remember(s) or (short and s in prose and states_a_rule(s))]
