"""Train reflect/classify_weights.json and measure it on repositories it has not seen.

    python benchmarks/train_classifier.py CORPUS           # leave-one-repository-out figures
    python benchmarks/train_classifier.py CORPUS --write   # and the weights from all of it

CORPUS holds `labels.jsonl`: `path`, `label`, and for hidden rows `hidden_file`, which is read in place of `path`.
Only a lesson's own text and front matter are features, never a file's name or its repository. With a few hundred
lessons of some twenty repositories a free fit learns house styles; so each weight is drawn to PRIOR, what the genre
words mean by themselves (a Gaussian prior with that mean: Murphy, Machine Learning, 2012, section 8.3.6), and a large
repository counts with the square root of its size.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from index.frontmatter import split_frontmatter
from index.records import CATEGORIES
from reflect.classify import WEIGHTS, read_fields
from reflect.cues import read_cues, read_field_cues

Matrix = NDArray[np.float64]
STRENGTH = 10.0  # of the pull to the prior; 3 to 30 differ by less than a point
PRIOR: dict[str, dict[str, float]] = {
    "bugs": {
        "heading: symptom": 0.9, "heading: cause": 1.8, "heading: problem": 0.5, "heading: fix": 1.0,
        "heading: incident": 0.8, "heading: checked": 0.5, "heading: tried": 0.5, "heading: prevent": 0.3,
        "title: names a failure": 1.4, "title: says it was fixed": 1.2, "title: numbered incident": 2.2,
        "opening: opens with a failure": 0.8, "text: failed": 0.8, "text: fixed": 0.9, "text: root cause": 0.8,
        "text: reproduced": 0.6, "code: error text in code": 0.6, "field: symptoms": 0.8, "field: root cause": 0.6,
        "type field: bug": 3.0, "category field: bug": 2.2, "resolution field: fix": 0.5,
    },
    "knowledge": {
        "heading: decision": 1.2, "heading: record": 1.2, "heading: options": 1.0, "heading: facts": 0.8,
        "heading: context": 0.3, "title: names a record": 1.0, "title: states a fact": 0.8, "title: a name alone": 1.2,
        "title: names a reference": 1.0, "title: starts with an article": 0.4,
        "opening: opens with a status": 1.4, "opening: opens with what exists": 0.8, "text: decided": 1.0,
        "text: will and keeps": 0.5, "type field: knowledge": 3.0, "category field: knowledge": 2.2,
        "field: deciders": 1.2,
    },
    "patterns": {
        "heading: guide": 1.5, "heading: rule": 0.5, "heading: why": 0.3, "heading: examples": 0.5,
        "title: starts with an order": 1.5, "title: starts with -ing": 2.0, "title: always or never": 0.8,
        "title: names a practice": 1.2, "title: should or must": 0.5, "opening: opens with a wish": 1.2,
        "opening: opens with a rule": 0.6, "text: obliged": 0.6, "text: you": 0.6, "text: how to": 1.0, "text: i": 0.5,
        "text: steps": 0.5, "text: when and if": 0.5, "type field: pattern": 3.0, "category field: pattern": 2.2,
        "field: applies when": 1.2, "code: any": 0.5,
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Example:
    """One labelled lesson: cues of its words, cues of its front matter (None where it is hidden), class number."""

    repository: str
    label: int
    words: dict[str, float]
    fields: dict[str, float] | None


def read_examples(corpus: Path) -> list[Example]:
    """All labelled lessons of a corpus, in its order."""
    examples = []
    for line in (corpus / "labels.jsonl").read_text(encoding="utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        text = (corpus / (row.get("hidden_file") or row["path"])).read_text(encoding="utf-8", errors="replace")
        yaml_text, body = split_frontmatter(text)
        fields = read_fields(yaml_text or "")
        cues = read_cues(str(fields.get("title") or fields.get("name") or ""), body)
        given = None if row["hidden"] else read_field_cues(fields)
        examples.append(Example(row["path"].split("/")[0], CATEGORIES.index(row["label"]), cues, given))
    return examples


def vectors(cues: Sequence[dict[str, float]], names: Sequence[str]) -> Matrix:
    """One row a lesson, one column a cue, and a last column of ones."""
    return np.array([[one.get(name, 0.0) for name in names] + [1.0] for one in cues])


def prior(names: Sequence[str]) -> Matrix:
    """PRIOR as a matrix, one row a class."""
    return np.array([[PRIOR[category].get(name, 0.0) for name in names] + [0.0] for category in CATEGORIES])


def fit(examples: Sequence[Example], names: Sequence[str]) -> Matrix:
    """The weights that explain the examples best, given the prior: hidden and full form of each lesson count."""
    shown = [e for e in examples if e.fields is not None]
    rows = vectors([e.words for e in examples] + [e.words | (e.fields or {}) for e in shown], names)
    every = [*examples, *shown]
    labels = np.array([e.label for e in every])
    sizes, classes = Counter(e.repository for e in every), Counter(e.label for e in every)
    share = np.array([sizes[e.repository] ** -0.5 * classes[e.label] ** -0.5 for e in every])
    share *= len(share) / share.sum()
    truth, start = np.eye(len(CATEGORIES))[labels], prior(names)
    pull = np.full(start.shape, STRENGTH)
    pull[:, -1] = 1.0

    def loss(flat: Matrix) -> tuple[float, Matrix]:
        weights = flat.reshape(start.shape)
        logs = rows @ weights.T
        logs -= logs.max(axis=1, keepdims=True)
        logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
        away = weights - start
        slope = ((np.exp(logs) - truth) * share[:, None]).T @ rows + pull * away
        return float(-(share * (truth * logs).sum(axis=1)).sum() + 0.5 * (pull * away**2).sum()), slope.ravel()

    found = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 1000})
    return np.asarray(found.x, dtype=np.float64).reshape(start.shape)


def macro_f1(pairs: Sequence[tuple[int, int]]) -> float:
    """Mean over the classes of F1 from (true, found) pairs."""
    scores = []
    for one in range(len(CATEGORIES)):
        hits = sum(true == one == found for true, found in pairs)
        misses = sum((true == one) != (found == one) for true, found in pairs)
        scores.append(2 * hits / max(1, 2 * hits + misses))
    return sum(scores) / len(scores)


def measure(examples: Sequence[Example], names: Sequence[str]) -> None:
    """Print macro-F1 over repositories that were left out of the fit one by one."""
    bare, hidden, full = [], [], []
    for repository in sorted({e.repository for e in examples}):
        weights = fit([e for e in examples if e.repository != repository], names)
        for e in (e for e in examples if e.repository == repository):
            pair = (e.label, int((vectors([e.words], names) @ weights.T).argmax()))
            bare.append(pair)
            if e.fields is None:
                hidden.append(pair)
            else:
                full.append((e.label, int((vectors([e.words | e.fields], names) @ weights.T).argmax())))
    for name, pairs in (("words alone, all", bare), ("words alone, hidden half", hidden), ("with front matter", full)):
        right = sum(true == found for true, found in pairs) / len(pairs)
        print(f"{name:26} n {len(pairs):4}  accuracy {right:.3f}  macro-F1 {macro_f1(pairs):.3f}")


def main() -> None:
    """Measure, and with --write fit on everything and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "corpus", type=Path, nargs="?", default=Path(os.environ.get("HOTWASH_CORPORA", ".")) / "solutions"
    )
    parser.add_argument("--write", action="store_true", help="write the weights from all repositories")
    given = parser.parse_args()
    examples = read_examples(given.corpus)
    names = sorted(
        {n for e in examples for n in (*e.words, *(e.fields or {}))} | {n for p in PRIOR.values() for n in p}
    )
    measure(examples, names)
    if given.write:
        weights = fit(examples, names)
        table = {
            name: {c: round(float(weights[i, column]), 3) for i, c in enumerate(CATEGORIES)}
            for column, name in enumerate([*names, "bias"])
        }
        rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(table.items()))
        about = (
            f"Written by benchmarks/train_classifier.py from {len(examples)} labelled lessons (cues: reflect/cues.py)."
        )
        WEIGHTS.write_text(f'{{"about": {json.dumps(about)},\n "weights": {{\n{rows}\n }}}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
