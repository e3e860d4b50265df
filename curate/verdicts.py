"""Which solutions may be served: verdicts kept by the hash of the text and the version of the rule set."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from index.files import TEMPORARY, read_bytes, write_derived
from index.records import Answer, Finding, Solution, Verdict
from index.store import CACHE, store_root

VERDICTS = f"{CACHE}/verdicts.json"
KEY = f"{CACHE}/verdicts.key"
KEY_BYTES = 32
_SEAL = b'{"seal":"'
_SEALED = len(_SEAL) + 64 + len(b'",')
DECISIONS = "decisions"


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Verdicts by the SHA-256 of a file's text, all of one rule set.

    `raised` are those that were also held against the rest of the store, which may only have made them graver;
    `released` are the hashes of the bodies that a person has cleared; `groups` tell of raised ones, and of those that
    they name, all that the judgement rested on, where that is known (`curate.neighbours.Groups.digest`).
    """

    rule_set: str
    by_hash: Mapping[str, Verdict] = field(default_factory=dict)
    raised: Mapping[str, Verdict] = field(default_factory=dict)
    released: frozenset[str] = frozenset()
    groups: Mapping[str, str] = field(default_factory=dict)

    def of(self, solution: Solution) -> Verdict | None:
        """The verdict on the current text of a solution, or None when it was not scanned."""
        key = text_hash(solution.text)
        return self.raised.get(key) or self.by_hash.get(key)

    def is_watched(self, solution: Solution) -> bool:
        """Whether the store did not raise the verdict on a solution, but a raised one named it."""
        key = text_hash(solution.text)
        return key in self.groups and self.raised[key].answer == self.by_hash[key].answer


@lru_cache(maxsize=1 << 18)
def text_hash(text: str) -> str:
    """The key of a text's verdict; a pass asks for that of each lesson about ten times."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def servable(solution: Solution, verdicts: Verdicts) -> bool:
    """May this be given to an agent: scanned clean as it stands or released by a person, not external, not superseded
    (design contract, invariant 5)."""
    verdict = verdicts.of(solution)
    if verdict is None or solution.trust == "external" or solution.superseded_by is not None:
        return False
    return verdict.answer == "clean" or (verdict.answer == "suspect" and text_hash(solution.body) in verdicts.released)


def scan_missing(solutions: Iterable[Solution], known: Verdicts, scan: Callable[[Solution], Verdict]) -> Verdicts:
    """Verdicts on every one of these solutions; only text that has none of this rule set is scanned."""
    by_hash: dict[str, Verdict] = {}
    for solution in solutions:
        key = text_hash(solution.text)
        by_hash[key] = known.by_hash.get(key) or scan(solution)
    raised = {key: verdict for key, verdict in known.raised.items() if key in by_hash}
    groups = {key: group for key, group in known.groups.items() if key in raised}
    return Verdicts(known.rule_set, by_hash, raised, known.released, groups)


def unchecked(solutions: Iterable[Solution], verdicts: Verdicts, moved: bool = False) -> frozenset[str]:
    """The paths of the solutions to hold against the rest of the store: those that were not yet; and where there are
    some, or `moved` says that others went, those that the store raised, since what spoke against them may have gone,
    and those that these name."""
    new, raised = set(), set()
    for solution in solutions:
        key = text_hash(solution.text)
        known = verdicts.raised.get(key)
        if known is None:
            new.add(solution.path)
        elif known.answer != verdicts.by_hash[key].answer or key in verdicts.groups:
            raised.add(solution.path)
    return frozenset(new | raised if new or moved else ())


def with_raised(
    verdicts: Verdicts,
    solutions: Iterable[Solution],
    raised: Mapping[str, Verdict],
    groups: Mapping[str, str] | None = None,
) -> Verdicts:
    """The verdicts with those by path that the store's neighbours gave now, and with what these rested on, where that
    is all that speaks for them; the others stay."""
    judged = [(text_hash(solution.text), solution.path) for solution in solutions if solution.path in raised]
    by_hash = {key: raised[path] for key, path in judged}
    rested = {key: (groups or {}).get(path) for key, path in judged}
    kept = {key: group for key, group in {**verdicts.groups, **rested}.items() if group is not None}
    return replace(verdicts, raised={**verdicts.raised, **by_hash}, groups=kept)


def read_released(root: Path) -> frozenset[str]:
    """The hashes of the bodies that a person has read and cleared: `decisions/release-*.json`."""
    hashes = set()
    for path in (root / DECISIONS).glob("release-*.json"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            hashes.add(str(orjson.loads(path.read_bytes())["body"]))
    return frozenset(hashes)


def read_verdicts(root: Path, rule_set: str) -> Verdicts:
    """The verdicts kept in the cache; none when they are of another rule set, cannot be read, or were not written by
    this machine: a shared store comes with a repository, and one that calls its own poison clean is not believed."""
    released = read_released(root)
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        kept: dict[str, Any] = orjson.loads(_unsealed((root / VERDICTS).read_bytes()))
        if kept["rule_set"] == rule_set:
            by_hash = {key: _verdict(*row) for key, row in kept["verdicts"].items()}
            raised = {key: by_hash[key] for key in kept.get("held", ())}
            raised |= {key: _verdict(*row) for key, row in kept["raised"].items()}
            groups = {key: str(group) for key, group in kept.get("groups", {}).items() if key in raised}
            return Verdicts(rule_set, by_hash, raised, released, groups)
    return Verdicts(rule_set, released=released)


def write_verdicts(root: Path, verdicts: Verdicts) -> None:
    """Keep the verdicts in the cache; of those that the store left as they were, the hashes alone."""
    by_hash = verdicts.by_hash
    raised = {key: verdict for key, verdict in verdicts.raised.items() if by_hash.get(key) != verdict}
    kept = {
        "rule_set": verdicts.rule_set,
        "verdicts": _rows(by_hash),
        "held": [key for key in verdicts.raised if key not in raised],
        "raised": _rows(raised),
        "groups": verdicts.groups,
    }
    content = orjson.dumps(kept)
    write_derived(root / VERDICTS, _SEAL + _seal(content, _own_key(make=True)) + b'",' + content[1:])


def _unsealed(raw: bytes) -> bytes:
    """The verdicts' JSON without its seal; raises ValueError where the seal is not this machine's."""
    content = b"{" + raw[_SEALED:]
    if not hmac.compare_digest(raw[:_SEALED], _SEAL + _seal(content, _own_key(make=False)) + b'",'):
        raise ValueError("not sealed by this machine")
    return content


def _seal(content: bytes, key: bytes) -> bytes:
    return hmac.new(key, content, hashlib.sha256).hexdigest().encode()


def _own_key(make: bool) -> bytes:
    """The key of this machine's seal, in the cache of the personal store; without it everything is scanned again."""
    place = store_root(None, os.environ) / KEY
    key = read_bytes(place)
    if len(key or b"") != KEY_BYTES and make:
        # Runs over several stores may make it at once, so each writes under a name of its own, and all use what stays.
        mine = place.with_name(f".{place.name}.{secrets.token_hex(4)}{TEMPORARY}")
        place.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(mine, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(descriptor, secrets.token_bytes(KEY_BYTES))
        finally:
            os.close(descriptor)
        mine.replace(place)
        key = read_bytes(place)
    if key is None or len(key) != KEY_BYTES:
        raise ValueError("this machine has sealed nothing yet")
    return key


def _rows(verdicts: Mapping[str, Verdict]) -> dict[str, list[object]]:
    return {
        key: [
            verdict.answer,
            verdict.score,
            [_finding_row(one) for one in verdict.findings] if verdict.findings else [],
        ]
        for key, verdict in verdicts.items()
    }


def _finding_row(finding: Finding) -> list[object]:
    return [finding.rule, finding.family, finding.severity, list(finding.span), finding.reason]


def _verdict(answer: Answer, score: float, findings: list[list[Any]]) -> Verdict:
    if not findings:
        return _bare(answer, score)
    return Verdict(
        answer,
        score,
        tuple(
            Finding(rule, family, severity, (span[0], span[1]), why) for rule, family, severity, span, why in findings
        ),
    )


@lru_cache(maxsize=1 << 14)
def _bare(answer: Answer, score: float) -> Verdict:
    """A verdict without findings: a store has very many, and few that differ."""
    return Verdict(answer, score)
