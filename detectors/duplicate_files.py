"""Near-duplicates among the markdown files of a folder, with what is known kept from run to run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from detectors.duplicates import (
    Pair,
    Signed,
    candidate_pairs,
    cluster_pairs,
    confirm,
    distinct_hashes,
    expand,
    jaccard_of,
)
from index.settings import DedupSettings
from index.signature_cache import Read, Scheme, SignatureCache, Stamp, read_below, scan_markdown
from index.similarity import strip_front_matter


@dataclass(frozen=True, slots=True)
class PathCluster:
    """Files that say nearly the same: the one to keep, the others, and how like the kept one each of them is."""

    keep: str
    drop: tuple[str, ...]
    similarity: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class PathPair:
    """Two files (a before b in order of path), their exact Jaccard similarity and rapidfuzz' ratio (0 to 100)."""

    a: str
    b: str
    jaccard: float
    ratio: float


@dataclass(frozen=True, slots=True)
class Duplicates:
    """What was found: pairs, clusters, how many files there are, how many were new texts, and those not readable."""

    clusters: tuple[PathCluster, ...]
    pairs: tuple[PathPair, ...]
    files: int
    signed: int
    failed: tuple[tuple[str, str], ...] = ()


def duplicates_in(root: Path, settings: DedupSettings, now_ns: int, cache_folder: Path | None = None) -> Duplicates:
    """Near-duplicates among the `*.md` files below `root`; paths are relative to it, sorted.

    With `cache_folder` only what changed since the last call is read; `now_ns` is the present time. Raises OSError
    where `root` cannot be listed.
    """
    stamps = scan_markdown(root)
    read = read_below(root)
    with SignatureCache(cache_folder, scheme_of(settings)) as cache:
        found = cache.refresh(stamps, read, now_ns)
        if found.new:
            _find_new(cache, found.rows, found.new, _bodies(found.rows, stamps, read), settings)
        pairs = _file_pairs(cache, found.rows)
        clusters = cluster_pairs(
            pairs,
            settings.cluster_bound,
            _similarity(cache, found.rows, stamps, read),
            lambda place: (-stamps[place].size, stamps[place].path),
        )
    paths = [stamp.path for stamp in stamps]
    return Duplicates(
        tuple(PathCluster(paths[one.keep], tuple(paths[i] for i in one.drop), one.similarity) for one in clusters),
        tuple(PathPair(paths[pair.a], paths[pair.b], pair.jaccard, pair.ratio) for pair in pairs),
        len(stamps),
        len(found.new),
        found.failed,
    )


def scheme_of(settings: DedupSettings) -> Scheme:
    """What stored rows and pairs depend on."""
    pairs = f"{settings.threshold} {settings.ratio} {settings.estimate}"
    return Scheme(settings.permutations, settings.seed, settings.bands, settings.rows, pairs)


def _find_new(
    cache: SignatureCache,
    rows: Sequence[int],
    new: Sequence[int],
    bodies: Callable[[Sequence[int]], Iterator[bytes]],
    settings: DedupSettings,
) -> None:
    """Find the pairs of new rows and add them to the cache."""
    signed = Signed(cache.signatures, cache.bands, cache.counts)
    first_run = len(new) == len(set(rows) - {0})
    candidates = candidate_pairs(signed, settings, None if first_run else np.array(new, dtype=np.int64))
    pairs = confirm(candidates, signed, bodies, settings, record=first_run)
    cache.add_pairs({(pair.a, pair.b): (pair.jaccard, pair.ratio) for pair in pairs})


def _bodies(rows: Sequence[int], stamps: Sequence[Stamp], read: Read) -> Callable[[Sequence[int]], Iterator[bytes]]:
    """A function that reads the bodies of rows again, each from the first file that has it; a vanished one is empty."""
    place = dict(zip(reversed(rows), range(len(rows) - 1, -1, -1), strict=True))

    def bodies(wanted: Sequence[int]) -> Iterator[bytes]:
        for row in wanted:
            try:
                yield strip_front_matter(read(stamps[place[row]].path))
            except OSError:
                yield b""

    return bodies


def _file_pairs(cache: SignatureCache, rows: Sequence[int]) -> tuple[Pair, ...]:
    """The pairs of files: those of their rows, and files that share a row."""
    known = [Pair(a, b, jaccard, ratio) for (a, b), (jaccard, ratio) in cache.pairs().items() if ratio is not None]
    wanted = {row for pair in known for row in (pair.a, pair.b)}
    if len(set(rows)) < len(rows):
        cache.load()
        wanted |= _repeated(rows)
    places: dict[int, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        if row in wanted:
            places[row].append(place)
    return expand(known, places, lambda row: bool(cache.counts[row] > 0))


def _repeated(rows: Iterable[int]) -> set[int]:
    seen: set[int] = {0}
    repeated: set[int] = set()
    for row in rows:
        (repeated if row in seen else seen).add(row)
    return repeated - {0}


def _similarity(
    cache: SignatureCache, rows: Sequence[int], stamps: Sequence[Stamp], read: Read
) -> Callable[[int, int], float]:
    """The exact similarity of two files that are no pair, remembered by their rows."""
    hashes: dict[int, np.ndarray[tuple[int], np.dtype[np.uint64]]] = {}

    def of(place: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
        row = rows[place]
        if row not in hashes:
            body = next(_bodies([row], [stamps[place]], read)([row]))
            hashes[row] = next(distinct_hashes([body]))
        return hashes[row]

    def similarity(a: int, b: int) -> float:
        key = (min(rows[a], rows[b]), max(rows[a], rows[b]))
        if key not in cache.pairs():
            cache.add_pairs({key: (jaccard_of(of(a), of(b)), None)})
        return cache.pairs()[key][0]

    return similarity
