"""What stands around a match: a negation, quotation marks, talk about attacks. Each takes weight from a finding."""

from __future__ import annotations

import re

from detectors.poison.rule import Rule
from detectors.poison.segment import Block

NEGATED = 0.15
FORBIDDEN = 0.3
QUOTED = 0.5
DISCUSSED = 0.4

LOOK_BACK = 90
LOOK_AHEAD = 120
CLAUSE_END = re.compile(r"[.;!?]\s|\n\s*\n|\bbut\b|\bthen\b|: ")
NEGATOR = re.compile(
    r"\b(?:never|not|cannot|avoid|refuse[sd]?|reject(?:s|ed)?|block(?:s|ed)?|prevent(?:s|ed)?|forbids?|forbidden|"
    r"prohibit\w*|"
    r"instead of|rather than|nobody|must no longer|no one|resist|stop(?:s|ped)?)\b|n't\b|\bno (?!longer|need|one\b)"
)
FORBIDDEN_AFTER = re.compile(
    r"\b(?:is|are|be|gets?|will be) (?:\w+ )?(?:forbidden|prohibited|banned|blocked|rejected|refused|disallowed|not "
    r"(?:allowed|"
    r"permitted|acceptable|ok)|insecure|dangerous|denied|treated as (?:data|untrusted)|a (?:red flag|violation|"
    r"vulnerability|"
    r"security))"
)
DISCUSSION = re.compile(
    r"\b(?:attack\w*|inject(?:ion|ions|ed)|malicious\w*|vulnerab\w*|threat\w*|adversar\w*|"
    r"jailbreak\w*|phish\w*|untrusted|suspicious|red[- ]flags?|anti-?patterns?|poison(?:ed|ing)?|hostile|"
    r"prompt injection|false positives?|owasp|mitre|cve|red[- ]team\w*|examples? of|look for|watch for|patterns? "
    r"like|phrases? like|"
    r"exfiltration|social engineering)\b"
)
SPEECH_FAMILIES = frozenset({"override", "concealment", "standing", "redirect", "propagation"})


def weigh(rule: Rule, text: str, block: Block, start: int, end: int) -> float:
    """How much of a rule's weight a match keeps, 0..1, given the folded text around it in its block."""
    weight = 1.0
    if rule.negatable:
        back = max(block.start, start - LOOK_BACK)
        clause = max((match.end() for match in CLAUSE_END.finditer(text, back, start)), default=back)
        if NEGATOR.search(text, clause, start):
            weight *= NEGATED
        elif FORBIDDEN_AFTER.search(text, end, min(block.end, end + LOOK_AHEAD)):
            weight *= FORBIDDEN
    if rule.family in SPEECH_FAMILIES and is_quoted(text, block, start, end):
        weight *= QUOTED
    if DISCUSSION.search(text, max(block.start, start - 2 * LOOK_AHEAD), min(block.end, end + LOOK_AHEAD)):
        weight *= DISCUSSED
    return weight


def is_quoted(text: str, block: Block, start: int, end: int) -> bool:
    """Whether a match stands inside a pair of double quotes on its line."""
    before = text[max(block.start, start - 2 * LOOK_AHEAD) : start]
    return before.count('"') % 2 == 1 and '"' in text[end : min(block.end, end + 2 * LOOK_AHEAD)]
