"""Is this output an error that a solution declares, in these or other words? Features, and a model that weighs them.

Imports only our own import-free modules, as `index.matching` does.
"""

from index.matching import Hit, count_lessons, log, search_words, weights_of
from index.signature import CODES, QUOTES, closing_quote, error_lines, mask, split_lines
from index.words import words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Hits = dict[int, Hit]

# How sure one is that an output is the error a solution declares: a logistic model over the features of
# `error_features`, fitted and cross-checked by benchmarks/trigger.py on recorded compiler diagnostics and on errors of
# everyday tools (benchmarks/recurring_errors.yaml).
ERROR_WEIGHTS = (2.66, 4.85, 0.76, 2.33, -5.25, 3.52, 1.16, -1.65, 1.65, 1.03, -1.18, 2.41, -6.95)
ERROR_FLOOR = -0.2
LONGEST_OUTPUT = 6000
MOST_LINES = 3
TELLING_MASS = 4.0  # from here on the words of a declared error say something: a rare one, or two
HINTS = ("help:", "hint:", "note:")


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
    lines = telling_lines(output)
    if not lines:
        return []
    start = output[:LONGEST_OUTPUT]
    hints = [one for one in start.split("\n")[1:] if any(mark in one for mark in HINTS)]
    messages = [Message(line, hints) for line in lines]
    total = count_lessons(db)
    rows: dict[int, None] = {}
    for line in lines:
        for found in db.execute("select eid from err where sig = ? limit ?", (mask_label(line), most)).fetchall():
            rows.setdefault(found[0])
    words = messages[0].words
    for asked in (words, set(words_of(start.replace("_", " "))) - words):
        for eid, _ in search_words(db, "ferr", weights_of(db, sorted(asked), "verr", total), most):
            rows.setdefault(eid)
    for mid, _ in search_words(db, "fdoc", weights_of(db, sorted(words), "vdoc", total), most // 2):
        for found in db.execute("select eid from err where mid = ? limit 3", (mid,)).fetchall():
            rows.setdefault(found[0])
    near = [Declared(db, eid) for eid in list(rows)[: 3 * most]]
    wanted = set().union(*(one.words | one.hints for one in messages), *(one.words for one in near))
    weights = {word: weight for word, (weight, _) in weights_of(db, sorted(wanted), "vdoc", total).items()}
    whole = f" {' '.join(plain_words(start))} "
    found = []
    for one in near:
        there = len(one.plain) > 2 and one.plain in whole
        telling = there and sum(weights[word] for word in one.words) >= TELLING_MASS
        shown = [*messages, Message(one.text, hints)] if telling else messages
        rated = [error_features(message, one, weights, there) for message in shown]
        found.append((one.mid, one.text, max(rated, key=lambda each: each[0] + each[1] + each[5])))
    return found


def telling_lines(output: str) -> "list[str]":
    """The lines of an output that may be the error, the likeliest first: those that say so, else its first and last."""
    found = error_lines(output, MOST_LINES)
    if len(found) < MOST_LINES:
        rest = [line for line in split_lines(output) if line not in found]
        found += [*rest[:1], *rest[1:][-1:]][: 1 if found else 2]
    return found


class Declared:
    """An error that a solution declares, with all that the solution says."""

    __slots__ = ("frame", "mid", "names", "plain", "said", "same", "sig", "signs", "template", "text", "words")

    def __init__(self, db: "Any", eid: int) -> None:
        self.mid, self.sig, self.text, sentences, code, self.same = db.execute(
            "select mid, sig, text, sents, code, same from err join lesson using (mid) where eid = ?", (eid,)
        ).fetchone()
        own = Message(self.text, ())
        self.template, self.names, self.frame = own.template, own.names, own.frame
        self.words, self.signs = own.words, own.signs
        self.plain = f" {' '.join(plain_words(drop_label(self.text)))} "
        self.said = own.words.union(sentences.split(), code.split())


class Message:
    """An error's line taken apart: its words outside quotes and within, all outer words in order, the hints below."""

    __slots__ = ("frame", "hints", "literals", "masked", "names", "signs", "template", "words")

    def __init__(self, line: str, hints: "Iterable[str]") -> None:
        self.masked = mask_label(line)
        outside, self.names = split_quoted(drop_label(line))
        self.frame = plain_words(outside)
        self.signs = set(words_of(" ".join(one for one in map(bare_word, outside.split()) if is_sign(one))))
        self.template = set(words_of(outside))
        self.literals = set(words_of(" ".join(self.names).replace("_", " ")))
        self.words = self.template | self.literals
        self.hints = set(words_of(" ".join(hints).replace("_", " "))) - self.words


def bare_word(word: str) -> str:
    """A word without the marks around it."""
    return word.strip(".,:;!?()[]{}<>*'`\"")


def is_sign(word: str) -> bool:
    """Whether a word is made up, so that it names one matter: ERESOLVE, GH006, ImagePullBackOff, kex_exchange.

    The class of an error names only its kind, and a path or a number only where it was met.
    """
    inner = word[1:]
    made = "_" in inner or (word.isupper() and len(word) > 4) or (word[:1].isalpha() and inner.lower() != inner)
    made = made or (word[:1].isalpha() and word[-1:].isdigit() and word[:1].isupper())
    return made and not word.endswith(("Error", "Exception")) and "/" not in word and "\\" not in word


def plain_words(text: str) -> "list[str]":
    """All words of a text in order, lower-cased, without numbers that are no code."""
    words = "".join(char if char.isalnum() else " " for char in text.lower()).split()
    return [word for before, word in zip(["", *words], words, strict=False) if before in CODES or not word.isdigit()]


def error_features(
    message: Message, declared: Declared, weights: "dict[str, float]", there: bool
) -> "tuple[float, ...]":
    """What tells a recurrence from another error, each about 0..1.

    The declared line is there (masked); the rarity of the outer words both share; of quoted names, how many the
    solution speaks of, and how like the declared ones they are; how many solutions declare the same line, as far as its
    names do not tell them apart; the share of the line that begins and ends as declared; the declared line is there and
    quotes nothing; there are hints below, and how much of them the solution speaks of; the rarity of the declared
    words, where they stand in the output one after the other; the error is only about names, and they are others; the
    rarity of the made-up words both share; 1.
    """

    def mass(words: "Iterable[str]") -> float:
        return sum(weights[word] for word in words)

    quoted = float(bool(message.literals))
    spoken = quoted * mass(message.literals & declared.said) / (mass(message.literals) or 1.0)
    alike = quoted * likeness(message.names, declared.names)
    other = alike < ALIKE and any(phrase in declared.sig for phrase in ABOUT_NAMES)
    exact = float(not other and is_within(declared.sig, message.masked))
    hints = mass(message.hints)
    return (
        exact,
        min(mass(message.template & declared.template), 15.0) / 15,
        spoken,
        alike,
        exact * min(log(max(1, declared.same)), 2.0) * (1 - spoken),
        0.0 if other else shared_frame(message.frame, declared.frame),
        exact * (1 - quoted),
        float(hints > 0),
        mass(message.hints & declared.said) / (hints or 1.0),
        there * min(mass(declared.words), 10.0) / 10,
        float(other),
        min(mass(message.signs & declared.signs), 5.0) / 5,
        1.0,
    )


# Messages of compilers, interpreters and shells that say nothing but which name they are about.
ABOUT_NAMES = (
    "object has no attribute", "no module named", "cannot find module", "can't resolve", "is not defined", "keyerror: ",
    "cannot import name", "command not found", "no such file or directory", "undefined reference to",
    "cannot find symbol", "cannot find name", "does not exist on type", "undeclared identifier", "use of undeclared",
    "undefined method", "undefined local variable", "undefined variable", "unresolved import",
    "not found in this scope", "has no member", "no such table", "does not exist", "fixture '*' not found",
    "is not a function",
)  # fmt: skip
ALIKE = 0.4


def shared_frame(words: "list[str]", others: "list[str]") -> float:
    """How much of the longer of two lines is the same beginning and the same end, word by word."""
    shorter = min(len(words), len(others))
    begin = 0
    while begin < shorter and words[begin] == others[begin]:
        begin += 1
    end = 0
    while end < shorter - begin and words[-1 - end] == others[-1 - end]:
        end += 1
    return (begin + end) / max(len(words), len(others), 1)


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
    """A line without what only says that it is an error, where it was met, or which package the error's class is of."""
    first, space, rest = line.partition(" ")
    if space and first.endswith(":") and first.count(":") > 1 and first.rstrip(":").rpartition(":")[2].isdigit():
        line = rest.lstrip()  # src/main.go:31:14: undefined: x
    low = line.lower()
    for label in LABELS:
        if low.startswith(label):
            return line[len(label) :].lstrip()
    name, colon, rest = line.partition(":")
    if (
        colon
        and "." in name
        and name.endswith(("Error", "Exception"))
        and name.replace(".", "").replace("_", "").isalnum()
    ):
        return name.rpartition(".")[2] + colon + rest
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
