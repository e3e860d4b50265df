"""Judge whether two lessons say the same, from several kinds of evidence, none of which suffices alone.

Copies in other words share few word sequences (three-word shingles overlap by .03 to .25, where pairs that must not be
merged reach .27), and lessons of one template or series share many. What tells them apart is what cannot be reworded:
literals that hardly any other lesson holds, symptom and fix, title, trigger. The thresholds keep a distance from every
judged pair that must not be merged; the benchmark measures it.

A contradiction stands above all: no likeness makes two texts the same that differ in a value.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from detectors.embedding import Embed, nearest
from detectors.trait_cache import TraitCache
from detectors.traits import Traits, Weights, Written, read_traits, title_of
from index.bullets import split_sentences
from index.literals import STOPWORDS, Difference, differs, stem, tokens
from index.records import Solution

if TYPE_CHECKING:
    from detectors.candidates import Mask
    from detectors.lesson_table import Float, Int, LessonTable

Conflicts = Callable[[Written, Written], tuple[Difference, ...]]
Answer = Literal["same", "related", "different", "conflict", "supersedes"]

NEAREST = 5  # neighbours by meaning that become candidates
NEAR = 0.6
MOST_COMPARED = 20_000  # lessons whose vectors are compared each with each
SHORT = 2_000  # characters up to which two texts that are alike are searched for values though nothing says "same"
CONFLICT_SHARE = 0.2  # of the shorter text's statements that the other does not have word for word


@dataclass(frozen=True, slots=True)
class Rule:
    """The least evidence of one way in which two lessons are the same."""

    literals: int = 0
    rare: int = 0
    literal_share: float = 0.0
    literal_containment: float = 0.0
    word_containment: float = 0.0
    title: float = 0.0
    size: float = 0.0


# In another language only literals remain: of unrelated pairs none shares a quarter of their weight.
TRANSLATED = (Rule(literals=10, rare=6, literal_share=0.45), Rule(literals=10, rare=3, literal_share=0.7))
# In one language a series shares its words and a contradicting revision its literals, neither nearly all of both.
REWRITTEN = Rule(literals=12, rare=6, literal_containment=0.7, word_containment=0.8, title=0.85)
CONTAINED = Rule(literals=12, rare=8, literal_containment=0.8, word_containment=0.9, size=0.4)
ROOTED = 3  # rare literals in the symptom, and as many in the fix
ROOTED_SHARE = 1 / 3
ALIKE = 0.75  # of the words of one side, from which two texts are searched for values; with titles alike the next
ALIKE_BY_TITLE = 0.5
TITLES_ALIKE = 0.5
AKIN = 0.25  # of the words, without which one error or rare literals do not make two texts the same
MEANT = 0.8  # nearness in meaning from which it counts as evidence
FOREIGN = 0.03  # difference in the share of characters of another script from which one is a translation


@dataclass(frozen=True, slots=True)
class Judgement:
    """How two lessons stand to each other, how surely (0..1), why, and the values in which they contradict."""

    answer: Answer
    score: float = 0.0
    reasons: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """Two lessons, by their places, and the judgement on them."""

    a: int
    b: int
    judgement: Judgement


@dataclass(frozen=True)
class _Evidence:
    """What two lessons share, each figure in 0..1 or a count, found when it is asked for."""

    a: Traits
    b: Traits
    weights: Weights
    meaning: float

    @cached_property
    def title(self) -> float:
        return self.weights.word_share(self.a.title_words, self.b.title_words)

    @cached_property
    def _words(self) -> tuple[float, float]:
        return self.weights.words_shared(self.a.words, self.b.words)

    @property
    def words(self) -> float:
        return self._words[0]

    @property
    def contained(self) -> float:
        return self._words[1]

    @cached_property
    def _literals(self) -> tuple[float, float]:
        return self.weights.literals_shared(self.a.literals, self.b.literals)

    @property
    def literal_share(self) -> float:
        return self._literals[0]

    @property
    def literal_contained(self) -> float:
        return self._literals[1]

    @property
    def literals(self) -> int:
        return min(len(self.a.literals), len(self.b.literals))

    @cached_property
    def rare(self) -> int:
        return len(self.weights.rare(self.a.literals & self.b.literals))

    @cached_property
    def symptom(self) -> tuple[int, float]:
        return self._rooted(self.a.symptom, self.b.symptom)

    @cached_property
    def fix(self) -> tuple[int, float]:
        return self._rooted(self.a.fix, self.b.fix)

    def _rooted(self, a: frozenset[str], b: frozenset[str]) -> tuple[int, float]:
        """How many rare literals are shared, and which part that is of those of the side that has fewer."""
        shared = len(self.weights.rare(a & b))
        least = min(len(self.weights.rare(a)), len(self.weights.rare(b)))
        return shared, shared / least if least else 0.0

    @cached_property
    def errors(self) -> bool:
        return not self.a.errors.isdisjoint(self.b.errors)

    @cached_property
    def triggers(self) -> bool:
        return not self.a.triggers.isdisjoint(self.b.triggers)

    @property
    def size(self) -> float:
        return min(self.a.length, self.b.length) / max(self.a.length, self.b.length, 1)

    @property
    def translated(self) -> bool:
        return is_translated(self.a, self.b)


def find_same(
    solutions: Sequence[Solution],
    embed: Embed | None = None,
    judged: Callable[[int, int], bool] | None = None,
    fresh: Collection[int] | None = None,
    known: TraitCache | None = None,
    conflicts: Conflicts | None = None,
    related: bool = True,
) -> tuple[Judged, ...]:
    """The judgements on every candidate pair but those that are different; sorted by place.

    Candidates share something rare: an error signature, a trigger, a title's words, literals; with `embed` also the
    nearest by meaning. All pairs are never compared. `judged` says of a pair that it needs no judgement; with `fresh`
    only pairs with one of these places are judged, so that a pass costs what changed. `known` keeps what was read of
    each lesson, `conflicts` finds the values in which two contradict each other. Without `related` those that
    are no more than that are left out, which most are.
    """
    from detectors.candidates import candidate_pairs, weigh_table

    table = (known or TraitCache()).table(solutions)
    pairs = candidate_pairs(table)
    vectors = embed([f"{title_of(one)}\n\n{one.body}" for one in solutions]) if embed is not None else None
    if vectors is not None and len(solutions) <= MOST_COMPARED:
        near = [(a, b) for a, b, _ in nearest(vectors, NEAREST, NEAR)]
        pairs = np.unique(np.concatenate([pairs, np.array(near, dtype=np.int64).reshape(-1, 2)]), axis=0)
    if fresh is not None:
        pairs = pairs[np.isin(pairs, list(fresh)).any(axis=1)]
    if judged is not None:
        pairs = pairs[[not judged(a, b) for a, b in pairs.tolist()]]
    weights, words = weigh_table(table, np.unique(pairs))
    meanings = np.array([vectors[a] @ vectors[b] for a, b in pairs], dtype=np.float64) if vectors is not None else None
    differ = conflicts or value_conflicts
    alike: tuple[Judged, ...] = ()
    if not related:
        telling = _tell(table, words, pairs, meanings)
        alike = _judge_alike(table, solutions, pairs[telling.alike].tolist(), differ)
        pairs, meanings = pairs[telling.open], meanings[telling.open] if meanings is not None else None
    traits = {place: table.traits(place, solutions[place]) for place in np.unique(pairs).tolist()}
    found = list(alike)
    for number, (a, b) in enumerate(pairs.tolist()):
        meaning = float(meanings[number]) if meanings is not None else None
        judgement = judge_traits(traits[a], traits[b], weights, meaning, differ)
        if judgement.answer != "different" and (related or judgement.answer != "related"):
            found.append(Judged(a, b, judgement))
    return tuple(sorted(found, key=lambda one: (one.a, one.b)))


class _Telling(NamedTuple):
    """Of some pairs, those that are surely alike while nothing can say that they are the same, and those that must be
    judged; all others are no more than related."""

    alike: Mask
    open: Mask


def _tell(table: LessonTable, words: Float, pairs: Int, meanings: Float | None) -> _Telling:
    """Each way to be more than related needs one of these."""
    from detectors.candidates import SLACK, rare_shared, share

    one, other = pairs[:, 0], pairs[:, 1]
    rooted = rare_shared(table, pairs) >= ROOTED
    translated = np.abs(table.foreign[one] - table.foreign[other]) >= FOREIGN
    said, titled = share(table.words, words, pairs), share(table.titles, words, pairs)
    akin = (said.part >= AKIN - SLACK) | (titled.part >= AKIN - SLACK)
    same = rooted & (translated | (said.part >= AKIN - SLACK))
    if meanings is not None:
        same |= meanings >= MEANT
    failing = np.diff(table.errors.starts) > 0
    for number in np.flatnonzero(akin & failing[one] & failing[other] & ~same).tolist():
        a, b = pairs[number].tolist()
        same[number] = not table.errors.of(a).isdisjoint(table.errors.of(b))

    def alike(slack: float) -> Mask:
        by_title = (said.contained >= ALIKE_BY_TITLE + slack) & (titled.part >= TITLES_ALIKE + slack)
        return by_title | (said.contained >= ALIKE + slack)

    sure = alike(SLACK) & ~same & (titled.part >= TITLES_ALIKE + SLACK) & (np.minimum(said.both, titled.both) > SLACK)
    return _Telling(sure, ~sure & (same | alike(-SLACK)))


def _judge_alike(
    table: LessonTable, solutions: Sequence[Solution], pairs: Sequence[tuple[int, int]], conflicts: Conflicts
) -> tuple[Judged, ...]:
    """The judgements on pairs that are surely alike and not the same, of which only what they contradict each other in
    is open."""
    found = []
    for a, b in pairs:
        if min(len(solutions[a].body), len(solutions[b].body)) <= SHORT:
            one, other = table.written(a, solutions[a]), table.written(b, solutions[b])
            if differences := conflicts(one, other):
                found.append(Judged(a, b, _contradiction(one, other, differences)))
    return tuple(found)


def judge_pair(a: Solution, b: Solution, weights: Weights, embed: Embed | None = None) -> Judgement:
    """How two solutions stand to each other; `weights` are those of the store they are in."""
    traits = (read_traits(a), read_traits(b))
    meaning = None
    if embed is not None:
        first, second = embed([one.text for one in traits])
        meaning = float(first @ second)
    return judge_traits(*traits, weights, meaning)


def value_conflicts(a: Written, b: Written) -> tuple[Difference, ...]:
    """The values in which two lessons contradict each other, where that is what parts them; else empty.

    In their titles one is enough. In their texts it must be a share of what the shorter states in other words than the
    longer: two texts that are one but for a value are parted by it, however long they are; in rewritten ones single
    statements may disagree while the lesson is the same, and a merge keeps both sides of those.
    """
    titles = differs(a.title, b.title)
    if titles and not is_translated(a, b):
        return titles
    found = differs(a.text, b.text)
    if not found:
        return ()
    sentences = [{" ".join(text.split()) for text in split_sentences(one.text)} for one in (a, b)]
    reworded = min(len(sentences[0] - sentences[1]), len(sentences[1] - sentences[0]))
    return found if len({d.in_a for d in found}) >= max(1, CONFLICT_SHARE * reworded) else ()


def judge_traits(
    a: Traits,
    b: Traits,
    weights: Weights,
    meaning: float | None = None,
    conflicts: Conflicts = value_conflicts,
) -> Judgement:
    """The judgement from traits; `meaning` is the cosine of their vectors where the extra is installed, `conflicts`
    finds the values in which two lessons contradict each other."""
    if not _worth_comparing(a, b, weights, meaning):
        return Judgement("different")
    shared = _Evidence(a, b, weights, meaning if meaning is not None else 0.0)
    reason, score = _same(shared)
    alike = shared.contained >= ALIKE or (shared.title >= TITLES_ALIKE and shared.contained >= ALIKE_BY_TITLE)
    looked_at = reason or (alike and min(a.length, b.length) <= SHORT)
    differences = conflicts(a, b) if looked_at else ()
    if differences:
        return _contradiction(a, b, differences, reason, score)
    if reason and _reverses(a, b) and shared.contained < 0.9:
        return Judgement("supersedes", score, (reason, "the newer says of itself that it replaces the older"))
    if reason:
        return Judgement("same", score, (reason,))
    ties = _ties(shared)
    if ties:
        return Judgement("related", min(0.5, 0.2 * len(ties)), ties)
    return Judgement("different")


def _contradiction(
    a: Written, b: Written, differences: tuple[Difference, ...], reason: str = "", score: float = 0.0
) -> Judgement:
    answer: Answer = "supersedes" if _reverses(a, b) else "conflict"
    return Judgement(answer, max(score, 0.5), (reason or "alike but for values",), differences)


def newest_first(hits: Sequence[Solution], query: str = "") -> tuple[Solution, ...]:
    """Hits in their order, but of those that contradict each other the newest comes first.

    Two contradict each other when they are alike but for values, or in one place, and the query does not tell them
    apart: with "what does X use" two statements on X contradict, one on X and one on Y do not.
    """
    asked = frozenset(stem(token.norm) for token in tokens(query) if token.norm not in STOPWORDS)
    order: list[Solution] = []
    for hit in hits:
        places = (i for i, other in enumerate(order) if _is_newer(hit, other) and _contradicts(hit, other, asked))
        order.insert(next(places, len(order)), hit)
    return tuple(order)


def _worth_comparing(a: Traits, b: Traits, weights: Weights, meaning: float | None) -> bool:
    """Whether two lessons share any of what every other answer rests on; most candidates do not."""
    return (
        len(weights.rare(a.literals & b.literals)) >= ROOTED
        or bool(a.errors & b.errors)
        or bool(a.triggers & b.triggers)
        or weights.word_share(a.title_words, b.title_words) >= TITLES_ALIKE
        or (meaning or 0.0) >= 0.9
    )


def is_translated(a: Written, b: Written) -> bool:
    """Whether one of two lessons may be the other in another language."""
    return abs(a.foreign - b.foreign) >= FOREIGN


def _same(shared: _Evidence) -> tuple[str, float]:
    """Why two lessons are the same, and how surely; ("", 0) where nothing says so."""
    if shared.translated and any(_meets(shared, rule) for rule in TRANSLATED):
        return "the same literals in another language", shared.literal_share
    if _meets(shared, REWRITTEN):
        return "one title, and the words and literals of one in the other", shared.contained
    if _meets(shared, CONTAINED):
        return "nearly all words and literals of one are in the other", shared.contained
    if shared.rare >= ROOTED and shared.words >= AKIN and _rooted(shared):
        return "the same rare literals in symptom and fix", 0.8
    if shared.errors and max(shared.title, shared.words) >= AKIN and _same_fix(shared):
        return "the same error and the same fix", 0.8
    tied = shared.errors or shared.triggers
    if shared.meaning >= MEANT and tied and shared.size >= 0.4 and _same_fix(shared):
        return "the same meaning, trigger and fix", shared.meaning
    return "", 0.0


def _rooted(shared: _Evidence) -> bool:
    """Whether two lessons share rare literals both where they tell the symptom and where they tell the fix."""
    (symptom, symptom_share), (fix, fix_share) = shared.symptom, shared.fix
    return min(symptom, fix) >= ROOTED and min(symptom_share, fix_share) >= ROOTED_SHARE


def _same_fix(shared: _Evidence) -> bool:
    return shared.literal_contained >= 0.6 or shared.fix[1] >= 0.5


def _meets(shared: _Evidence, rule: Rule) -> bool:
    return (
        shared.literals >= rule.literals
        and shared.rare >= rule.rare
        and shared.literal_share >= rule.literal_share
        and shared.literal_contained >= rule.literal_containment
        and shared.contained >= rule.word_containment
        and shared.title >= rule.title
        and shared.size >= rule.size
    )


def _ties(shared: _Evidence) -> tuple[str, ...]:
    """What ties two lessons together without making them the same."""
    ties = (
        ("the same error", shared.errors),
        ("the same trigger", shared.triggers),
        ("titles alike", shared.title >= TITLES_ALIKE),
        ("words alike", shared.words >= 0.3),
        ("rare literals shared", shared.rare >= 4 and shared.literal_contained >= 0.3),
        ("near in meaning", shared.meaning >= 0.9 and max(shared.title, shared.words) >= 0.2),
    )
    return tuple(name for name, holds in ties if holds)


def _reverses(a: Written, b: Written) -> bool:
    """Whether the newer of two texts says near its beginning, where the older does not, that it replaces something."""
    older, newer = (a, b) if a.created <= b.created else (b, a)
    return bool(newer.reversal - older.reversal) or (a.created == b.created and a.reversal != b.reversal)


def _is_newer(a: Solution, b: Solution) -> bool:
    return (a.created, a.id) > (b.created, b.id)


def _contradicts(a: Solution, b: Solution, asked: frozenset[str]) -> bool:
    """Whether two hits say different things on what was asked."""
    if asked & _stems(a.title + "\n" + a.body) != asked & _stems(b.title + "\n" + b.body):
        return False
    return bool(_one_place(a.title, b.title) or differs(a.title, b.title) or differs(a.body, b.body))


def _one_place(a: str, b: str) -> bool:
    """Whether two statements differ in one place only, with words on both sides, and agree in at least half."""
    x, y = ([token.norm for token in tokens(text)] for text in (a, b))
    short = min(len(x), len(y))
    start = next((i for i in range(short) if x[i] != y[i]), short)
    end = next((i for i in range(short - start) if x[-1 - i] != y[-1 - i]), short - start)
    return start + end < short and 2 * (start + end) >= short


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(token.norm) for token in tokens(text))
