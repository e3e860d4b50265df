"""Findings of the poison scan as SARIF 2.1.0, the form that code-scanning services read.

Source: OASIS, Static Analysis Results Interchange Format (SARIF) version 2.1.0.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Mapping
from importlib import metadata
from typing import Any
from urllib.parse import quote

from index.records import Finding, Verdict

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVEL = {"high": "error", "medium": "warning", "low": "note"}
SEVERITY = {"high": "8.0", "medium": "5.0", "low": "2.0"}
LONGEST_SNIPPET = 200


def render_sarif(verdicts: Mapping[str, Verdict], texts: Mapping[str, str], version: str = "") -> dict[str, Any]:
    """One SARIF log with one run: a rule per rule id that fired, a result per finding, sorted by path and place.

    `verdicts` and `texts` are by the same paths (relative, with `/`); the texts give lines and snippets. Columns count
    UTF-16 units, as SARIF's default is; lines and columns begin at 1.
    """
    findings = sorted(
        ((path, finding) for path, verdict in verdicts.items() for finding in verdict.findings),
        key=lambda pair: (pair[0], pair[1].span, pair[1].rule),
    )
    rules = {finding.rule: finding for _, finding in reversed(findings)}
    numbers = {rule: number for number, rule in enumerate(sorted(rules))}
    lines = {path: line_starts(texts.get(path, "")) for path in {path for path, _ in findings}}
    results = [
        result(path, finding, numbers[finding.rule], verdicts[path], texts.get(path, ""), lines[path])
        for path, finding in findings
    ]
    driver = {
        "name": "hotwash",
        "version": version or metadata.version("hotwash"),
        "rules": [rule_of(rules[rule]) for rule in sorted(rules)],
    }
    run = {"tool": {"driver": driver}, "columnKind": "utf16CodeUnits", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def rule_of(finding: Finding) -> dict[str, Any]:
    """A rule's entry, from one of its findings; a finding's own reason may say more."""
    return {
        "id": finding.rule,
        "name": "".join(part.capitalize() for part in finding.rule.replace(".", "_").split("_")),
        "shortDescription": {"text": finding.reason.split(":")[0]},
        "defaultConfiguration": {"level": LEVEL[finding.severity]},
        "properties": {"tags": ["security", finding.family], "security-severity": SEVERITY[finding.severity]},
    }


def result(path: str, finding: Finding, number: int, verdict: Verdict, text: str, starts: list[int]) -> dict[str, Any]:
    """One finding as a SARIF result; its fingerprint survives edits elsewhere in the file."""
    start, end = finding.span
    snippet = text[start : min(end, start + LONGEST_SNIPPET)]
    fingerprint = hashlib.sha256(f"{finding.rule}\0{path}\0{snippet}".encode("utf-8", "replace")).hexdigest()
    return {
        "ruleId": finding.rule,
        "ruleIndex": number,
        "level": LEVEL[finding.severity],
        "message": {"text": f"{finding.reason} (the file is {verdict.answer})"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": uri_of(path)},
                    "region": region_of(text, starts, start, end, snippet),
                }
            }
        ],
        "partialFingerprints": {"hotwash/v1": fingerprint},
        "properties": {"verdict": verdict.answer, "score": verdict.score},
    }


def uri_of(path: str) -> str:
    """A relative path as a URI reference."""
    return quote(path)


def region_of(text: str, starts: list[int], start: int, end: int, snippet: str) -> dict[str, Any]:
    """The lines and columns of a span."""
    first = bisect_right(starts, start) - 1
    last = bisect_right(starts, max(start, end - 1)) - 1
    return {
        "startLine": first + 1,
        "startColumn": utf16_length(text[starts[first] : start]) + 1,
        "endLine": last + 1,
        "endColumn": utf16_length(text[starts[last] : end]) + 1,
        "snippet": {"text": snippet.encode("utf-8", "replace").decode()},
    }


def line_starts(text: str) -> list[int]:
    """The offset of each line's first character."""
    starts = [0]
    place = text.find("\n")
    while place >= 0:
        starts.append(place + 1)
        place = text.find("\n", place + 1)
    return starts


def utf16_length(text: str) -> int:
    """How many UTF-16 units a text takes."""
    return len(text) + sum(char > "\uffff" for char in text)
