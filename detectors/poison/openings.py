"""What `anchors` reads of the rules' patterns, kept beside it: to read it anew takes most of a second at each start.

`benchmarks/poison_openings.py` writes the file. A pattern that is not in it, or a file that another `anchors` made, is
no harm: what is missing is read anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from detectors.poison import anchors
from detectors.poison.anchors import Literals
from detectors.poison.rule import Rule, expression

KEPT = Path(__file__).parent / "openings.json"


@dataclass(frozen=True, slots=True)
class Opening:
    """What every match of a pattern begins with, and sets of literals of each of which it holds one."""

    begins: tuple[str, ...]
    holds: tuple[Literals, ...]


def openings_of(rules: Iterable[Rule]) -> dict[str, Opening]:
    """The openings of all that rules cannot do without, by pattern."""
    kept = _kept()
    patterns = dict.fromkeys(pattern for rule in rules for pattern in rule.parts)
    return {pattern: kept.get(_name(pattern)) or read_opening(pattern) for pattern in patterns}


def read_opening(pattern: str) -> Opening:
    """Read a rule's pattern."""
    written = expression(pattern)
    return Opening(anchors.openings(written), anchors.required(written))


def render_openings(rules: Iterable[Rule]) -> str:
    """The file for these rules: a line for each pattern, which is named by its hash."""
    patterns = dict.fromkeys(pattern for rule in rules for pattern in rule.parts)
    read = [(_name(pattern), read_opening(pattern)) for pattern in patterns]
    rows = [[name, one.begins, [sorted(literals) for literals in one.holds]] for name, one in read]
    return "[\n" + ",\n".join(json.dumps(row) for row in (_version(), *rows)) + "\n]\n"


def _kept() -> dict[str, Opening]:
    made_by, *rows = json.loads(KEPT.read_bytes())
    if made_by != _version():
        return {}
    return {name: Opening(tuple(begins), tuple(map(frozenset, holds))) for name, begins, holds in rows}


def _name(pattern: str) -> str:
    return hashlib.sha256(pattern.encode()).hexdigest()[:16]


def _version() -> str:
    return hashlib.sha256(Path(anchors.__file__).read_bytes()).hexdigest()
