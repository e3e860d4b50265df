"""Secrets that span lines: key blocks, `<private>` passages, embedded files, and text that hides in base64."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator

from detectors.secrets.places import Hit

_BEGIN = re.compile(r"-{2,5} ?BEGIN (?P<name>[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?) ?-{2,5}")
_PUTTY = re.compile(r"PuTTY-User-Key-File-\d")
# What may stand in a key's body: base64, its header lines, and line ends, plain or escaped, quoted or indented.
_BODY = re.compile(r"(?:[A-Za-z0-9+/=\s\"'`,>|#*:.()_-]|\\{1,6}[nrt\"']?){0,20000}")
_PRIVATE = re.compile(r"<\s{0,2}private\s{0,2}>", re.IGNORECASE)
_PRIVATE_END = re.compile(r"<\s{0,2}/\s{0,2}private\s{0,2}>", re.IGNORECASE)
_DATA_URI = re.compile(
    r"data:[\w.+-]{1,40}/[\w.+-]{1,60}(?:;[\w=.+-]{1,60}){0,4};base64,(?P<v>[A-Za-z0-9+/_\-\s=%]{64,})"
)
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{24,4000}={0,2}(?![A-Za-z0-9+/=])")


def find_blocks(text: str) -> Iterator[Hit]:
    """Private keys (also cut short or with escaped line ends), `<private>` passages, and the payload of data URIs."""
    if "PRIVATE KEY" in text:
        yield from _private_keys(text)
    if "PuTTY-User-Key-File" in text:
        for match in _PUTTY.finditer(text):
            last = text.find("Private-MAC", match.end(), match.end() + 20000)
            end = text.find("\n", last) if last >= 0 else -1
            yield "private-key", match.start(), end if end >= 0 else min(len(text), match.end() + 20000)
    if "rivate" in text or "RIVATE" in text:
        done = 0
        for match in _PRIVATE.finditer(text):
            if match.start() >= done:
                closing = _PRIVATE_END.search(text, match.end())
                done = closing.end() if closing else len(text)
                yield "private", match.start(), done
    if ";base64," in text:
        for match in _DATA_URI.finditer(text):
            yield "embedded-file", *match.span("v")


def _private_keys(text: str) -> Iterator[Hit]:
    done = 0
    for match in _BEGIN.finditer(text):
        if match.start() < done:
            continue
        closing = re.compile(rf"-{{2,5}} ?END {re.escape(match['name'])} ?-{{2,5}}").search(
            text, match.end(), match.end() + 20000
        )
        body = _BODY.match(text, match.end())
        end = done = closing.end() if closing else body.end() if body else match.end()
        if _has_body(text[match.end() : end]):
            yield "private-key", match.start(), end


def _has_body(body: str) -> bool:
    """Whether a run of base64 stands there: the bare BEGIN line of a document or a scanner's rule is no key."""
    plain = re.sub(r"\\{1,6}[nrt]", "\n", body)
    return any(len(run) >= 16 for run in re.findall(r"[A-Za-z0-9+/=]{16,200}", plain))


def find_encoded(text: str, find: Callable[[str], bool]) -> Iterator[Hit]:
    """Base64 runs whose plain text holds a secret, by the caller's `find`. One layer deep."""
    for match in _BASE64.finditer(text):
        run = match[0]
        if run.isalpha() and (run.islower() or run.isupper()):
            continue
        try:
            plain = base64.b64decode(run + "=" * (-len(run) % 4), validate=True).decode("utf-8")
        except (binascii.Error, ValueError):
            continue
        if plain.replace("\n", " ").replace("\t", " ").isprintable() and plain.isascii() and find(plain):
            yield "encoded-secret", *match.span()
