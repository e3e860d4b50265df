"""Words for faults that no exit code tells: a question that nobody answers, a wrong output, what a person ran into."""

from __future__ import annotations

import re
from collections.abc import Sequence

from detectors.agent_words import OUTRIGHT, cause_weight, order_in
from detectors.confirmed_advice import confirmed, settings
from detectors.evidence import check_in_common, telling_line
from detectors.sentences import LITERAL, has_literal, sentences
from detectors.waiting_prompt import question_of, unattended
from detectors.wrong_output import complaint
from index.records import Episode, Session
from reflect.draft import (
    Draft,
    bare_error,
    display,
    edits_of,
    instead_of,
    said_between,
    stable_error,
    sure,
    what_changed,
    with_context,
)
from reflect.drafts_failure import difference
from reflect.drafts_word import RUDE
from reflect.quotes import (
    act_on,
    as_title,
    best_cause,
    best_need,
    best_order,
    capital,
    clean_end,
    code,
    is_requirement,
    is_telling,
    names_in,
    points_back,
    sentence,
    shorten,
    tidy,
    without_paths,
)

# A sentence that only makes sense beside the one before it.
_POINTS_BACK = re.compile(r"(?:it|this|that|they|these|those|he|she|both|one|which)\b", re.IGNORECASE)


def said_before(texts: Sequence[str], told: str) -> str:
    """The sentence that stands right before another one in what was said, or ""."""
    for text in texts:
        said = [tidy(one) for one in sentences(text)]
        at = next((at for at, one in enumerate(said) if told[:30] and told[:30].lower() in one.lower()), 0)
        if at and not said[at - 1].endswith((":", "?")):
            return capital(shorten(said[at - 1], 240))
    return ""


def _told_together(texts: Sequence[str]) -> tuple[str, str]:
    """(why, what to do) where one statement says both in sentences that follow each other; the last such."""
    for text in reversed(texts):
        said = [tidy(one) for one in sentences(text)]
        for at in range(len(said) - 1, 0, -1):
            order = order_in(said[at]) or said[at] * is_requirement(said[at])
            why = next((one for one in reversed(said[max(0, at - 2) : at]) if cause_weight(one) and len(one) > 30), "")
            if why and is_telling(order) and len(order) > 30:
                return shorten(why, 320), capital(shorten(clean_end(order), 240))
    return "", ""


def _plain_order(texts: Sequence[str]) -> str:
    """The last thing that was said is to be done, though it names nothing exactly; "" if it only points back."""
    told = [order for text in texts for one in sentences(text) if is_telling(order := order_in(tidy(one)))]
    return capital(shorten(clean_end(told[-1]), 200)) if told and not points_back(told[-1]) else ""


def draft_waiting(session: Session, episode: Episode) -> Draft | None:
    """A command that waits for an answer, and the one that needs none."""
    if episode.failure is None or episode.check is None:
        return None
    asked, spared = session.turns[episode.failure], session.turns[episode.check]
    old, new = display(asked.command), display(spared.command)
    if not old or not new or len(new) > 300:
        return None
    question = question_of(asked)
    flags = unattended(asked.command, spared.command)
    check = check_in_common(asked.command, spared.command) or old
    # What answers every question goes before what spares one of them.
    plain = [flag for flag in flags if flag.startswith("-") and not flag.startswith(("--no-", "--skip-", "-m"))]
    options = plain or [flag for flag in flags if not flag.startswith("-")] or list(flags)
    shown = " ".join(options[:2])
    if flags and len(new) <= 60:
        title = f"Run {code(new)}: without {code(shown, 40)} it waits for an answer"
    elif flags and shown.startswith("-"):
        title = f"Pass {code(shown, 50)} to {code(check, 40)}: it waits for an answer otherwise"
    elif flags:
        title = f"Run {code(check, 40)} with {code(shown, 30)}: it waits for an answer otherwise"
    else:
        title = f"Run {code(new, 60)}, not {code(old, 40)}: that one waits for an answer"
    return Draft(
        title=as_title(title),
        fact=f"{code(old)} stops at {code(question, 160)}.",
        why="Nobody answers there: the command hangs until its time is over, or gives up.",
        instead=f"Run {code(new)}.",
        category="knowledge",
        worth=3.0 if flags else 2.7,
        confidence=0.85 if flags else 0.75,
        commands=(old,),
        errors=(stable_error(question),),
    )


def draft_output(session: Session, episode: Episode) -> Draft | None:
    """A run that ended well and printed what was wrong, why it did, and what was changed for it."""
    if episode.failure is None or episode.check is None:
        return None
    shown, check = session.turns[episode.failure], session.turns[episode.check]
    edits = edits_of(session, episode)
    changes = [turn.change[:3000] for turn in edits]
    commands = [session.turns[at].command for at in episode.change if session.turns[at].command]
    paths = [path for turn in edits for path in turn.paths]
    names = names_in(*changes, *paths, *commands)
    start = next((at for at in episode.turns if complaint(session.turns[at].text)), episode.failure + 1)
    texts = said_between(session, start - 1, episode.check)
    symptom = complaint(texts[0]) if texts else ""
    error = telling_line(shown.text)
    error = error if not symptom and len(error) < 200 else ""
    # What was said after the change is about the next run of it.
    before = said_between(session, start - 1, episode.change[0]) or texts
    cause = best_cause(before, names, near=True)
    order = best_order(before[-2:], names, near=True) or best_need(before, names)
    if not cause or not order:
        why, remedy = _told_together(before)
        cause, order = cause or why, order or remedy or _plain_order(before[-2:]) * bool(cause)
    acted = act_on(cause, changes, paths, before)
    old, new = display(shown.command), display(check.command)
    retyped = not edits and bool(old) and bool(new) and old != new
    swap = difference(old, new) if retyped else ""
    if retyped and not swap and len(old) + len(new) < 100:
        swap = f"Run {code(new, 90)}, not {code(old, 90)}"
    ran = [display(command) for command in commands if display(command) != new]
    remedy = order or acted or swap
    if not remedy or not (cause or has_literal(order)):
        return None
    if not cause and not LITERAL.search(symptom):
        return None
    fact = sentence(cause or symptom)
    if _POINTS_BACK.match(fact) and (lead := said_before(before, cause)):
        fact = f"{sentence(lead)} {fact}"
    did = what_changed(edits, names_in(cause, order)) if edits else f"run {code(ran[-1], 120)}" if ran else ""
    command = old if len(old) < 100 else ""
    seen = f"{code(command)} ends without an error all the same" if command else "The run ends without an error"
    told = clean_end(shorten(tidy(symptom or error), 200))
    whole = has_literal(remedy) and len(remedy) > 24 and not points_back(remedy)
    title = remedy if whole or not cause else with_context(remedy, cause)
    return Draft(
        title=as_title(capital(title)),
        fact=fact,
        why=f"{seen}. It showed as: “{told}”." if told and told not in fact else f"{seen}.",
        instead=instead_of(order or swap or capital(did), did if order or swap else "", ""),
        category="bugs",
        worth=2.0
        + 0.7 * bool(order)
        + 0.6 * bool(cause)
        + 0.3 * (cause_weight(cause) >= OUTRIGHT)
        + 0.4 * has_literal(cause),
        confidence=sure(0.75, cause, order),
        commands=(command,) if command and not edits else (),
        errors=(stable_error(error),),
    )


_QUOTED_ERROR = re.compile(r"[\"“`']([^\"”`\n]{10,200})[\"”`']")
_ERROR_ON = re.compile(r"(?:\w{0,30}[Ee]rror|ERROR|[Ff]atal|\w{0,30}Exception|[Pp]ermission denied)\b.*")


def _error_in(line: str) -> str:
    """The error itself in a line of a person's report, without the words round it; "" where it is not told apart."""
    quoted = next((found[1] for found in _QUOTED_ERROR.finditer(line) if telling_line(found[1])), "")
    bare = quoted or (found[0] if (found := _ERROR_ON.search(line)) else "")
    return bare if len(bare) < 240 else ""


_STEP = re.compile(r"\W{0,4}(?:look|check|try|see|let|run|open|search|compare|or|either)\b", re.IGNORECASE)


def draft_advice(session: Session, episode: Episode) -> Draft | None:
    """A command that helped a person with a failure, with what the agent said of the cause."""
    report, advice, answer = (RUDE.sub("…", session.turns[at].text) for at in episode.turns)
    command = confirmed(session, episode.turns[-1], session.turns[episode.turns[1]].text)
    key, _, value = command.partition(": ") if command in settings(advice) else ("", "", "")
    error = _error_in(telling_line(report))
    complained = next((tidy(one) for one in sentences(report, 12) if len(one) > 12), "")
    told = [*sentences(advice, 24), *sentences(answer, 4)]
    near = [one for one in told if (key or command.split(" && ")[0]) in one]
    causes = [one for one in [*near, *told] if cause_weight(one) and not _STEP.match(one) and one[-1] not in ":?"]
    cause = tidy(next(iter(causes), ""))
    shown = clean_end(shorten(error or complained, 200))
    if not command or len(command) > 160 or not shown:
        return None
    short = code(without_paths(bare_error(error)), 45) if error else ""
    order = f"Set {code(key)} to {code(value)}" if key else f"Run {code(command)}"
    brief = order if key else f"Run {code(command, 70)}"
    title = f"{brief} when it says {short}" if short else with_context(brief, cause or shown * ("…" not in shown))
    fact = f"{f'{code(key)} at {code(value)}' if key else code(command)} helped a person who had met: “{shown}”."
    return Draft(
        title=as_title(title),
        fact=f"{fact} {sentence(cause)}" if cause else fact,
        why="A person working on this project ran into it, and found that this helped.",
        instead=f"{order}.",
        category="knowledge",
        worth=4.4 + 0.4 * bool(cause) + 0.4 * bool(error),
        confidence=0.85,
        errors=tuple(filter(None, [stable_error(error)])),
    )
