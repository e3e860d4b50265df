"""Near-duplicates among the markdown files of a folder, with what is known kept from run to run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import orjson

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
from index.collector import collector_off
from index.settings import DedupSettings
from index.signature_cache import Known, Listing, Read, Refreshed, Scheme, SignatureCache, read_below, scan_markdown
from index.signatures import U64, Int
from index.similarity import strip_front_matter


class PathCluster(NamedTuple):
    """Files that say nearly the same: the one to keep, the others, and how like the kept one each of them is."""

    keep: str
    drop: tuple[str, ...]
    similarity: tuple[float, ...]


class PathPair(NamedTuple):
    """Two files (a before b in order of path), their exact Jaccard similarity and rapidfuzz' ratio (0 to 100)."""

    a: str
    b: str
    jaccard: float
    ratio: float


@dataclass(frozen=True, slots=True)
class Duplicates:
    """What was found: clusters and pairs, sorted; how many files there are, how many texts were new, what failed."""

    clusters: tuple[PathCluster, ...]
    pairs: tuple[PathPair, ...]
    files: int
    signed: int
    failed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class _Files:
    """The files that matter for an answer (they are in a pair or share a text), in order of path, with their rows."""

    paths: tuple[str, ...]
    rows: tuple[int, ...]
    sizes: tuple[int, ...]


def duplicates_in(root: Path, settings: DedupSettings, now_ns: int, cache_folder: Path | None = None) -> Duplicates:
    """Near-duplicates among the `*.md` files below `root`; paths are relative to it, sorted.

    With `cache_folder` only what changed since the last call is read; `now_ns` is the present time. Raises OSError
    where `root` cannot be listed.
    """
    listing = scan_markdown(root)
    read = read_below(root)
    with collector_off(), SignatureCache(cache_folder, scheme_of(settings)) as cache:
        if cache.unchanged(listing) and (kept := cache.answer()) is not None:
            return _parse(kept, len(listing.paths))
        found = cache.refresh(listing, read, now_ns)
        if found.new.size:
            _find_new(cache, found, bodies_of_rows(found.rows, listing, read), settings)
        answer = find_answer(cache, listing, found.rows, read, settings)
        cache.keep_answer(_render(answer))
    return Duplicates(answer.clusters, answer.pairs, len(listing.paths), len(found.new), found.failed)


def scheme_of(settings: DedupSettings) -> Scheme:
    """What stored rows, pairs and answers depend on."""
    answers = f"{settings.threshold} {settings.ratio} {settings.estimate} {settings.cluster_bound}"
    return Scheme(settings.permutations, settings.seed, settings.bands, settings.rows, answers)


def _find_new(
    cache: SignatureCache, found: Refreshed, bodies: Callable[[Sequence[int]], Iterator[bytes]], settings: DedupSettings
) -> None:
    """Find the pairs of new rows and add them to the cache.

    A first run looks every pair up in datasketch's index; importing it would cost more than a later, small run.
    """
    end = cache.height
    signed = Signed(cache.signatures[:end], cache.bands[:end], cache.counts[:end])
    first_run = len(found.new) == np.count_nonzero(np.bincount(found.rows)[1:])
    candidates = candidate_pairs(signed, settings, None if first_run else found.new)
    pairs = confirm(candidates, signed, bodies, settings, record=first_run)
    cache.add_pairs({(pair.a, pair.b): (pair.jaccard, pair.ratio) for pair in pairs})


def bodies_of_rows(rows: Int, listing: Listing, read: Read) -> Callable[[Sequence[int]], Iterator[bytes]]:
    """A function that reads the bodies of rows again, each from a file that has it; a vanished one is empty."""
    place = np.zeros(int(rows.max(initial=0)) + 1, dtype=np.int64)
    place[rows] = np.arange(len(rows))

    def bodies(wanted: Sequence[int]) -> Iterator[bytes]:
        for row in wanted:
            yield _read_body(read, listing.paths[place[row]])

    return bodies


def _read_body(read: Read, path: str) -> bytes:
    try:
        return strip_front_matter(read(path))
    except OSError:
        return b""


class Rows(Protocol):
    """What an answer is made from: shingle counts by row, and the known similarities of pairs of rows."""

    @property
    def counts(self) -> Int:
        """How many shingles the body of each row has; 0 or less for a row not in use."""

    def pairs(self) -> Known:
        """Known similarities by pair of rows."""

    def add_pairs(self, found: Known) -> None:
        """Remember further ones."""


def find_answer(rows_known: Rows, listing: Listing, rows: Int, read: Read, settings: DedupSettings) -> Duplicates:
    """The clusters and pairs of files, given the row of each and what is known of rows."""
    return _answer(rows_known, _files_that_matter(rows_known, listing, rows), read, settings)


def _files_that_matter(cache: Rows, listing: Listing, rows: Int) -> _Files:
    matters = (np.bincount(rows, minlength=len(cache.counts)) > 1) & (cache.counts > 0)
    matters[[row for pair, (_, ratio) in cache.pairs().items() if ratio is not None for row in pair]] = True
    places = np.flatnonzero(matters[rows]).tolist()
    places.sort(key=listing.paths.__getitem__)
    return _Files(
        tuple(listing.paths[place] for place in places),
        tuple(rows[places].tolist()) if places else (),
        tuple(listing.times[3 * place + 2] for place in places),
    )


def _answer(cache: Rows, files: _Files, read: Read, settings: DedupSettings) -> Duplicates:
    places: dict[int, list[int]] = defaultdict(list)
    for place, row in enumerate(files.rows):
        places[row].append(place)
    known = [Pair(a, b, jaccard, ratio) for (a, b), (jaccard, ratio) in cache.pairs().items() if ratio is not None]
    pairs = expand(known, places, lambda row: True)
    # The longest of a cluster is the likeliest to be kept; among equals the first by path.
    clusters = cluster_pairs(
        pairs, settings.cluster_bound, _similarity(cache, files, read), lambda place: -files.sizes[place]
    )
    paths = files.paths
    return Duplicates(
        tuple([PathCluster(paths[keep], tuple([paths[i] for i in drop]), like) for keep, drop, like in clusters]),
        tuple([PathPair(paths[a], paths[b], jaccard, ratio) for a, b, jaccard, ratio in pairs]),
        0,
        0,
    )


def _similarity(cache: Rows, files: _Files, read: Read) -> Callable[[int, int], float]:
    """The exact similarity of two files that are no pair, remembered by their rows."""
    hashes: dict[int, U64] = {}
    known = cache.pairs()
    rows = files.rows

    def of(place: int) -> U64:
        row = rows[place]
        if row not in hashes:
            hashes[row] = next(distinct_hashes([_read_body(read, files.paths[place])]))
        return hashes[row]

    def similarity(a: int, b: int) -> float:
        key = (rows[a], rows[b]) if rows[a] < rows[b] else (rows[b], rows[a])
        if key not in known:
            cache.add_pairs({key: (jaccard_of(of(a), of(b)), None)})
        return known[key][0]

    return similarity


def _render(answer: Duplicates) -> bytes:
    return orjson.dumps([[tuple(one) for one in answer.clusters], [tuple(pair) for pair in answer.pairs]])


def _parse(kept: bytes, files: int) -> Duplicates:
    clusters, pairs = orjson.loads(kept)
    return Duplicates(
        tuple(PathCluster(keep, tuple(drop), tuple(similarity)) for keep, drop, similarity in clusters),
        tuple(PathPair(*pair) for pair in pairs),
        files,
        0,
    )
