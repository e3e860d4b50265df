"""Words for a machine's limit, with the way round it or without, and for an error that came back."""

from __future__ import annotations

import re

from detectors.environment_fact import absent_program, foreign_option, kind_of, told_worked, version_gap
from detectors.evidence import checks_of, is_failure, is_person, is_statement, same_check, telling_line
from detectors.sentences import sentences
from index.records import Episode, Session, Turn
from reflect.draft import (
    Draft,
    bare_error,
    display,
    failing,
    first_line,
    instead_of,
    stable_error,
    times,
    with_context,
)
from reflect.drafts_failure import SHORT, advice_in, difference, draft_failure
from reflect.quotes import (
    as_title,
    best_cause,
    best_order,
    code,
    names_in,
    sentence,
    tidy,
    without_paths,
)
from reflect.tags import PROGRAMS

# Programs beside those of reflect/tags.py whose absence is worth knowing.
_COMMON_TOOLS = frozenset(
    "shellcheck hadolint yamllint vale jq yq rg fd bat tree watch entr parallel gsed gdate gtimeout timeout "
    "realpath pre-commit lefthook husky act direnv asdf nvm pyenv rbenv sdkman ffmpeg convert magick dot pandoc protoc "
    "buf grpcurl "
    "hyperfine k6 wrk ab vegeta trivy syft cosign skopeo ansible packer pulumi kustomize k9s kind "
    "minikube colima".split()
)
_EXPLAINS = re.compile(
    r"\b(?:because|since|needs?|fixe[sd]|selects?|picks|forces|avoids|requires|"
    r"(?:was|is) an? [\w ]{3,40} (?:issue|problem))\b",
    re.IGNORECASE,
)
# Why a limit matters, by its kind.
_WHY = {
    "tool": "The program is not on this machine's path, and no spelling of the command helps.",
    "module": "That interpreter does not see the module, wherever else it may be installed.",
    "option": "The shell and the programs of this machine take other options than those elsewhere.",
    "version": "What is installed here is of another version than the project asks for.",
    "network": "The service does not listen there, so that what needs it fails for no fault of its own.",
    "sandbox": "The sandbox refuses it, however the command is written.",
    "order": "The call is refused in any other state, however often it is repeated.",
    "limit": "The limit is the machine's or the service's: trying again changes nothing.",
}


def draft_environment(session: Session, episode: Episode) -> Draft | None:
    """A limit of the machine, with the way round it or without."""
    if episode.failure is None:
        return _draft_told(session, episode)
    failed = session.turns[episode.failure]
    error = telling_line(failed.text)
    name, wanted, got = version_gap(failed.text)
    shown = f"{name} {wanted} expected, got {got}" if name else error
    blamed = _blamed(failed.command, error)
    command = blamed if absent_program(error) else display(failed.command, blamed) or failed.tool
    texts = [session.turns[at].text for at in episode.turns if is_statement(session.turns[at])]
    check = session.turns[episode.check] if episode.check is not None else None
    names = names_in(error, failed.command, check.command if check else "")
    cause, order = best_cause(texts, names), best_order(texts, names, near=True)
    runs = times(session, episode.failure)
    short = code(without_paths(bare_error(error)), SHORT)
    if check is None:
        title, instead, worth = _limit(failed, command, short, runs, cause)
    else:
        title, instead, worth = _way_round(session, episode, command, short, order)
    if not title:
        return None
    fact = f"{failing(command, shown)} here." + (f" {sentence(cause)}" if cause else "")
    counted = f" The same error came {runs} times in one session." if runs > 1 else ""
    return Draft(
        title=as_title(title),
        fact=fact,
        why=_WHY.get(kind_of(failed), "The command as it stands is a lost run.") + counted,
        instead=instead,
        category="knowledge",
        worth=worth + 0.6 * bool(cause),
        confidence=0.8,
        commands=(command,),
        anywhere=bool(advice_in(error)),
        errors=(stable_error(error),),
    )


def _draft_told(session: Session, episode: Episode) -> Draft | None:
    """A command that the person said worked, with what the agent says of it."""
    command = told_worked(session.turns[episode.turns[0]].text)
    answer = [session.turns[at].text for at in episode.turns[1:]]
    before = [turn.text for turn in session.turns[: episode.turns[0]] if is_person(turn)][-6:]
    head = [one for text in answer for one in sentences(text, 4)]
    cause = next((tidy(one) for one in head if _EXPLAINS.search(one)), "")
    cause = cause or best_cause(["\n".join(head)], names_in(command, *before))
    if not command or not cause:
        return None
    return Draft(
        title=as_title(with_context(f"Run {code(command, 90)}", cause)),
        fact=sentence(cause),
        why="A person working on this project found that this one worked where others had not.",
        instead=f"Run {code(command)}.",
        category="knowledge",
        worth=3.4,
        confidence=0.85,
        commands=(display(command),),
    )


def _limit(failed: Turn, command: str, short: str, runs: int, cause: str) -> tuple[str, str, float]:
    """(title, instead, worth) of a limit that stayed; no title where it was met once and its cause not named."""
    kind = kind_of(failed)
    program, option = foreign_option(failed)
    if program:
        option = option if option.startswith("-") else f"-{option}"
        instead = f"Look up what {code(program)} takes on this system, or do it with another program."
        return f"Do not pass {code(option)} to {code(program)} on this machine ({short})", instead, 2.7
    name, wanted, got = version_gap(failed.text)
    if name:
        instead = (
            f"Switch to {name} {code(wanted)} before {code(command, 60)}, or leave that check to where it is installed."
        )
        return f"Use {name} {code(wanted)} for this project: this shell has {code(got)}", instead, 3.0
    if kind == "order":
        if found := re.search(r"\b[Rr]un ([\w.-]{2,60}) first\b", short):
            return f"Run {code(found[1])} before {code(command, 40)}", f"Run {code(found[1])} first.", 2.8
        first = "Read the present state first, and go through the steps in between; do not repeat the call."
        return f"Check the state before {code(command, 40)} ({short})", first, 2.6
    if absent := absent_program(telling_line(failed.text)):
        name = code(absent)
        known = absent in PROGRAMS or absent in _COMMON_TOOLS or bool(cause) or runs > 1
        instead = f"No other way was found in that session: ask before counting on {name}."
        return f"Do without {name} here, or install it first", instead, 2.6 if known else 2.0
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
    if advice := advice_in(telling_line(failed.text)):
        return advice, f"{code(new)} went through where {code(old)} did not.", 3.2
    absent = absent_program(telling_line(failed.text))
    if absent and not same_check(failed.command, check.command):
        instead = f"{code(new)} went through in its place."
        used = (checks_of(check.command) or (new,))[-1]
        return f"Use {code(used, 50)} in place of {code(absent)} here ({short})", instead, 2.8
    if not swap and kind_of(failed) in {"tool", "module", "version"} and len(new) < 90:
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
    if absent := absent_program(error):
        return absent
    named = [check for part in parts for check in checks_of(part) if any(word in part.split() for word in quoted)]
    return (named or list(checks_of(command)) or [""])[0]
