"""Words for what was said: a correction, a request to remember, a choice, an approach given up, work thrown away."""

from __future__ import annotations

import re

from detectors.agent_words import order_in, yields
from detectors.decision import is_choice
from detectors.evidence import is_edit, is_person, is_statement
from detectors.explicit_memory import remembered
from detectors.person_words import asked_order, is_general, prohibits
from detectors.sentences import has_literal, sentences
from index.records import Episode, Session
from reflect.draft import Draft, edits_of, first_line, instead_of, paths_of, what_changed, with_context
from reflect.quotes import (
    added_line,
    as_title,
    best_cause,
    best_order,
    capital,
    clean_end,
    code,
    is_telling,
    keep_in_mind,
    names_in,
    sentence,
    shorten,
    tidy,
)

_ASK = re.compile(
    r"^(?:please|bitte|por favor|s'il te pla[iî]t|also|and|ok|so|but|note:?|yes|no)?[ ,.]{0,3}(?:always |just |"
    r"please )?"
    r"(?:remember(?: this)?(?: to| that|:|,)?|from now on,?|going forward,?|in (?:the )?future,?|"
    r"keep in mind(?: that)?,?|"
    r"don'?t (?:ever )?forget (?:to|that)|make (?:a )?note (?:that|of|to):?|as a rule,?|next time,?|"
    r"merke? dir(?:,? dass)?:?|"
    r"ab jetzt|ab sofort|in zukunft|désormais,?|recuerda(?: que)?:?|de ahora en adelante,?|a partir de ahora,?|"
    r"запомни:?|"
    r"отныне,?|впредь,?|请?记住[：:，,]?|从现在开始[，,]?|今后[，,]?|今後は、?|これからは、?|앞으로(?:는)?|이제부터(?:는)?)\s{0,3}",
    re.IGNORECASE,
)
# A curse is no part of what was wanted.
_RUDE = re.compile(
    r"\b(?:omfg|wtf|f+u+c+k\w{0,6}|shit\w{0,4}|damn\w{0,3}|goddamn\w{0,3}|bullshit|crap|asshole|"
    r"bitch|idiot)\b",
    re.IGNORECASE,
)
_NO = re.compile(
    r"^(?:(?:no|nope|wrong|hmm{1,9}|nein|non|but|and|so|please|also|i (?:already )?said(?: that| to)?"
    r"|i(?: have|'ve)? (?:already )?(?:told|asked) you(?: to| that)?)[,.!:; ]{1,3}){1,5}",
    re.IGNORECASE,
)
_WE = re.compile(r"^(we) (?:use|prefer|keep|write|run|call|put|don'?t|do not|never|always|only|have)\b", re.IGNORECASE)
_MIDDLE = re.compile(r"\b(?:and|but|also|so|,) (?:please )?(?:remember|keep in mind)(?: that)? (.{15,})", re.IGNORECASE)


def draft_correction(session: Session, episode: Episode) -> Draft | None:
    """What the person wanted in place of what the agent did."""
    turns = session.turns
    at, words = _words(session, episode)
    if not words:
        return None
    answer = next((turns[i].text for i in episode.turns if is_statement(turns[i]) and i > at), "")
    head = ["\n".join(answer.split("\n")[:6])] if answer else []
    edits = edits_of(session, episode)
    refused = [turns[episode.failure]] if episode.failure is not None and is_refused_edit(session, episode) else []
    names = names_in(words, *(t.change[:3000] for t in [*edits, *refused]), *(p for t in edits for p in t.paths))
    said = sentences(words)
    own = next((order for s in said if is_telling(order := order_in(tidy(s))) and not s.endswith("?")), "")
    asked = (
        next((order for s in said if is_telling(order := asked_order(s))), "") if episode.failure is not None else ""
    )
    taken = best_order(head, names, near=True)
    rules = [
        one for one in said if is_general(one) and 15 < len(one) < 180 and not one.startswith("(") and one[-1] != "?"
    ]
    rule = as_rule(rules[0]) if rules else ""
    reason = best_cause(head, names)
    order = clean_end(own or (rule if prohibits(rule) else "") or taken or asked or rule)
    if not order and refused and yields(answer) and reason:
        order = keep_in_mind(reason)
    if not order:
        return None
    wanted = _meant(session, episode.failure if episode.failure is not None else at)
    did = what_changed(edits, names_in(words, order)) if edits else ""
    where = paths_of(refused or edits)
    place = f" of a change to {where}" if where else ""
    why = [f"The agent had meant to do otherwise: “{wanted}”."] if wanted else []
    why += [sentence(reason)] if reason else []
    return Draft(
        title=as_title(with_context(capital(order), (reason or where) if len(order) < 40 else "")),
        fact=f"A person working on this project said{place}: “{shorten(_RUDE.sub('…', words), 360)}”",
        why=" ".join(why) or "It was said against what the agent was doing.",
        instead=instead_of(capital(order), did, ""),
        category="patterns",
        worth=4.0
        + 1.2 * (episode.failure is not None)
        + 0.6 * yields(answer)
        + 0.5 * bool(edits)
        + 0.5 * has_literal(order),
        confidence=0.85,
    )


def as_rule(words: str) -> str:
    """A person's sentence as a rule: without the no or the told-you at its start, and "we use x" as "use x"."""
    bare = _NO.sub("", tidy(words))
    found = _WE.match(bare)
    return capital(bare[found.end(1) + 1 :] if found else bare)


def is_refused_edit(session: Session, episode: Episode) -> bool:
    """Whether what the person turned down was an edit."""
    return episode.failure is not None and session.turns[episode.failure].action == "edit"


def _words(session: Session, episode: Episode) -> tuple[int, str]:
    """Where the person said what was wrong, and the words."""
    for at in episode.turns:
        turn = session.turns[at]
        if turn.refused and turn.said.strip():
            return at, turn.said
        if is_person(turn):
            return at, turn.text
    return -1, ""


def _meant(session: Session, at: int) -> str:
    """What the agent had said it would do, right before."""
    for turn in reversed(session.turns[max(0, at - 4) : at]):
        if is_person(turn):
            return ""
        if is_statement(turn):
            said = [tidy(s) for s in sentences(turn.text) if order_in(tidy(s)) and has_literal(s)]
            said = said or [tidy(s) for s in sentences(turn.text) if order_in(tidy(s)) and len(s) > 40]
            return shorten(clean_end(said[-1]), 240) if said else ""
    return ""


def draft_memory(session: Session, episode: Episode) -> Draft | None:
    """What the person asked to keep."""
    turn = session.turns[episode.turns[0]]
    kept = remembered(turn)
    rules = [rule for one in kept if len(rule := _rule(one)) > 3]
    if not rules:
        return None
    rest = [one for one in sentences(turn.said if turn.refused else turn.text) if one not in kept]
    reason = best_cause(rest, names_in(*kept))
    text = "; ".join(rules)
    return Draft(
        title=as_title(capital(rules[0])),
        fact=f"A person working on this project asked to keep this: “{shorten(' '.join(kept), 600)}”",
        why=sentence(reason) if reason else "It was asked for in so many words, beyond the task at hand.",
        instead=sentence(capital(text)),
        category="patterns" if order_in(rules[0]) or is_general(rules[0]) else "knowledge",
        worth=9.0,
        confidence=0.95,
        always=True,
    )


def _rule(asked: str) -> str:
    """The rule in a request, without the words that ask to keep it."""
    text = tidy(asked)
    middle = _MIDDLE.search(text)
    if middle is not None:
        return clean_end(middle[1])
    return clean_end(as_rule(_ASK.sub("", text).strip()))


def draft_abandoned(session: Session, episode: Episode) -> Draft | None:
    """An approach that was tried and taken back, with the reason."""
    turns = session.turns
    at = next((i for i in episode.turns if is_statement(turns[i])), None)
    if at is None:
        return None
    tried = [turns[i] for i in episode.turns if i < at and is_edit(turns[i])]
    names = names_in(*(t.change[:3000] for t in tried), *(p for t in tried for p in t.paths), turns[at].text)
    cause, order = best_cause([turns[at].text], names), best_order([turns[at].text], names)
    if not cause or not order:
        return None
    attempt = added_line([t.change for t in tried], names)
    return Draft(
        title=as_title(order),
        fact=f"{sentence(cause)} Tried and taken back{f': {code(attempt)}' if attempt else ''} in {paths_of(tried)}.",
        why=f"{len(tried)} edit{'s were' if len(tried) > 1 else ' was'} made and undone before another way was taken.",
        instead=sentence(order),
        category="knowledge",
        worth=2.8,
        type="reflective",
        confidence=0.75,
    )


def draft_decision(session: Session, episode: Episode) -> Draft | None:
    """A choice and its reason."""
    said = session.turns[episode.turns[0]].text
    chosen = next((one for one in sentences(said, 40) if is_choice(one)), "")
    order = order_in(tidy(chosen))
    if not is_telling(order):
        return None
    edits = edits_of(session, episode)
    return Draft(
        title=as_title(order),
        fact=sentence(tidy(chosen)),
        why=f"The choice was made with its reason and followed in {paths_of(edits)}.",
        instead=sentence(capital(order)),
        category="knowledge",
        worth=2.7,
        type="reflective",
        confidence=0.75,
    )


def draft_discarded(session: Session, episode: Episode) -> Draft | None:
    """Work that a dropped stash held."""
    pop, drop = (session.turns[at] for at in episode.turns[:2])
    refusal = next(
        (line for line in pop.text.split("\n") if re.search(r"overwritten|CONFLICT|already exists", line)), ""
    )
    return Draft(
        title="Never drop a stash whose pop was refused; do not stash in a tree that others edit",
        fact=f"{code(first_line(pop.command))} was refused{f': {code(refusal)}' if refusal else ''}. The stash held "
        f"the only copy of those edits, and {code(first_line(drop.command), 100)} threw it away.",
        why="Uncommitted edits that were only in a dropped stash are gone, and no command says so.",
        instead="Look at another state in a second worktree (`git worktree add`) instead of stashing. After a "
        "refused pop, "
        "clear the way and pop again; drop nothing before `git stash show -p` has been applied.",
        category="patterns",
        worth=5.5,
        confidence=0.9,
        commands=("git stash pop", "git stash drop"),
    )
