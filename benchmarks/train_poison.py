"""Train the poison scan's learnt layer and write detectors/poison/weights.json.

    python -m benchmarks.train_poison --corpora DIR [--check]

Two stages. The first learns wording: hashed words and letter runs of stretches of text (about 500 characters), L2
logistic regression; a long poisoned text counts by its worst stretch (multiple-instance learning, two rounds). The
second joins the wording score with the named rule features; their weights may not be negative, so that a rule that
fires never clears a text. Thresholds come from scores of texts whose source had no part in training (group k-fold by
source repository). `--check` prints those out-of-fold figures, at fixed rates and at the thresholds that ship, and
writes nothing; it fails where the thresholds that ship are not those that follow from the rates below.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, diags

from detectors.poison.examine import HIDDEN_REASON, examine
from detectors.poison.features import stretches
from detectors.poison.linear import BUCKETS, WEIGHTS_FILE, hashed
from detectors.poison.rules import RULES

FOLDS = 5
INNER_FOLDS = 3
STORE_WEIGHT = 0.25
STORE_STRETCHES = 3
ROUNDS = 2
WORDING_PENALTY = 1.0
NAMED_PENALTY = 0.5
SEVERITY_PRIOR = {"high": 2.0, "medium": 1.0, "low": 0.3}
HIDDEN_PRIOR = 6.0
LARGEST = 127
# Thresholds drift when the texts change: they are set at a third or less of the rates that are wanted (3 % and 1 %).
SUSPECT_RATE = 0.01
POISON_RATE = 0.0025

Floats = NDArray[np.float64]


@dataclass(slots=True)
class Text:
    """One labelled text with its features; `group` is the source repository it may not be tested against."""

    id: str
    group: str
    kind: str
    poison: bool
    weight: float
    named: list[dict[str, float]]
    parts: list[str]
    rows: tuple[int, int] = (0, 0)


def read_texts(corpora: Path) -> list[Text]:
    """The labelled texts and, as honest ones of less weight, the real stores."""
    texts = []
    for name in ("poison", "benign"):
        for line in (corpora / "poison" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            data = json.loads(line)
            texts.append(
                read_text(
                    data["id"], group_of(data["source"], data["id"]), data["kind"], name == "poison", data["text"]
                )
            )
    for store in ("solutions", "skills", "rules"):
        for path in sorted((corpora / store).rglob("*.md*")):
            if path.name.lower().startswith("readme") and path.parent == corpora / store:
                continue
            group = f"{store}/{path.relative_to(corpora / store).parts[0]}"
            body = path.read_text(encoding="utf-8", errors="replace")
            texts.append(
                read_text(f"{store}:{path.relative_to(corpora / store)}", group, store, False, body, STORE_WEIGHT)
            )
    return texts


def group_of(source: str, name: str) -> str:
    """The repository or package a text comes from; hand-written ones are parted by their id."""
    if source.startswith("written"):
        return f"written-{int.from_bytes(name.encode(), 'big') % 97}"
    return re.split("@|==| inserted", source, maxsplit=1)[0]


def read_text(name: str, group: str, kind: str, poison: bool, text: str, weight: float = 1.0) -> Text:
    """One text with its features."""
    found = stretches(examine(text))
    return Text(name, group, kind, poison, weight, [one.named for one in found], [one.text for one in found])


def wording_rows(texts: Sequence[Text]) -> csr_matrix:
    """One row of hashed counts per stretch, letter runs and words each divided by the root of their number."""
    place = 0
    row_parts: list[NDArray[np.int64]] = []
    column_parts: list[NDArray[np.int64]] = []
    value_parts: list[Floats] = []
    for text in texts:
        count = len(text.parts)
        runs = hashed(text.parts)
        halves = (
            (runs.letters, runs.letter_starts, runs.letter_stops, 0),
            (runs.words, runs.word_starts, runs.word_stops, BUCKETS),
        )
        for buckets, starts, stops, offset in halves:
            inside = np.concatenate([np.arange(start, stop) for start, stop in zip(starts, stops, strict=True)])
            row = np.repeat(np.arange(count), stops - starts)
            totals = np.maximum((stops - starts) * len(buckets), 1)
            for run in buckets:
                row_parts.append(row + place)
                column_parts.append(run[inside].astype(np.int64) + offset)
                value_parts.append(1.0 / np.sqrt(totals[row]))
        text.rows = (place, place + count)
        place += count
    columns, rows, values = np.concatenate(column_parts), np.concatenate(row_parts), np.concatenate(value_parts)
    return csr_matrix((values.astype(np.float32), (rows, columns)), shape=(place, 2 * BUCKETS))


def logistic(
    rows: Any,
    labels: Floats,
    weights: Floats,
    penalty: float,
    low: Floats | None = None,
    start: Floats | None = None,
    prior: Floats | None = None,
) -> tuple[Floats, float]:
    """L2 logistic regression by L-BFGS; `low` bounds each coefficient from below."""
    width = rows.shape[1]
    middle = np.zeros(width) if prior is None else prior

    def loss(both: Floats) -> tuple[float, Floats]:
        coefficients, bias = both[:-1], both[-1]
        margins = rows @ coefficients + bias
        signs = np.where(labels > 0, 1.0, -1.0)
        value = float(np.sum(weights * np.logaddexp(0.0, -signs * margins))) + 0.5 * penalty * float(
            np.sum((coefficients - middle) ** 2)
        )
        slope = -signs * weights / (1.0 + np.exp(np.clip(signs * margins, -60, 60)))
        return value, np.append(rows.T @ slope + penalty * (coefficients - middle), slope.sum())

    bounds = (
        None
        if low is None
        else [*((float(bound) if np.isfinite(bound) else None, None) for bound in low), (None, None)]
    )
    found = minimize(
        loss,
        np.zeros(width + 1) if start is None else start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": 60},
    )
    return found.x[:-1], float(found.x[-1])


@dataclass(slots=True)
class Wording:
    """A trained first stage."""

    coefficients: Floats
    bias: float

    def scores(self, rows: csr_matrix, text: Text) -> Floats:
        """The log-odds of each stretch of a text."""
        first, last = text.rows
        return np.asarray(rows[first:last] @ self.coefficients + self.bias)

    def worst(self, rows: csr_matrix, text: Text) -> tuple[int, float]:
        """The row and the score of a text's worst stretch."""
        scores = self.scores(rows, text)
        best = int(np.argmax(scores))
        return text.rows[0] + best, float(scores[best])


def sampled(text: Text) -> Sequence[int]:
    """The rows of an honest text to train on: all of a labelled one, a few of one from a real store."""
    first, last = text.rows
    return range(first, last) if text.weight == 1.0 else range(first, last, max(1, (last - first) // STORE_STRETCHES))


def fit_wording(rows: csr_matrix, texts: Sequence[Text]) -> Wording:
    """Train on every stretch of honest texts, and of poisoned ones on the worst, as the round before judged."""
    honest = [(row, text.weight) for text in texts if not text.poison for row in sampled(text)]
    poisoned = [text for text in texts if text.poison]
    chosen = [row for text in poisoned for row in range(*text.rows) if text.rows[1] - text.rows[0] <= 2]
    model = Wording(np.zeros(rows.shape[1]), 0.0)
    for _ in range(ROUNDS):
        use = np.array([row for row, _ in honest] + chosen)
        labels = np.array([0.0] * len(honest) + [1.0] * len(chosen))
        weights = np.array([weight for _, weight in honest] + [2.0] * len(chosen))
        part = rows[use]
        document = np.asarray((part > 0).sum(axis=0)).ravel()
        idf = np.log((1 + len(use)) / (1 + document)) + 1.0
        scaled = part @ diags(idf)
        start = np.append(model.coefficients / idf, model.bias)
        coefficients, bias = logistic(scaled, labels, weights, WORDING_PENALTY, start=start)
        model = Wording(coefficients * idf, bias)
        chosen = [model.worst(rows, text)[0] for text in poisoned]
    return model


def folds_of(groups: Sequence[str], count: int, salt: int = 0) -> dict[str, int]:
    """Group -> fold, the largest groups first, each to the fold that is smallest so far."""
    sizes: dict[str, int] = defaultdict(int)
    for group in groups:
        sizes[group] += 1
    filled = [0] * count
    fold: dict[str, int] = {}
    for group in sorted(sizes, key=lambda name: (-sizes[name], name)):
        fold[group] = min(range(count), key=lambda place: (filled[place], (place + salt) % count))
        filled[fold[group]] += sizes[group]
    return fold


@dataclass(slots=True)
class Model:
    """Both stages."""

    wording: Wording
    names: list[str]
    named: Floats
    bias: float

    def scores(self, rows: csr_matrix, text: Text) -> Floats:
        """Log-odds of each stretch of a text."""
        return matrix_of(text, self.wording.scores(rows, text), self.names) @ self.named + self.bias

    def score(self, rows: csr_matrix, text: Text) -> float:
        """Log-odds of a text: those of its worst stretch."""
        return float(self.scores(rows, text).max())


def matrix_of(text: Text, wording: Floats, names: Sequence[str]) -> Floats:
    """The second stage's input, a row per stretch; the wording's log-odds are kept within bounds."""
    matrix = np.array([[named.get(name, 0.0) for name in names] for named in text.named])
    matrix[:, names.index("wording")] = np.clip(wording, -8.0, 8.0) / 2.0
    return matrix


def prior_of(name: str) -> float:
    """What a feature weighs before any text was seen: a rule's severity; a decoded order is a sure sign."""
    if name.startswith("rule:hidden."):
        return HIDDEN_PRIOR
    severity = {f"rule:{rule.id}": rule.severity for rule in RULES}.get(name)
    return SEVERITY_PRIOR[severity] if severity else 0.0


def fit(rows: csr_matrix, texts: Sequence[Text]) -> Model:
    """Train both stages; the second sees wording scores of models that did not train on the text."""
    fold = folds_of([text.group for text in texts], INNER_FOLDS, salt=1)
    inner = [fit_wording(rows, [text for text in texts if fold[text.group] != place]) for place in range(INNER_FOLDS)]
    every_rule = {f"rule:{rule.id}" for rule in RULES} | {f"rule:hidden.{kind}" for kind in HIDDEN_REASON}
    seen = {name for text in texts for named in text.named for name in named}
    names = ["wording", *sorted(every_rule | seen)]
    matrices = [matrix_of(text, inner[fold[text.group]].scores(rows, text), names) for text in texts]
    prior = np.array([prior_of(name) for name in names])
    low = np.array([-np.inf if name == "length" else 0.0 for name in names])
    named, bias = prior + (np.array(names) == "wording"), -3.0
    for _ in range(ROUNDS):
        chosen = [number for matrix in matrices for number in [int(np.argmax(matrix @ named))]]
        matrix = np.array([matrix[number] for matrix, number in zip(matrices, chosen, strict=True)])
        labels = np.array([float(text.poison) for text in texts])
        weights = np.array([text.weight for text in texts])
        named, bias = logistic(matrix, labels, weights, NAMED_PENALTY, low, prior=prior)
    return Model(fit_wording(rows, texts), names, named, bias)


def out_of_fold(rows: csr_matrix, texts: Sequence[Text]) -> Floats:
    """The score of every text by a model that saw nothing of its source."""
    fold = folds_of([text.group for text in texts], FOLDS)
    scores = np.zeros(len(texts))
    for place in range(FOLDS):
        model = fit(rows, [text for text in texts if fold[text.group] != place])
        for number, text in enumerate(texts):
            if fold[text.group] == place:
                scores[number] = model.score(rows, text)
    return scores


def report(texts: Sequence[Text], scores: Floats, shipped: Mapping[str, float]) -> dict[str, Any]:
    """Recall and false positives on the labelled texts, per kind, and what the real stores would lose: at fixed rates
    and at the thresholds that ship, by their names."""
    poison = np.array([score for text, score in zip(texts, scores, strict=True) if text.poison])
    labelled = [(text, score) for text, score in zip(texts, scores, strict=True) if text.weight == 1.0]
    benign = np.sort([score for text, score in labelled if not text.poison])[::-1]
    stores = np.array([score for text, score in zip(texts, scores, strict=True) if text.weight != 1.0])
    wanted = {f"fpr {rate:g}": float(benign[int(rate * len(benign))]) for rate in (0.0025, 0.005, 0.01, 0.02, 0.03)}
    figures: dict[str, Any] = {}
    for name, threshold in (wanted | dict(shipped)).items():
        kinds: dict[str, list[bool]] = defaultdict(list)
        for text, score in labelled:
            kinds[text.kind].append(bool(score > threshold))
        easy = kinds["plain"] + kinds["standing"]
        figures[name] = {
            "threshold": round(threshold, 3),
            "recall": round(float(np.mean(poison > threshold)), 3),
            "false": round(float(np.mean(benign > threshold)), 4),
            "easy": round(sum(easy) / len(easy), 4),
            "stores": round(float(np.mean(stores > threshold)), 4) if len(stores) else None,
            "kinds": {kind: f"{sum(hits)}/{len(hits)}" for kind, hits in sorted(kinds.items())},
        }
    return figures


def export(model: Model, suspect: float, poison: float) -> dict[str, Any]:
    """The JSON form: named weights, and the hashed tables as whole numbers times a scale."""
    scale = float(np.abs(model.wording.coefficients).max()) / LARGEST
    table = np.rint(model.wording.coefficients / scale).astype(int)
    return {
        "about": "weights of the poison scan's learnt layer, made by benchmarks/train_poison.py",
        "named": {name: round(float(value), 3) for name, value in zip(model.names, model.named, strict=True) if value},
        "bias": round(model.bias, 4),
        "wording_bias": round(model.wording.bias, 4),
        "thresholds": {"suspect": round(suspect, 3), "poison": round(poison, 3)},
        "scale": scale,
        "letters": table[:BUCKETS].tolist(),
        "words": table[BUCKETS:].tolist(),
    }


def threshold_at(texts: Sequence[Text], scores: Floats, rate: float) -> float:
    """The log-odds that this share of the labelled honest texts exceeds."""
    honest = np.sort(
        [score for text, score in zip(texts, scores, strict=True) if not text.poison and text.weight == 1.0]
    )
    return float(honest[::-1][int(rate * len(honest))])


def render(data: dict[str, Any]) -> str:
    """The weights as JSON that a person can read: one named weight a line, the tables in rows."""
    parts = []
    for key, value in data.items():
        if isinstance(value, list):
            rows = [", ".join(map(str, value[place : place + 64])) for place in range(0, len(value), 64)]
            parts.append(f'  "{key}": [\n' + ",\n".join(rows) + "\n  ]")
        else:
            parts.append(f'  "{key}": ' + json.dumps(value, indent=2).replace("\n", "\n  "))
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> None:
    """Train, report, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpora", type=Path, default=os.environ.get("HOTWASH_CORPORA"))
    parser.add_argument("--check", action="store_true", help="only print the out-of-fold figures")
    arguments = parser.parse_args()
    if arguments.corpora is None:
        parser.error("--corpora DIR, or HOTWASH_CORPORA, says where the labelled texts are")
    texts = read_texts(Path(arguments.corpora))
    rows = wording_rows(texts)
    scores = out_of_fold(rows, texts)
    suspect, poison = (threshold_at(texts, scores, rate) for rate in (SUSPECT_RATE, POISON_RATE))
    known = {} if not WEIGHTS_FILE.exists() else json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))["thresholds"]
    shipped = {f"shipped {name}": value for name, value in known.items()}
    print(json.dumps(report(texts, scores, shipped), indent=1))
    made = {"suspect": round(suspect, 3), "poison": round(poison, 3)}
    print(f"thresholds that follow from the rates {SUSPECT_RATE} and {POISON_RATE}: {made}; shipped: {known}")
    if arguments.check:
        # The fit ends within its tolerance, not at the same bit on every machine.
        if known.keys() != made.keys() or any(abs(known[name] - made[name]) > 0.05 for name in made):
            raise SystemExit("the thresholds that ship do not follow from the rates: train anew")
    else:
        WEIGHTS_FILE.write_text(render(export(fit(rows, texts), suspect, poison)), encoding="utf-8")
        print(f"wrote {WEIGHTS_FILE}")


if __name__ == "__main__":
    main()
