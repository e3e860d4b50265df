"""Judge whether two lessons say the same, from several kinds of evidence, none of which suffices alone.

Copies in other words share few word sequences (three-word shingles overlap by .03 to .25, where pairs that must not be
merged reach .27), and lessons of one template or series share many. What tells them apart is what cannot be reworded:
literals that hardly any other lesson holds, symptom and fix, title, trigger. The thresholds keep a distance from every
judged pair that must not be merged; the benchmark measures it.

A contradiction stands above all: no likeness makes two texts the same that differ in a value.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, repeat
from typing import Literal

from detectors.embedding import Embed, nearest
from detectors.trait_cache import TraitCache
from detectors.traits import Keys, Traits, Weights, rarities, read_traits, title_of, weigh
from index.bullets import split_sentences
from index.literals import STOPWORDS, Difference, differs, stem, tokens
from index.records import Solution

Conflicts = Callable[[Traits, Traits], tuple[Difference, ...]]
Answer = Literal["same", "related", "different", "conflict", "supersedes"]

MOST_PER_KEY = 12  # a key that more lessons share says little; beyond it no pairs are made from it
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
SLACK = 1e-9  # of figures that are rounded
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


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What two lessons share, each figure in 0..1 or a count."""

    title: float
    words: float
    contained: float
    literal_share: float
    literal_contained: float
    literals: int
    rare: int
    symptom: int
    fix: int
    symptom_share: float
    fix_share: float
    errors: bool
    triggers: bool
    size: float
    translated: bool
    meaning: float


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
    cache = known or TraitCache()
    keys = cache.keys(solutions)
    literals = Counter(chain.from_iterable(one.literals for one in keys))
    pairs = set(candidate_pairs(keys, literals))
    vectors = embed([f"{title_of(one)}\n\n{one.body}" for one in solutions]) if embed is not None else None
    if vectors is not None and len(solutions) <= MOST_COMPARED:
        pairs |= {(a, b) for a, b, _ in nearest(vectors, NEAREST, NEAR)}
    if fresh is not None:
        pairs = {pair for pair in pairs if pair[0] in fresh or pair[1] in fresh}
    if judged is not None:
        pairs = {pair for pair in pairs if not judged(*pair)}
    members = sorted({place for pair in pairs for place in pair})
    traits = {place: cache.traits(solutions[place], keys[place]) for place in members}
    weights = weigh(list(traits.values()), literals, len(keys))
    may_tell = _teller(traits, weights)
    found: list[Judged] = []
    for a, b in sorted(pairs):
        meaning = float(vectors[a] @ vectors[b]) if vectors is not None else None
        if not related and not may_tell(a, b, meaning):
            continue
        judgement = judge_traits(traits[a], traits[b], weights, meaning, conflicts or value_conflicts)
        if judgement.answer != "different" and (related or judgement.answer != "related"):
            found.append(Judged(a, b, judgement))
    return tuple(found)


def judge_pair(a: Solution, b: Solution, weights: Weights, embed: Embed | None = None) -> Judgement:
    """How two solutions stand to each other; `weights` are those of the store they are in."""
    traits = (read_traits(a), read_traits(b))
    meaning = None
    if embed is not None:
        first, second = embed([one.text for one in traits])
        meaning = float(first @ second)
    return judge_traits(*traits, weights, meaning)


def value_conflicts(a: Traits, b: Traits) -> tuple[Difference, ...]:
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
    shared = _compare(a, b, weights, meaning)
    reason, score = _same(shared)
    alike = shared.contained >= ALIKE or (shared.title >= 0.5 and shared.contained >= ALIKE_BY_TITLE)
    looked_at = reason or (alike and min(a.length, b.length) <= SHORT)
    differences = conflicts(a, b) if looked_at else ()
    if differences:
        answer: Answer = "supersedes" if _reverses(a, b) else "conflict"
        return Judgement(answer, max(score, 0.5), (reason or "alike but for values",), differences)
    if reason and _reverses(a, b) and shared.contained < 0.9:
        return Judgement("supersedes", score, (reason, "the newer says of itself that it replaces the older"))
    if reason:
        return Judgement("same", score, (reason,))
    ties = _ties(shared)
    if ties:
        return Judgement("related", min(0.5, 0.2 * len(ties)), ties)
    return Judgement("different")


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


def candidate_pairs(keys: Sequence[Keys], literals: Mapping[str, int]) -> list[tuple[int, int]]:
    """Pairs that share an error, a trigger or a title, or twice something weaker: two rare words of a title, a literal.

    `literals` says in how many lessons each literal stands.
    """
    spread = Counter(chain.from_iterable(one.title for one in keys))
    rare = rarities(literals)
    holders: tuple[dict[object, list[int]], dict[object, list[int]]] = (defaultdict(list), defaultdict(list))
    for place, one in enumerate(keys):
        strong: set[object] = {("error", error) for error in one.errors} | {("at", trigger) for trigger in one.triggers}
        if one.title:
            strong.add(one.title)
        rarest = sorted(one.title, key=lambda word: (spread[word], word))[:4]
        for side, names in zip(
            holders, (strong, [*combinations(sorted(rarest), 2), *(one.literals & rare)]), strict=True
        ):
            for name in names:
                side[name].append(place)
    pairs = {pair for places in holders[0].values() if len(places) <= MOST_PER_KEY for pair in combinations(places, 2)}
    counted = Counter(
        pair for places in holders[1].values() if 1 < len(places) <= MOST_PER_KEY for pair in combinations(places, 2)
    )
    return sorted(pairs | {pair for pair, count in counted.items() if count > 1})


def _worth_comparing(a: Traits, b: Traits, weights: Weights, meaning: float | None) -> bool:
    """Whether two lessons share any of what every other answer rests on; most candidates do not."""
    return (
        len(weights.rare(a.literals & b.literals)) >= ROOTED
        or bool(a.errors & b.errors)
        or bool(a.triggers & b.triggers)
        or weights.word_share(a.title_words, b.title_words) >= 0.5
        or (meaning or 0.0) >= 0.9
    )


def _teller(traits: Mapping[int, Traits], weights: Weights) -> Callable[[int, int, float | None], bool]:
    """Whether two lessons, by place, can be more to each other than related: each way to be needs one of these."""
    whole: dict[int, float] = {}

    def weight(words: Iterable[str]) -> float:
        return math.fsum(map(weights.words.get, words, repeat(1.0)))

    def words_alike(a: int, b: int) -> bool:
        for place in (a, b):
            if place not in whole:
                whole[place] = weight(traits[place].words)
        least = (min(ALIKE, ALIKE_BY_TITLE) - SLACK) * min(whole[a], whole[b])
        return weight(traits[a].words & traits[b].words) >= least

    def may_tell(a: int, b: int, meaning: float | None) -> bool:
        one, other = traits[a], traits[b]
        return (
            not one.errors.isdisjoint(other.errors)
            or is_translated(one, other)
            or (meaning or 0.0) >= MEANT
            or words_alike(a, b)
            or min(len(weights.rare(one.symptom & other.symptom)), len(weights.rare(one.fix & other.fix))) >= ROOTED
        )

    return may_tell


def _compare(a: Traits, b: Traits, weights: Weights, meaning: float | None) -> _Evidence:
    symptom = weights.rare(a.symptom & b.symptom)
    fix = weights.rare(a.fix & b.fix)
    least = [min(len(weights.rare(x)), len(weights.rare(y))) for x, y in ((a.symptom, b.symptom), (a.fix, b.fix))]
    words, contained = weights.words_shared(a.words, b.words)
    literal_share, literal_contained = weights.literals_shared(a.literals, b.literals)
    return _Evidence(
        title=weights.word_share(a.title_words, b.title_words),
        words=words,
        contained=contained,
        literal_share=literal_share,
        literal_contained=literal_contained,
        literals=min(len(a.literals), len(b.literals)),
        rare=len(weights.rare(a.literals & b.literals)),
        symptom=len(symptom),
        fix=len(fix),
        symptom_share=len(symptom) / least[0] if least[0] else 0.0,
        fix_share=len(fix) / least[1] if least[1] else 0.0,
        errors=bool(a.errors & b.errors),
        triggers=bool(a.triggers & b.triggers),
        size=min(a.length, b.length) / max(a.length, b.length, 1),
        translated=is_translated(a, b),
        meaning=meaning if meaning is not None else 0.0,
    )


def is_translated(a: Traits, b: Traits) -> bool:
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
    rooted = min(shared.symptom, shared.fix) >= ROOTED and min(shared.symptom_share, shared.fix_share) >= ROOTED_SHARE
    if rooted and shared.words >= 0.25:
        return "the same rare literals in symptom and fix", 0.8
    same_fix = shared.fix_share >= 0.5 or shared.literal_contained >= 0.6
    if shared.errors and same_fix and max(shared.title, shared.words) >= 0.25:
        return "the same error and the same fix", 0.8
    if shared.meaning >= MEANT and same_fix and (shared.errors or shared.triggers) and shared.size >= 0.4:
        return "the same meaning, trigger and fix", shared.meaning
    return "", 0.0


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
        ("titles alike", shared.title >= 0.5),
        ("words alike", shared.words >= 0.3),
        ("rare literals shared", shared.rare >= 4 and shared.literal_contained >= 0.3),
        ("near in meaning", shared.meaning >= 0.9 and max(shared.title, shared.words) >= 0.2),
    )
    return tuple(name for name, holds in ties if holds)


def _reverses(a: Traits, b: Traits) -> bool:
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
