"""Text that stands in a text without being seen: encoded, invisible, reversed, spaced out, in comments and styles.

Each hidden stretch becomes a view, which is scanned as a text of its own.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from string import ascii_lowercase
from typing import NamedTuple
from urllib.parse import unquote

from detectors.poison.normalise import Normal

MAX_VIEW = 65_536
MAX_VIEWS = 64
MIN_TOKEN = 16


@dataclass(frozen=True, slots=True)
class View:
    """What a hidden stretch says, how it is hidden, and where it stands in the original, or in the folded text.

    `sure`: no honest text hides words in this way, whatever they say.
    """

    kind: str
    text: str
    span: tuple[int, int]
    sure: bool = False
    in_folded: bool = False


class Told(NamedTuple):
    """What the words of a folded text tell: whether there may be letters spaced out, digits for letters, or a word of
    text that is turned round."""

    spaced: bool = True
    leet: bool = True
    turned: bool = True


def read_views(text: str, normal: Normal, told: Told | None = None) -> tuple[View, ...]:
    """The views of a text, in the order of the carriers below; `normal` is its folded form, and `told` what its words
    tell, where that is known."""
    found: list[View] = []
    carriers = (*CARRIERS, *(carrier for carrier, wanted in zip(DISGUISED, told or Told(), strict=True) if wanted))
    for carrier in carriers:
        for view in carrier(text, normal):
            found.append(view)
            if len(found) >= MAX_VIEWS:
                return tuple(found)
    return tuple(found)


def is_prose(text: str) -> bool:
    """Whether decoded bytes read like words: printable, mostly letters, two words or more."""
    if not 6 <= len(text) <= MAX_VIEW or not text.replace("\n", " ").replace("\t", " ").isprintable():
        return False
    letters = sum(char.isalpha() or char == " " for char in text)
    words = [word for word in re.split(r"[^A-Za-z\u0400-\uffff]+", text) if len(word) > 1]
    return letters >= 0.7 * len(text) and len(words) >= 2


TAGS = re.compile("[\U000e0001-\U000e007f]{4,}")
FLAG = "\U0001f3f4"
SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
BETWEEN = re.compile("[A-Za-z0-9 ][\u200b-\u200d\u2060-\u2064\ufeff\u00ad\u180e]{1,64}(?=[A-Za-z0-9 ])")
ZERO_RUN = re.compile("[\u200b-\u200d\u2060-\u2064\ufeff]{8,}")
BIDI = re.compile("[\u202d\u202e\u2066-\u2068]([^\u202c\u2069\n]{1,400})[\u202c\u2069]?")
RTL = re.compile("[\u0590-\u08ff]")
STYLED = re.compile("(?:[\uff01-\uff5e\U0001d400-\U0001d7ff\u24b6-\u24e9\U0001f130-\U0001f189][ \u3000]{0,2}){8,}")


def invisible(text: str, normal: Normal) -> Iterator[View]:
    """Tag characters, variation selectors, zero-width characters between letters, bidi overrides, styled letters."""
    if not normal.strange:
        return
    for match in TAGS.finditer(text):
        if not text[: match.start()].endswith(FLAG):
            said = "".join(chr(ord(char) - 0xE0000) for char in match.group() if 0xE0020 <= ord(char) < 0xE007F)
            yield View("tag_characters", said, match.span(), sure=True)
    for match in SELECTORS.finditer(text):
        codes = [ord(c) - 0xFE00 if ord(c) < 0xFE10 else ord(c) - 0xE0100 + 16 for c in match.group()]
        said = "".join(chr(code) for code in codes if 32 <= code < 127)
        yield View("variation_selectors", said, match.span(), sure=True)
    hidden = list(BETWEEN.finditer(text))
    if len(hidden) >= 3:
        start, end = hidden[0].start(), hidden[-1].end() + 1
        yield View("zero_width", "", (start, min(end, len(text))), sure=True)
    for match in ZERO_RUN.finditer(text):
        yield View("zero_width", "", match.span(), sure=True)
    for match in BIDI.finditer(text):
        if not RTL.search(match.group()):
            yield View("bidi", match.group(1)[::-1], match.span(), sure=True)
    for match in STYLED.finditer(text):
        yield View("styled_letters", match.group(), match.span())


# Bytes that an encoded word is made of become "x", so that one search says whether there is a long one.
TOKEN_BYTES = bytes(120 if (chr(code).isalnum() and code < 128) or chr(code) in "+/=_-" else 32 for code in range(256))
LONG_TOKEN = b"x" * MIN_TOKEN
BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
BASE32 = re.compile(r"[A-Z2-7]{16,}={0,6}")
HEX = re.compile(r"(?:0x)?((?:[0-9a-fA-F]{2}){10,})")
ESCAPES = re.compile(r"(?:\\x[0-9a-fA-F]{2}|\\u00[0-9a-fA-F]{2}|\\[0-3][0-7]{2}){6,}")
ESCAPE_MARKS = ("\\x", "\\u00", "\\0", "\\1", "\\2", "\\3")
SPACED_HEX = re.compile(r"(?:\b(?:0x)?[0-9a-fA-F]{2}[ ,]{1,2}){10,}[0-9a-fA-F]{2}\b")
BINARY = re.compile(r"(?:\b[01]{8}[ ,]{1,2}){5,}[01]{8}")
MORSE = re.compile(r"(?:(?:[.-]{1,6}|/)[ ]{1,2}){12,}[.-]{1,6}")
PERCENT = re.compile(r"%[0-9a-fA-F]{2}")
ADDRESS_END = re.compile(r"[\s\"'<>]")
ENTITIES = re.compile(r"(?:&#x?[0-9a-fA-F]{2,6};[^&\n]{0,3}){4,}")


def encoded(text: str, normal: Normal) -> Iterator[View]:
    """Base64, base32, hexadecimal, escapes, binary, Morse, percent and entity encoding that decode to prose."""
    del normal
    shape = text.encode("latin-1", "replace").translate(TOKEN_BYTES)  # a byte for each character
    start = shape.find(LONG_TOKEN)
    while start >= 0:
        stop = shape.find(b" ", start)
        stop = len(text) if stop < 0 else stop
        yield from _first_decoded(text[start:stop], start)
        start = shape.find(LONG_TOKEN, stop)
    for kind, start, stop, decode in _escaped(text):
        word = text[start:stop]
        said = decode(word)
        if said is not None and said != word and is_prose(said):
            yield View(kind, said, (start, stop))
    if "&#" in text:
        for match in ENTITIES.finditer(text):
            line_end = text.find("\n", match.end())
            rest = text[match.start() : line_end if line_end >= 0 else match.end() + 200]
            yield View("entities", html.unescape(rest[:2000]), match.span(), sure=True)


def _escaped(text: str) -> Iterator[tuple[str, int, int, Decode]]:
    """Kind, place and decoder of the stretches that look encoded, by marks that they cannot do without."""
    found: list[tuple[str, re.Pattern[str], Decode]] = []
    if "\\" in text and any(mark in text for mark in ESCAPE_MARKS):
        found.append(("escapes", ESCAPES, from_escapes))
    plain = text.encode("latin-1", "replace")
    if "0 " in text:
        shape = plain.translate(HEX_BYTES)
        if shape.count(b"hh ") >= 10 and LONG_HEX in shape.replace(b"  ", b" ").replace(b"hx", b""):
            found.append(("hexadecimal", SPACED_HEX, from_hex))
    if "01" in text and LONG_BINARY in plain.translate(BINARY_BYTES).replace(b"  ", b" "):
        found.append(("binary", BINARY, from_binary))
    if ". -" in text and LONG_MORSE in plain.translate(MORSE_BYTES):
        found.append(("morse", MORSE, from_morse))
    for kind, pattern, decode in found:
        for match in pattern.finditer(text):
            yield kind, *match.span(), decode
    if "%20" in text:
        for start, stop in percent_encoded(text):
            yield "percent", start, stop, unquote


def percent_encoded(text: str) -> Iterator[tuple[int, int]]:
    """The words that hold a percent encoding, of very long ones the stretch around it."""
    done = 0
    match = PERCENT.search(text)
    while match is not None:
        low = max(done, match.start() - LONGEST_ADDRESS)
        before = [found.end() for found in ADDRESS_END.finditer(text, low, match.start())]
        after = ADDRESS_END.search(text, match.end(), match.end() + LONGEST_ADDRESS)
        done = after.start() if after else min(len(text), match.end() + LONGEST_ADDRESS)
        yield before[-1] if before else low, done
        match = PERCENT.search(text, done)


def _first_decoded(word: str, start: int) -> Iterator[View]:
    if word[0] in "+/-_=" or (word.islower() and not word.isalnum()):
        # A path, a rule or a name: encoded prose has capitals, hexadecimal has no other signs, and base64 that begins
        # with a sign has a first byte with which no UTF-8 begins.
        return
    for kind, pattern, decode in DECODERS:
        match = pattern.fullmatch(word)
        if match:
            said = decode(match.group())
            if said is not None and is_prose(said):
                yield View(kind, said, (start, start + len(word)))
                return


def _text(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def from_base64(word: str) -> str | None:
    """Base64, standard or for URLs, with or without padding; None where it is not text."""
    word = word.rstrip("=")[: MAX_VIEW * 4 // 3]
    try:
        return _text(base64.b64decode(word.replace("-", "+").replace("_", "/") + "=" * (-len(word) % 4), validate=True))
    except (binascii.Error, ValueError):
        return None


def from_base32(word: str) -> str | None:
    """Base32 with or without padding; None where it is not text."""
    word = word.rstrip("=")[:MAX_VIEW]
    try:
        return _text(base64.b32decode(word + "=" * (-len(word) % 8)))
    except (binascii.Error, ValueError):
        return None


def from_hex(word: str) -> str | None:
    """Hexadecimal digits as text; None where it is not."""
    return _text(bytes.fromhex(re.sub(r"0x|[^0-9a-fA-F]", "", word)[: MAX_VIEW & ~1]))


def from_escapes(word: str) -> str | None:
    r"""`\x41`, `\u0041` and `\101` as text."""
    units = re.findall(r"\\x([0-9a-fA-F]{2})|\\u00([0-9a-fA-F]{2})|\\([0-3][0-7]{2})", word)
    return _text(bytes(int(x or u, 16) if x or u else int(o, 8) for x, u, o in units))


def from_binary(word: str) -> str | None:
    """Groups of eight binary digits as text."""
    return _text(bytes(int(bits, 2) for bits in re.findall(r"[01]{8}", word)))


MORSE_LETTERS = dict(
    zip(
        ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- "
        "--..".split(),
        "abcdefghijklmnopqrstuvwxyz",
        strict=True,
    )
)


def from_morse(word: str) -> str | None:
    """Morse code, words parted by a slash; None where a sign is unknown too often."""
    signs = word.split()
    said = "".join(" " if sign == "/" else MORSE_LETTERS.get(sign, "?") for sign in signs)
    return said.replace("?", "") if said.count("?") * 5 < len(said) else None


Decode = Callable[[str], str | None]
DECODERS: tuple[tuple[str, re.Pattern[str], Decode], ...] = (
    ("hexadecimal", HEX, from_hex),
    ("base32", BASE32, from_base32),
    ("base64", BASE64, from_base64),
)


def class_bytes(*classes: tuple[str, str]) -> bytes:
    """A table for `bytes.translate`: the characters of each class become its sign, all others a dot."""
    sign_of = {char: sign for chars, sign in classes for char in chars}
    return "".join(sign_of.get(chr(code), ".") for code in range(256)).encode()


# The shapes that these encodings cannot avoid, after such a translation.
HEX_BYTES = class_bytes(("0123456789abcdefABCDEF", "h"), ("x", "x"), (" ,", " "))
LONG_HEX = b"hh " * 10 + b"hh"
BINARY_BYTES = class_bytes(("01", "b"), (" ,", " "))
LONG_BINARY = b"bbbbbbbb " * 5 + b"bbbbbbbb"
MORSE_BYTES = class_bytes((".-/ ", "m"), (".", "m"))
LONG_MORSE = b"m" * 25
LONGEST_ADDRESS = 2000


LONGEST_COMMENT = 4000
LINK_COMMENT = re.compile(r"^\[(?://|comment|_)\]: ?(?:#|<>) ?[\"'(](.{4,1000})[\"')]", re.MULTILINE | re.IGNORECASE)
HIDDEN_STYLE = re.compile(
    r"<[a-z]{1,12}\s[^>]{0,200}(?:font-size: ?0|display: ?none|visibility: ?hidden|opacity: ?0(?![.\d])|color: "
    r"?(?:white|#fff(?:fff)?|transparent)\b|"
    r"\shidden(?=[\s>=]))[^>]{0,200}>([^<]{4,4000})",
    re.IGNORECASE,
)
JSON_COMMENT = re.compile(r"\"(?:_?comment|_note|//)\": ?\"([^\"\n]{8,1000})\"", re.IGNORECASE)
LINK_TITLE = re.compile(r"\]\([^)\s]{1,300}\s\"([^\"\n]{12,400})\"\)")
ANSI = re.compile("\x1b\\[(?:8|30;40|37;47)m([^\x1b]{4,1000})")
FAR_RIGHT = re.compile(r"[ \t]{120,}(\S[^\n]{4,1000})")
JSON_KEYS = ('comment"', 'note"', '//"')


def unrendered(text: str, normal: Normal) -> Iterator[View]:
    """HTML and link comments, hidden elements, JSON comments, link titles, concealed ANSI, text far to the right."""
    for start, end in comments(text):
        yield View("comment", text[start + 4 : end - 3], (start, end))
    for mark, pattern, kind, sure in UNRENDERED:
        if mark in text and (pattern is not JSON_COMMENT or any(key in normal.text for key in JSON_KEYS)):
            for match in pattern.finditer(text):
                yield View(kind, match.group(1), match.span(), sure)


def comments(text: str) -> Iterator[tuple[int, int]]:
    """The HTML comments of a text, marks included, that hold 4 to 4,000 characters."""
    start = text.find("<!--")
    while start >= 0:
        if text.find("-->", start + 8) < 0:
            return
        end = text.find("-->", start + 8, start + 4 + LONGEST_COMMENT + 3)
        if end >= 0:
            yield start, end + 3
        start = text.find("<!--", end + 3 if end >= 0 else start + 1)


UNRENDERED: tuple[tuple[str, re.Pattern[str], str, bool], ...] = (
    ("]:", LINK_COMMENT, "comment", False),
    ("style=", HIDDEN_STYLE, "hidden_element", False),
    ("hidden", HIDDEN_STYLE, "hidden_element", False),
    ('":', JSON_COMMENT, "comment", False),
    ('")', LINK_TITLE, "link_title", False),
    ("\x1b[", ANSI, "ansi", True),
    (" " * 120, FAR_RIGHT, "far_right", False),
    ("\t" * 120, FAR_RIGHT, "far_right", False),
)


# Letters become "a": the shape that spaced-out letters cannot avoid.
SHAPE_BYTES = bytes(97 if 97 <= code <= 122 else 32 if code == 32 else 46 for code in range(256))
SEAM_BYTES = class_bytes((ascii_lowercase, "a"), ("0123456789@$", "1"))
SPACED_LETTERS = re.compile(r"(?<![a-z0-9])(?:[a-z] {1,3}){5,400}[a-z](?![a-z0-9'])")
LEET_WORD = re.compile(
    r"(?<![\w/.-])(?=[a-z0-9@$]{0,14}[a-z])(?=[a-z0-9@$]{0,14}[0134578@$])[a-z0-9@$]{2,16}(?![\w/-])"
)
LEET = str.maketrans("0134578@$", "oieastbas")
REVERSED_HINTS = tuple("snoitcurtsni erongi suoiverp drawrof tpmorp drowssap terces nekot elbasid".split())
ROT13_HINTS = tuple(
    "vafgehpgvba cerivbhf vtaber qvfnoyr frperg cnffjbeq jvgubhg sbyybj pbzznaq hcybnq sbejneq qvfertneq pbasvez "
    "gbxra perqragvny".split()
)
HINTS = (*REVERSED_HINTS, *ROT13_HINTS)


# What a word tells, as bits: it is a single letter, has a digit between letters, or holds a word that is turned round.
LETTER, DIGIT, TURNED = 1, 2, 4
DIGIT_WITHIN = re.compile(r"[a-z][0134578][a-z]")


def told_by(word: str) -> int:
    """What a word of letters, digits and underscores of a folded text tells."""
    letter = LETTER if len(word) == 1 and word in ascii_lowercase else 0
    digit = DIGIT if DIGIT_WITHIN.search(word) else 0
    return letter | digit | (TURNED if any(hint in word for hint in HINTS) else 0)


def spaced_out(text: str, normal: Normal) -> Iterator[View]:
    """Spaced-out letters, as their line reads without the disguise."""
    del text
    folded = normal.text
    shape = folded.encode("utf-8", "replace").translate(SHAPE_BYTES)
    for match in SPACED_LETTERS.finditer(folded) if b" a a a" in shape or b"a a a a" in shape else ():
        start, end = line_around(folded, match.start(), match.end())
        letters = match.group()
        wide = re.split(r" {2,3}", letters) if "  " in letters else [letters]
        joined = " ".join(part.replace(" ", "") for part in wide)
        said = folded[start : match.start()] + joined + folded[match.end() : end]
        yield View("spaced_letters", said, match.span(), in_folded=True)


def in_leet(text: str, normal: Normal) -> Iterator[View]:
    """Digits for letters, as their line reads without the disguise."""
    del text
    folded = normal.text
    if DIGIT_WITHIN.search(folded):
        for start, end in leet_lines(folded):
            yield View("leet", folded[start:end].translate(LEET), (start, end), in_folded=True)


def turned(text: str, normal: Normal) -> Iterator[View]:
    """Reversed text and rot13, as their line reads without the disguise."""
    del text
    folded = normal.text
    for hint in REVERSED_HINTS:
        place = folded.find(hint)
        if place >= 0:
            start, end = line_around(folded, place, place)
            yield View("reversed", folded[start:end][::-1], (start, end), in_folded=True)
            break
    for hint in ROT13_HINTS:
        place = folded.find(hint)
        if place >= 0:
            start, end = line_around(folded, place, place)
            yield View("rot13", codecs.decode(folded[start:end], "rot13"), (start, end), in_folded=True)
            break


def leet_seams(folded: str) -> list[int]:
    """The places where a letter and a digit meet; each word of leet has one."""
    shape = folded.encode("latin-1", "replace").translate(SEAM_BYTES)  # a byte for each character
    seams = []
    for seam in (b"a1", b"1a"):
        place = shape.find(seam)
        while place >= 0:
            seams.append(place)
            place = shape.find(seam, place + 2)
    return sorted(seams)


def leet_lines(folded: str) -> list[tuple[int, int]]:
    """The lines that hold three words or more with digits for letters."""
    lines: Counter[tuple[int, int]] = Counter()
    seams = leet_seams(folded)
    stop = 0
    for place, third in zip(seams, seams[2:], strict=False):
        if place < stop:
            continue
        stop = folded.find("\n", place) + 1 or len(folded)
        if third < stop:
            begin = folded.rfind("\n", 0, place) + 1
            for match in LEET_WORD.finditer(folded, begin, stop):
                lines[line_around(folded, *match.span())] += 1
    return [line for line, words in sorted(lines.items()) if words >= 3]


def line_around(text: str, start: int, end: int) -> tuple[int, int]:
    """The line that a span stands in, at most 1,000 characters to each side."""
    first = text.rfind("\n", max(0, start - 1000), start)
    last = text.find("\n", end, end + 1000)
    return (first + 1 if first >= 0 else max(0, start - 1000)), (last if last >= 0 else min(len(text), end + 1000))


Carrier = Callable[[str, Normal], Iterator[View]]
CARRIERS: tuple[Carrier, ...] = (invisible, unrendered, encoded)
# After these, each only where the words of the text tell what it looks for (`Told`).
DISGUISED: tuple[Carrier, ...] = (spaced_out, in_leet, turned)
