"""Read one text with every rule: what fired where, with which weight, in the open or in something hidden."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from detectors.poison.context import weigh
from detectors.poison.gate import Gate, Place
from detectors.poison.normalise import Normal, normalise
from detectors.poison.rule import Rule, Severity
from detectors.poison.rules import RULES
from detectors.poison.segment import Block, segment
from detectors.poison.views import Told, read_views

MAX_DEPTH = 2
HIDDEN_REASON = {
    "tag_characters": "words in invisible tag characters",
    "variation_selectors": "words in invisible variation selectors",
    "zero_width": "invisible characters between letters",
    "bidi": "text whose direction is turned round",
    "styled_letters": "an order in full-width or styled letters",
    "mixed_script": "words that mix Latin letters with look-alikes of another script",
    "base64": "an order in base64",
    "base32": "an order in base32",
    "hexadecimal": "an order in hexadecimal",
    "escapes": "an order in character escapes",
    "binary": "an order in binary digits",
    "morse": "an order in Morse code",
    "percent": "an order in percent encoding",
    "entities": "words in character entities",
    "comment": "an order in a comment that is not shown",
    "hidden_element": "an order in an element that is not shown",
    "link_title": "an order in a link's title",
    "ansi": "words that a terminal does not show",
    "far_right": "an order far to the right of the page",
    "spaced_letters": "an order in spaced-out letters",
    "leet": "an order with digits for letters",
    "reversed": "an order written backwards",
    "rot13": "an order in rot13",
}
ADDRESSED = re.compile(
    r"^\s{0,8}(?:note (?:to|for) )?(?:ai |coding )?(?:agents?|assistants?|claude|codex|system|llms?|models?|bot|"
    r"instructions?|override)\b.{0,40}?[:,]|\boverride\b.{0,20}\b(?:system|config)"
)
DECODE_WORDS = ("decod", "decrypt", "unscramble", "rot13", "translate", "base64", "selector")
DECODE_ORDER = re.compile(
    r"\b(?:decode|decrypt|unscramble|translate|rot13|base64|selectors?)\b[^.\n]{0,80}\b(?:do (?:exactly )?what|"
    r"follow|execute|apply|obey|run it|says?\b)"
)


@dataclass(frozen=True, slots=True)
class Fired:
    """A rule that fired: the original span, and the weight that its context leaves it (0..1)."""

    rule: str
    family: str
    severity: Severity
    reason: str
    span: tuple[int, int]
    weight: float


@dataclass(frozen=True, slots=True)
class Examined:
    """A text's folded form, its blocks, and all that fired."""

    normal: Normal
    blocks: tuple[Block, ...]
    fired: tuple[Fired, ...]


@cache
def gate() -> Gate:
    """The gate over all rules, built at the first scan."""
    return Gate(RULES)


def examine(text: str, depth: int = 0) -> Examined:
    """Everything the rules find in a text and, down to two layers, in what it hides. Linear in the text."""
    normal = normalise(text)
    blocks = segment(normal.text)
    flat = flatten(normal.text)
    places, told = gate().read(flat, blocks) if blocks else ([], Told())
    fired = list(_open_findings(normal, flat, places))
    if depth < MAX_DEPTH:
        known = {found.rule for found in fired if found.weight == 1.0}
        fired.extend(_hidden_findings(text, normal, depth, known, told))
    return Examined(normal, blocks, tuple(fired))


def _open_findings(normal: Normal, text: str, places: Iterable[Place]) -> Iterator[Fired]:
    for block, rule, tried in places:
        match = rule.find(text, block.start, block.end, tried)
        if match is not None:
            yield fire(rule, normal.span(*match.span()), weigh(rule, text, block, *match.span()))


def flatten(text: str) -> str:
    """Markdown marks and line ends as blanks, so that "ignore **all**" reads as "ignore all"; the length stays."""
    for mark in "*`\n\r\t\v\f\x1c\x1d\x1e\x1f\x85":
        text = text.replace(mark, " ")
    return text


def fire(rule: Rule, span: tuple[int, int], weight: float) -> Fired:
    """A rule's finding at an original span."""
    return Fired(rule.id, rule.family, rule.severity, rule.reason, span, weight)


def _hidden_findings(text: str, normal: Normal, depth: int, known: set[str], told: Told) -> Iterator[Fired]:
    for start, end in normal.mixed:
        yield hidden("mixed_script", normal.span(start, end), 1.0, "")
    match = DECODE_ORDER.search(normal.text) if any(word in normal.text for word in DECODE_WORDS) else None
    if match is not None:
        yield Fired(
            "hidden.decode_order",
            "hidden",
            "medium",
            "asks the reader to decode something and act on it",
            normal.span(*match.span()),
            1.0,
        )
    for view in read_views(text, normal, told):
        span = normal.span(*view.span) if view.in_folded else view.span
        said = examine(view.text, depth + 1) if view.text else None
        worst = _worst(said, known if view.kind in SAME_WORDS else set())
        if worst is not None:
            yield hidden(view.kind, span, 1.0, worst.reason)
        elif view.sure:
            yield hidden(view.kind, span, 1.0, "")
        elif view.kind in UNSEEN and said is not None and ADDRESSED.search(said.normal.text):
            yield hidden(view.kind, span, 1.0, "it speaks to an agent")


# The folded text holds these views' words as well; only what the fold did not show already counts.
SAME_WORDS = frozenset({"leet", "spaced_letters", "reversed", "rot13"})
UNSEEN = frozenset({"comment", "hidden_element", "link_title", "far_right", "ansi"})


def _worst(said: Examined | None, known: set[str]) -> Fired | None:
    if said is None:
        return None
    strong = [
        found for found in said.fired if found.severity != "low" and found.weight >= 0.5 and found.rule not in known
    ]
    return max(strong, key=lambda found: (found.severity == "high", found.weight), default=None)


def hidden(kind: str, span: tuple[int, int], weight: float, what: str) -> Fired:
    """A finding of the family `hidden`; `what` is the reason of the rule that its words break."""
    reason = HIDDEN_REASON[kind] + (f": {what}" if what else "")
    return Fired(f"hidden.{kind}", "hidden", "high", reason, span, weight)
