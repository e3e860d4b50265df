"""The learnt layer: how much a stretch of text is worded like known attacks, by hashed words and letters.

Inference is a handful of numpy passes over the text. Feature hashing: Weinberger et al., arXiv 0902.2206. The weights
are made by benchmarks/train_poison.py and stand beside this module as JSON that a person can read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WEIGHTS_FILE = Path(__file__).with_name("weights.json")
BUCKET_BITS = 14
BUCKETS = 1 << BUCKET_BITS
LETTER_RUNS = (3, 4, 5)
# Stands between two stretches, longer than the longest run, so that no run joins two of them.
SEAM = b"\n" * 6
DIGITS = bytes.maketrans(b"123456789", b"000000000")
# The same, and every blank of ASCII a plain one, but for the seam's.
LEVEL = bytes.maketrans(b"123456789\t\v\f\r\x1c\x1d\x1e\x1f", b"000000000        ")
WORD_BYTES = bytes(1 if (chr(code).isalnum() and code < 128) or code == 95 or code >= 128 else 0 for code in range(256))
ODD = (2654435761, 2246822519, 3266489917, 668265263, 374761393)


@dataclass(frozen=True, slots=True)
class Weights:
    """What training made: named weights for the rules, two tables for hashed wording, thresholds."""

    named: Mapping[str, float]
    letters: NDArray[np.float32]
    words: NDArray[np.float32]
    wording_bias: float
    bias: float
    suspect: float
    poison: float


@cache
def weights() -> Weights:
    """The shipped weights, read once."""
    return parse_weights(json.loads(WEIGHTS_FILE.read_text(encoding="utf-8")))


def parse_weights(data: Mapping[str, Any]) -> Weights:
    """The JSON form as tables; bucket weights are whole numbers times `scale`."""
    import numpy as np

    return Weights(
        named={name: float(value) for name, value in data["named"].items()},
        letters=np.array(data["letters"], dtype=np.float32) * np.float32(data["scale"]),
        words=np.array(data["words"], dtype=np.float32) * np.float32(data["scale"]),
        wording_bias=float(data["wording_bias"]),
        bias=float(data["bias"]),
        suspect=float(data["thresholds"]["suspect"]),
        poison=float(data["thresholds"]["poison"]),
    )


def wording_scores(stretches: Sequence[str], table: Weights) -> list[float]:
    """The log-odds of each stretch of folded text by its wording alone."""
    import numpy as np

    if not stretches:
        return []
    runs = hashed(stretches)
    letters = between(sum_of(table.letters, runs.letters), runs.letter_starts, runs.letter_stops)
    said = between(sum_of(table.words, runs.words), runs.word_starts, runs.word_stops)
    letter_counts = np.maximum((runs.letter_stops - runs.letter_starts) * len(runs.letters), 1)
    word_counts = np.maximum((runs.word_stops - runs.word_starts) * len(runs.words), 1)
    scores = letters / np.sqrt(letter_counts) + said / np.sqrt(word_counts) + table.wording_bias
    return [float(score) for score in scores]


def sum_of(table: NDArray[np.float32], runs: Sequence[NDArray[np.uint32]]) -> NDArray[np.float64]:
    """Running sums, from 0, of the weights of several runs of buckets together."""
    import numpy as np

    sums = np.zeros(len(runs[0]) + 1)
    total = sums[1:]
    for run in runs:
        total += table[run]
    np.cumsum(total, out=total)
    return sums


def between(sums: NDArray[np.float64], starts: NDArray[np.intp], stops: NDArray[np.intp]) -> NDArray[np.float64]:
    """What running sums gained between places."""
    return sums[stops] - sums[starts]


def telling_words(text: str, table: Weights, most: int = 5) -> list[str]:
    """The words of a text that weigh most towards an attack, the heaviest first."""
    import numpy as np

    words = sorted({word for word in text.split() if word.isalpha() and len(word) > 2})
    weighed = [(float(np.asarray(table.words[hashed([word]).words[0]]).sum()), word) for word in words]
    return [word for weight, word in sorted(weighed, key=lambda pair: (-pair[0], pair[1]))[:most] if weight > 0]


@dataclass(frozen=True, slots=True)
class Runs:
    """The buckets of all letter runs, words and word pairs of several stretches, and where each stretch is."""

    letters: list[NDArray[np.uint32]]
    letter_starts: NDArray[np.intp]
    letter_stops: NDArray[np.intp]
    words: list[NDArray[np.uint32]]
    word_starts: NDArray[np.intp]
    word_stops: NDArray[np.intp]


def hashed(stretches: Sequence[str]) -> Runs:
    """Hash the wording of several stretches in one go; nothing of one gets into another."""
    import numpy as np

    data, starts, stops = joined(stretches)
    codes = np.frombuffer(data, dtype=np.uint8).astype(np.uint32)
    total = len(codes)
    odd = np.array(ODD, dtype=np.uint32)
    rolling = codes * odd[0]
    hashes = np.empty((len(LETTER_RUNS), total), dtype=np.uint32)
    for back in range(1, max(LETTER_RUNS)):
        rolling[: total - back] += codes[back:] * odd[back]
        if back + 1 in LETTER_RUNS:
            np.add(rolling, np.uint32(back), out=hashes[LETTER_RUNS.index(back + 1)])
    letters = bucket_of(hashes)
    word = np.frombuffer(b"\0" + data.translate(WORD_BYTES) + b"\0", dtype=np.uint8)
    edges = np.flatnonzero(word[1:] != word[:-1])
    begins, ends = edges[::2], edges[1::2]
    words = word_hashes(data, codes, begins, ends)
    word_starts, word_stops = np.searchsorted(begins, starts), np.searchsorted(begins, stops)
    following = np.append(words[1:], np.uint32(0)) if len(words) else words.copy()
    following[word_stops[word_stops > word_starts] - 1] = 0
    pairs = words * odd[1] + following * odd[3]
    return Runs(list(letters), starts, stops, [bucket_of(words), bucket_of(pairs)], word_starts, word_stops)


def joined(stretches: Sequence[str]) -> tuple[bytes, NDArray[np.intp], NDArray[np.intp]]:
    """The bytes of the stretches with a seam after each, runs of blanks made one, and where each begins and ends."""
    import numpy as np

    if all(one.isascii() and "\n" not in one for one in stretches):
        data = np.frombuffer(SEAM.join([*(one.strip().encode() for one in stretches), b""]).translate(LEVEL), np.uint8)
        blank = data == 32
        kept = np.append(True, ~(blank[1:] & blank[:-1]))[: len(data)]
        data = data[kept]
        stops = np.flatnonzero(data == SEAM[0])[:: len(SEAM)]
        return data.tobytes(), np.append(0, stops[:-1] + len(SEAM)), stops
    parts = [" ".join(stretch.split()).encode("utf-8", "replace") for stretch in stretches]
    lengths = np.array([len(part) for part in parts], dtype=np.intp)
    starts = np.cumsum(lengths + len(SEAM)) - lengths - len(SEAM)
    return SEAM.join([*parts, b""]).translate(DIGITS), starts, starts + lengths


def word_hashes(
    data: bytes, codes: NDArray[np.uint32], begins: NDArray[np.intp], stops: NDArray[np.intp]
) -> NDArray[np.uint32]:
    """A hash of each word from its first eight and its last three letters and its length."""
    import numpy as np

    lengths = stops - begins
    masks = np.array([(1 << 8 * size) - 1 for size in range(9)], "<u8")
    eights = np.ndarray(len(codes) + 1, "<u8", data + b"\0" * 8, strides=(1,))
    first = (eights[begins] & masks[np.minimum(lengths, 8)]).astype("<u8", copy=False)
    powers = np.array([pow(31, 7 - place, 1 << 32) for place in range(8)], np.uint32)
    value = lengths.astype(np.uint32) * np.uint32(ODD[4] * 31**8 & 0xFFFFFFFF)
    value += first.view(np.uint8).reshape(-1, 8).astype(np.uint32) @ powers
    for back in range(1, 4):
        value *= np.uint32(37)
        value += codes[np.maximum(stops - back, begins)]
    return value


def bucket_of(value: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The bucket of a hash: its mixed upper bits."""
    import numpy as np

    mixed = value >> np.uint32(15)
    mixed ^= value
    mixed *= np.uint32(2246822519)
    mixed ^= mixed >> np.uint32(13)
    mixed *= np.uint32(3266489917)
    mixed >>= np.uint32(32 - BUCKET_BITS)
    return mixed
