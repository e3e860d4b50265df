"""Where a forgotten thing still shows: its ids, names and statements in texts, records, file names and packed files."""

from __future__ import annotations

import base64
import functools
import gzip
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from curate.tombstones import FORGOTTEN
from index.decode import load_json
from index.store import slug

GZIP = b"\x1f\x8b"
SHORTEST_SLUG = 4
MANY = 100
_WORD = re.compile(r"[^\W_]+")
# A space of a text may be a line's end where it was wrapped, written as an escape where it was quoted.
_SPACE = r"(?:\s|\\[nrt]){1,40}"


def plain(text: str) -> str:
    """A text in one case, with single spaces, line ends written as escapes among them."""
    for escape in ("\\n", "\\r", "\\t"):
        text = text.replace(escape, " ")
    return " ".join(text.casefold().split())


@functools.lru_cache(maxsize=20_000)
def _pattern(text: str, whole: bool) -> re.Pattern[str]:
    words = _SPACE.join(re.escape(word) for word in text.split())
    # Of a project's name: `shop` is not `shop-two` nor `shop.js`, but `shop.git` is.
    return re.compile(words + (r"(?![\w-]|\.(?!git\b)\w)" if whole else ""), re.IGNORECASE)


def _forms(text: str, as_slug: bool) -> list[str]:
    """A text as files write it: as it is, quoted for JSON and YAML, in an address, as a file's name."""
    forms = [
        text,
        json.dumps(text)[1:-1],
        json.dumps(text, ensure_ascii=False)[1:-1],
        text.replace("'", "''"),
        quote(text, safe=""),
        quote(text),
    ]
    if as_slug and len(slug(text)) >= SHORTEST_SLUG:
        forms.append(slug(text))
    return list(dict.fromkeys(forms))


@dataclass(frozen=True)
class Traces:
    """What to look for. `slugs` also takes a text in the form of a file's name; `project` ends where a name does."""

    slugs: bool
    project: str
    ids: frozenset[str]
    texts: frozenset[str]

    @functools.cached_property
    def needles(self) -> tuple[tuple[str, re.Pattern[str], bool], ...]:
        """(plain form, pattern, whether it ends where a name does) of all that is looked for, the longest first."""
        forms = {form: text == self.project for text in sorted(self.texts) for form in _forms(text, self.slugs)}
        forms |= {f"-{identity[-8:].lower()}.md": False for identity in self.ids}
        ordered = sorted(forms.items(), key=lambda item: (-len(item[0]), item))
        return tuple((plain(form), _pattern(form, whole), whole) for form, whole in ordered)

    @functools.cached_property
    def by_word(self) -> dict[str, list[int]]:
        """The places of the needles by one word of each, the longest that has others on both sides where there is one:
        of thousands of needles, only those are looked for whose word the text holds."""
        places: dict[str, list[int]] = {}
        for place, (needle, _, _) in enumerate(self.needles):
            words = _WORD.findall(needle)
            places.setdefault(max(words[1:-1] or words, key=len, default=""), []).append(place)
        return places

    def _candidates(self, text: str) -> Iterator[tuple[re.Pattern[str], bool]]:
        flat = plain(text)
        near: Iterable[int] = range(len(self.needles))
        if len(self.needles) > MANY:
            known = self.by_word
            near = sorted(place for word in {"", *_WORD.findall(flat)} for place in known.get(word, ()))
        for place in near:
            needle, pattern, whole = self.needles[place]
            if needle in flat:
                yield pattern, whole

    def found_in(self, text: str) -> bool:
        """Whether a text shows any of it."""
        return any(not whole or pattern.search(text) for pattern, whole in self._candidates(text))

    def redact(self, text: str, mark: str = FORGOTTEN) -> str:
        """The text without it."""
        for pattern, _ in list(self._candidates(text)):
            text = pattern.sub(mark, text)
        return text

    def redact_path(self, path: str) -> str:
        """A file's path without it."""
        return self.redact(path, "forgotten")

    def found_in_value(self, value: object) -> bool:
        """Whether a value of JSON shows it, in a key, a text or packed bytes."""
        if isinstance(value, str):
            return self.found_in(value)
        if isinstance(value, dict):
            if set(value) == {"base64"}:
                return self.found_in_bytes(base64.b64decode(str(value["base64"])))
            return any(self.found_in_value(part) for pair in value.items() for part in pair)
        return isinstance(value, list) and any(self.found_in_value(one) for one in value)

    def redact_value(self, value: object) -> Any:
        """A value of JSON without it."""
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, dict):
            return {self.redact(str(key)): self.redact_value(one) for key, one in value.items()}
        return [self.redact_value(one) for one in value] if isinstance(value, list) else value

    def found_in_bytes(self, raw: bytes) -> bool:
        """Whether a file's bytes show it, unpacked and with the texts of JSON decoded."""
        if raw.startswith(GZIP):
            return self.found_in_bytes(gzip.decompress(raw))
        text = raw.decode("utf-8", "replace")
        return self.found_in(text) or any(self.found_in_value(value) for value in _json_values(text))

    def redact_bytes(self, raw: bytes) -> bytes:
        """A file's bytes without it; the same bytes where there is nothing of it."""
        if raw.startswith(GZIP):
            inner = gzip.decompress(raw)
            clean = self.redact_bytes(inner)
            return raw if clean == inner else gzip.compress(clean, mtime=0)
        text = raw.decode("utf-8", "surrogateescape")
        clean_text = self.redact(text)
        return raw if clean_text == text else clean_text.encode("utf-8", "surrogateescape")


def texts_in(raw: bytes) -> Iterator[str]:
    """Every text that a file's bytes hold: of JSON each key and value, else the whole, unpacked."""
    if raw.startswith(GZIP):
        yield from texts_in(gzip.decompress(raw))
        return
    text = raw.decode("utf-8", "replace")
    values = list(_json_values(text))
    for value in values:
        yield from _leaves(value)
    if not values:
        yield text


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for pair in value.items():
            for part in pair:
                yield from _leaves(part)
    elif isinstance(value, list):
        for one in value:
            yield from _leaves(one)


def _json_values(text: str) -> Iterator[object]:
    """The values of a JSON document, or of the lines of one."""
    if not text.lstrip().startswith(("{", "[")):
        return
    try:
        yield load_json(text)
    except ValueError:
        for line in text.split("\n"):
            try:
                yield load_json(line)
            except ValueError:
                continue
