"""Words for what was said: a correction, a request to remember, a choice, an approach given up, work thrown away."""

from __future__ import annotations

import re

from detectors.abandoned_approach import reasons
from detectors.agent_words import from_gerund, is_order, order_in, yields
from detectors.decision import binding, is_choice, persons_choice, picked_option
from detectors.evidence import is_edit, is_person, is_statement
from detectors.explicit_memory import remembered
from detectors.person_words import asked_order, asks_to_save, is_general, is_one_off, is_trivial, prohibits
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
    names_in,
    sentence,
    shorten,
    tidy,
    uncapital,
)
from reflect.said import Rule, as_rule, banned_commands, because, take_apart, without_no

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
RUDE = re.compile(
    r"\b(?:omfg|wtf|f+u+c+k\w{0,6}|shit\w{0,4}|damn\w{0,3}|goddamn\w{0,3}|bullshit|crap|asshole|"
    r"bitch|idiot)\b",
    re.IGNORECASE,
)
# What only makes sense beside what was said before.
_POINTS_BACK = re.compile(r"\b(?:that|this|it|those|these|them|one|same)$", re.IGNORECASE)
_OPINION = re.compile(
    r"i (?:don'?t |do not )?(?:th?i?nk|tink|guess|believe|feel|wonder|see|get|have)\b|(?:it )?should be\b",
    re.IGNORECASE,
)
# "no sleeps in specs": a ban without a verb.
_BAN_OF_THINGS = re.compile(
    r"^no (?!(?:it|that|this|we|you|i|they|he|she|not|need|idea|problem)\b)\w{3,20}\b[^,?]{0,80}$", re.I
)
# What a named part of the program should do.
_THING_SHOULD = re.compile(
    r"^`?(?=\w*[a-z_.][A-Z_.(])[\w.()]{4,40}`? (?:should|must) (?:not |never |always )?\w{2,} \S.{8,}"
)
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
    said = [one for one in sentences(RUDE.sub("…", words)) if not is_trivial(one)]
    places = [(number, order_in(tidy(s))) for number, s in enumerate(said) if not s.endswith("?")]
    own_at, own = next(((number, order) for number, order in places if is_telling(order)), (-1, ""))
    asked = (
        next((order for s in said if is_telling(order := asked_order(s))), "") if episode.failure is not None else ""
    )
    taken = best_order(head, names, near=True)
    ruled = [
        number
        for number, one in enumerate(said)
        if (is_general(one) or _THING_SHOULD.match(one))
        and 15 < len(one) < 180
        and not one.startswith("(")
        and one[-1] != "?"
    ]
    rule = as_rule(said[ruled[0]]) if ruled else ""
    reason = best_cause(head, names)
    if own or (rule and (prohibits(rule) or not taken)):
        start = min(n for n in (own_at, *ruled[:1]) if n >= 0)
        start -= bool(start and _BAN_OF_THINGS.match(said[start - 1]))
        parts = take_apart(said[start:])
        before = without_no(said[start - 1]) if start else ""
        if not parts.reason and len(before) > 20 and before[-1] not in "?!" and not is_one_off(before):
            parts = Rule(parts.order, parts.instead, before)
        answered = False
    else:
        parts = Rule(taken or asked)
        answered = bool(taken)
    if len(parts.order) < 8 or _POINTS_BACK.search(parts.order) or _OPINION.match(parts.order):
        return None
    wanted = _meant(session, episode.failure if episode.failure is not None else at)
    order = clean_end(parts.order)
    did = what_changed(edits, names_in(words, order)) if edits else ""
    shown = did and not did.endswith(" changed")
    where = paths_of(refused or edits)
    place = f" of a change to {where}" if where else ""
    why = because(parts.reason) if parts.reason else sentence(reason)
    told = names_in(wanted) <= names_in(order, words, parts.instead) or _meant_the_same(wanted, order)
    meant = f"The agent had meant otherwise: “{wanted}”." if wanted and not told else ""
    return Draft(
        title=rule_title(parts, parts.reason or reason or where),
        fact=f"A person working on this project said{place}: “{shorten(RUDE.sub('…', words), 360)}”",
        why=" ".join(filter(None, [why, meant])) or _AGAINST,
        instead=instead_of(capital(parts.instead) or ("" if shown and not answered else capital(order)), did, ""),
        category="patterns",
        worth=4.0
        + 1.2 * (episode.failure is not None)
        + 0.6 * yields(answer)
        + 0.5 * bool(edits)
        + 0.5 * has_literal(order)
        + 0.5 * bool(parts.reason or parts.instead),
        confidence=0.85,
        commands=banned_commands(words),
        banned=banned_commands(words),
    )


def rule_title(parts: Rule, context: str) -> str:
    """What to do, with what to do instead where both are short, else with the reason."""
    order, instead = capital(clean_end(parts.order)).rstrip("!"), clean_end(parts.instead)
    if instead and len(order) + len(instead) < 110:
        return as_title(f"{order}; {uncapital(instead)}")
    return as_title(with_context(order, context if len(order) < 56 else ""))


def _meant_the_same(wanted: str, order: str) -> bool:
    """Whether what the agent had meant already names what it was then told."""
    names = names_in(order)
    return bool(names) and 2 * len(names & names_in(wanted)) >= len(names)


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
    said = sentences(turn.said if turn.refused else turn.text)
    rest = [one for one in said if one not in kept]
    after = [one for one in said[said.index(kept[-1]) + 1 :][:2] if one in rest and not asks_to_save(one)]
    parts = take_apart([rules[0], *(after if len(rules) == 1 else [])])
    reason = parts.reason or best_cause(rest, names_in(*kept))
    quote = shorten(" ".join([*kept, *(after if parts.reason or parts.instead else [])]), 600)
    others = "; ".join(rules[1:])
    binds = bool(order_in(rules[0]) or is_general(rules[0]))
    return Draft(
        title=rule_title(parts, reason if len(parts.order) < 40 else ""),
        fact=f"A person working on this project asked to keep this: “{quote}”",
        why=because(reason) if reason else "The person asked for it to be kept, beyond the task at hand.",
        instead=sentence(capital(parts.instead or others)) or ("Keep to it" if binds else "Count on it") + _LATER,
        category="patterns" if binds else "knowledge",
        worth=9.0,
        confidence=0.95,
        always=True,
        commands=banned_commands(" ".join([*kept, *after])),
        banned=banned_commands(" ".join([*kept, *after])),
    )


def _rule(asked: str) -> str:
    """The rule in a request, without the words that ask to keep it."""
    text = tidy(asked)
    middle = _MIDDLE.search(text)
    if middle is not None:
        return clean_end(middle[1])
    return clean_end(as_rule(_ASK.sub("", text).strip()))


_LATER = " in every later task on this project."
_AGAINST = "The agent was doing otherwise when the person said so."


def draft_abandoned(session: Session, episode: Episode) -> Draft | None:
    """An approach that was tried and taken back, with the reason: what to do instead, else what not to do."""
    turns = session.turns
    back = episode.change[0]
    at = next((i for i in episode.turns if is_statement(turns[i]) or is_person(turns[i])), None)
    tried = [turns[i] for i in episode.turns if i != back and is_edit(turns[i])]
    if at is None or not tried:
        return None
    why = reasons(turns[at].text, order=not is_person(turns[at]))
    if not why:
        return None
    first = min(i for i in episode.turns if is_edit(turns[i]))
    attempt = _announced(session, first)
    order = clean_end(_other_way(turns[at].text))
    reason = clean_end(tidy(why[0]))
    if order:
        title = order
    elif attempt:
        title = with_context(f"Do not {uncapital(attempt)}", reason)
    else:
        return None
    wrote = added_line([turn.change for turn in tried], names_in(turns[at].text, attempt))
    done = f"{code(wrote, 90)} in {paths_of(tried)}" if wrote else f"a change of {paths_of(tried)}"
    return Draft(
        title=as_title(title),
        fact=f"{sentence(reason)} Tried and taken back: {done}.",
        why="It looks like the way to go, was tried in that session, and had to be undone.",
        instead=" ".join(filter(None, [sentence(order), f"Do not {uncapital(sentence(attempt))}" if attempt else ""])),
        category="knowledge",
        worth=3.0 + 0.6 * bool(order) + 0.4 * bool(attempt),
        type="reflective",
        confidence=0.75,
    )


_INSTEAD_OF_IT = re.compile(
    r"\b(?:revert(?:ing)?|undo(?:ing)?|drop(?:ping)?|go(?:ing)? back|back(?:ing)? out|roll(?:ing)? back|"
    r"restor(?:e|ing)|put(?:ting)?|"
    r"tak(?:e|ing)|abandon(?:ing)?)\b[^.;`]{0,60}?(?:,|\band\b|\bthen\b)+ (?:then |instead )?(\w.{8,300})",
    re.IGNORECASE,
)


def _announced(session: Session, first: int) -> str:
    """What the agent had said it would do, right before it was tried, as an order."""
    for turn in reversed(session.turns[max(0, first - 4) : first]):
        if is_person(turn):
            return ""
        if is_statement(turn):
            orders = [order for one in sentences(turn.text) if is_telling(order := order_in(tidy(one)))]
            return clean_end(orders[-1]) if orders and len(orders[-1]) < 140 else ""
    return ""


def _other_way(text: str) -> str:
    """What a statement that gives something up wants to do in its place, as an order, or ""."""
    for one in sentences(text, 12):
        found = _INSTEAD_OF_IT.search(one)
        order = from_gerund(found[1]) if found else ""
        if order and is_order(order) and has_literal(order) and is_telling(order):
            return capital(order)
    order = best_order([text], names_in(text))
    return "" if re.match(r"(?:revert|undo|roll|restore|drop|put|take)\b", order, re.IGNORECASE) else order


def draft_decision(session: Session, episode: Episode) -> Draft | None:
    """A choice and its reason."""
    at = next((at for at in episode.turns if is_person(session.turns[at])), None)
    if at is not None and at != episode.turns[0]:
        return _draft_picked(session, episode, at)
    said = session.turns[episode.turns[0]].text
    if is_person(session.turns[episode.turns[0]]):
        return _persons_choice(said)
    chosen = next((one for one in sentences(said, 40) if is_choice(one)), "")
    chosen = chosen or next((one for one in sentences(said, 12) if is_choice(one, plain=True)), "")
    if not chosen:
        return _draft_bound(session, episode)
    order = order_in(_GO_WITH.sub("Use ", _WOULD.sub("", tidy(chosen))))
    if not is_telling(order):
        return None
    parts = take_apart([order])
    return Draft(
        title=as_title(order),
        fact=f"Chosen and followed in {paths_of(edits_of(session, episode))}: {sentence(uncapital(parts.order))}",
        why=sentence(capital(parts.reason)) or "The choice was made with a reason and kept to.",
        instead=sentence(capital(parts.order)),
        category="knowledge",
        worth=2.7,
        type="reflective",
        confidence=0.75,
    )


def _draft_bound(session: Session, episode: Episode) -> Draft | None:
    """What cannot be done in this code base, why, and the way that was taken instead."""
    texts = [session.turns[at].text for at in episode.turns if is_statement(session.turns[at])]
    limit = tidy(binding(texts[0]))
    edits = edits_of(session, episode)
    names = names_in(*(turn.change[:3000] for turn in edits), *(path for turn in edits for path in turn.paths))
    after = texts[0][texts[0].find(binding(texts[0])[-30:]) :]
    order = best_order([after, *texts[1:]], names)
    if not limit or not has_literal(order):
        return None
    return Draft(
        title=as_title(with_context(order, limit if len(order) < 60 else "")),
        fact=sentence(capital(limit)),
        why=f"It was met while {paths_of(edits)} was written, and no error tells of it before.",
        instead=sentence(capital(order)),
        category="knowledge",
        worth=2.7,
        type="reflective",
        confidence=0.75,
    )


def _draft_picked(session: Session, episode: Episode, at: int) -> Draft | None:
    """The way that a person picked of those laid out, with what speaks for it."""
    choice = picked_option(session, at)
    if choice is None:
        return None
    _, chosen, others = choice
    head = tidy(chosen.head)
    left = [shorten(tidy(other.head), 60) for other in others]
    does = is_order(head) or not head.isascii()
    order = head if does else f"Go with {uncapital(head)}"
    against = "; ".join(f"“{one}”" for one in left[:3])
    if len(head) < 6 or len(head) > 160:
        return None
    reason = _UNDER_HEAD.sub("", tidy(chosen.text).replace(chosen.head, "", 1)).strip()
    return Draft(
        title=as_title(with_context(order, f"not {uncapital(left[0])}" if len(left) == 1 and not does else reason)),
        fact=f"A person working on this project chose this way: “{shorten(tidy(chosen.text), 360)}”",
        why=f"It was laid out beside {against}, and picked.",
        instead=sentence(capital(order)),
        category="knowledge",
        worth=3.2,
        type="reflective",
        confidence=0.8,
    )


# What joins an option's name to what is said of it.
_UNDER_HEAD = re.compile(r"^[\s*_:：.。,;—–-]{1,8}")
_GO_WITH = re.compile(
    r"^(?:so )?(?:I(?:'ll| will) )?(?:go(?:ing)? with|stick(?:ing)? (?:with|to)|opt for) ", re.IGNORECASE
)
_WOULD = re.compile(r"^(?:so )?I(?:'d| would)(?: rather)? (?=\w)", re.IGNORECASE)
_SETTLE = re.compile(
    r"^(?:ok(?:ay)?|yes|then|so|fine|good|alright)?[,.: ]{0,2}(?:let'?s|lets|we(?:'ll| will| should| can)?|"
    r"i(?:'d| would| will|'ll)?)?(?: rather)?(?: just)? ?(?:go(?:ing)? with|stick(?:ing)? (?:with|to)|"
    r"settle (?:on|for)|"
    r"keep to|opt for|choose|pick|went with|decided (?:on|to use|for)|stay with) (?=\S)",
    re.IGNORECASE,
)
_LETS = re.compile(
    r"^(?:ok(?:ay)?|yes|then|so|fine)?[,.: ]{0,2}(?:let'?s|lets|we(?:'ll| will| should| can)?|i'd) (?=\w)",
    re.IGNORECASE,
)


def _persons_choice(text: str) -> Draft | None:
    """What a person settled on, and why."""
    chosen = persons_choice(text)
    if not chosen:
        return None
    parts = take_apart(chosen)
    settled = _SETTLE.sub("Use ", clean_end(parts.order))
    order = capital(settled if settled.startswith("Use ") else _LETS.sub("", settled))
    if not parts.reason or len(order) < 10 or not is_order(order):
        return None
    order = clean_end(order.partition(", so ")[0])
    return Draft(
        title=as_title(with_context(order, parts.reason)),
        fact=f"A person working on this project decided: “{shorten(' '.join(chosen), 360)}”",
        why=because(parts.reason),
        instead=sentence(order),
        category="knowledge",
        worth=4.2,
        type="reflective",
        confidence=0.85,
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
