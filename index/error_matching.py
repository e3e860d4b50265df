"""Is this output an error that a solution declares, in these or other words? Features, and a model that weighs them.

Imports only our own import-free modules, as `index.matching` does.
"""

from index.matching import Hit, count_lessons, log, search_words, weights_of
from index.signature import QUOTES, closing_quote, error_lines, mask, split_lines
from index.words import words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Hits = dict[int, Hit]

# How sure one is that an output is the error a solution declares: a logistic model over the features of
# `error_features`, fitted and cross-checked by benchmarks/trigger.py on recorded compiler diagnostics.
ERROR_WEIGHTS = (3.49, 2.51, 2.73, 2.21, 1.79, -0.90, 0.02, 1.98, -4.57, -2.54, -6.74)
ERROR_FLOOR = -0.1


def match_error(db: "Any", output: str, hits: "Hits", floor: float = ERROR_FLOOR) -> None:
    """Solutions that declare the error an output shows, in these or other words."""
    scored = score_errors(db, output)
    for mid, value, text in scored:
        if value >= floor:
            sure = 1 / (1 + 2.718281828 ** -max(-20.0, min(20.0, value)))
            hits.setdefault(mid, Hit(mid)).add("error", 2.0 + 2.0 * sure, f"the output shows “{text[:120]}”")


def score_errors(db: "Any", output: str, candidates: int = 12) -> "list[tuple[int, float, str]]":
    """Solutions with a declared error near an output's, best first: (mid, log-odds, the declared error)."""
    best: dict[int, tuple[float, str]] = {}
    for mid, text, features in error_candidates(db, output, candidates):
        value = sum(weight * feature for weight, feature in zip(ERROR_WEIGHTS, features, strict=True))
        if mid not in best or value > best[mid][0]:
            best[mid] = (value, text)
    return sorted(((mid, value, text) for mid, (value, text) in best.items()), key=lambda item: (-item[1], item[0]))


def error_candidates(db: "Any", output: str, most: int) -> "list[tuple[int, str, tuple[float, ...]]]":
    """Declared errors that may be what an output shows, each with the features that say how likely it is."""
    lines = error_lines(output, 3) or list(split_lines(output))[:1]
    if not lines:
        return []
    message = Message(lines[0], output)
    total = count_lessons(db)
    rows: dict[int, None] = {}
    for line in lines:
        for found in db.execute("select eid from err where sig = ? limit ?", (mask_label(line), most)).fetchall():
            rows.setdefault(found[0])
    for eid, _ in search_words(db, "ferr", weights_of(db, message.words, "verr", total), most):
        rows.setdefault(eid)
    asked = weights_of(db, message.words, "vdoc", total)
    for mid, _ in search_words(db, "fdoc", asked, most // 2):
        for found in db.execute("select eid from err where mid = ? limit 3", (mid,)).fetchall():
            rows.setdefault(found[0])
    near = [Declared(db, eid, message) for eid in list(rows)[: 2 * most]]
    wanted = {word for one in near for word in one.asked}
    weights = {
        word: weight for word, (weight, _) in weights_of(db, sorted(wanted | message.words), "vdoc", total).items()
    }
    return [(one.mid, one.text, error_features(message, one, weights)) for one in near]


class Declared:
    """An error that a solution declares, with what of the solution is compared with a message."""

    __slots__ = ("asked", "code", "document", "lists", "mid", "names", "same", "sig", "template", "text")

    def __init__(self, db: "Any", eid: int, message: "Message") -> None:
        self.mid, self.sig, self.text, sentences, code, self.same = db.execute(
            "select mid, sig, text, sents, code, same from err join lesson using (mid) where eid = ?", (eid,)
        ).fetchone()
        own = Message(self.text)
        self.template, self.names = own.template, own.names
        lists = [set(sentence.split()) for sentence in sentences.split("\n")]
        self.code = set(code.split()).intersection(message.rest)
        self.document = (message.words & own.words) | message.words.intersection(code.split())
        for one in lists:
            self.document |= one & message.words
        near = [one for one in lists if len(one & message.words) > 1]
        near.sort(key=lambda one: -len(one & message.words) / (len(one) + 3))
        self.lists = [own.words, *near[:3]]
        self.asked = set().union(self.template, self.code, *self.lists)


class Message:
    """An error's line taken apart: words outside quotes, words within, words of the rest of the output."""

    __slots__ = ("literals", "masked", "names", "rest", "template", "words")

    def __init__(self, line: str, output: str = "") -> None:
        self.masked = [mask_label(one) for one in (error_lines(output, 3) if output else [])] or [mask_label(line)]
        outside, self.names = split_quoted(line)
        self.template = set(words_of(drop_label(outside)))
        self.literals = set(words_of(" ".join(self.names).replace("_", " ")))
        self.words = self.template | self.literals
        self.rest = [
            word for word in dict.fromkeys(words_of(output[:6000].replace("_", " "))) if word not in self.words
        ]


def error_features(message: Message, declared: Declared, weights: "dict[str, float]") -> "tuple[float, ...]":
    """What tells a recurrence from another error, each about 0..1.

    The declared line is there (masked); the rarity of the outer words both share; the likest sentence of the solution;
    how much of the message the solution speaks of; rare words of code in both; quoted names, and how many of them the
    solution speaks of, and how like the declared ones they are; how many solutions declare the same line, as far as its
    names do not tell them apart; how much of the declared line is missing; 1.
    """

    def mass(words: "Iterable[str]") -> float:
        return sum(weights[word] for word in words)

    exact = float(any(is_within(declared.sig, masked) for masked in message.masked))
    likest = max(mass(message.words & one) / (mass(message.words | one) or 1.0) for one in declared.lists)
    quoted = float(bool(message.literals))
    spoken = mass(message.literals & declared.document) / (mass(message.literals) or 1.0)
    return (
        exact,
        min(mass(message.template & declared.template), 15.0) / 15,
        likest,
        mass(declared.document) / (mass(message.words) or 1.0),
        min(sum(weights[word] > 2.5 for word in declared.code), 10) / 5,
        quoted,
        quoted * spoken,
        quoted * likeness(message.names, declared.names),
        exact * min(log(max(1, declared.same)), 2.0) * (1 - quoted * spoken),
        (1 - exact) * min(mass(declared.template - message.template), 15.0) / 15,
        1.0,
    )


def is_within(declared: str, masked: str) -> bool:
    """Whether a masked line is the declared one, or holds it between word borders."""
    if not declared or declared == masked:
        return bool(declared)
    at = masked.find(declared)
    if at < 0 or declared.count(" ") < 2:
        return False
    end = at + len(declared)
    return (at == 0 or not masked[at - 1].isalnum()) and (end == len(masked) or not masked[end].isalnum())


LABELS = ("error: ", "fatal: ", "fatal error: ", "err! ", "panic: ", "exception: ", "failed: ", "failure: ")


def drop_label(line: str) -> str:
    """A line without a leading label that says only that it is an error."""
    low = line.lower()
    for label in LABELS:
        if low.startswith(label):
            return line[len(label) :].lstrip()
    return line


def mask_label(line: str) -> str:
    """A line masked, without its label."""
    return mask(drop_label(line))[:240].strip()


def split_quoted(line: str) -> "tuple[str, list[str]]":
    """What stands outside of quotes, and each quoted name."""
    outside = ""
    names: list[str] = []
    at = 0
    while at < len(line):
        if line[at] in QUOTES and (end := closing_quote(line, at)) > 0:
            names.append(line[at + 1 : end])
            outside += " "
            at = end + 1
        else:
            outside += line[at]
            at += 1
    return outside, names


def likeness(names: "list[str]", others: "list[str]") -> float:
    """How alike two lists of names are place by place, by the letter triples they share (Dice's coefficient)."""
    alike = 0.0
    for one, other in zip(names, others, strict=False):
        first, second = triples(one), triples(other)
        alike += 2 * len(first & second) / (len(first) + len(second))
    return alike / (max(len(names), len(others)) or 1)


def triples(name: str) -> "set[str]":
    """The runs of three letters in a name, its borders included."""
    padded = f"  {name[:200].lower()} "
    return {padded[at : at + 3] for at in range(len(padded) - 2)}
