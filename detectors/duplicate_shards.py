"""Near-duplicates among the files of a folder, signed shard by shard, wherever each shard is signed.

What is found is what `duplicate_files.duplicates_in` finds in one process, to the pair: rows are numbered in the same
order, and buckets pair the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from detectors.duplicate_files import Duplicates, bodies_of_rows, find_answer
from detectors.duplicates import Signed, candidate_pairs, confirm, thin_pairs
from index.bands import band_hashes, pairs_in_buckets
from index.settings import DedupSettings
from index.signature_cache import Known, Listing, Read
from index.signatures import U32, U64, Int, body_hash, permutations, sign_all, sorted_unique
from index.similarity import strip_front_matter

Buckets = tuple[Int, Int]  # places of files, and the bucket that each is in


class Shard(NamedTuple):
    """What is known of some files in a row: the row of each within the shard (-1: unreadable), and of each row the name
    of its body, signature, shingle count and first file."""

    files: Int
    names: tuple[bytes, ...]
    signatures: U32
    counts: Int
    firsts: Int
    failed: tuple[tuple[str, str], ...] = ()


def sign_shard(read: Read, paths: Sequence[str], settings: DedupSettings) -> Shard:
    """Read and sign some files, equal bodies once."""
    row_of: dict[bytes, int] = {}
    files = np.full(len(paths), -1, dtype=np.int64)
    firsts: list[int] = []
    failed: list[tuple[str, str]] = []

    def bodies() -> Iterator[bytes]:
        for place, path in enumerate(paths):
            try:
                body = strip_front_matter(read(path))
            except OSError as error:
                failed.append((path, error.strerror or "cannot be read"))
                continue
            name = body_hash(body)
            if name not in row_of:
                row_of[name] = len(row_of)
                firsts.append(place)
                yield body
            files[place] = row_of[name]

    parts = list(sign_all(bodies(), *permutations(settings.permutations, settings.seed)))
    signatures = np.concatenate([np.empty((0, settings.permutations), dtype=np.uint32), *(rows for rows, _ in parts)])
    counts = np.concatenate([np.empty(0, dtype=np.int64), *(counts for _, counts in parts)])
    return Shard(files, tuple(row_of), signatures, counts, np.array(firsts, dtype=np.int64), tuple(failed))


def find_from_shards(
    listing: Listing,
    shards: Iterable[Shard],
    read: Read,
    settings: DedupSettings,
    buckets: Sequence[Buckets] | None = None,
) -> Duplicates:
    """The near-duplicates among the listed files, of which the shards are consecutive parts.

    `buckets` are, band by band, the files that share a bucket, where something else has sorted them; `places` in them
    are those of the listing. Without, they are sorted here.
    """
    rows, signed, failed = _merge(shards, settings)
    if buckets is None:
        pairs = candidate_pairs(signed, settings)
    else:
        wide, narrow = buckets[: settings.bands], buckets[settings.bands :]
        pairs = thin_pairs(_joined(wide, rows), _joined(narrow, rows), signed, settings)
    found = confirm(pairs, signed, bodies_of_rows(rows, listing, read), settings, record=False)
    known = _Known(signed.counts, {(pair.a, pair.b): (pair.jaccard, pair.ratio) for pair in found})
    answer = find_answer(known, listing, rows, read, settings)
    return Duplicates(answer.clusters, answer.pairs, len(listing.paths), len(signed.counts) - 1, failed)


@dataclass(slots=True)
class _Known:
    """What is known of rows, in memory."""

    counts: Int
    known: Known = field(default_factory=dict)

    def pairs(self) -> Known:
        return self.known

    def add_pairs(self, found: Known) -> None:
        self.known.update(found)


def _merge(shards: Iterable[Shard], settings: DedupSettings) -> tuple[Int, Signed, tuple[tuple[str, str], ...]]:
    """The row of each file (0: unreadable), the signatures by row (row 0 is none), and what failed."""
    row_of: dict[bytes, int] = {}
    files: list[Int] = []
    signatures = [np.zeros((1, settings.permutations), dtype=np.uint32)]
    counts = [np.zeros(1, dtype=np.int64)]
    failed: list[tuple[str, str]] = []
    for shard in shards:
        new = [place for place, name in enumerate(shard.names) if name not in row_of]
        for place in new:
            row_of[shard.names[place]] = len(row_of) + 1
        rows = np.array([*(row_of[name] for name in shard.names), 0], dtype=np.int64)
        files.append(rows[shard.files])
        signatures.append(shard.signatures[new])
        counts.append(shard.counts[new])
        failed += shard.failed
    every = np.concatenate(signatures)
    signed = Signed(every, band_hashes(every, settings.bands, settings.rows), np.concatenate(counts))
    return np.concatenate([np.empty(0, dtype=np.int64), *files]), signed, tuple(failed)


def _joined(buckets: Sequence[Buckets], rows: Int) -> U64:
    """The pairs of rows that share a bucket; equal bodies of several shards are one row."""
    found = [np.empty(0, dtype=np.uint64)]
    for places, numbers in buckets:
        # A body that two shards have stands in the bucket twice.
        both = sorted_unique((numbers.astype(np.uint64) << np.uint64(32)) | rows[places].astype(np.uint64))
        found.append(
            pairs_in_buckets((both & np.uint64(0xFFFFFFFF)).astype(np.int64), (both >> np.uint64(32)).astype(np.int64))
        )
    return sorted_unique(np.concatenate(found))
