"""Meaning vectors from WordLlama's static embeddings, read with numpy and tokenizers alone; the `[embed]` extra.

The package's own loader looks for its tokenizer in a folder that the wheel does not have and then reaches for the
network. Its two files are all that is needed: a vector is the mean of the rows of a text's tokens
(github.com/dleemiller/WordLlama, MIT).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

WEIGHTS = "weights/l2_supercat_256.safetensors"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
MOST_CHARACTERS = 20_000
_DTYPES = {"F16": np.float16, "F32": np.float32}

Vectors = np.ndarray[Any, np.dtype[np.float32]]
Embed = Callable[[Sequence[str]], Vectors]


def find_embedder() -> Embed | None:
    """The embedder where the extra is installed, else None. Nothing is imported or read before this is called."""
    spec = find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations or find_spec("tokenizers") is None:
        return None
    folder = Path(spec.submodule_search_locations[0])
    if not (folder / WEIGHTS).is_file() or not (folder / TOKENIZER).is_file():
        return None
    return _load(folder)


def find_likeness() -> Callable[[str, Sequence[str]], list[float]] | None:
    """The cosine of a query with each of some texts, where the extra is installed, else None."""
    embed = find_embedder()
    if embed is None:
        return None

    def likeness(query: str, texts: Sequence[str]) -> list[float]:
        vectors = embed([query, *texts])
        cosines: list[float] = (vectors[1:] @ vectors[0]).tolist()
        return cosines

    return likeness


@lru_cache(maxsize=1)
def _load(folder: Path) -> Embed:
    """The embedder over the two files below `folder`."""
    from tokenizers import Tokenizer

    matrix = read_safetensors(folder / WEIGHTS)
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()

    def embed(texts: Sequence[str]) -> Vectors:
        found = np.zeros((len(texts), matrix.shape[1]), dtype=np.float32)
        for row, encoding in enumerate(
            tokenizer.encode_batch([text[:MOST_CHARACTERS] for text in texts], add_special_tokens=False)
        ):
            if encoding.ids:
                found[row] = matrix[encoding.ids].mean(axis=0)
        return normalised(found)

    return embed


def read_safetensors(path: Path) -> Vectors:
    """The first tensor of a safetensors file (github.com/huggingface/safetensors: header length, JSON, raw bytes)."""
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + size])
    name = next(key for key in header if key != "__metadata__")
    begin, end = header[name]["data_offsets"]
    values = np.frombuffer(raw[8 + size + begin : 8 + size + end], dtype=_DTYPES[header[name]["dtype"]])
    return values.reshape(header[name]["shape"]).astype(np.float32)


def normalised(vectors: Vectors) -> Vectors:
    """Each row at length 1, so that a dot product is the cosine; a row of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)
    return scaled


def nearest(vectors: Vectors, most: int, least: float, block: int = 1024) -> list[tuple[int, int, float]]:
    """(row, other row, cosine) of each row's `most` nearest at `least` or more, row < other, each pair once; sorted."""
    found: dict[tuple[int, int], float] = {}
    for start in range(0, len(vectors), block):
        scores = vectors[start : start + block] @ vectors.T
        scores[np.arange(len(scores)), np.arange(start, start + len(scores))] = -1.0
        width = min(most, scores.shape[1])
        best = np.argpartition(-scores, width - 1, axis=1)[:, :width] if width else np.empty((len(scores), 0), int)
        for row, columns in enumerate(best.tolist(), start):
            for column in columns:
                score = float(scores[row - start, column])
                if score >= least:
                    found[min(row, column), max(row, column)] = score
    return sorted((a, b, score) for (a, b), score in found.items())
