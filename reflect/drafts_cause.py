"""Words for a cause that the agent named and acted on, with the report that started it."""

from __future__ import annotations

import re

from detectors.agent_words import OUTRIGHT, cause_weight, is_plan, order_in
from detectors.confirmed_advice import helped
from detectors.diagnosed_cause import names_cause
from detectors.evidence import is_edit, is_failure, is_person, is_statement, taken_back, telling_line
from detectors.person_words import is_task, rejects
from detectors.sentences import has_literal, sentences
from index.records import Episode, Session
from reflect.draft import (
    Draft,
    display,
    edits_of,
    failing,
    instead_of,
    said_after,
    said_between,
    sure,
    what_changed,
    with_context,
)
from reflect.quotes import (
    act_on,
    as_title,
    best_cause,
    best_need,
    best_order,
    capital,
    names_in,
    sentence,
    shorten,
    tidy,
)

_SYMPTOM = re.compile(
    r"error|fail|wrong|broken|slow|delay|crash|flicker|flash|stuck|fr[eo]ez|blank|missing|empty|\blag|"
    r"leak|duplicate|twice|"
    r"stale|overlap|glitch|weird|strange|\bnot\b|n't|invalid|issue|bug|problem|hang|"
    r"\bonly\b|instead of|\breview\b|\bcomments?\b|feedback|finding|"
    r"错|失败|报|エラー|失敗|오류|버그|안 ",
    re.IGNORECASE,
)


_UPDATE_TO = re.compile(
    r"^(?:update|change|modify|adjust|fix) (?:it |this |that |the code )?to (?=use\b|call\b)", re.IGNORECASE
)


def draft_diagnosis(session: Session, episode: Episode) -> Draft | None:
    """A cause that the agent named, and what it changed for it."""
    edits = edits_of(session, episode)
    first, last = min(episode.turns), max(episode.turns)
    named = next(at for at in episode.turns if is_statement(session.turns[at]))
    closing = said_after(session, max(last, named), 40)
    texts = said_between(session, named - 1, max(last, named + 1)) + closing
    changed = names_in(*(turn.change[:3000] for turn in edits), *(path for turn in edits for path in turn.paths))
    cause = best_cause(texts, changed, 3)
    if not has_literal(cause):  # "the fix is" and the like name it in the sentence before
        cause = best_cause([session.turns[named].text], changed, near=True)
    if not has_literal(cause):
        cause = _remedy_reason(session.turns[named].text)
    if not has_literal(cause):
        return None
    order = best_order(said_between(session, first, named) + texts, names_in(cause) & changed or names_in(cause))
    order = order or best_order([session.turns[named].text], changed, near=True)
    order = order or best_need([session.turns[named].text], changed)
    order = capital(_UPDATE_TO.sub("", order))
    report = session.turns[first].text if is_person(session.turns[first]) else ""
    symptom = _symptom(report)
    if not symptom and rejects(report):
        symptom = next(filter(None, (_symptom(t.text) for t in reversed(session.turns[:first]) if is_person(t))), "")
    if not symptom and report and not is_task(report):
        symptom = shorten(next(iter(sentences(report, 1)), ""), 240).rstrip(".")
    failed = next(
        (
            (display(turn.command) or turn.tool, error)
            for turn in reversed(session.turns[first:named])
            if is_failure(turn) and (error := telling_line(turn.text))
        ),
        None,
    )
    if failed is not None and not names_in(failed[1]) & names_in(cause):
        failed = None  # another failure, in the same stretch
    if not symptom and failed is None:
        return None
    undone = taken_back(session)
    since = [session.turns[at] for at in range(first, last + 1) if is_edit(session.turns[at]) and at not in undone]
    did = what_changed(since or edits, names_in(cause, order))
    paths = [path for turn in since or edits for path in turn.paths]
    acted = act_on(cause, [turn.change for turn in since or edits], paths)
    if acted and not names_in(acted) & names_in(cause):
        acted = ""  # a change beside the one that was made for the cause
    title = order if order and has_literal(order) else with_context(order or acted, cause)
    if not (order or acted):
        return None
    fact = sentence(cause)
    if names_in(cause) and names_in(cause) <= names_in(order):
        fact = sentence(_before(session.turns[named].text, cause)) or (
            f"A person reported: “{symptom}”." if symptom else fact
        )
    steps = max(1, last - first)
    seen = f"It showed as: “{symptom}”." if symptom else f"It showed as: {failing(*failed)}." if failed else ""
    return Draft(
        title=as_title(title),
        fact=fact,
        why=f"{seen} {f'{steps} steps went by from there to the fix.' if steps > 8 else ''}".strip(),
        instead=instead_of(order or capital(did), did if order else "", ""),
        category="bugs",
        worth=3.6
        - 2.0 * (not names_cause(session.turns[named].text))
        - 3.0 * (guesses(session.turns[named].text) and not _confirmed(session, last))
        + 0.8 * bool(order)
        + 0.6 * bool(symptom)
        + 0.4 * (episode.check is not None)
        + 0.6 * _confirmed(session, last),
        confidence=sure(0.75, order, symptom),
    )


_GUESS = re.compile(
    r"\b(?:likely|probably|perhaps|possibly|maybe|might|may|could|presumably|i (?:suspect|guess|think|bet)|"
    r"my guess|seems?)\b",
    re.IGNORECASE,
)


def guesses(text: str) -> bool:
    """Whether a statement names a cause in guarded words only."""
    named = [one for one in sentences(text) if cause_weight(one) >= OUTRIGHT]
    return bool(named) and all(_GUESS.search(one) for one in named)


def _confirmed(session: Session, last: int) -> bool:
    """Whether the person's next words say that it works now."""
    after = next((turn.text for turn in session.turns[last + 1 :] if is_person(turn)), "")
    return helped(after)


def _remedy_reason(text: str) -> str:
    """The sentence that gives an exact remedy with its reason, where no sentence names a cause; "" without one."""
    told = [tidy(one) for one in sentences(text, 12) if order_in(tidy(one)) and has_literal(one)]
    return next((shorten(capital(order_in(one)), 320) for one in told), "")


def _before(text: str, told: str) -> str:
    """The exact sentence that stands before the one that says what to do, or ""."""
    said = [tidy(one) for one in sentences(text, 24)]
    start = told[:30].lower()
    at = next((at for at, one in enumerate(said) if start in one.lower() or start in order_in(one).lower()), 0)
    exact = [one for one in said[:at] if has_literal(one) and not one.endswith((":", "?")) and not is_plan(one)]
    return capital(shorten(exact[-1], 320)) if exact else ""


def _symptom(report: str) -> str:
    """The person's sentences that tell of the failure, short."""
    told = [one for one in sentences(report, 12) if _SYMPTOM.search(one)]
    return shorten(" ".join(told[:2]), 240).rstrip(".") if told else ""
