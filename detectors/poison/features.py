"""What the learnt layer sees of a text: which rules fired how strongly, together, and how it is worded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from detectors.poison.examine import Examined, flatten
from detectors.poison.segment import Block

# Blocks are judged in stretches of about this many characters: long enough to have a wording, short enough that one
# bad line in a long lesson is not lost in it.
STRETCH = 500
FIRM = 0.5


def named_features(examined: Examined) -> dict[str, float]:
    """Feature name -> 0..1: `rule:<id>`, `family:<name>`, and how many families meet, in the text and in one place."""
    rules: dict[str, float] = defaultdict(float)
    families: dict[str, float] = defaultdict(float)
    places: dict[int, set[str]] = defaultdict(set)
    for found in examined.fired:
        rules[f"rule:{found.rule}"] = max(rules[f"rule:{found.rule}"], found.weight)
        if found.severity != "low":
            families[found.family] = max(families[found.family], found.weight)
        if found.weight >= FIRM:
            places[found.span[0] // STRETCH].add(found.family)
    features = dict(rules) | {f"family:{name}": weight for name, weight in families.items()}
    firm = sum(weight >= FIRM for weight in families.values())
    together = max(map(len, places.values()), default=0)
    for count in (2, 3):
        features[f"families:{count}"] = float(firm >= count)
        features[f"together:{count}"] = float(together >= count)
    features["high:1"] = float(any(found.severity == "high" and found.weight >= FIRM for found in examined.fired))
    features["high:2"] = float(
        len({found.rule for found in examined.fired if found.severity == "high" and found.weight >= FIRM}) >= 2
    )
    return {name: weight for name, weight in features.items() if weight}


def stretches(examined: Examined) -> list[tuple[int, int]]:
    """Offsets in the folded text of neighbouring blocks taken together, up to `STRETCH` characters."""
    joined: list[tuple[int, int]] = []
    for block in examined.blocks:
        if joined and fits(joined[-1], block):
            joined[-1] = (joined[-1][0], block.end)
        else:
            joined.append((block.start, block.end))
    return joined


def fits(stretch: tuple[int, int], block: Block) -> bool:
    """Whether a block may join the stretch before it: a heading begins a new one unless that is very short."""
    length = stretch[1] - stretch[0]
    if block.kind == "heading" and length > STRETCH // 8:
        return False
    return length + block.end - block.start <= STRETCH


def stretch_texts(examined: Examined, spans: Sequence[tuple[int, int]]) -> list[str]:
    """The folded, flat text of each stretch."""
    flat = flatten(examined.normal.text)
    return [flat[start:end] for start, end in spans]
