"""Whether a lesson was overruled later in its session: the person turned down what it says to do."""

from __future__ import annotations

import re

from detectors.evidence import is_person
from index.records import Episode, Session
from reflect.draft import Draft
from reflect.quotes import names_in

LONGEST = 900
# What stands behind these words is what is not wanted any more.
_AWAY = re.compile(
    r"\b(?:instead of|rather than|in place of|and not|not|don'?t (?:use|want|need)|do not (?:use|want|"
    r"need)|never(?: use)?|"
    r"no (?:more|longer)|stop using|forget(?: about)?|drop|remove|get rid of|replace|away from|without|undo|revert|"
    r"take (?:out|back)|scrap|ditch|no need for)\s+(?:the |that |this |all |any |your |it |using )*"
    r"([`\"']?[\w@][\w@./:+-]{2,60}[`\"']?(?:\(\))?)",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\b(?:undo|revert|take back|roll back|scrap) (?:that|this|it|the last (?:change|commit|edit))\b|"
    r"\bi (?:undid|reverted|rolled back)\b|\b(?:that|this) was wrong\b|\bforget what i said\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w@][\w@./:+-]*")
_COMMON = frozenset(
    "that this them with from file files test tests code change changes yet sure actually really "
    "again already still maybe please think when where what works work always never".split()
)


def overruled(session: Session, made: Draft, episode: Episode) -> bool:
    """Whether words of the person after an episode turn down something that its draft says to do.

    What the draft itself advises against may be turned down again: that is no contradiction.
    """
    refused = frozenset(name for text in (made.title, made.instead, made.fact) for name in turned_down(text))
    wanted = _words(made.title) - refused
    last = max(episode.turns)
    for turn in session.turns[last + 1 :]:
        words = turn.said if turn.refused else turn.text if is_person(turn) else ""
        if not words or len(words) > LONGEST:
            continue
        if turned_down(words) & wanted or (
            _BACK.search(words) and (_words(words) - _COMMON) & names_in(made.title) & wanted
        ):
            return True
    return False


def turned_down(words: str) -> frozenset[str]:
    """The names that words say no to, whole."""
    return frozenset(name for found in _AWAY.findall(words) for name in _words(found)) - _COMMON


def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip(".:/+-").lower() for word in _WORD.findall(text) if len(word) > 2)
