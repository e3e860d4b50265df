"""What the learnt layer sees of a text: stretch by stretch, which rules fired how strongly, and how it is worded.

One bad line in a long lesson is the usual case, so stretches are judged one by one and the worst one counts.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from detectors.poison.examine import Examined, Fired, flatten
from detectors.poison.segment import Block

# About this many characters make a stretch: long enough to have a wording, short enough not to drown one line.
STRETCH = 500
FIRM = 0.5
Named = dict[str, float]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring blocks taken together: offsets in the folded text, its flat text, and its named features (0..1)."""

    start: int
    end: int
    text: str
    named: Named


def stretches(examined: Examined) -> tuple[Stretch, ...]:
    """A text's stretches in order."""
    spans = joined(examined.blocks)
    begins = [examined.normal.original(start) for start, _ in spans]
    fired: dict[int, list[Fired]] = defaultdict(list)
    for found in examined.fired:
        fired[max(0, bisect_right(begins, found.span[0]) - 1)].append(found)
    flat = flatten(examined.normal.text)
    length = min(1.0, math.log2(max(1, len(spans))) / 8)
    return tuple(
        Stretch(start, end, flat[start:end], named_features(fired.get(number, ()), length))
        for number, (start, end) in enumerate(spans)
    )


def named_features(fired: Sequence[Fired], length: float) -> Named:
    """`rule:<id>`, `family:<name>`, and how many firm families and grave rules meet; `length` of the whole text."""
    if not fired:
        return {"length": length} if length else {}
    rules: Named = defaultdict(float)
    families: Named = defaultdict(float)
    grave = set()
    for found in fired:
        rules[f"rule:{found.rule}"] = max(rules[f"rule:{found.rule}"], found.weight)
        if found.severity != "low":
            families[found.family] = max(families[found.family], found.weight)
        if found.severity == "high" and found.weight >= FIRM:
            grave.add(found.rule)
    firm = sum(weight >= FIRM for weight in families.values())
    features = dict(rules) | {f"family:{name}": weight for name, weight in families.items()}
    features |= {f"families:{count}": float(firm >= count) for count in (2, 3)}
    features |= {f"grave:{count}": float(len(grave) >= count) for count in (1, 2)}
    features["length"] = length
    return {name: weight for name, weight in features.items() if weight}


def joined(blocks: Sequence[Block]) -> list[tuple[int, int]]:
    """Neighbouring blocks joined up to `STRETCH` characters; a heading begins a new stretch."""
    spans: list[tuple[int, int]] = []
    for block in blocks:
        if spans and fits(spans[-1], block):
            spans[-1] = (spans[-1][0], block.end)
        else:
            spans.append((block.start, block.end))
    return spans


def fits(stretch: tuple[int, int], block: Block) -> bool:
    """Whether a block may join the stretch before it: a heading begins a new one unless that is very short."""
    length = stretch[1] - stretch[0]
    if block.kind == "heading" and length > STRETCH // 8:
        return False
    return length + block.end - block.start <= STRETCH
