"""Is a text that an agent would obey an attack? `scan_text` answers clean, suspect or poison, with its reasons.

Patterns are a tripwire, not the wall: what came from outside stays untrusted whatever this says.
"""

from __future__ import annotations

import hashlib
from functools import cache

from detectors.poison.examine import Examined, Fired, examine
from detectors.poison.rules import RULES
from index.records import Answer, Finding, Solution, Trust, Verdict

# Longer texts are not scanned: they are suspect, so that nothing is served for being too long to read.
MAX_CHARACTERS = 2_000_000
SHOWN_WEIGHT = 0.3
HAND_WEIGHT = {"high": 0.62, "medium": 0.3, "low": 0.06}
SUSPECT, POISON = 0.7, 0.9
# External text has had nobody's eyes on it: less is needed to hold it back.
EXTERNAL_FACTOR = 0.75


@cache
def rule_set_version() -> str:
    """What a cached verdict rests on: a hash over every rule, weight and threshold. Another one, another scan."""
    digest = hashlib.sha256()
    for rule in RULES:
        digest.update(repr((rule.id, rule.severity, rule.needs, rule.pattern, rule.also, rule.unless)).encode())
    digest.update(repr((MAX_CHARACTERS, SUSPECT, POISON, EXTERNAL_FACTOR)).encode())
    return digest.hexdigest()[:16]


def __getattr__(name: str) -> str:
    if name == "RULE_SET_VERSION":
        return rule_set_version()
    raise AttributeError(name)


def scan_text(text: str, *, trust: Trust = "observed") -> Verdict:
    """Judge one text. Spans count characters of `text`; a clean verdict has no findings; `score` is 0..1."""
    if len(text) > MAX_CHARACTERS:
        return too_large(text)
    examined = examine(text)
    score = hand_score(examined)
    answer = judge(score, trust)
    return Verdict(answer, round(score, 4), () if answer == "clean" else findings_of(examined))


def scan_solution(solution: Solution) -> Verdict:
    """Judge a solution: its whole file where it was read from one, else its title and body."""
    text = solution.text or f"---\ntitle: {solution.title}\n---\n{solution.body}"
    return scan_text(text, trust=solution.trust)


def too_large(text: str) -> Verdict:
    """The verdict on a text that is not scanned."""
    reason = f"too large to scan: {len(text)} characters, the limit is {MAX_CHARACTERS}"
    return Verdict("suspect", 0.5, (Finding("size.too_large", "hidden", "medium", (0, len(text)), reason),))


def judge(score: float, trust: Trust) -> Answer:
    """The answer for a score, given where the text comes from."""
    factor = EXTERNAL_FACTOR if trust == "external" else 1.0
    if score >= POISON * factor:
        return "poison"
    return "suspect" if score >= SUSPECT * factor else "clean"


def hand_score(examined: Examined) -> float:
    """Noisy-or over the strongest finding of each rule."""
    left = 1.0
    for found in strongest(examined.fired):
        left *= 1.0 - (0.75 if found.family == "hidden" else HAND_WEIGHT[found.severity]) * found.weight
    return 1.0 - left


def strongest(fired: tuple[Fired, ...]) -> tuple[Fired, ...]:
    """The finding of greatest weight of each rule, in order of place."""
    best: dict[str, Fired] = {}
    for found in fired:
        if found.rule not in best or found.weight > best[found.rule].weight:
            best[found.rule] = found
    return tuple(sorted(best.values(), key=lambda found: (found.span, found.rule)))


def findings_of(examined: Examined) -> tuple[Finding, ...]:
    """What to show a person, in order of place."""
    shown = [found for found in strongest(examined.fired) if found.weight >= SHOWN_WEIGHT]
    return tuple(Finding(f.rule, f.family, f.severity, f.span, f.reason) for f in shown)  # type: ignore[arg-type]
