"""MinHash signatures of many bodies at once, on arrays, equal bit for bit to datasketch's own.

The scheme is datasketch 2's `affine32`: the 32-bit hash of a shingle is mixed once with MurmurHash3's finalizer, then
each permutation is a*h + b modulo 2**32, and a signature keeps the least value of each. A test holds signatures equal
to `MinHash.bulk(..., hashfunc=shingle_hash32)` and the permutations equal to `MinHash(...).permutations`, so the rows
can be given to datasketch at any time; it is not imported here, because that alone costs more than a small run.

Words and shingles are those of `index.similarity`; a property test holds the two equal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from index.similarity import LABEL_LONGEST, normalise

SCHEME = "affine32"
BATCH_BYTES = 192 * 1024  # arrays of a batch stay in the second-level cache; measured best between 128 and 256 KB
_LOADS = 4  # words of up to 4 * 8 bytes are hashed on arrays, longer ones one by one

U8 = NDArray[np.uint8]
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
Int = NDArray[np.int64]
Values = TypeVar("Values", U64, Int)

_SPACE = 32
_PAD = b" " * (8 * _LOADS + 8)
_M1 = np.uint64(0x9E3779B97F4A7C15)
_M2 = np.uint64(0xD6E8FEB86659FD93)
_M3 = np.uint64(0xA0761D6478BD642F)
_HALF = np.uint64(32)
_ALL = (1 << 64) - 1
_MASK: U64 = np.array([(1 << (8 * k)) - 1 for k in range(9)], dtype=np.uint64)
_TABLE = bytes(
    byte + 32 if chr(byte).isupper() and byte < 0x80 else byte if chr(byte).isalnum() or byte in b"_" else _SPACE
    for byte in range(0x80)
) + bytes(range(0x80, 0x100))


@dataclass(frozen=True, slots=True)
class Shingled:
    """The shingle hashes of a batch of bodies, one after the other; body i has `counts[i]` of them from `starts[i]`."""

    hashes: U64
    starts: Int
    counts: Int

    def of(self, i: int) -> U64:
        """The distinct hashes of body i, sorted."""
        return sorted_unique(self.hashes[self.starts[i] : self.starts[i] + self.counts[i]])


def shingle_hash(shingle: str) -> int:
    """The 64-bit hash of one shingle (one to three words with a space between): what the arrays hold, slowly."""
    first, second, third = (*(_word_hash(word.encode()) for word in shingle.split(" ")), 0, 0)[:3]
    mixed = (((first * int(_M1) + second) * int(_M2) + third) * int(_M3)) & _ALL
    return mixed ^ (mixed >> 32)


def shingle_hash32(shingle: bytes) -> int:
    """The 32-bit hash of a shingle in UTF-8: the `hashfunc` with which datasketch makes the same signatures."""
    return shingle_hash(shingle.decode()) >> 32


def permutations(count: int, seed: int) -> tuple[U32, U32]:
    """The factors and summands of `datasketch.MinHash(num_perm=count, seed=seed)`, scheme affine32."""
    random = np.random.RandomState(seed)
    factors = random.randint(0, 1 << 31, count, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
    return factors, random.randint(0, 1 << 32, count, dtype=np.uint32)


def shingle(bodies: Sequence[bytes]) -> Shingled:
    """The shingle hashes of bodies in UTF-8; a body without any word has none.

    A body of nothing but headings and labels is taken whole, as `index.similarity.weigh` does.
    """
    found = _shingle(bodies, weighed=True)
    bare = [i for i in np.flatnonzero(found.counts == 0).tolist() if bodies[i].strip()]
    if not bare:
        return found
    again = _shingle([bodies[i] for i in bare], weighed=False)
    starts, counts = found.starts.copy(), found.counts.copy()
    starts[bare] = again.starts + len(found.hashes)
    counts[bare] = again.counts
    return Shingled(np.concatenate([found.hashes, again.hashes]), starts, counts)


def sign(shingled: Shingled, factors: U32, summands: U32) -> U32:
    """One signature a row; a body without shingles keeps the highest value in each place, as an empty MinHash does."""
    rows = np.full((len(shingled.counts), len(factors)), 0xFFFFFFFF, dtype=np.uint32)
    order = np.argsort(shingled.starts, kind="stable")
    some = order[shingled.counts[order] > 0]
    if not some.size:
        return rows
    mixed = _finalise((shingled.hashes >> _HALF).astype(np.uint32))
    starts = shingled.starts[some]
    least = np.empty((len(factors), len(some)), dtype=np.uint32)
    scratch = np.empty_like(mixed)
    for k in range(len(factors)):
        np.multiply(mixed, factors[k], out=scratch)
        np.add(scratch, summands[k], out=scratch)
        np.minimum.reduceat(scratch, starts, out=least[k])
    rows[some] = least.T
    return rows


def sign_all(bodies: Iterable[bytes], factors: U32, summands: U32) -> Iterator[tuple[U32, Int]]:
    """Signatures and shingle counts of a stream of bodies, batch by batch, holding one batch of texts at a time."""
    for batch in batches(bodies):
        shingled = shingle(batch)
        yield sign(shingled, factors, summands), shingled.counts


def normal_texts(bodies: Sequence[bytes]) -> list[str]:
    """The words that count of each body, with at least one space between them; `similarity.normalise` for many."""
    found: list[str] = []
    for batch in batches(bodies):
        text, _ = _letters(batch, weighed=True)
        end = 0
        for body in batch:
            start, end = end + 1, end + 1 + len(body)
            normal = text[start:end].decode() if body.isascii() else ""
            found.append(normal if normal.strip() else normalise(body.decode("utf-8", "replace")))
    return found


def sorted_unique(values: Values) -> Values:
    """The distinct values in order; numpy's own `unique` hashes first, which takes several times as long here."""
    ordered = np.sort(values)
    kept = np.empty(len(ordered), dtype=bool)
    kept[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=kept[1:])
    return ordered[kept]


def body_hash(body: bytes) -> bytes:
    """Sixteen bytes that name a body's content."""
    return hashlib.blake2b(body, digest_size=16).digest()


def encode(body: str) -> bytes:
    """A body as the UTF-8 that is shingled; lone surrogates become `?`."""
    return body.encode("utf-8", "replace")


def batches(bodies: Iterable[bytes]) -> Iterator[list[bytes]]:
    """The bodies in lists of about BATCH_BYTES."""
    batch: list[bytes] = []
    size = 0
    for body in bodies:
        batch.append(body)
        size += len(body)
        if size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _word_hash(word: bytes) -> int:
    """The scalar twin of what `_word_hashes` does on arrays."""
    if len(word) > 8 * _LOADS:
        return _long_word_hash(word)
    mixed = ((int.from_bytes(word[:8], "little") ^ len(word)) * int(_M1)) & _ALL
    mixed ^= mixed >> 32
    for at in range(8, len(word), 8):
        mixed = ((mixed ^ int.from_bytes(word[at : at + 8], "little")) * int(_M2)) & _ALL
        mixed ^= mixed >> 32
    return mixed


def _long_word_hash(word: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(word, digest_size=8).digest(), "little")


def _shingle(bodies: Sequence[bytes], *, weighed: bool) -> Shingled:
    lowered = [body if body.isascii() else body.decode("utf-8", "replace").lower().encode() for body in bodies]
    text, ascii_only = _letters(lowered, weighed=weighed)
    starts, ends = _word_edges(np.frombuffer(text, dtype=np.uint8), ascii_only=ascii_only)
    hashes = _word_hashes(text, starts, ends - starts)
    sizes = np.fromiter((len(body) + 1 for body in lowered), dtype=np.int64, count=len(lowered))
    firsts = np.searchsorted(starts, 1 + np.cumsum(sizes) - sizes)
    return _join_words(hashes, firsts)


def _letters(lowered: Sequence[bytes], *, weighed: bool) -> tuple[bytearray, bool]:
    """The bodies in one text, one byte before each, with spaces for all that does not count; whether it is ASCII."""
    raw = b"\n" + b"\n".join(lowered) + b"\n" + _PAD
    text = bytearray(raw.translate(_TABLE))
    if weighed:
        _blank_templates(np.frombuffer(raw, dtype=np.uint8), np.frombuffer(text, dtype=np.uint8))
    return text, raw.isascii()


def _blank_templates(raw: U8, letters: U8) -> None:
    """Put spaces in `letters` where `raw` has a section heading or a leading bold label."""
    newlines = np.flatnonzero(raw[:-8] == 10)
    first, second = raw[newlines + 1], raw[newlines + 2]
    heading = np.flatnonzero((first == 35) & (second == 35))
    begins = [newlines[heading] + 1]
    ends = [newlines[heading + 1]]
    item = ((first == 45) | (first == 42)) & (second == 32) & (raw[newlines + 3] == 42) & (raw[newlines + 4] == 42)
    bold = (first == 42) & (second == 42)
    lines = np.flatnonzero(item | bold)
    if lines.size:
        opening = newlines[lines] + np.where(item[lines], 3, 1)
        pairs = np.flatnonzero((raw[:-1] == 42) & (raw[1:] == 42))
        at = np.searchsorted(pairs, opening + 3)
        there = at < len(pairs)
        opening, line_end = opening[there], newlines[lines[there] + 1]
        closing = pairs[at[there]]
        label = (
            (closing < line_end)
            & (closing - opening <= LABEL_LONGEST)
            & ((raw[closing - 1] == 58) | (raw[closing + 2] == 58))
        )
        begins.append(opening[label])
        ends.append(closing[label] + 2)
    begin, end = np.concatenate(begins), np.concatenate(ends)
    letters[_spans(begin, end - begin)] = _SPACE


def _spans(begins: Int, lengths: Int) -> Int:
    """Every position of the spans, one span after the other."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(begins - before, lengths) + np.arange(int(lengths.sum()), dtype=np.int64)


def _word_edges(letters: U8, *, ascii_only: bool) -> tuple[Int, Int]:
    """Where words start and end. Changes `letters`: signs beyond ASCII become spaces."""
    if ascii_only:
        letter = letters != _SPACE
        edges = np.flatnonzero(letter[1:] != letter[:-1]) + 1
        return edges[::2], edges[1::2]
    leads = np.flatnonzero(letters >= 0xC2)
    kinds = _PAIRS[(letters[leads].astype(np.int64) << 8) | letters[leads + 1]]
    sizes = 2 + (letters[leads] >= 0xE0).astype(np.int64) + (letters[leads] >= 0xF0)
    signs = kinds == _SIGN
    letters[_spans(leads[signs], sizes[signs])] = _SPACE
    letter = letters != _SPACE
    before = np.concatenate([[False], letter[:-1]])
    opens = letter & ~before
    alone = kinds == _ALONE
    opens[leads[alone]] = True
    after = leads[alone] + sizes[alone]
    opens[after] |= letter[after]
    return np.flatnonzero(opens), np.flatnonzero(before & (~letter | opens))


_SIGN, _ALONE = 1, 2


def _pair_table() -> U8:
    """What a character beyond ASCII is, by the first two bytes of its UTF-8: a letter, a sign or a word by itself."""
    table = np.zeros(1 << 16, dtype=np.uint8)
    for kind, first, last in (
        (_SIGN, 0xC280, 0xC2BF),
        (_ALONE, 0xE0B8, 0xE0BB),
        (_ALONE, 0xE180, 0xE181),
        (_ALONE, 0xE19E, 0xE19F),
        (_SIGN, 0xE280, 0xE2AF),
        (_ALONE, 0xE380, 0xEFBF),
        (_SIGN, 0xE380, 0xE380),
        (_SIGN, 0xEFB8, 0xEFB8),
        (_SIGN, 0xEFBC, 0xEFBC),
        (_SIGN, 0xF09F, 0xF09F),
        (_ALONE, 0xF0A0, 0xF4BF),
    ):
        table[first : last + 1] = kind
    return table


_PAIRS = _pair_table()


def _word_hashes(text: bytearray, starts: Int, lengths: Int) -> U64:
    """A 64-bit hash a word, from up to four unaligned loads of eight bytes; see `_word_hash` for the plain form."""
    loads: U64 = np.ndarray((len(text) - 7,), dtype="<u8", buffer=text, strides=(1,))
    hashes = loads[starts] & _MASK[np.minimum(lengths, 8)]
    hashes ^= lengths.astype(np.uint64)
    hashes *= _M1
    hashes ^= hashes >> _HALF
    for at in range(8, 8 * _LOADS, 8):
        longer = np.flatnonzero(lengths > at)
        if not longer.size:
            return hashes
        part = hashes[longer] ^ (loads[starts[longer] + at] & _MASK[np.minimum(lengths[longer] - at, 8)])
        part *= _M2
        part ^= part >> _HALF
        hashes[longer] = part
    for i in np.flatnonzero(lengths > 8 * _LOADS).tolist():
        hashes[i] = _long_word_hash(bytes(text[starts[i] : starts[i] + lengths[i]]))
    return hashes


def _join_words(words_: U64, firsts: Int) -> Shingled:
    """Shingles of three words within each body; `firsts` is the first word of each."""
    total = len(words_)
    counts = np.diff(firsts, append=total)
    padded = np.concatenate([words_, np.zeros(2, dtype=np.uint64)])
    joined = padded[:-2] * _M1
    joined += padded[1:-1]
    joined *= _M2
    joined += padded[2:]
    joined *= _M3
    joined ^= joined >> _HALF
    some = counts > 0
    kept = np.ones(total, dtype=bool)
    lasts = firsts[some] + counts[some] - 1
    kept[lasts] = False
    kept[np.maximum(lasts - 1, firsts[some])] = False
    for size in (1, 2):
        short = firsts[counts == size]
        pair = padded[short] * _M1
        if size == 2:
            pair += padded[short + 1]
        pair *= _M2
        pair *= _M3
        pair ^= pair >> _HALF
        joined[short] = pair
        kept[short] = True
    shingle_counts = np.where(some, np.maximum(counts - 2, 1), 0)
    return Shingled(joined[kept], np.cumsum(shingle_counts) - shingle_counts, shingle_counts)


def _finalise(hashes: U32) -> U32:
    """MurmurHash3's 32-bit finalizer."""
    hashes ^= hashes >> np.uint32(16)
    hashes *= np.uint32(0x85EBCA6B)
    hashes ^= hashes >> np.uint32(13)
    hashes *= np.uint32(0xC2B2AE35)
    hashes ^= hashes >> np.uint32(16)
    return hashes
