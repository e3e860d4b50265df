"""What one lesson shows of itself, to be compared with others: words, literals, symptom, fix, triggers."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from itertools import chain, pairwise, repeat

from index.bullets import parse_headings
from index.known import Known
from index.literals import STOPWORDS, stem
from index.records import Solution
from index.signature import command_key, error_signature

RARE = 4  # a literal that at most so many lessons hold ties those together; a rewrite and its copies make it four
HEAD = 1_200  # characters in which a text says of itself that it replaces or corrects an older one
_LABEL = re.compile(r"\n(?:#{1,6}[ \t]{1,4}([^\n]{1,80})|\*\*([^*\n]{1,60}?):?\*\*:?)")
_SYMPTOM = re.compile(
    r"problem|symptom|error|happened|issue|fail|cause|why|问题|症状|原因|現象|事象|影響|문제|증상", re.I
)
_FIX = re.compile(
    r"fix|solution|resol|instead|workaround|remedy|prevent|decision|解决|修复|方案|対応|対策|修正|再発防止|해결", re.I
)
_REVERSAL = re.compile(
    r"\b(?:supersed\w{1,4}|amend(?:ed|ment|s)|revers(?:es|ed|ing) (?:the|this|an?|our)"
    r"|no longer (?:true|valid|holds?|applies)|was wrong|correct(?:s|ion to) (?:the|an?) earlier|obsolete\w{0,2}"
    r"|deprecated in favou?r)\b|已被取代|已废弃|撤回|廃止|訂正",
    re.I,
)
# Without one of these in lower case that does not match; the last is an s without regard to case.
_REVERSING = (
    *("supersed", "amend", "revers", "no longer", "was wrong", "correct", "obsolete", "deprecated"),
    *("已被取代", "已废弃", "撤回", "廃止", "訂正", "\u017f"),
)
_WORD = re.compile(r"[^\W\d_]{1,80}")
_ASCII_WORD = re.compile(r"[a-z]{1,80}")
_AROUND = ".,;:!?()[]{}'\"`*"  # of a run none of these stays around a plain word
_RUN = re.compile(r"[A-Za-z0-9_$@~./:\\<>=*#%+-]{2,200}")
_SIGNED = re.compile(r"[_$@~\\0-9]")
_HUMPED = re.compile(r"[a-z][A-Z]")
_CODE = re.compile(r"`([^`\n]{2,200})`")
_SCRIPT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True)
class Written:
    """One lesson as it is written; what few pairs are asked for is read when it is.

    `foreign` is the share of characters of scripts without spaces or of Hangul.
    """

    title: str
    body: str
    created: datetime
    foreign: float

    @property
    def text(self) -> str:
        """Title and body."""
        return f"{self.title}\n\n{self.body}"

    @property
    def length(self) -> int:
        """The characters of the body."""
        return len(self.body)

    @property
    def symptom(self) -> frozenset[str]:
        """The literals under headings or labels that tell the symptom."""
        return self._roles[0]

    @property
    def fix(self) -> frozenset[str]:
        """The literals under headings or labels that tell the fix."""
        return self._roles[1]

    @cached_property
    def _roles(self) -> tuple[frozenset[str], frozenset[str]]:
        symptom, fix = split_roles(self.body)
        return named_literals(symptom), named_literals(fix)

    @cached_property
    def reversal(self) -> frozenset[str]:
        """What it says of itself, near its beginning, about replacing or being replaced."""
        return find_reversal(self.text[:HEAD])


@dataclass(frozen=True)
class Traits(Written):
    """The comparable parts of one lesson. Words are stems without small words; literals are as written; `errors` and
    `triggers` are the normalised error signatures, commands and path globs."""

    title_words: frozenset[str]
    words: frozenset[str]
    literals: frozenset[str]
    errors: frozenset[str]
    triggers: frozenset[str]


@dataclass(frozen=True, slots=True)
class Weights:
    """How much a word and a literal weigh: the logarithm of how seldom they are among the lessons of a store."""

    words: Mapping[str, float]
    literals: Mapping[str, float]
    rarities: frozenset[str]
    totals: dict[tuple[int, frozenset[str]], float] = field(default_factory=dict, compare=False)

    def rare(self, found: frozenset[str]) -> frozenset[str]:
        """The literals among these that at most RARE lessons hold."""
        return found & self.rarities

    def word_share(self, a: frozenset[str], b: frozenset[str]) -> float:
        """The weighted Jaccard index of two sets of words."""
        both, left, right = self._weights(self.words, a, b)
        return _part(both, left + right - both)

    def words_shared(self, a: frozenset[str], b: frozenset[str]) -> tuple[float, float]:
        """The weighted Jaccard index of two sets of words, and the share of the words of one side, whichever is more,
        that the other side has."""
        both, left, right = self._weights(self.words, a, b)
        return _part(both, left + right - both), max(_part(both, left), _part(both, right))

    def literals_shared(self, a: frozenset[str], b: frozenset[str]) -> tuple[float, float]:
        """The weighted Jaccard index of two sets of literals, and the share of the literals of the smaller side that
        the other has."""
        both, left, right = self._weights(self.literals, a, b)
        return _part(both, left + right - both), _part(both, min(left, right))

    def _weights(
        self, weights: Mapping[str, float], a: frozenset[str], b: frozenset[str]
    ) -> tuple[float, float, float]:
        """The weight of what two sets share, and of each; that of a lesson's set is summed once."""
        return _sum(weights, a & b), self._total(weights, a), self._total(weights, b)

    def _total(self, weights: Mapping[str, float], names: frozenset[str]) -> float:
        key = (id(weights), names)
        if key not in self.totals:
            self.totals[key] = _sum(weights, names)
        return self.totals[key]


def _sum(weights: Mapping[str, float], names: Iterable[str]) -> float:
    # fsum, as the order of a set differs from run to run
    return math.fsum(map(weights.get, names, repeat(1.0)))


def _part(some: float, whole: float) -> float:
    return min(1.0, some / whole) if whole > 0 else 0.0


def error_keys(solution: Solution) -> frozenset[str]:
    """The signatures of the errors that a solution is triggered by."""
    return frozenset(filter(None, map(error_signature, solution.triggers.errors)))


def trigger_keys(solution: Solution) -> frozenset[str]:
    """The commands and paths that a solution is triggered by."""
    return frozenset(chain(map(command_key, solution.triggers.commands), solution.triggers.paths))


def title_of(solution: Solution) -> str:
    """A solution's title, else its first heading."""
    return solution.title or next(parse_headings(solution.body), "")


def read_traits(solution: Solution) -> Traits:
    """The traits of one solution."""
    title = title_of(solution)
    return Traits(
        title=title,
        title_words=content_words(title),
        words=content_words(f"{title}\n\n{solution.body}"),
        literals=named_literals(f"{solution.title}\n{solution.body}"),
        errors=error_keys(solution),
        triggers=trigger_keys(solution),
        foreign=foreign_share(solution.body),
        created=solution.created,
        body=solution.body,
    )


def weigh(traits: Sequence[Traits]) -> Weights:
    """The weights of a store from the traits of its lessons."""
    words = Counter(chain.from_iterable(one.words for one in traits))
    literals = Counter(chain.from_iterable(one.literals for one in traits))
    return Weights(
        {word: seldom(count, len(traits)) for word, count in words.items()},
        {literal: seldom(count, len(traits)) for literal, count in literals.items()},
        frozenset(literal for literal, count in literals.items() if count <= RARE),
    )


def seldom(count: int, lessons: int) -> float:
    """The weight of what so many of the lessons of a store hold."""
    return max(0.0, math.log((lessons + 1) / (count + 0.5)))


def find_reversal(text: str) -> frozenset[str]:
    """What a text says of replacing, correcting or being replaced, in lower case."""
    low = text.lower()
    if not any(mark in low for mark in _REVERSING):
        return frozenset()
    return frozenset(match.lower() for match in _REVERSAL.findall(text))


def foreign_share(text: str) -> float:
    """The share of the characters of a text that belong to scripts without spaces or to Hangul."""
    return 0.0 if text.isascii() else len(_SCRIPT.findall(text)) / len(text)


def content_words(text: str) -> frozenset[str]:
    """The stems of the words of a text without small words; of scripts without spaces, neighbouring characters."""
    words = set(find_words(text.lower())) - STOPWORDS
    return frozenset(chain.from_iterable(map(_word_parts, words)))


def find_words(low: str) -> list[str]:
    """The runs of letters in a text in lower case."""
    return (_ASCII_WORD if low.isascii() else _WORD).findall(low)


def word_parts(word: str) -> Sequence[str]:
    """What a word in lower case is compared by: its stem, none for a small word, else neighbouring characters."""
    return () if word in STOPWORDS else _word_parts(word)


def _word_parts(word: str) -> Sequence[str]:
    if not word.isascii():
        return [word[i : i + 2] for i in range(max(1, len(word) - 1))]
    return (stem(word),) if len(word) > 1 else ()


def named_literals(text: str) -> frozenset[str]:
    """The literals of a text that name something: runs of letters and signs that are no plain word, and code spans.

    The same idea as `index.literals.literals` in a fraction of its time; that one decides on pairs, this finds them.
    """
    runs = chain.from_iterable(map(_LITERALS.__getitem__, text.split()))
    return frozenset(chain(runs, (" ".join(code.split()) for code in find_code(text))))


def find_code(text: str) -> list[str]:
    """The code spans of a text, each within a line."""
    return _CODE.findall(text) if "`" in text else []


def run_literals(word: str) -> tuple[str, ...]:
    """The literals in a run of characters without a space, code spans aside."""
    plain = word.strip(_AROUND)
    if plain.isascii() and plain.isalpha() and (plain.islower() or plain.istitle()):
        return ()
    return tuple([run for raw in _RUN.findall(word) if _is_literal(run := _bare(raw))])


_LITERALS = Known(run_literals)


def _bare(raw: str) -> str:
    """A run without the punctuation and list marks around it; the dashes of a flag stay."""
    run = raw.rstrip(".:,-*<>=#+").lstrip("*<>=#+.:")
    return run if run.startswith("--") else run.lstrip("-")


def _is_literal(run: str) -> bool:
    """Whether a run of letters and signs is a name, a number, a path or a flag rather than a word or `and/or`."""
    if len(run) < 2:
        return False
    if _SIGNED.search(run) or run.startswith("--"):
        return True
    if "/" in run:
        return run[0] == "/" or run.count("/") > 1 or "." in run
    if "." in run or "::" in run:
        return True
    return run.isupper() or _HUMPED.search(run) is not None


def split_roles(body: str) -> tuple[str, str]:
    """The parts of a body under headings or bold labels that tell the symptom, and under those that tell the fix."""
    # The line's end before a label stands where the label does in the body itself.
    marks = [(match.start(), match[1] or match[2]) for match in _LABEL.finditer("\n" + body)]
    parts: dict[str, list[str]] = {"symptom": [], "fix": [], "": []}
    for (start, label), (end, _) in pairwise([*marks, (len(body), "")]):
        parts[_role(label)].append(body[start:end])
    return "\n".join(parts["symptom"]), "\n".join(parts["fix"])


@lru_cache(maxsize=4096)
def _role(label: str) -> str:
    """What stands under a label: the symptom, the fix, or neither."""
    return "fix" if _FIX.search(label) else "symptom" if _SYMPTOM.search(label) else ""
