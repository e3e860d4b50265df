"""A choice between two ways, with its reason: the person's, or one of the agent's that was then followed.

A person's few words ("2", "yes, the second") choose among the ways that the agent had laid out. Silent on: choices
without a named alternative or without a reason, plans that nothing came of, and lists of work to come.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from detectors.evidence import is_edit, is_person, is_statement, lines_of, teaches, words_of
from detectors.options import Option, options_in, picked, recommended
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
LONGEST_PICK = 80
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
# What is said for one of several ways.
_FOR_IT = re.compile(
    rf"\b(?:{_WEIGHED})\b|\b(?:no|without|never|nothing) \w+|"
    r"\bso (?:that )?(?:it|they|we|the|users?|each|every|no)\b|\bcan be \w+ed\b"
    r"|\b(?:safe|robust|reliable|clean|flexible|portable|consistent|atomic|idempotent|recommended|scales?|survives?|"
    r"limits|matches|fits|reduces|prevents|improves|isolates|simplif\w+)\b"
    r"|ので|ため|から|不要|簡単|因为|所以|不需要|避免|更|때문|므로|필요 ?없|sodass|damit|weil|pour que|porque",
    re.IGNORECASE,
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
        if is_person(turn) and not session.subagent and (choice := picked_option(session, at)) is not None:
            change = _written_for(session, at, choice[1])
            if change:
                turns = (choice[0], at, *change)
                reason = "the person picked one of the ways laid out"
                yield Episode("decision", session.key, lines_of(session, turns), turns, reason, None, change)
        if not is_statement(turn):
            continue
        bound = _bound(session, at)
        if bound:
            turns = tuple(sorted({at, *bound}))
            change = tuple(i for i in bound if is_edit(session.turns[i]))
            reason = "what the work may not do here, and the way that was taken for it"
            yield Episode("decision", session.key, lines_of(session, turns), turns, reason, None, change)
        chosen = next((s for s in sentences(turn.text, 40) if is_choice(s)), "")
        if not chosen and _agreed(session, at):
            chosen = next((s for s in sentences(turn.text, 12) if is_choice(s, plain=True)), "")
        if not chosen:
            continue
        names = [name.strip("`").lower() for name in LITERAL.findall(chosen)]
        names = names or [word.removesuffix("s") for word in words_of(chosen) if len(word) > 5]
        change = _followed(session, at, names) or (_edits_after(session, at) if _agreed(session, at) else ())
        if not change or any(later.refused for later in session.turns[at : change[-1] + 1]):
            continue
        turns = tuple(sorted({at, *change}))
        reason = "a choice, its reason, and what was written for it"
        yield Episode("decision", session.key, lines_of(session, turns), turns, reason, None, change)


def picked_option(session: Session, at: int) -> tuple[int, Option, list[Option]] | None:
    """(where the ways were laid out, the one that the person's words at a position pick, the others), with a reason.

    None where the words pick none, or nothing is said for the one that they pick.
    """
    words = session.turns[at].text
    if len(words) > LONGEST_PICK:
        return None
    before = next((i for i in range(at - 1, max(-1, at - 6), -1) if is_statement(session.turns[i])), None)
    if before is None or any(is_person(turn) for turn in session.turns[before:at]):
        return None
    options = options_in(session.turns[before].text)
    which = picked(words, options, recommended(session.turns[before].text)[0])
    if which is None or not speaks_for(options[which].text):
        return None
    return before, options[which], [option for place, option in enumerate(options) if place != which]


def speaks_for(option: str) -> bool:
    """Whether what is said of a way says what speaks for it."""
    return any(pattern.search(option) for pattern in (_GROUNDS, _FOR_IT))


def _written_for(session: Session, at: int, option: Option) -> tuple[int, ...]:
    """The edits after a choice, up to the person's next message, that write of what was chosen; at most four."""
    wanted = {word.rstrip("s") for word in words_of(option.text)}
    found: list[int] = []
    for later in range(at + 1, min(len(session.turns), at + 30)):
        turn = session.turns[later]
        if is_person(turn) or turn.refused:
            break
        changed = "\n".join([turn.change[:6000], *turn.paths]).lower()
        exact = [literal.strip("`").lower() for literal in LITERAL.findall(option.text)]
        if is_edit(turn) and (
            not option.text.isascii()
            or any(word in changed for word in exact if len(word) > 2)
            or sum(word in changed for word in wanted) >= 1
        ):
            found.append(later)
    return tuple(found[:4])


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


# Limits of a code base that hold beyond the moment.
_LASTING = (
    r"circular|cyclic|import cycle|dependency cycle|not exported|unexported|is private|are private|internal package|"
    r"read-?only|immutable|is generated|are generated|auto-?generated|gets? overwritten|regenerated|"
    r"not available (?:in|on|to|at)|only available (?:in|on|to|from|since)|not supported (?:in|on|by)|"
    r"does(?:n'?t| not) support|shared (?:by|with|between|across)|run in parallel|no access to|sandboxed|"
    r"server[- ]only|client[- ]only|rate[- ]limit\w*"
)
_NOT_ALLOWED = ("can't", "cannot", "can not", "must not", "mustn't", "shouldn't", "may not", "can’t")
_BOUND = re.compile(
    rf"\b(?:i|we|it|you|they|the \w+) (?:can'?t|cannot|can not|must not|mustn'?t|shouldn'?t|may not)\b"
    rf"(?=[^\n]{{0,220}}(?:{_LASTING}))|(?:{_LASTING})"
    r"(?=[^\n]{0,160}\b(?:i|we|it|you) (?:can'?t|cannot|can not|must not)\b)",
    re.IGNORECASE,
)


def binding(text: str) -> str:
    """The sentence of a statement that says what cannot be done here, for a reason that lasts; "" without one."""
    if not any(word in text for word in _NOT_ALLOWED):
        return ""
    return next((one for one in sentences(text, 12) if _BOUND.search(one) and one[-1] not in "?:"), "")


def _bound(session: Session, at: int) -> tuple[int, ...]:
    """The statements that say which way was taken because of a limit told at a position, and the edits for it."""
    if not binding(session.turns[at].text):
        return ()
    said: list[int] = []
    change: list[int] = []
    for later in range(at + 1, min(len(session.turns), at + 14)):
        turn = session.turns[later]
        if is_person(turn) or turn.refused:
            break
        if is_statement(turn) and not change and len(said) < 2:
            said.append(later)
        if is_edit(turn):
            change.append(later)
    return (*said, *change[:4]) if change else ()


def _agreed(session: Session, at: int) -> bool:
    """Whether the person's next words, right after a statement, agree to it."""
    after = next(iter(session.turns[at + 1 : at + 2]), None)
    return after is not None and is_person(after) and len(after.text) < LONGEST_PICK and approves(after.text)


def is_choice(sentence: str, plain: bool = False) -> bool:
    """Whether a sentence chooses one named thing over another for a reason; with `plain` in words, not in code."""
    return (
        _CHOICE.search(sentence) is not None
        and _REASON.search(sentence) is not None
        and (plain or len(LITERAL.findall(sentence)) >= 1)
        and not sentence.rstrip().endswith("?")
    )


def _written(name: str, change: str) -> bool:
    """Whether a change holds a name, or all words of one of several."""
    words = name.split()
    return name.partition("(")[0] in change or (len(words) > 1 and all(word in change for word in words))


def _edits_after(session: Session, at: int) -> tuple[int, ...]:
    """The edits after a statement that the person agreed to right away, up to their next message; at most two."""
    found: list[int] = []
    for later in range(at + 2, min(len(session.turns), at + 14)):
        if is_person(session.turns[later]):
            break
        if is_edit(session.turns[later]):
            found.append(later)
    return tuple(found[:2])


def _followed(session: Session, at: int, names: list[str]) -> tuple[int, ...]:
    found = []
    for later in range(at + 1, min(len(session.turns), at + 14)):
        turn = session.turns[later]
        if is_person(turn) and not approves(turn.text):
            break
        if is_edit(turn) and any(_written(name, turn.change.lower()) for name in names if len(name) > 3):
            found.append(later)
    return tuple(found[:4])
