"""Which solutions may be served: verdicts kept by the hash of the text and the version of the rule set."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from index.changes import write_derived
from index.records import Finding, Solution, Verdict
from index.store import CACHE

VERDICTS = f"{CACHE}/verdicts.json"


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Verdicts by the SHA-256 of a file's text, all of one rule set."""

    rule_set: str
    by_hash: Mapping[str, Verdict] = field(default_factory=dict)

    def of(self, solution: Solution) -> Verdict | None:
        """The verdict on the current text of a solution, or None when it was not scanned."""
        return self.by_hash.get(text_hash(solution.text))


def text_hash(text: str) -> str:
    """The key of a text's verdict."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def servable(solution: Solution, verdicts: Verdicts) -> bool:
    """May this be given to an agent: scanned clean as it stands, not external, not superseded (invariant 5)."""
    verdict = verdicts.of(solution)
    cleared = verdict is not None and verdict.answer == "clean"
    return cleared and solution.trust != "external" and solution.superseded_by is None


def scan_missing(solutions: Iterable[Solution], known: Verdicts, scan: Callable[[Solution], Verdict]) -> Verdicts:
    """Verdicts on every one of these solutions; only text that has none of this rule set is scanned."""
    by_hash: dict[str, Verdict] = {}
    for solution in solutions:
        key = text_hash(solution.text)
        by_hash[key] = known.by_hash.get(key) or scan(solution)
    return Verdicts(known.rule_set, by_hash)


def read_verdicts(root: Path, rule_set: str) -> Verdicts:
    """The verdicts kept in the cache; none when they are of another rule set or cannot be read."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        kept: dict[str, Any] = orjson.loads((root / VERDICTS).read_bytes())
        if kept["rule_set"] == rule_set:
            return Verdicts(rule_set, {key: _verdict(value) for key, value in kept["verdicts"].items()})
    return Verdicts(rule_set)


def write_verdicts(root: Path, verdicts: Verdicts) -> None:
    """Keep the verdicts in the cache."""
    rows = {
        key: [verdict.answer, verdict.score, [_finding_row(finding) for finding in verdict.findings]]
        for key, verdict in sorted(verdicts.by_hash.items())
    }
    content = orjson.dumps({"rule_set": verdicts.rule_set, "verdicts": rows}, option=orjson.OPT_INDENT_2)
    write_derived(root / VERDICTS, content)


def _finding_row(finding: Finding) -> list[object]:
    return [finding.rule, finding.family, finding.severity, list(finding.span), finding.reason]


def _verdict(row: list[Any]) -> Verdict:
    answer, score, findings = row
    return Verdict(
        answer,
        score,
        tuple(
            Finding(rule, family, severity, (span[0], span[1]), why) for rule, family, severity, span, why in findings
        ),
    )
