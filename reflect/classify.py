"""Say whether a lesson is a pattern, a bug or a piece of knowledge, of which type, how surely, and why.

A multinomial logistic regression over named cues (reflect/cues.py); its weights are a readable table beside this file,
written by benchmarks/train_classifier.py from lessons that were labelled by reading.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

from index.frontmatter import BadValue, load_yaml, split_frontmatter
from index.records import CATEGORIES, CONFIDENCE_RANGE, KINDS, Category, Kind
from reflect.cues import read_cues, read_field_cues

WEIGHTS = Path(__file__).with_name("classify_weights.json")
MOST_REASONS = 4
_FIELD_LINE = re.compile(r"^([A-Za-z_][\w-]{0,60})[ \t]*:[ \t]*(.{0,400})$")
_INCIDENT = frozenset({"heading: incident", "title: numbered incident"})
_TIMELINE = frozenset({"heading: incident", "text: clock times"})
_STEPS = frozenset(
    {"title: starts with an order", "title: starts with -ing", "heading: examples", "opening: opens with a wish"}
)


@dataclass(frozen=True, slots=True)
class Classification:
    """What kind of lesson a text is: `confidence` lies in its type's range, `reasons` are cues, strongest first."""

    category: Category
    type: Kind
    confidence: float
    reasons: tuple[str, ...]


def classify(title: str, body: str, frontmatter: Mapping[str, object] | None = None) -> Classification:
    """The category of a lesson from its words and, where there is one, its front matter.

    A front matter that names one of our categories, or a type with a confidence in range, is believed.
    """
    fields = frontmatter or {}
    title = title or str(fields.get("title") or fields.get("name") or "")
    cues = read_cues(title, body) | read_field_cues(fields)
    chances = judge(cues)
    named = str(fields.get("category") or "").strip().lower()
    if named in CATEGORIES:
        category, chance = named, 1.0
        reasons: tuple[str, ...] = (f"its front matter says {named}",)
    else:
        category = max(CATEGORIES, key=lambda one: (chances[one], one))
        chance, reasons = chances[category], explain(cues, category)
    kind = _kind(category, cues, fields)
    return Classification(category, kind, _confidence(kind, chance, fields), reasons)


def classify_text(text: str) -> Classification:
    """The same for a whole markdown file; front matter that is not valid YAML is read line by line."""
    yaml_text, body = split_frontmatter(text)
    return classify("", body, read_fields(yaml_text) if yaml_text is not None else None)


def read_fields(yaml_text: str) -> dict[str, object]:
    """The fields of a front matter; of a broken one, those top-level lines that can be made out."""
    try:
        value = load_yaml(yaml_text)
    except BadValue:
        value = None
    if isinstance(value, dict):
        return {str(key): item for key, item in value.items()}
    lines = (_FIELD_LINE.match(line.rstrip("\r")) for line in yaml_text.split("\n"))
    return {found[1]: found[2].strip().strip("\"'") or "-" for found in lines if found is not None}


def judge(cues: Mapping[str, float]) -> dict[Category, float]:
    """The chance of each category, summing to 1."""
    weights = _weights()
    scores = {
        c: weights["bias"].get(c, 0.0) + sum(x * weights.get(n, {}).get(c, 0.0) for n, x in cues.items())
        for c in CATEGORIES
    }
    top = max(scores.values())
    parts = {c: math.exp(score - top) for c, score in scores.items()}
    return {c: part / sum(parts.values()) for c, part in parts.items()}


def explain(cues: Mapping[str, float], category: Category) -> tuple[str, ...]:
    """The cues that speak most for a category against the others, strongest first."""
    weights = _weights()
    gains = []
    for name, value in cues.items():
        row = weights.get(name, {})
        others = [row.get(c, 0.0) for c in CATEGORIES if c != category]
        gain = value * (row.get(category, 0.0) - sum(others) / len(others))
        if gain > 0.05:
            gains.append((-gain, name))
    return tuple(name for _, name in sorted(gains)[:MOST_REASONS]) or ("no clear cue; the most common kind",)


@cache
def _weights() -> dict[str, dict[str, float]]:
    return cast("dict[str, dict[str, float]]", json.loads(WEIGHTS.read_text(encoding="utf-8"))["weights"])


def _kind(category: Category, cues: Mapping[str, float], fields: Mapping[str, object]) -> Kind:
    """How the lesson is known: what its front matter says, else an incident, a procedure, a judgement or a fact."""
    named = str(fields.get("type") or "").strip().lower()
    if named in KINDS:
        return named
    if category == "bugs":
        return "episodic" if cues.keys() >= _INCIDENT or cues.keys() >= _TIMELINE else "semantic"
    if category == "patterns":
        return "procedural" if _STEPS & cues.keys() else "reflective"
    return "reflective" if {"heading: decision", "heading: record"} & cues.keys() else "semantic"


def _confidence(kind: Kind, chance: float, fields: Mapping[str, object]) -> float:
    """A number in the type's range: the author's own where it fits, else the chance laid over the range."""
    low, high = CONFIDENCE_RANGE[kind]
    own = fields.get("confidence")
    if isinstance(own, (int, float)) and not isinstance(own, bool) and low <= own <= high:
        return float(own)
    return round(low + (high - low) * max(0.0, (chance - 1 / 3) * 1.5), 3)
