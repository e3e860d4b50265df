"""Words for a review's finding: what puts the fault right as title, the fault as the fact."""

from __future__ import annotations

import re

from detectors.agent_words import done_in, from_gerund, is_order
from detectors.evidence import is_edit, is_person
from detectors.review_finding import Finding, addressed, bears_on, handed_in, reported
from detectors.sentences import has_literal
from index.records import Episode, Session
from reflect.draft import Draft, edits_of, sure, what_changed, with_context
from reflect.quotes import as_title, capital, clean_end, is_telling, names_in, sentence, shorten, tidy

_FILE = re.compile(r"`((?:[\w.@-]{1,60}/){1,10}[\w.@-]{1,80}\.\w{1,5})(?::[\d:,-]{1,20})?`")
_INSTEAD = re.compile(r"^(?:instead of [^,]{2,120}, |either |just |simply |now |to )(?=\w)", re.IGNORECASE)
# What an order leaves to the fault that it belongs to.
_POINTS = re.compile(r"\b(?:it|them|this|that|these|those|both)\b", re.IGNORECASE)
_AND_SO = re.compile(r" (?:—|–|,) (?:thereby|ensuring|this (?:keeps|makes|ensures))\b.{0,200}$", re.IGNORECASE)


def draft_finding(session: Session, episode: Episode) -> Draft | None:
    """The first finding whose fix can be said as an order."""
    turn = next(session.turns[at] for at in episode.turns if not is_edit(session.turns[at]))
    given = is_person(turn)
    edits = edits_of(session, episode)
    told = handed_in(turn.text) if given else reported(turn.text) or addressed(turn.text)
    for found in told[:3]:
        order = fix_as_order(found)
        names = names_in(order, found.problem)
        # A person's words name things in plain words, so that what was changed has to tell that it was this.
        if not order or not (given or has_literal(order) or has_literal(found.problem)):
            continue
        if given and not any(bears_on(found, edit) for edit in edits):
            continue
        did = what_changed(edits, names) if edits else ""
        title = as_title(order)
        if not has_literal(title) or _POINTS.search(order[:40]):
            title = as_title(with_context(title, found.problem))
        return Draft(
            title=title,
            fact=sentence(shorten(capital(tidy(found.problem)), 400)),
            why="A review found it: no test or check had failed."
            if given
            else "It was found by reading the code: no check tells of it.",
            instead=f"{sentence(shorten(order, 400))} {capital(sentence(did)) if did else ''}".strip(),
            category="bugs",
            worth=3.0 + 0.8 * given + 0.4 * has_literal(order) + 0.4 * has_literal(found.problem) + 0.4 * bool(did),
            confidence=sure(0.7, did),
            paths=() if given else paths_named(turn.text, found),
        )
    return None


def paths_named(report: str, found: Finding) -> tuple[str, ...]:
    """The project's files that a report names from a finding's words on, up to its fix or a little behind it."""
    end = report.find(found.fix[:40])
    start = report.find(found.problem[:24])
    behind = re.split(r"\n(?:[-*•#\d]|[^\S\n]*\n)", report[max(0, end) : end + 800])[0]
    named = _FILE.findall(report[max(0, start) : end] + behind) if end > start else []
    return tuple(dict.fromkeys(named))[:2]


def fix_as_order(found: Finding) -> str:
    """A finding's fix as an order ("Switched to x" gives "Switch to x"), or ""."""
    fix = clean_end(_AND_SO.sub("", _INSTEAD.sub("", tidy(found.fix))))
    order = fix if is_order(fix) else from_gerund(fix)
    if not is_order(order):
        order = done_in(fix)
    told = is_telling(order) or (len(order) > 24 and _POINTS.search(order) is not None)
    return capital(order) if is_order(order) and told else ""
