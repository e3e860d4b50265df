"""A person's rule taken apart: what to do, what instead, why, and the commands that it forbids."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from detectors.agent_words import is_order
from detectors.sentences import LITERAL
from index.signature import command_key
from reflect.quotes import capital, clean_end, sentence, tidy
from reflect.tags import PROGRAMS

_BECAUSE = re.compile(
    r"[,;]? ?\b(?:because|since(?! (?:yesterday|today|monday|last|this|the last|v?\d))|so that|otherwise|or else|"
    r"given that|as (?=(?:it|they|that|this|we|the|\w+) (?:is|are|was|were|has|have|can|cannot|can't|does|will)\b))"
    r" ?(.{8,300})$",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r",? ?\b(?:by the way|btw|please|pls|fyi|ok|okay|from now on|in future|thanks|thx)\b,?", re.IGNORECASE
)
_VERB = (
    r"is|are|was|were|has|have|will|would|can|cannot|can't|does|doesn't|do|don't|breaks?|ends?|needs?|"
    r"holds?|goes|gets?|"
    r"wants?|expects?|got|broke|cost|lost|bit|burned|hit|tried|had|takes?|costs?|makes?|lets?|leaks?|"
    r"fails?|works?|runs?|"
    r"uses?|belongs?|lives?|contains?|depends?|means?|knows?|reads|writes|calls|checks|parses|relies|rely|returns|"
    r"sends|stores|loads|keeps|stays|assumes|ignores|rejects|forbids|caches|compares|hid|hides|builds|creates|"
    r"generates|deploys|pushes|imports|exports|handles|overwrites|deletes|bundles|publishes"
)
_SO = re.compile(
    r",? so (?=(?:that )?(?:all|we|you|please|always|never|use|write|do|run|keep|the|every)\b)", re.IGNORECASE
)
_SHOULD = re.compile(
    r"\b(?:should|must|has to|have to) (?:always )?"
    r"(?:use|go|be|come|run|live|return|throw|raise|call|take|keep|give|show|log|write|read|fail)\b",
    re.IGNORECASE,
)
_FORBIDS = re.compile(r"(?:and |but |so |please )*(?:don'?t|do not|never|stop|avoid|no more|not)\b", re.IGNORECASE)
_NO = re.compile(
    r"^(?:(?:no|nope|nein|non)(?:[,.!:;] ?|(?= (?:we|you|use|don'?t|it|that|this|i|never|always|just|please)\b) )"
    r"|(?:wrong|hmm{1,9}|but|and|so|please|also|(?:revert|undo|roll back) (?:that|this|it)"
    r"|i (?:already )?said(?: that| to)?"
    r"|i(?: have|'ve)? (?:already )?(?:told|asked) you(?: to| that)?)[,.!:; ]{1,3}){1,5}",
    re.IGNORECASE,
)
_WE = re.compile(r"^(we) (?:use|prefer|keep|write|run|call|put|don'?t|do not|never|always|only|have)\b", re.IGNORECASE)
_HAVE_TO = re.compile(r"^have to (?=\w)")
_STATES = re.compile(
    r"^(?!(?:and|but|or|so|then|not|if|when|unless|only|(?:i|we)(?:'d| would| also)? (?:want|need|like|expect))\b)"
    rf"(?:(?:they|it|that|we|you|he|she|there|this)(?:'re|'s|’re|’s|'ve) |(?:[\w`'’./-]+ ){{1,5}}(?:{_VERB})\b)",
    re.IGNORECASE,
)
_BAN = re.compile(
    r"\b(?:never|don'?t|do not|stop|avoid|no more|not|must not|mustn'?t|should not|shouldn'?t|cannot|can'?t)"
    r"(?: (?:ever|just|use|run|running|using|call|calling|do|execute|type|go|commit with|the|to)){0,3} ",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w./:@+=-]+")
# Words after a program that belong to the sentence, not to the command.
_ENDS = frozenset(
    "here in on at for to from with without by again ever directly yourself anymore any more this that "
    "these those the a "
    "an it its them and or but if when unless until because since as use instead please now manually locally outside "
    "inside before after during while is are was were not be been has have of our your my first only".split()
)
# Programs that are words of a sentence unless they stand in code.
_ENGLISH = frozenset("make just task go node bundle rake rails brew swift java tox ruby".split())


@dataclass(frozen=True, slots=True)
class Rule:
    """What to do or not (`order`), what to do in its place (`instead`) and why (`reason`); "" for what was not said."""

    order: str
    instead: str = ""
    reason: str = ""


def take_apart(said: Sequence[str]) -> Rule:
    """The parts of a rule and of the sentences that follow it: clauses that give orders, and those that say why."""
    order, instead, reason = "", "", ""
    for number, one in enumerate(said[:3]):
        rest, why = _split_reason(tidy(one) if number else as_rule(one))
        reason = reason or why
        for clause in _clauses(rest):
            bare = clean_end(_ASIDE.sub("", clause)).strip(" ,")
            if not bare or bare.endswith("?"):
                continue
            if not order:
                order = bare
            elif (is_order(_without_lead(bare)) or _SHOULD.search(bare)) and not _FORBIDS.match(bare):
                instead = instead or _without_lead(_SO.split(bare)[-1] if _SHOULD.search(bare) else bare).rstrip("!")
            elif (named := LITERAL.match(bare)) and len(bare) < len(named[0]) + 12:
                instead = instead or f"Use {bare}"
            elif _STATES.match(bare) and not _FORBIDS.match(bare):
                reason = reason or bare
            elif number == 0:
                order = f"{order}, {bare}"
    return Rule(order, instead, clean_end(_SO.split(reason)[0] if not reason.lower().startswith("so ") else reason))


def without_no(words: str) -> str:
    """A person's sentence without the no or the told-you at its start."""
    return capital(_NO.sub("", tidy(words)))


def as_rule(words: str) -> str:
    """A person's sentence as a rule: without the no or the told-you at its start, and "we use x" as "use x"."""
    bare = without_no(words)
    found = _WE.match(bare)
    return capital(_HAVE_TO.sub("", bare[found.end(1) + 1 :]) if found else bare)


def because(reason: str) -> str:
    """A person's reason as a sentence of a lesson: quoted where the person speaks of themselves."""
    if re.match(r"(?:i|i'm|my|we|our)\b", reason, re.IGNORECASE):
        return f"The person: “{reason}”."
    return sentence(capital(reason))


def _without_lead(clause: str) -> str:
    return re.sub(r"^(?:and|but|so|then|instead|rather|just|always)[, ]+", "", clause, flags=re.IGNORECASE)


def _split_reason(text: str) -> tuple[str, str]:
    found = _BECAUSE.search(text)
    if found is None or found.start() < 8:
        return text, ""
    return text[: found.start()], found[1]


def _clauses(text: str) -> list[str]:
    """The clauses of a sentence; those with a comma inside code stay whole."""
    parts, start = [], 0
    for found in re.finditer(r"; | [—–] |, ", text):
        if text[: found.start()].count("`") % 2 == 0 and text[: found.start()].count("(") == text[
            : found.start()
        ].count(")"):
            parts.append(text[start : found.start()])
            start = found.end()
    return [*parts, text[start:]]


def banned_commands(text: str) -> tuple[str, ...]:
    """The keys of the commands that a person's words forbid: in code, or a known program and what follows it."""
    found: list[str] = []
    for ban in _BAN.finditer(text):
        after = text[ban.end() : ban.end() + 160]
        literal = LITERAL.match(after)
        words = literal[0].strip("`").split() if literal else _command_words(after)
        if words and words[0].rsplit("/", 1)[-1] in PROGRAMS:
            found.append(command_key(" ".join(words)))
    return tuple(dict.fromkeys(key for key in found if key))


def _command_words(after: str) -> list[str]:
    words: list[str] = []
    for part in after.split():
        word = _WORD.match(part.strip("\"'"))
        if word is None or word[0].lower().rstrip(".:,") in _ENDS or (not words and word[0] not in PROGRAMS - _ENGLISH):
            break
        words.append(word[0].rstrip(".:,"))
        if len(words) == 5 or part[-1] in ".,;:!?":
            break
    return words
