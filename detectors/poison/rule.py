"""What a poison rule is: a pattern with its reason, its severity, its source and its own test texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal

Family = Literal[
    "override",
    "standing",
    "redirect",
    "exfiltration",
    "guardrail",
    "remote",
    "concealment",
    "hidden",
    "credential",
    "propagation",
    "false_fact",
    "sabotage",
]
Severity = Literal["low", "medium", "high"]

# How far from the match, in characters, the other parts of a rule may stand; and how many matches are tried.
NEAR = 220
MAX_TRIES = 8


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing to look for in a block of normalised text (lower case, one line, no markdown stars or backticks).

    A blank in `pattern`, `also` and `unless` stands for one to four blanks. `needs` is the cheap gate: each string is a
    list of word beginnings, one of which the block must hold; without it the pattern is never tried. All of `also`
    must be found within `near` characters of the match, in the same block; `unless` found there cancels the rule.
    `negatable`: "never ..." before the match turns it into good advice. `check` is asked about each match and the
    block. `origin` says where the form of attack is described. `examples` must fire, `harmless` must not; tests hold
    both.
    """

    id: str
    family: Family
    severity: Severity
    reason: str
    needs: tuple[str, ...]
    pattern: str
    examples: tuple[str, ...]
    also: tuple[str, ...] = ()
    unless: str = ""
    harmless: tuple[str, ...] = ()
    negatable: bool = True
    near: int = NEAR
    check: Callable[[re.Match[str], str], bool] | None = None
    origin: str = "OWASP Agentic Security Initiative, ASI06 memory and context poisoning"

    @property
    def parts(self) -> tuple[str, ...]:
        """The patterns without which it does not fire, the one that its matches are those of first."""
        return (self.pattern, *self.also)

    def find(self, text: str, start: int, end: int, places: Iterable[int]) -> re.Match[str] | None:
        """The first match between two offsets, begun at one of these places, where the rule holds, or None."""
        tries = 0
        match_at = compile_pattern(self.pattern).match
        for place in places:
            match = match_at(text, place, end)
            if match is None:
                continue
            if self._holds(match, text, start, end):
                return match
            tries += 1
            if tries >= MAX_TRIES:
                break
        return None

    def _holds(self, match: re.Match[str], text: str, start: int, end: int) -> bool:
        if self.check and not self.check(match, text):
            return False
        low, high = max(start, match.start() - self.near), min(end, match.end() + self.near)
        return all(compile_pattern(other).search(text, low, high) for other in self.also) and not (
            self.unless and compile_pattern(self.unless).search(text, low, high)
        )


# A class in brackets or an escape is kept as it is; a blank outside of them is one to four blanks, " ?" none to four.
BLANK = re.compile(r"(\[(?:\\.|[^\]\\])*\]|\\.)|( \??)")


@cache
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """A rule's pattern as a regular expression, compiled when it is first tried: most rules never are."""
    return re.compile(expression(pattern))


def expression(pattern: str) -> str:
    """A rule's pattern with each blank as one to four blanks."""

    def widen(match: re.Match[str]) -> str:
        kept, blank = match.groups()
        return kept or (r"\s{0,4}" if blank == " ?" else r"\s{1,4}")

    return BLANK.sub(widen, pattern)
