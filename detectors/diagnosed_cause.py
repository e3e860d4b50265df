"""The agent named the cause of a reported or seen failure, changed something for it, and it held.

Many failures never show as a failed command: the person reports them, the agent reads code and finds why. Silent on:
causes that nothing was changed for, that the person contradicted or refused, and those that a later one replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from detectors.agent_words import OUTRIGHT, cause_weight, order_in, yields
from detectors.confirmed_advice import helped
from detectors.evidence import checks_of, has_person, is_edit, is_person, is_shell, is_statement, lines_of
from detectors.person_words import is_trivial, rejects
from detectors.sentences import LITERAL, either, has_literal, sentences
from index.records import Episode, Session

REACH = 40
# A report in a few sentences, and how soon its answer comes.
LONGEST_REPORT = 700
ANSWERED = 16
LONGEST_PASTED = 3000
REPORTED = either(r"""
    \b(?:error|exception|traceback|fails?|failed|failing|hangs?|hung|crash\w*|broken|breaks?|wrong|bug|stuck|red|miss(?:es|ing)|loses?|lost|slow|flaky|flicker\w*|twice|stale)\b
    \b(?:does|do|is|are|has|did|was|can)(?:n'?t| not)\b.{0,60}\b(?:work|show|load|save|start|send|update|appear|open|pick|respond|react|find|render|reach|fit|scroll|close|match)\w*
    \b(?:stays?|remains?|goes|turns?|gets?|comes? (?:up|out|back)|ends? up|is|are) (?:\w+ )?(?:white|black|blank|empty|grey|gray|frozen|disabled|unreadable|cut off|misaligned|garbled|upside down|duplicated|the same|too \w+)\b
    \bnothing (?:happens|shows|comes|is)\b|\bno (?:effect|response|reaction|output|sound|image)\b|\b(?:covers|overlaps?|overlapping|flash(?:es|ing)|jumps?|disappears?|vanish\w*|fre(?:ezes|ezing)|leaks?|loops?|repeats?)\b
    \b(?:white|blank|empty) (?:page|screen|window|list|file|table)\b|\bkeeps? (?:\w+ing|on)\b|\bonly (?:the )?(?:first|last|one)\b|\bgrows?\b|\bkilled\b|\bout of memory\b|\bhides?\b|\bkeeps? the (?:old|same|previous|wrong)\b|\b(?:no longer|any ?more)\b|\bsince (?:the )?(?:update|upgrade|last|yesterday|this|release|merge|deploy)
""")  # noqa: E501 - one alternative a line
_WHY = re.compile(
    r"\b(?:because|since|but|requires?|needs?|must|has to|only|so that|never|still|expects?)\b|n't\b|\bnot\b",
    re.IGNORECASE,
)
_WRONG = either(r"""
    \bonly\b|\binstead of\b|\bwrong\b|\bincorrect\b|\bbroken\b|\berrors?\b|\bfail\w*\b|\bbug\b|\bmissing\b|\bnever\b
    \b(?:does|do|is|are|has|have|did|was|can)(?:n'?t| not)\b|\bnot (?:work|show|load|sav|send|updat)\w+
""")
_WITH_REASON = re.compile(r"\b(?:which|because|since|so that|instead of|rather than)\b|\bnot `", re.IGNORECASE)


def detect(session: Session) -> Iterator[Episode]:
    """The last standing diagnosis of each of the person's requests."""
    if not has_person(session):
        return
    start = 0
    bounds = [at for at, turn in enumerate(session.turns) if is_person(turn)] + [len(session.turns)]
    for end in bounds:
        found = _diagnosis(session, start, end)
        if found is not None and not _contradicted(session, found, end):
            yield found
        start = end


def names_cause(text: str) -> bool:
    """Whether a statement names a cause outright and exactly."""
    said = sentences(text)
    return any(
        cause_weight(s) >= OUTRIGHT
        and (
            has_literal(s)
            or any(has_literal(n) for n in said[i + 1 : i + 2])
            or any(has_literal(n) and cause_weight(n) for n in said[max(0, i - 1) : i])
        )
        for i, s in enumerate(said)
    )


def grants_cause(session: Session, at: int) -> bool:
    """Whether a statement gives in to the person's words right before it, and says exactly what is wrong."""
    text = session.turns[at].text
    heard = any(is_person(turn) for turn in session.turns[max(0, at - 1) : at])
    return heard and yields(text) and any(has_literal(s) and cause_weight(s) for s in sentences(text, 4))


def explains_report(session: Session, start: int, at: int, end: int) -> bool:
    """Whether a statement says exactly why something that the person reported as wrong is so, and edits write of it."""
    report = session.turns[start]
    if not is_person(report) or len(report.text) > LONGEST_PASTED or not REPORTED.search(report.text[:LONGEST_PASTED]):
        return False
    edits = [turn for turn in session.turns[start:end] if is_edit(turn)]
    changed = "\n".join([*(turn.change[:6000] for turn in edits), *(path for turn in edits for path in turn.paths)])
    said = sentences(session.turns[at].text, 12)
    named = [literal.strip("`()") for one in said for literal in LITERAL.findall(one)]
    told = any(_WHY.search(one) and cause_weight(one) for one in said)
    return told and any(name in changed for name in named if len(name) > 3)


def names_remedy(session: Session, start: int, at: int, end: int) -> bool:
    """Whether a statement answers the person's report of a wrong behaviour with an exact remedy and its reason.

    The remedy counts where the next edits write what it names, and no edit had written it before.
    """
    report = session.turns[start]
    if not is_person(report) or len(report.text) > LONGEST_REPORT or not _WRONG.search(report.text):
        return False
    edits = [turn.change for turn in session.turns[at : min(end, at + REACH)] if is_edit(turn)]
    added = "\n".join(line for change in edits for line in change.split("\n") if line.startswith("+"))
    gone = "\n".join(line for change in edits for line in change.split("\n") if line.startswith("-"))
    for one in sentences(session.turns[at].text, 12):
        named = [literal.strip("`()") for literal in LITERAL.findall(one)]
        if (
            order_in(one)
            and (_WITH_REASON.search(one) or _held(session, at, end))
            and any(n in added and n not in gone for n in named if len(n) > 3)
        ):
            return True
    return False


def _held(session: Session, at: int, end: int) -> bool:
    """Whether a check passed after an edit that followed a statement, or the person's next words say that it works."""
    edited = False
    for turn in session.turns[at : min(end, at + REACH)]:
        edited = edited or is_edit(turn)
        if edited and is_shell(turn) and turn.outcome == "passed" and checks_of(turn.command):
            return True
    return edited and end < len(session.turns) and helped(session.turns[end].text)


def _diagnosis(session: Session, start: int, end: int) -> Episode | None:
    """The last statement in a stretch that names a cause and is followed by a change in it."""
    told = [i for i in range(start, end) if is_statement(session.turns[i])]
    said = [i for i in told if names_cause(session.turns[i].text)]
    said = said or [i for i in told if grants_cause(session, i)]
    said = said or [i for i in told if explains_report(session, start, i, end)]
    said = said or [i for i in told if i <= start + ANSWERED and names_remedy(session, start, i, end)]
    edits = [i for i in range(start, end) if is_edit(session.turns[i])]
    for at in reversed(said):
        after = [i for i in edits if at < i < at + REACH]
        before = [i for i in edits if at - REACH < i < at]
        change = tuple(after or before)
        if not change:
            continue
        check = next(
            (
                i
                for i in range(change[-1] + 1, end)
                if is_shell(session.turns[i]) and session.turns[i].outcome == "passed"
            ),
            None,
        )
        report = start if start < end and is_person(session.turns[start]) else at
        turns = tuple(sorted({report, at, *change[-6:], *([check] if check is not None else [])}))
        reason = "the agent named the cause and changed what it named"
        return Episode(
            "diagnosed_cause", session.key, lines_of(session, turns), turns, reason, report, change[-6:], check
        )
    return None


def _contradicted(session: Session, episode: Episode, end: int) -> bool:
    """Whether the person refused a change after the cause was named, and meant it, or answered with a no."""
    said = next(at for at in episode.turns if is_statement(session.turns[at]))
    answer = session.turns[end].text if end < len(session.turns) else ""
    for turn in session.turns[said:end]:
        if turn.refused and not is_trivial(turn.said or answer):
            return True
    return rejects(answer)
