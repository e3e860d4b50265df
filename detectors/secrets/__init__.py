"""Secrets in a text: where they are and of which kind, never what they are worth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from detectors.secrets.arguments import find_in_commands, find_logins
from detectors.secrets.blocks import find_blocks, find_encoded
from detectors.secrets.names import find_named
from detectors.secrets.personal import find_personal
from detectors.secrets.places import Hit
from detectors.secrets.plugins import find_by_plugins
from detectors.secrets.shapes import MARK
from detectors.secrets.tokens import find_tokens
from detectors.secrets.transport import find_addresses, find_headers
from detectors.secrets.wrapped import find_wrapped

__all__ = ["MARK", "Secret", "find_secrets"]

# Of two finds on the same place the more telling names it: a maker's token before the word beside it.
_SHORTEST = 8
_RANK = ("private", "private-key", "embedded-file")
_KINDS = {"weak-key": "key"}


@dataclass(frozen=True, slots=True)
class Secret:
    """One secret in a text. `span` counts characters of the text; the value itself is not kept here."""

    kind: str
    span: tuple[int, int]


def find_secrets(text: str, personal: bool = False) -> list[Secret]:
    """Every secret in a text, in order, without overlap; `personal` adds mail addresses, home paths, hosts and IPs.

    Marks that an earlier redaction left are no secrets, so redacting again finds nothing.
    """
    if len(text) < _SHORTEST:
        return []
    hits = [*_plain(text), *find_encoded(text, _holds_secret)]
    if personal:
        hits.extend(find_personal(text))
    return _without_overlap(text, hits)


def _plain(text: str) -> Iterator[Hit]:
    yield from find_blocks(text)
    yield from find_wrapped(text)
    yield from find_tokens(text)
    yield from find_by_plugins(text)
    yield from find_headers(text)
    yield from find_addresses(text)
    yield from find_in_commands(text)
    yield from find_logins(text)
    yield from find_named(text)


def _holds_secret(text: str) -> bool:
    return next(_plain(text), None) is not None


def _without_overlap(text: str, hits: list[Hit]) -> list[Secret]:
    """The hits joined where they overlap, each under the kind of the finder that came first."""
    order = {id(hit): n for n, hit in enumerate(hits)}
    marks = [match.span() for match in MARK.finditer(text)] if "[redacted:" in text else []
    joined: list[tuple[int, int, int, str]] = []
    for hit in sorted(hits, key=lambda hit: (hit[1], -hit[2], order[id(hit)])):
        kind, start, end = hit
        rank = -1 if kind in _RANK else order[id(hit)]
        if any(first <= start and end <= last for first, last in marks):
            continue
        if joined and start < joined[-1][1]:
            first, last, best, name = joined[-1]
            joined[-1] = (first, max(last, end), min(best, rank), kind if rank < best else name)
        else:
            joined.append((start, end, rank, kind))
    return [Secret(_KINDS.get(kind, kind), (start, end)) for start, end, _, kind in joined]
