"""From an episode to the words of a lesson: one function for each detector, without a model.

A draft says what to do, the fact behind it, why it matters and what to do instead, in words and literals of the
episode joined by fixed phrases. A function returns None where the episode does not hold enough to say so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from detectors.evidence import (
    check_in_common,
    checks_of,
    error_of,
    is_edit,
    is_failure,
    is_person,
    is_statement,
    telling_line,
)
from detectors.explicit_memory import remembered
from detectors.phrases import LITERAL, cause_weight, has_literal, is_general, order_in, sentences, yields
from index.records import Category, Episode, Kind, Session, Turn
from reflect.quotes import (
    added_line,
    as_title,
    best_cause,
    best_order,
    capital,
    clean_end,
    code,
    line_pair,
    names_in,
    sentence,
    shorten,
    tidy,
)


@dataclass(frozen=True, slots=True)
class Draft:
    """The words of one lesson, and how much it is worth beside others of its session."""

    title: str
    fact: str
    why: str
    instead: str
    category: Category
    worth: float
    type: Kind = "semantic"
    confidence: float = 0.8
    commands: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    always: bool = False


def draft(session: Session, episode: Episode) -> Draft | None:
    """The draft of an episode, or None where nothing worth keeping can be said without inventing."""
    return DRAFTS[episode.detector](session, episode)


def _failure_then_fix(session: Session, episode: Episode) -> Draft | None:
    if episode.failure is None or episode.check is None:
        return None
    turns = session.turns
    failed, check = turns[episode.failure], turns[episode.check]
    error = telling_line(failed.text)
    if not error:
        return None
    command = _command_of(failed.command or failed.tool, check_in_common(failed.command, check.command))
    edits = [turns[i] for i in episode.change if is_edit(turns[i])]
    between = [turns[i].text for i in range(episode.failure + 1, episode.check) if is_statement(turns[i])]
    after = _closing(session, episode.check)
    changed = " ".join(t.change[:1500] for t in edits)
    names = names_in(error, *(t.command for t in (failed, check)), *(p for t in edits for p in t.paths))
    narrow = names_in(error) | names_in(changed)
    cause = best_cause(between, narrow) or best_cause(after, names_in(error), 3)
    order = best_order(between, narrow | names) or best_order(
        after, names_in(error) & names_in(changed) or names_in(error)
    )
    pair = _best_pair(t.change for t in edits)
    runs = _times(session, episode.failure)
    did = _did(session, episode, edits, pair)
    if not edits:
        return _command_fix(session, episode, command, error, cause, order, runs)
    advice = _advice(error)
    title = (
        order
        or advice
        or (f"Write {code(pair[1], 60)}, not {code(pair[0], 60)}" if pair and len(pair[0]) + len(pair[1]) < 110 else "")
    )
    if not title and cause:
        title = f"{_place(error)}: {cause}" if len(cause) < 80 else cause
    if not title:
        return None
    fact = f"{code(command, 100)} fails with {code(_bare(error), 220)}." + (f" {sentence(cause)}" if cause else "")
    why = _cost(runs, episode, command)
    instead = (
        f"{sentence(order or capital(did))}"
        + (f" {capital(sentence(did))}" if order and did else "")
        + f" Then {code(command, 80)} passes."
    )
    worth = 2.0 + 1.2 * bool(order) + 1.0 * bool(cause) + 0.6 * bool(advice) + min(runs - 1, 2) * 0.8 + 0.5 * bool(pair)
    worth -= 1.5 * (_is_assertion(error) and not cause) + 0.5 * (not between)
    return Draft(
        as_title(title), fact, why, instead, "bugs", worth, confidence=_sure(0.8, cause, order),
        commands=(command,), errors=(error_of(failed),),
    )  # fmt: skip


def _command_fix(
    session: Session, episode: Episode, command: str, error: str, cause: str, order: str, runs: int
) -> Draft | None:
    """Nothing was edited: another command, or the same one typed otherwise, went through."""
    turns = session.turns
    failed, check = turns[episode.failure or 0], turns[episode.check or 0]
    old, new = _first_line(failed.command), _first_line(check.command)
    helpers = [turns[i] for i in episode.change if i != episode.check]
    if helpers:
        way = _first_line(helpers[-1].command)
        title = f"Run {code(way, 60)} when {code(command, 40)} says {code(_bare(error), 60)}"
        did = f"{code(way)} was run, then {code(command, 80)} went through"
    elif old and new and old != new and max(len(old), len(new)) < 110:
        title = order or f"Run {code(new, 60)}, not {code(old, 60)}"
        did = f"{code(new)} went through where {code(old)} did not"
    elif order or cause:
        title = order or cause
        did = f"the call without it went through: {code(new)}" if new else "the changed call went through"
    else:
        return None
    fact = f"{code(command, 100)} fails with {code(_bare(error), 220)}." + (f" {sentence(cause)}" if cause else "")
    worth = 1.6 + 0.8 * bool(cause) + 0.8 * bool(order) + 0.5 * bool(helpers) + min(runs - 1, 2) * 0.8
    instead = (f"{sentence(order)} " if order else "") + capital(sentence(did))
    return Draft(
        as_title(title), fact, _cost(runs, episode, command), instead, "bugs", worth, "procedural",
        0.75, (command,), (error_of(failed),),
    )  # fmt: skip


def _diagnosed_cause(session: Session, episode: Episode) -> Draft | None:
    turns = session.turns
    edits = [turns[i] for i in episode.change if is_edit(turns[i])]
    last = max(episode.turns)
    first = min(episode.turns)
    end = next((i for i in range(last, len(turns)) if is_person(turns[i]) and i > last), len(turns))
    texts = [turns[i].text for i in range(first, end) if is_statement(turns[i])]
    changed = names_in(*(t.change[:2500] for t in edits), *(p for t in edits for p in t.paths))
    cause = best_cause(texts, changed, 3)
    order = best_order(reversed(texts), changed & names_in(cause) or changed) or best_order(texts, changed)
    if not cause or not has_literal(cause):
        return None
    report = turns[first].text if is_person(turns[first]) else ""
    symptom = _symptom(report)
    pair = _best_pair(t.change for t in edits)
    did = _did(session, episode, edits, pair)
    title = order if order and has_literal(order) else cause
    fact = (f"Reported as: “{symptom}” " if symptom else "") + sentence(cause)
    why = (
        "The symptom alone does not point there; the cause was found by reading the code"
        f" over {max(1, last - first)} steps."
    )
    instead = f"{sentence(order or capital(did))}" + (f" {capital(sentence(did))}" if order and did else "")
    worth = 3.6 + 0.8 * bool(order) + 0.8 * bool(symptom) + 0.4 * (episode.check is not None)
    return Draft(as_title(title), fact, why, instead, "bugs", worth, confidence=_sure(0.78, cause, order))


def _user_correction(session: Session, episode: Episode) -> Draft | None:
    turns = session.turns
    words, at = "", episode.turns[0]
    for i in episode.turns:
        if turns[i].refused and turns[i].said.strip():
            words, at = turns[i].said, i
            break
        if is_person(turns[i]):
            words, at = turns[i].text, i
            break
    words = shorten(words, 360)
    answers = [turns[i].text for i in episode.turns if is_statement(turns[i]) and i > at]
    edits = [turns[i] for i in episode.change]
    names = names_in(words, *(t.change[:2500] for t in edits), *(p for t in edits for p in t.paths))
    own = next((s for s in sentences(words) if order_in(s) and is_general(s)), "")
    answer = answers[0] if answers else ""
    taken = best_order(_head(answer), names)
    rule = next((s for s in sentences(words) if is_general(s) and len(s) > 12 and not s.endswith("?")), "")
    title = capital(order_in(own)) if own else (taken or rule)
    if not title:
        return None
    wanted = _plan_before(session, episode.turns[0] if episode.failure is None else episode.failure)
    where = _paths_of([turns[episode.failure]] if episode.failure is not None else edits)
    fact = f"A person working on this project said{f' of a change to {where}' if where else ''}: “{words}”"
    acknowledged = best_cause(_head(answer), names)
    why = (f"The agent had meant to do otherwise: “{wanted}” " if wanted else "") + (
        sentence(acknowledged) if acknowledged else "It was not the agent's first choice, so it will come up again."
    )
    did = _did(session, episode, edits, _best_pair(t.change for t in edits)) if edits else ""
    instead = sentence(taken or (capital(order_in(own)) if own else rule)) + (
        f" {capital(sentence(did))}" if did else ""
    )
    worth = (
        4.0 + 1.5 * (episode.failure is not None) + 0.8 * yields(answer) + 0.5 * bool(edits) + 0.5 * bool(taken or own)
    )
    return Draft(as_title(title), fact, why, instead, "patterns", worth, confidence=0.85)


def _explicit_memory(session: Session, episode: Episode) -> Draft | None:
    turn = session.turns[episode.turns[0]]
    kept = remembered(turn)
    if not kept:
        return None
    words = [clean_end(_ASK.sub("", tidy(s)).strip()) for s in kept]
    words = [w for w in words if len(w) > 3] or [clean_end(tidy(s)) for s in kept]
    rest = [s for s in sentences(turn.said if turn.refused else turn.text) if s not in kept]
    fact = f"A person working on this project asked for it: “{shorten(' '.join(kept), 600)}”"
    reason = best_cause(rest, names_in(*kept))
    why = sentence(reason) if reason else "It was asked for in so many words, for all later sessions."
    return Draft(
        as_title(capital(words[0])), fact, why, sentence(capital("; ".join(words))), "patterns", 9.0,
        confidence=0.95, always=True,
    )  # fmt: skip


_ASK = re.compile(
    r"^(?:please|bitte|por favor|s'il te pla[iî]t|also|and|ok|so|but|note:?)?[ ,]{0,2}(?:always |"
        r"just )?(?:remember(?: this)?(?: to| that|:|,)?|from now on,?|going forward,?|in (?:the )?future,?|"
    r"keep in mind(?: that)?,?|don'?t forget (?:to|that)|make (?:a )?note (?:that|of|to):?|as a rule,?|"
        r"next time,?|merke? dir(?:,? dass)?:?|ab jetzt|ab sofort|in zukunft|désormais,?|"
    r"recuerda(?: que)?:?|de ahora en adelante,?|a partir de ahora,?|запомни:?|отныне,?|впредь,?|请?记住[：:，,]?|"
        r"从现在开始[，,]?|今后[，,は]?|これからは、?|앞으로(?:는)?|이제부터)\s{0,3}",
    re.IGNORECASE,
)  # fmt: skip


def _environment_fact(session: Session, episode: Episode) -> Draft | None:
    turns = session.turns
    if episode.failure is None:
        return None
    failed = turns[episode.failure]
    error = telling_line(failed.text)
    if not error:
        return None
    old = _first_line(failed.command)
    texts = [turns[i].text for i in episode.turns if is_statement(turns[i])]
    names = names_in(error, failed.command)
    cause = best_cause(texts, names)
    order = best_order(
        texts, names | (names_in(turns[episode.check].command) if episode.check is not None else frozenset())
    )
    runs = _times(session, episode.failure)
    command = _command_of(failed.command, "")
    errors = (error_of(failed),) if error_of(failed) else ()
    fact = f"{code(command, 100)} fails here with {code(_bare(error), 220)}." + (f" {sentence(cause)}" if cause else "")
    if episode.check is not None:
        check = turns[episode.check]
        new = _first_line(check.command)
        again = new == old
        if again and "sandbox" not in episode.reason:
            return None
        if again:
            title = f"Ask for permission outside the sandbox for {code(command, 60)}"
            instead = f"{code(new)} went through when it was run again with permission."
        else:
            title = order or f"Run {code(new, 60)}; {code(old, 50)} fails here"
            instead = (f"{sentence(order)} " if order else "") + f"{code(new)} went through."
        worth = 2.2 + 0.8 * bool(cause) + 0.8 * bool(order) + 0.5 * (not again)
    else:
        if runs < 2:
            return None
        title = f"Do not count on {code(checks_of(failed.command)[-1] if checks_of(failed.command) else command, 50)} here: {_bare(error)}"
        instead = "No way round it was found in that session: do not retry it unchanged, ask the person instead."
        worth = 2.4 + min(runs, 4) * 0.3 + 0.5 * bool(cause)
    why = (
        f"It failed {runs} times with the same error."
        if runs > 1
        else "The command reads right and fails all the same; the machine is why."
    )
    return Draft(
        as_title(title), fact, why, instead, "knowledge", worth, confidence=0.8, commands=(command,), errors=errors
    )


def _repeated_failure(session: Session, episode: Episode) -> Draft | None:
    if episode.check is not None:
        failing = [i for i in episode.turns if is_failure(session.turns[i])]
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
        return _failure_then_fix(session, last)
    return _environment_fact(session, episode)


def _abandoned_approach(session: Session, episode: Episode) -> Draft | None:
    turns = session.turns
    said = next((turns[i] for i in episode.turns if is_statement(turns[i])), None)
    if said is None:
        return None
    tried = [turns[i] for i in episode.turns if is_edit(turns[i]) and turns[i].line < said.line]
    names = names_in(*(t.change[:2500] for t in tried), *(p for t in tried for p in t.paths), said.text)
    cause = best_cause([said.text], names)
    order = best_order([said.text], names)
    if not cause or not order:
        return None
    attempt = added_line([t.change for t in tried])
    fact = sentence(cause) + (
        f" Tried and taken back: {code(attempt)}." if attempt else f" Tried and taken back in {_paths_of(tried)}."
    )
    why = f"{len(tried)} edits were made and undone before another way was taken."
    return Draft(as_title(order), fact, why, sentence(order), "knowledge", 2.6, "reflective", 0.75)


def _decision(session: Session, episode: Episode) -> Draft | None:
    turns = session.turns
    said = turns[episode.turns[0]]
    chosen = next(
        (
            s
            for s in sentences(said.text)
            if cause_weight(s) and len(LITERAL.findall(s)) and re.search(r"\b(?:instead of|rather than|over)\b", s)
        ),
        "",
    )
    order = order_in(tidy(chosen)) or best_order([chosen], names_in(chosen))
    if not chosen or not order:
        return None
    edits = [turns[i] for i in episode.change]
    fact = sentence(tidy(chosen))
    why = "The choice was made with its reason and followed in " + _paths_of(edits) + "."
    return Draft(as_title(order), fact, why, sentence(capital(order)), "knowledge", 2.2, "reflective", 0.75)


def _discarded_work(session: Session, episode: Episode) -> Draft | None:
    pop, drop = (session.turns[i] for i in episode.turns[:2])
    output = next(
        (
            line
            for line in pop.text.split("\n")
            if "overwritten" in line or "CONFLICT" in line or "kept in case" in line
        ),
        "",
    )
    fact = (
        f"{code(_first_line(pop.command))} was refused: {code(output, 200)}. The stash then held the only copy of those edits, "
        f"and {code(_first_line(drop.command), 100)} threw it away."
    )
    return Draft(
        "Never drop a stash whose pop was refused, and do not stash in a tree that others edit", fact,
        "Uncommitted edits that a dropped stash held are gone without a message.",
        "Look at another state in a second worktree (`git worktree add`) instead of stashing; after a refused pop "
        "clear the way "
        "and pop again, and drop nothing before `git stash show -p` is empty or applied.",
        "patterns", 5.5, "semantic", 0.9, ("git stash pop",), (),
    )  # fmt: skip


DRAFTS: dict[str, Callable[[Session, Episode], Draft | None]] = {
    "explicit_memory": _explicit_memory,
    "user_correction": _user_correction,
    "discarded_work": _discarded_work,
    "failure_then_fix": _failure_then_fix,
    "diagnosed_cause": _diagnosed_cause,
    "repeated_failure": _repeated_failure,
    "environment_fact": _environment_fact,
    "abandoned_approach": _abandoned_approach,
    "decision": _decision,
}


def _closing(session: Session, at: int) -> list[str]:
    """What the agent said after a check, up to the person's next message."""
    found = []
    for turn in session.turns[at + 1 : at + 12]:
        if is_person(turn):
            break
        if is_statement(turn):
            found.append(turn.text)
    return found


def _head(answer: str) -> list[str]:
    return ["\n".join(answer.split("\n")[:6])] if answer else []


def _best_pair(changes: Iterable[str]) -> tuple[str, str] | None:
    found = [pair for pair in map(line_pair, changes) if pair[0]]
    return min(found, key=lambda pair: len(pair[0]) + len(pair[1])) if found else None


def _did(session: Session, episode: Episode, edits: list[Turn], pair: tuple[str, str] | None) -> str:
    """What was changed, with the line that shows it."""
    where = _paths_of(edits)
    if pair and len(pair[0]) + len(pair[1]) < 260:
        return f"in {where}, {code(pair[0])} became {code(pair[1])}"
    line = added_line([t.change for t in edits])
    if line:
        return f"in {where}, {code(line)} was added"
    return f"{where} changed" if where else ""


def _paths_of(turns: list[Turn]) -> str:
    paths = list(dict.fromkeys(path for turn in turns for path in turn.paths))
    names = ", ".join(code(path, 90) for path in paths[:3])
    return f"{names} and {len(paths) - 3} more" if len(paths) > 3 else names


def _times(session: Session, at: int) -> int:
    """How often the error at a position stands in the session."""
    signature = error_of(session.turns[at])
    return sum(1 for turn in session.turns if is_failure(turn) and error_of(turn) == signature) if signature else 1


def _cost(runs: int, episode: Episode, command: str) -> str:
    failure, check = episode.failure or 0, episode.check or 0
    if runs > 1:
        return f"The same error came back {runs} times before it was gone."
    if check - failure > 8:
        return f"It took {check - failure} steps until {code(command, 80)} passed."
    return f"{code(command, 80)} does not pass until it is done."


def _sure(base: float, cause: str, order: str) -> float:
    return round(min(0.95, base + 0.05 * bool(cause) + 0.05 * bool(order)), 2)


def _command_of(command: str, check: str) -> str:
    """The part of a command line that failed, as it was typed: the named check's, else the first line."""
    for part in re.split(r"&&|\|\||;|\n|\|", command):
        if check and check in checks_of(part):
            return part.strip().rstrip("\\").strip()
    return _first_line(command)


def _first_line(command: str) -> str:
    lines = [line.strip() for line in command.strip().split("\n") if line.strip()]
    return lines[0].rstrip("\\").strip() if lines else ""


def _bare(error: str) -> str:
    """An error line without the place that it names at its start."""
    return (
        re.sub(r"^(?:\[[\w:.-]{1,30}\] )?[\w./\\@+-]{1,200}\.\w{1,10}[:(]\d{1,7}(?:[:,]\d{1,6})?\)?:? ?", "", error)
        or error
    )


def _place(error: str) -> str:
    found = re.match(r"^(?:\[[\w:.-]{1,30}\] )?([\w./\\@+-]{1,200}\.\w{1,10})[:(]\d", error)
    return code(found[1]) if found else code(_bare(error), 60)


def _advice(error: str) -> str:
    """What a checker's message itself says to write."""
    bare = _bare(error)
    if found := re.search(r"can replace '(.{3,80}?)' with '(.{3,80}?)'", bare):
        return f"Write `{found[2]}`, not `{found[1]}`"
    if found := re.search(
        r"string `(.{1,60}?)` has \d+ occurrences, but such constant `(\w{1,60})` already exists", bare
    ):
        return f"Use the constant `{found[2]}` in place of the string `{found[1]}`"
    if found := re.search(r"(\S{2,60}) must not be called\. use (\S{2,60})", bare):
        return f"Call `{found[2]}`, not `{found[1]}`"
    if found := re.search(r"[Dd]id you mean ['\"`]?([\w./:-]{2,60})['\"`]?\??", bare):
        return f"Write `{found[1]}`"
    if found := re.search(r"\b([Uu]se [`'\"]?[\w./():-]{3,60}[`'\"]? (?:instead|rather)\b.{0,60})", bare):
        return capital(found[1])
    return ""


def _is_assertion(error: str) -> bool:
    return (
        re.search(r"AssertionError|\bwant\b|\bexpected\b.{0,80}\b(?:got|received|but|to)\b|^assert|●|--- FAIL", error)
        is not None
    )


def _symptom(report: str) -> str:
    """The person's sentences that tell of the failure, short."""
    told = [
        s
        for s in sentences(report, 12)
        if re.search(
            r"error|fail|wrong|broken|slow|delay|crash|not |n't|"
            r"invalid|issue|bug|problem|错|失败|エラー|오류",
            s,
            re.IGNORECASE,
        )
    ]
    return shorten(" ".join(told[:2]), 240) if told else ""


def _plan_before(session: Session, at: int) -> str:
    """What the agent had said it would do, right before."""
    for turn in reversed(session.turns[max(0, at - 4) : at]):
        if is_person(turn):
            return ""
        if is_statement(turn):
            said = [
                tidy(s)
                for s in sentences(turn.text)
                if re.search(r"\bI (?:need to|will|should)|\bI'll\b", s) and has_literal(s)
            ]
            return shorten(said[-1], 240) if said else ""
    return ""
