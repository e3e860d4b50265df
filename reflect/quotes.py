"""Choose the sentences of an episode that say why and what to do, and make titles and short quotes of them.

Nothing is put into words here that does not stand in the session: sentences are taken as they are, apart from a
leading "I need to", a filler or a list mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from detectors.phrases import cause_weight, done_in, has_literal, is_plan, order_in, sentences

LONGEST_TITLE = 120
LONGEST_QUOTE = 320
_NAME = re.compile(r"[A-Za-z_][\w.-]{3,60}")
_FILLER = re.compile(
    r"^(?:(?:ah|oh|ok(?:ay)?|right|great|good|perfect|excellent|interesting|wait|hmm+|now|so|yes|yep|got it|"
    r"i see|found it|fixed|done|found the (?:issue|problem|bug|cause)|that makes sense|makes sense|"
    r"good (?:point|catch|question)|you(?:'re| are) (?:absolutely |completely |totally )?(?:right|correct)|"
    r"fair point|actually|clear(?: picture)?(?: now)?|understood|i understand(?: now)?|"
    r"i (?:can )?(?:now )?(?:clearly )?see the (?:issue|problem|bug)(?: more clearly)?(?: now)?|"
    r"now i (?:understand|see)(?: the (?:issue|issues|problem))?)[ ]?[.,!:;—–-]{1,3}\s{0,3})+",
    re.IGNORECASE,
)
_MARK = re.compile(r"\*\*|__|^#{1,6} |^[-*•] |[✅✓✗❌⚠️🎉🔧]")
_NOISE = frozenset(
    "this that with from have been will when what which there their they them then than into error errors "
    "failed fails failure test tests file files line lines code "
    "need needs should would could must does make made only also just issue problem return value type func "
    "function string name main true false null none".split()
)
_VAGUE = re.compile(
    r"\b(?:this|that|it|them|these|those|both|everything|all issues|the (?:issue|issues|test|tests|"
    r"error|errors|problem|file|code|change|changes|fix))\b[.:]?$",
    re.IGNORECASE,
)


def names_in(*texts: str) -> frozenset[str]:
    """The words by which one thing is told from another: identifiers, files, tools; in lower case."""
    return frozenset(
        word.lower().strip(".-") for text in texts for word in _NAME.findall(text) if word.lower() not in _NOISE
    )


def best_cause(texts: Iterable[str], names: frozenset[str], least: int = 1) -> str:
    """The sentence that best says why, or "": it names the cause, is exact, and speaks of the same things."""
    best, most = "", 0.0
    for text in texts:
        said = sentences(text)
        for at, sentence in enumerate(said):
            weight = cause_weight(sentence)
            clean = tidy(sentence)
            if weight < least or len(clean) < 25 or clean.endswith("?"):
                continue
            shared = len(names_in(sentence) & names)
            if weight == 1 and not shared:
                continue
            score = weight + 1.0 * has_literal(sentence) + min(shared, 3) * 0.7 - (2.5 if is_plan(sentence) else 0)
            score -= len(clean) / 400
            if weight >= 3 and not has_literal(sentence) and at + 1 < len(said) and has_literal(said[at + 1]):
                clean = f"{clean} {tidy(said[at + 1])}" if len(clean) + len(said[at + 1]) < LONGEST_QUOTE else clean
                score += 0.8
            if score >= most:
                best, most = clean, score
    return shorten(best, LONGEST_QUOTE)


def best_order(texts: Iterable[str], names: frozenset[str]) -> str:
    """What the texts say is to be done, as an order, or "": exact, and about the same things."""
    best, most = "", 0.9
    for text in texts:
        for sentence in sentences(text):
            for order, worth in ((order_in(tidy(sentence)), 1.0), (done_in(tidy(sentence)), 0.8)):
                if not order or _VAGUE.search(order.strip(" .:")) or order.rstrip().endswith("?"):
                    continue
                shared = len(names_in(order) & names)
                score = worth * (len(order.split()) > 3) + 0.9 * has_literal(order) + min(shared, 3) * 0.6
                score += 0.6 * bool(re.search(r"\b(?:instead|rather than|not|because|since|so that|so)\b", order))
                score -= len(order) / 300
                if shared and score > most:
                    best, most = order, score
    return capital(shorten(clean_end(best), LONGEST_QUOTE))


def tidy(sentence: str) -> str:
    """A sentence without list marks, bold marks and fillers at its start."""
    text = _MARK.sub("", sentence).strip()
    while True:
        shorter = _FILLER.sub("", text).strip()
        if shorter == text or not shorter:
            return capital(text)
        text = shorter


def clean_end(text: str) -> str:
    """Text without the colon, dash or full stop that it trails off with."""
    return text.strip().rstrip(" :;,.—–-…")


def capital(text: str) -> str:
    """Text that starts with a capital, unless it starts with code."""
    return text[:1].upper() + text[1:] if text else text


def sentence(text: str) -> str:
    """Text closed as a sentence."""
    text = text.strip().rstrip(":—–- ")
    return text if not text or text[-1] in ".!?。！？" else f"{text}."


def shorten(text: str, most: int) -> str:
    """One line of at most `most` characters, cut between words, backticks kept in pairs."""
    line = " ".join(text.split())
    if len(line) > most:
        cut = line[: most - 1].rsplit(" ", 1)[0].rstrip(" ,;:")
        line = f"{cut}…"
    return line + "`" if line.count("`") % 2 else line


def as_title(text: str) -> str:
    """A title: one line, a capital, no full stop, cut at a clause where it is long."""
    line = clean_end(" ".join(text.split()))
    if len(line) > LONGEST_TITLE:
        for mark in (". ", "; ", " — ", " – ", " - ", " (", ", so ", ", which ", ", but ", ", and ", ": ", ", "):
            head = line[:LONGEST_TITLE].rpartition(mark)[0]
            if len(head) > 30 and head.count("`") % 2 == 0 and head.count("(") == head.count(")"):
                line = head
                break
    return capital(shorten(clean_end(line), LONGEST_TITLE))


def code(text: str, most: int = 160) -> str:
    """A literal in backticks: one line, cut when long; doubled marks where it holds backticks itself."""
    line = " ".join(text.split())
    if len(line) > most:
        line = line[: most - 1].rstrip() + "…"
    return f"`` {line} ``" if "`" in line else f"`{line}`"


def line_pair(change: str) -> tuple[str, str]:
    """(old, new): the removed and the added line of an edit that are most alike without being equal; else ("", "")."""
    old = [line[1:].strip() for line in change.split("\n") if line.startswith("-")][:80]
    new = [line[1:].strip() for line in change.split("\n") if line.startswith("+")][:80]
    gone = [line for line in old if line and line not in new]
    come = [line for line in new if line and line not in old]
    best, most = ("", ""), 0.45
    for left in gone:
        for right in come:
            alike = SequenceMatcher(None, left, right, autojunk=False).ratio()
            if alike > most and min(len(left), len(right)) > 5:
                best, most = (left, right), alike
    return best


def added_line(changes: Sequence[str]) -> str:
    """The one line that a small edit added, or ""."""
    found = []
    for change in changes:
        old = {line[1:].strip() for line in change.split("\n") if line.startswith("-")}
        new = [line[1:].strip() for line in change.split("\n") if line.startswith("+")]
        found += [line for line in new if line not in old and len(line) > 3]
    return found[0] if len(found) == 1 else ""
