"""Words for a machine's limit, with the way round it or without, and for an error that came back."""

from __future__ import annotations

import re

from detectors.environment_fact import kind_of
from detectors.evidence import checks_of, is_failure, is_statement, telling_line
from index.records import Episode, Session
from reflect.draft import (
    Draft,
    bare_error,
    display,
    first_line,
    instead_of,
    stable_error,
    times,
    with_context,
)
from reflect.drafts_failure import SHORT, difference, draft_failure
from reflect.quotes import (
    as_title,
    best_cause,
    best_order,
    code,
    names_in,
    sentence,
    without_paths,
)

_ABSENT = re.compile(r"command not found: ([\w.+-]{2,40})|([\w.+-]{2,40}): (?:command )?not found\b")


def draft_environment(session: Session, episode: Episode) -> Draft | None:
    """A limit of the machine, with the way round it or without."""
    if episode.failure is None:
        return None
    failed = session.turns[episode.failure]
    error = telling_line(failed.text)
    blamed = _blamed(failed.command, error)
    command = blamed if _ABSENT.search(error) else display(failed.command, blamed) or failed.tool
    texts = [session.turns[at].text for at in episode.turns if is_statement(session.turns[at])]
    check = session.turns[episode.check] if episode.check is not None else None
    names = names_in(error, failed.command, check.command if check else "")
    cause, order = best_cause(texts, names), best_order(texts, names, near=True)
    runs = times(session, episode.failure)
    short = code(without_paths(bare_error(error)), SHORT)
    if check is None:
        title, instead, worth = _limit(command, short, kind_of(failed), runs, cause)
    else:
        title, instead, worth = _way_round(session, episode, command, short, order)
    if not title:
        return None
    fact = f"{code(command, 100)} fails here with {code(bare_error(error), 220)}." + (
        f" {sentence(cause)}" if cause else ""
    )
    counted = f"The same error came {runs} times in one session."
    return Draft(
        title=as_title(title),
        fact=fact,
        why=counted if runs > 1 else f"{code(command, 80)} cannot be run there as it stands.",
        instead=instead,
        category="knowledge",
        worth=worth + 0.6 * bool(cause),
        confidence=0.8,
        commands=(command,),
        errors=(stable_error(error),),
    )


def _limit(command: str, short: str, kind: str, runs: int, cause: str) -> tuple[str, str, float]:
    """(title, instead, worth) of a limit that stayed; no title where it was met once and its cause not named."""
    if kind == "order":
        if found := re.search(r"\b[Rr]un ([\w.-]{2,60}) first\b", short):
            return f"Run {code(found[1])} before {code(command, 40)}", f"Run {code(found[1])} first.", 2.8
        first = "Do first what the message asks for, and do not repeat the call before that."
        return f"Mind the order of calls: {short}", first, 2.6
    if absent := _ABSENT.search(short):
        name = code(absent[1] or absent[2])
        return f"Do without {name} here ({short})", f"Look for another way to do what {name} does, or ask for it.", 2.6
    if runs < 2 and not cause:
        return "", "", 0.0
    instead = "No way round it was found in that session. Do not run it again unchanged; tell the person."
    return f"Do not count on {code(command, 40)} here: {short}", instead, 2.2 + min(runs, 4) * 0.3


def _way_round(session: Session, episode: Episode, command: str, short: str, order: str) -> tuple[str, str, float]:
    """(title, instead, worth) of what went through in place of a command; no title where it cannot be said in short."""
    failed, check = session.turns[episode.failure or 0], session.turns[episode.check or 0]
    old, new = display(failed.command), display(check.command)
    if first_line(failed.command) == first_line(check.command):
        if kind_of(failed) != "sandbox":
            return "", "", 0.0
        name = command if len(command) < 40 else (checks_of(failed.command) or (command,))[0]
        instead = f"{code(new)} went through when it was run again with permission."
        return f"Run {code(name, 50)} outside the sandbox, with permission ({short})", instead, 2.7
    swap = difference(old, new) if old and new else ""
    absent = _ABSENT.search(short)
    if absent:
        name = absent[1] or absent[2]
        return f"Do without {code(name)} here ({short})", f"{code(new)} went through without it.", 2.8
    elif not swap and kind_of(failed) in {"tool", "module", "version"} and len(new) < 90:
        swap = f"Run {code(new, 70)} where {code(command, 40)} fails"
    if not order and not swap:
        return "", "", 0.0
    kept = sum(1 for turn in session.turns[(episode.check or 0) + 1 :] if new and new in turn.command)
    instead = instead_of(
        order,
        f"run {code(new)}, which went through" + (f", and {kept} more times in that session" if kept > 1 else ""),
        "",
    )
    worth = 2.2 + 0.8 * bool(order) + 0.5 * bool(swap) + 0.8 * (kept > 1)
    return with_context(order or swap, short), instead, worth


def draft_repetition(session: Session, episode: Episode) -> Draft | None:
    """An error that came back: as a failure with its fix, else as a limit that stayed."""
    failing = [at for at in episode.turns if is_failure(session.turns[at])]
    if not failing:
        return None
    if episode.check is None:
        return draft_environment(session, episode) if kind_of(session.turns[failing[0]]) else None
    last = Episode(
        "failure_then_fix",
        episode.session,
        episode.lines,
        episode.turns,
        episode.reason,
        failing[-1],
        episode.change,
        episode.check,
    )
    return draft_failure(session, last)


def _blamed(command: str, error: str) -> str:
    """The check of a chain that an error speaks of, by what it quotes; else the first."""
    quoted = re.findall(r"['\"`]([^'\"`]{2,80})['\"`]", error)
    parts = re.split(r"&&|;|\|\|", command)
    absent = _ABSENT.search(error)
    if absent:
        return absent[1] or absent[2]
    named = [check for part in parts for check in checks_of(part) if any(word in part.split() for word in quoted)]
    return (named or list(checks_of(command)) or [""])[0]
