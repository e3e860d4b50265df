"""Near-duplicate texts: candidates by MinHash and LSH, confirmed by exact Jaccard and then by rapidfuzz.

The order is what makes it cheap: bands on arrays (generous), an estimate on whole signatures, the exact Jaccard index
of the shingles, datasketch's `MinHashLSH` over the rows that are left as the library of record, and `token_sort_ratio`
last. `fuzz.ratio` would lose reordered paragraphs and `token_set_ratio` accepts mere containment.

Nothing here decides what is merged: it points at pairs and at clusters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from index.bands import alike, band_hashes, candidates, candidates_with, pair_codes, rows_of
from index.settings import DedupSettings
from index.signatures import (
    SCHEME,
    U32,
    U64,
    Int,
    batches,
    body_hash,
    encode,
    normal_texts,
    permutations,
    shingle,
    sign_all,
    sorted_unique,
)

SHORT = 16  # texts of up to this many shingles are compared exactly: MinHash says little about them
SHORT_BANDS = (42, 3)  # misses a pair at J = .7 with probability 2e-8: the candidates of short texts are all there are
SHORT_ESTIMATE = 0.4  # seven standard errors below .7 at 128 permutations
SURE = 0.8  # from this similarity on the Jaccard index alone decides; below it the ratio has a say
COPIES = 50  # so many equal texts are paired each with each; of more, each with the first
BATCH_PAIRS = 1_024  # pairs whose texts are held at a time while they are confirmed

Bodies = Callable[[Sequence[int]], Iterable[bytes]]


class Pair(NamedTuple):
    """Two texts by their places (a < b), their exact Jaccard similarity and rapidfuzz' token_sort_ratio (0 to 100)."""

    a: int
    b: int
    jaccard: float
    ratio: float


class Cluster(NamedTuple):
    """Texts that say nearly the same: the one to keep, the others, and how like the kept one each of them is."""

    keep: int
    drop: tuple[int, ...]
    similarity: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Signed:
    """What is known of rows of text without reading them: signatures, band hashes, shingle counts (0: not in use)."""

    signatures: U32
    bands: U64
    counts: Int


def find_near_duplicates(texts: Sequence[str], settings: DedupSettings) -> tuple[Pair, ...]:
    """Every pair of bodies whose similarity reaches `settings.threshold` and, below SURE, whose ratio `settings.ratio`.

    Front matter is expected to be cut off. Texts without a word are in no pair. Sorted by place.
    """
    places: dict[bytes, list[int]] = defaultdict(list)
    bodies: list[bytes] = []
    for place, text in enumerate(texts):
        body = encode(text)
        at = places[body_hash(body)]
        if not at:
            bodies.append(body)
        at.append(place)
    signed = sign_rows(bodies, settings)
    pairs = confirm(candidate_pairs(signed, settings), signed, lambda rows: (bodies[i] for i in rows), settings)
    counts = signed.counts.tolist()
    return expand(pairs, dict(enumerate(places.values())), lambda row: counts[row] > 0)


def sign_rows(bodies: Sequence[bytes], settings: DedupSettings) -> Signed:
    """Signatures, bands and counts of bodies held in memory."""
    factors, summands = permutations(settings.permutations, settings.seed)
    parts = list(sign_all(bodies, factors, summands))
    if not parts:
        empty = np.empty((0, settings.permutations), dtype=np.uint32)
        return Signed(empty, np.empty((0, settings.bands), dtype=np.uint64), np.empty(0, dtype=np.int64))
    signatures = np.concatenate([rows for rows, _ in parts])
    counts = np.concatenate([counts for _, counts in parts])
    return Signed(signatures, band_hashes(signatures, settings.bands, settings.rows), counts)


def candidate_pairs(signed: Signed, settings: DedupSettings, new: Int | None = None) -> U64:
    """Pairs of rows that share a band and whose signatures agree enough; with `new`, only those with a new row.

    Short texts are candidates by so many narrow bands that none is missed.
    """
    pairs = candidates(signed.bands) if new is None else candidates_with(signed.bands, new)
    return thin_pairs(pairs, _short_candidates(signed, settings, new), signed, settings)


def thin_pairs(pairs: U64, short: U64, signed: Signed, settings: DedupSettings) -> U64:
    """The pairs that share a band, and those that share a narrow one (`short`), whose signatures agree enough.

    Of the latter only those with a text of at most SHORT shingles.
    """
    a, b = rows_of(pairs)
    pairs = alike(signed.signatures, pairs[(signed.counts[a] > 0) & (signed.counts[b] > 0)], settings.estimate)
    a, b = rows_of(short)
    short = short[np.minimum(signed.counts[a], signed.counts[b]) <= SHORT]
    short = alike(signed.signatures, short, min(SHORT_ESTIMATE, settings.estimate))
    return sorted_unique(np.concatenate([pairs, short]))


def recorded(pairs: U64, signed: Signed, settings: DedupSettings) -> U64:
    """The pairs that datasketch's own `MinHashLSH`, filled with the rows of these pairs, gives back.

    A row left out is in none of the pairs, so nothing that a full index would have found is lost. Pairs with a short
    text are compared exactly and pass.
    """
    from datasketch import LeanMinHash, MinHashLSH

    a, b = rows_of(pairs)
    short = np.minimum(signed.counts[a], signed.counts[b]) <= SHORT
    lsh = MinHashLSH(num_perm=settings.permutations, params=(settings.bands, settings.rows))
    sketches = {
        row: LeanMinHash(seed=settings.seed, hashvalues=signed.signatures[row], scheme=SCHEME)
        for row in sorted_unique(np.concatenate([a[~short], b[~short]])).tolist()
    }
    for row, sketch in sketches.items():
        lsh.insert(row, sketch, check_duplication=False)
    found = {row: frozenset(lsh.query(sketches[row])) for row in sorted_unique(a[~short]).tolist()}
    kept = [
        exact or second in found[first]
        for first, second, exact in zip(a.tolist(), b.tolist(), short.tolist(), strict=True)
    ]
    chosen: U64 = pairs[np.array(kept, dtype=bool)]
    return chosen


def confirm(pairs: U64, signed: Signed, bodies: Bodies, settings: DedupSettings, *, record: bool = True) -> list[Pair]:
    """The candidate pairs of rows that are near-duplicates by their texts, read component by component.

    With `record` each is looked up in datasketch's index; without it the caller knows that bands are shared (a small
    run, for which importing datasketch would cost more than all the rest).
    """
    found: list[Pair] = []
    for part in _components(pairs):
        a, b = rows_of(part)
        rows = sorted_unique(np.concatenate([a, b])).tolist()
        texts = dict(zip(rows, bodies(rows), strict=True))
        likeness = _exact(part, texts, settings.threshold)
        kept = recorded(np.array(list(likeness), dtype=np.uint64), signed, settings) if record else likeness
        found += _rated({int(code): likeness[int(code)] for code in kept}, texts, settings)
    return sorted(found)


def expand(
    pairs: Iterable[Pair], places: Mapping[int, Sequence[int]], worded: Callable[[int], bool]
) -> tuple[Pair, ...]:
    """Pairs of texts from pairs of distinct bodies: `places[row]` are those with that body; equal texts pair too."""
    found: list[Pair] = []
    for first, second, jaccard, ratio in pairs:
        one, other = places[first], places[second]
        if len(one) == len(other) == 1:
            a, b = one[0], other[0]
            found.append(Pair(a, b, jaccard, ratio) if a < b else Pair(b, a, jaccard, ratio))
        else:
            found += [Pair(min(a, b), max(a, b), jaccard, ratio) for a in one[:COPIES] for b in other[:COPIES]]
    for row, copies in sorted(places.items()):
        if len(copies) > 1 and worded(row):
            firsts = copies if len(copies) <= COPIES else copies[:1]
            found += [Pair(a, b, 1.0, 100.0) for a in firsts for b in copies if a < b]
    return tuple(sorted(found))


def cluster_pairs(
    pairs: Iterable[Pair],
    bound: float,
    similarity: Callable[[int, int], float] | None = None,
    preference: Callable[[int], Any] | None = None,
) -> tuple[Cluster, ...]:
    """Clusters that do not chain: each member is in a pair with the kept one, and no two are less alike than `bound`.

    The text with most pairs is the centre of the first cluster and is kept; among equals the one that `preference`
    sorts first, then the first place. Others join from the most alike on, unless too far from one already in. A text is
    in one cluster at most. `similarity` is asked for two members that are no pair; without it they count as unlike.
    """
    likeness: dict[int, dict[int, float]] = defaultdict(dict)
    for pair in pairs:
        likeness[pair.a][pair.b] = likeness[pair.b][pair.a] = pair.jaccard

    def near(a: int, b: int, keep: int) -> bool:
        known = likeness[a].get(b)
        if known is None and likeness[keep][a] == 1.0:
            known = likeness[keep][b]
        if known is None and similarity is not None:
            known = similarity(min(a, b), max(a, b))
        return known is not None and known >= bound

    rank = preference or (lambda place: place)
    taken: set[int] = set()
    clusters: list[Cluster] = []
    order = sorted((-len(others), rank(place), place) for place, others in likeness.items())
    for _, _, keep in order:
        if keep in taken:
            continue
        drop: list[int] = []
        # From the most alike on; nearly all clusters are of two, for which there is nothing to order or to ask.
        others = likeness[keep]
        for other in sorted(others, key=lambda place: (-others[place], place)) if len(others) > 1 else others:
            if other not in taken and (not drop or all(near(member, other, keep) for member in drop)):
                drop.append(other)
        if drop:
            taken.update(drop, [keep])
            clusters.append(Cluster(keep, tuple(drop), tuple(likeness[keep][other] for other in drop)))
    return tuple(sorted(clusters))


def in_reach(counts: Int, settings: DedupSettings) -> NDArray[np.bool_]:
    """Which texts are looked up by narrow bands; those a little longer than SHORT may be alike to a short one."""
    return (counts > 0) & (counts * settings.threshold <= SHORT)


def _short_candidates(signed: Signed, settings: DedupSettings, new: Int | None) -> U64:
    """The pairs of short texts, or of nearly short ones, that share a narrow band."""
    reach = in_reach(signed.counts, settings)
    rows = np.flatnonzero(reach)
    if len(rows) < 2:
        return np.empty(0, dtype=np.uint64)
    bands = band_hashes(signed.signatures[rows], *short_bands(settings))
    if new is None:
        pairs = candidates(bands)
    else:
        is_new = np.zeros(len(signed.counts), dtype=bool)
        is_new[new] = True
        fresh = np.flatnonzero(is_new[rows])
        if not fresh.size:
            return np.empty(0, dtype=np.uint64)
        pairs = candidates_with(bands, fresh)
    a, b = rows_of(pairs)
    return pair_codes(rows[a], rows[b])


def short_bands(settings: DedupSettings) -> tuple[int, int]:
    """The narrow bands of short texts, as many as the signature holds."""
    return min(SHORT_BANDS[0], settings.permutations // SHORT_BANDS[1]), SHORT_BANDS[1]


def _components(pairs: U64) -> Iterator[U64]:
    """The pairs in parts of at most about BATCH_PAIRS pairs, such that rows of two parts are never paired."""
    parent: dict[int, int] = {}

    def root(row: int) -> int:
        while (above := parent.setdefault(row, row)) != row:
            parent[row] = row = parent[above]
        return row

    a, b = (side.tolist() for side in rows_of(pairs))
    for first, second in zip(a, b, strict=True):
        parent[root(max(first, second))] = root(min(first, second))
    if not a:
        return
    roots = np.array([root(first) for first in a])
    order = np.argsort(roots, kind="stable")
    starts = np.concatenate([[0], np.flatnonzero(np.diff(roots[order])) + 1])
    ends = np.append(starts[1:], len(order))
    begin = 0
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        if end - begin > BATCH_PAIRS and start > begin:
            yield pairs[np.sort(order[begin:start])]
            begin = start
    yield pairs[np.sort(order[begin:])]


def _exact(pairs: U64, texts: Mapping[int, bytes], threshold: float) -> dict[int, float]:
    """The exact Jaccard index of the pairs that reach the threshold."""
    hashes = dict(zip(texts, distinct_hashes(texts.values()), strict=True))
    a, b = (side.tolist() for side in rows_of(pairs))
    found = {
        code: jaccard_of(hashes[first], hashes[second], threshold)
        for code, first, second in zip(pairs.tolist(), a, b, strict=True)
    }
    return {code: value for code, value in found.items() if value >= threshold}


def _rated(likeness: Mapping[int, float], texts: Mapping[int, bytes], settings: DedupSettings) -> list[Pair]:
    """The pairs with rapidfuzz' ratio, without those that it refuses."""
    rows = sorted({row for code in likeness for row in (code >> 32, code & 0xFFFFFFFF)})
    # token_sort_ratio sorts the words of both texts each time; here each text's words are sorted once.
    ordered = dict(zip(rows, map(_sort_words, normal_texts([texts[row] for row in rows])), strict=True))
    found: list[Pair] = []
    for code, jaccard in likeness.items():
        a, b = code >> 32, code & 0xFFFFFFFF
        ratio = fuzz.ratio(ordered[a], ordered[b], score_cutoff=settings.ratio)
        if ratio < settings.ratio and jaccard >= SURE:
            ratio = fuzz.ratio(ordered[a], ordered[b])
        if ratio >= settings.ratio or jaccard >= SURE:
            found.append(Pair(a, b, jaccard, ratio))
    return found


def _sort_words(text: str) -> str:
    return " ".join(sorted(text.split()))


def distinct_hashes(bodies: Iterable[bytes]) -> Iterator[U64]:
    """The distinct shingle hashes of each body, sorted."""
    for batch in batches(bodies):
        shingled = shingle(batch)
        for i in range(len(batch)):
            yield shingled.of(i)


def jaccard_of(a: U64, b: U64, least: float = 0.0) -> float:
    """The Jaccard index of two sets of hashes, sorted and distinct; 0 at once where sizes rule `least` out."""
    small, large = sorted((len(a), len(b)))
    if not small or small < least * large:
        return 0.0
    both = np.sort(np.concatenate([a, b]), kind="stable")
    shared = int(np.count_nonzero(both[1:] == both[:-1]))
    return shared / (small + large - shared)
