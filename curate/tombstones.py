"""What was forgotten, remembered by hash alone, so that no transcript and no snapshot brings it back.

One file each, `decisions/forgotten-<hash>.json`, so that two machines can forget at once and git merges cleanly. Ids of
lessons and sessions are long and random: a salted SHA-256 hides them. A project's name or a string can be guessed, so
those have scrypt (RFC 7914; 16 MiB and some 50 ms a guess). To find a string in a text, its length and 12 bits of a
quick hash are kept too: they spare 4095 of 4096 slow hashes, and give a guesser just as much.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import secrets
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from index.decode import load_json

Kind = Literal["lesson", "session", "project", "string"]
KINDS: tuple[Kind, ...] = get_args(Kind)

FOLDER = "decisions"
PREFIX = "forgotten-"
FORGOTTEN = "[forgotten]"
HINT_BITS = 12
# A shorter string would stand in words of every kind.
LEAST_CHARACTERS = 3


@dataclass(frozen=True, slots=True)
class Tombstone:
    """One thing that is not to come back. `length` and `hint` are those of a string in its plain form."""

    kind: Kind
    salt: str
    digest: str
    day: str
    length: int = 0
    hint: int = 0

    @property
    def path(self) -> str:
        """Its file, relative to the store."""
        return f"{FOLDER}/{PREFIX}{self.digest[:20]}.json"

    def render(self) -> bytes:
        """The file's bytes."""
        values = {"kind": self.kind, "salt": self.salt, "digest": self.digest, "day": self.day}
        if self.kind == "string":
            values |= {"length": self.length, "hint": self.hint}  # type: ignore[dict-item]
        return (json.dumps(values, indent=1) + "\n").encode()


def plain_form(text: str) -> str:
    """A string as it is compared: in one case, with single spaces, from its first letter or digit on."""
    plain = " ".join(text.casefold().split())
    first = next((place for place, character in enumerate(plain) if character.isalnum()), len(plain))
    return plain[first:]


@functools.lru_cache(maxsize=8192)
def hash_name(kind: Kind, name: str, salt: str) -> str:
    """The hash of a name: quick for ids, slow for what can be guessed."""
    if kind in ("lesson", "session"):
        return hashlib.sha256(f"{salt}\0{kind}\0{name}".encode("utf-8", "replace")).hexdigest()
    key = hashlib.scrypt(f"{kind}\0{name}".encode("utf-8", "replace"), salt=bytes.fromhex(salt), n=1 << 14, r=8, p=1)
    return key[:32].hex()


def hint_of(name: str, salt: str) -> int:
    """A few bits of a quick hash of a string's plain form."""
    quick = hashlib.blake2b(name.encode("utf-8", "replace"), key=bytes.fromhex(salt), digest_size=2).digest()
    return int.from_bytes(quick, "big") & ((1 << HINT_BITS) - 1)


def make_tombstone(kind: Kind, name: str, day: str, known: Iterable[Tombstone] = ()) -> Tombstone:
    """The tombstone of a thing; all of a store share one salt, so that a name is hashed once for all of them."""
    salt = next((one.salt for one in known), "") or secrets.token_hex(16)
    if kind != "string":
        return Tombstone(kind, salt, hash_name(kind, name, salt), day)
    plain = plain_form(name)
    return Tombstone(kind, salt, hash_name(kind, plain, salt), day, len(plain), hint_of(plain, salt))


def parse_tombstone(raw: bytes) -> Tombstone | None:
    """A tombstone from its file, or None where it is none."""
    try:
        values = load_json(raw)
        bytes.fromhex(values["salt"])
        length, hint = int(values.get("length", 0)), int(values.get("hint", 0))
        return Tombstone(values["kind"], values["salt"], str(values["digest"]), str(values["day"]), length, hint)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


@dataclass(frozen=True, slots=True)
class Tombstones:
    """All that must not come back."""

    stones: tuple[Tombstone, ...] = ()
    strings: tuple[Tombstone, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "strings", tuple(one for one in self.stones if one.kind == "string" and one.length))

    def forgets(self, kind: Kind, name: str) -> bool:
        """Whether this lesson, session or project was forgotten."""
        salts = {one.salt for one in self.stones if one.kind == kind}
        digests = {one.digest for one in self.stones if one.kind == kind}
        return any(hash_name(kind, name, salt) in digests for salt in salts)

    def find(self, text: str) -> list[tuple[int, int]]:
        """(start, end) of each forgotten string that begins where a word does; case and line ends count for nothing."""
        if not self.strings or not text:
            return []
        plain, places = _plain_with_places(text)
        found: list[tuple[int, int]] = []
        starts = [at for at in range(len(plain)) if plain[at].isalnum() and not (at and plain[at - 1].isalnum())]
        for stone in self.strings:
            last = len(plain) - stone.length
            for at in starts:
                if at > last:
                    break
                window = plain[at : at + stone.length]
                if hint_of(window, stone.salt) != stone.hint:
                    continue
                if hash_name("string", window, stone.salt) == stone.digest:
                    found.append((places[at], places[at + stone.length - 1] + 1))
        return sorted(found)

    def redact(self, text: str) -> str:
        """The text without the strings that were forgotten."""
        pieces, last = [], 0
        for start, end in self.find(text):
            if start >= last:
                pieces += [text[last:start], FORGOTTEN]
                last = end
        return "".join([*pieces, text[last:]]) if pieces else text


def _plain_with_places(text: str) -> tuple[str, list[int]]:
    """The plain form of a text, and where in the text each of its characters stands."""
    characters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        if character.isspace():
            if characters and characters[-1] != " ":
                characters.append(" ")
                places.append(place)
            continue
        for folded in character.casefold():
            characters.append(folded)
            places.append(place)
    return "".join(characters), places


def read_tombstones(*roots: Path) -> Tombstones:
    """The tombstones of these stores together."""
    files = [path for root in roots for path in sorted((root / FOLDER).glob(f"{PREFIX}*.json"))]
    return tombstones_in({path.as_posix(): _read(path) for path in files})


def _read(path: Path) -> bytes:
    with contextlib.suppress(OSError):
        return path.read_bytes()
    return b""


def tombstones_in(files: Mapping[str, bytes]) -> Tombstones:
    """The tombstones among a store's files, by path."""
    stones = (parse_tombstone(raw) for path, raw in sorted(files.items()) if f"/{PREFIX}" in f"/{path}")
    return Tombstones(tuple(dict.fromkeys(stone for stone in stones if stone is not None)))


def merge_tombstones(several: Collection[Tombstones]) -> Tombstones:
    """Several sets as one."""
    return Tombstones(tuple(dict.fromkeys(stone for one in several for stone in one.stones)))
