"""Is a text that an agent would obey an attack? `scan_text` answers clean, suspect or poison, with its reasons.

Patterns are a tripwire, not the wall: what came from outside stays untrusted whatever this says.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from detectors.poison.examine import Examined, Fired, examine
from detectors.poison.features import Stretch, stretches
from detectors.poison.linear import Weights, telling_words, weights, wording_scores
from detectors.poison.rules import RULES
from index.records import Answer, Finding, Solution, Trust, Verdict

# Longer texts are not scanned: they are suspect, so that nothing is served for being too long to read.
MAX_CHARACTERS = 2_000_000
SHOWN_WEIGHT = 0.3
# External text has had nobody's eyes on it: this much less log-odds hold it back.
EXTERNAL_LESS = 1.0
WORDING_BOUND = 8.0
# Front-matter keys of ours whose values the parser has held to a fixed form; what they hold is no claim of the text.
OWN_KEYS = frozenset(
    "id category type importance confidence trust created verified priority supersedes superseded_by helpful harmful "
    "expires".split()
)


@dataclass(frozen=True, slots=True)
class Judged:
    """A stretch with its log-odds of being poison, and the part of them that is wording alone."""

    stretch: Stretch
    odds: float
    wording: float


@cache
def rule_set_version() -> str:
    """What a cached verdict rests on: rules, weights, thresholds, and the code that folds, cuts, decodes and weighs.

    Another one, another scan. The code counts by its source, so that no change of it can be forgotten.
    """
    return version_of(Path(__file__).parent)


def version_of(package: Path) -> str:
    """A hash over the rules as they are compiled and over every module and table of this package."""
    digest = hashlib.sha256()
    for rule in RULES:
        digest.update(repr((rule.id, rule.severity, rule.needs, rule.pattern, rule.also, rule.unless)).encode())
    for path in sorted((*package.rglob("*.py"), *package.glob("*.json")), key=lambda path: path.as_posix()):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
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
    table = weights()
    judged = judge_stretches(examined, table)
    if not judged:
        return Verdict("clean")
    worst = max(judged, key=lambda one: one.odds)
    answer = answer_for(worst.odds, trust, table)
    score = round(1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, worst.odds)))), 4)
    return Verdict(answer, score, () if answer == "clean" else findings_of(examined, worst, table))


def scan_solution(solution: Solution) -> Verdict:
    """Judge a solution: its whole file where it was read from one, else its title and body.

    Our own front matter is known: fixed values such as `confidence: 1.0` count for nothing, free ones are read.
    """
    text = solution.text or f"---\ntitle: {solution.title}\n---\n{solution.body}"
    return scan_text(without_own_keys(text), trust=solution.trust)


def without_own_keys(text: str) -> str:
    """A lesson's text with the values of our fixed front-matter keys blanked, so that offsets stay."""
    if not text.startswith("---\n"):
        return text
    end = text.find("\n---", 4)
    lines = text[: max(end, 4)].split("\n")
    kept = [" " * len(line) if line.partition(":")[0] in OWN_KEYS and ":" in line else line for line in lines]
    return "\n".join(kept) + text[max(end, 4) :]


def too_large(text: str) -> Verdict:
    """The verdict on a text that is not scanned."""
    reason = f"too large to scan: {len(text)} characters, the limit is {MAX_CHARACTERS}"
    return Verdict("suspect", 0.5, (Finding("size.too_large", "size", "medium", (0, len(text)), reason),))


def judge_stretches(examined: Examined, table: Weights) -> list[Judged]:
    """The log-odds of every stretch of a text."""
    parts = stretches(examined)
    judged = []
    for stretch, wording in zip(parts, wording_scores([one.text for one in parts], table), strict=True):
        bounded = max(-WORDING_BOUND, min(WORDING_BOUND, wording)) / 2.0
        odds = table.bias + table.named.get("wording", 0.0) * bounded
        odds += sum(table.named.get(name, 0.0) * weight for name, weight in stretch.named.items())
        judged.append(Judged(stretch, odds, wording))
    return judged


def answer_for(odds: float, trust: Trust, table: Weights) -> Answer:
    """The answer for log-odds, given where the text comes from."""
    odds += EXTERNAL_LESS if trust == "external" else 0.0
    if odds >= table.poison:
        return "poison"
    return "suspect" if odds >= table.suspect else "clean"


def strongest(fired: tuple[Fired, ...]) -> tuple[Fired, ...]:
    """The finding of greatest weight of each rule, in order of place."""
    best: dict[str, Fired] = {}
    for found in fired:
        if found.rule not in best or found.weight > best[found.rule].weight:
            best[found.rule] = found
    return tuple(sorted(best.values(), key=lambda found: (found.span, found.rule)))


def findings_of(examined: Examined, worst: Judged, table: Weights) -> tuple[Finding, ...]:
    """What to show a person, in order of place: the rules, and the worst stretch where its wording weighs too."""
    shown = [
        Finding(found.rule, found.family, found.severity, found.span, found.reason)
        for found in strongest(examined.fired)
        if found.weight >= SHOWN_WEIGHT
    ]
    if worst.wording > 0 or not shown:
        words = ", ".join(telling_words(worst.stretch.text, table))
        span = examined.normal.span(worst.stretch.start, worst.stretch.end)
        reason = "worded like known attacks" + (f": {words}" if words else "")
        shown.append(Finding("wording.like_attacks", "wording", "medium", span, reason))
    return tuple(sorted(shown, key=lambda finding: (finding.span, finding.rule)))
