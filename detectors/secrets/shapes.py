"""What a value looks like: a placeholder, a reference in code, an ordinary id or hash, or something random."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise

_LOOK = 200  # characters of a value that are looked at: enough to tell, and long runs cost no more than short ones
MARK = re.compile(r"\[redacted:[a-z0-9-]{1,40}(?::\d{1,6})?\]")
"""The mark that redaction leaves: the kind of what stood there, and which one of its kind it was."""

# Words that people write where a secret would stand. A value made of nothing else is no secret.
_PLACEHOLDER_WORDS = frozenset(
    """a access admin an and any api app apikey auth authorization bar basic baz bearer change changed changeit changeme
    client code credential credentials data db default demo dev development django dummy empty enter example fake false
    file foo for from generate generated goes guest hash hello hello here hidden in input insecure insert invalid is it
    jwt key keys local localhost me mock my mysecret mytoken name new nil no none not null of old only or pass password
    passwd passphrase paste path placeholder postgres postgresql private prod production provide pw pwd random real
    redacted redis replace required root sample secret secrets secretkey server session set some something string strong
    super supersecret test tested testing tests text that the this to todo token tokens true type undefined unset
    update use user username valid value variable via with world wrong xxx xyz you your yours""".split()
)
_PLACEHOLDER_PARTS = (
    "your_", "your-", "yourapi", "yourkey", "yoursecret", "yourtoken", "example", "placeholder", "changeme",
    "change_me", "change-me", "replace_", "replace-", "insert_", "insert-", "redacted", "xxxx", "***", "....", "\u2026",
    "____", "----", "omitted", "masked",
)  # fmt: skip
_TEMPLATE = re.compile(
    r"\A\$[A-Za-z_]\w{0,80}(?:\Z|[.:/}\])[])|\$\{[^{}]{1,80}(?:\}|\Z)|\A\$\(|\{\{.{1,80}\}\}"
    r"|<[A-Za-z][\w .:/-]{0,60}>|<\Z"
    r"|%[A-Z_]{2,60}%|\A%\(?[a-z_]{0,30}\)?[sdrqv]\Z|#\{[^{}]{1,80}\}|\{[A-Za-z_][\w.\[\]!:'\"()-]{0,80}\}"
    r"|\A@[A-Za-z_]{1,60}@\Z|\A\[[A-Z_ ]{3,40}\]\Z"
)
_POINTER = re.compile(r"(?:env|ENV|secrets?|vault|op|ssm|vars|keyring|keychain|file)(?::|\.[A-Za-z_])")
_REFERENCE = re.compile(
    r"[A-Za-z_$][\w$]{0,80}(?:\??\.[A-Za-z_$]|\(|\[|->|::|<)|(?:None|null|nil|undefined|True|False|true|false)\b"
)
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z_$-]{0,120}\d{0,3}\Z")
_WORDS = re.compile(r"[A-Za-z]+|\d+")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?![0-9a-fA-F])")
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]+\Z")
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}\Z")
_CHECKSUM = re.compile(r"(?:sha(?:1|224|256|384|512)|md5|h1|blake\w{0,4})[-:=]", re.IGNORECASE)
_CONSONANTS = re.compile(r"[b-df-hj-np-tv-z]{7}", re.IGNORECASE)
_SMALL_HUMP = re.compile(r"[A-Z][a-z](?=[A-Z])")
_HASH_LENGTHS = frozenset({7, 8, 10, 12, 16, 32, 40, 56, 64, 96, 128})
_SEQUENCES = ("0123456789", "1234567890", "abcdefghij", "9876543210", "0123456789abcdef", "qwertyuiop")


def is_placeholder(value: str, password: bool = False) -> bool:
    """Whether a value only stands in for a secret: `<YOUR_KEY>`, `xxxx`, `$TOKEN`, `${{ secrets.X }}`, our own mark.

    A `password` made of such words counts as one only without a digit or a sign: people do use `Secret123!`.
    """
    bare = value[:_LOOK].strip("\"'`\\ \t,;")
    if not bare or bare.startswith("[redacted") or _TEMPLATE.search(bare) or _POINTER.match(bare):
        return True
    low = bare.lower()
    if any(part in low for part in _PLACEHOLDER_PARTS) or len(set(low.strip("-_"))) <= 2:
        return True
    if password:
        return is_worded(bare) and re.sub(r"[-_ .]", "", bare).isalpha()
    return is_worded(bare) or is_filler(low)


def is_worded(value: str) -> bool:
    """Whether a value is made of placeholder words and at most three digits in a row, such as `my-secret-key-1`."""
    if len(value) > _LOOK:
        return False
    pieces = _WORDS.findall(value)
    words = [piece.lower() for piece in pieces if not piece.isdigit()]
    if not words or any(piece.isdigit() and len(piece) > 3 for piece in pieces):
        return False
    return sum(map(len, pieces)) >= len(value) * 0.7 and all(_is_worded(word) for word in words)


def _is_worded(word: str) -> bool:
    if word in _PLACEHOLDER_WORDS:
        return True
    cuts = range(3, len(word) - 2)
    return any(word[:cut] in _PLACEHOLDER_WORDS and word[cut:] in _PLACEHOLDER_WORDS for cut in cuts)


def is_filler(value: str) -> bool:
    """Whether half of a value or more is a keyboard sequence or one character: the false keys of documents."""
    low = value.lower()
    longest = max((len(seq) for seq in _SEQUENCES if seq in low), default=0)
    most = Counter(low).most_common(1)[0][1] if low else 0
    return (longest + (10 if low.count("1234567890") > 1 else 0)) * 2 >= len(low) or most * 2 > len(low)


def is_reference(value: str) -> bool:
    """Whether an unquoted value is code that fetches a secret: `os.environ[...]`, `config.token`, `get()`."""
    return bool(_REFERENCE.match(value))


def is_identifier(value: str) -> bool:
    """Whether a value reads as a name of code or a word: letters, `_`, `-`, and at most three digits at its end."""
    return bool(_IDENTIFIER.match(value)) and not is_random(value, 16)


def is_ordinary(value: str) -> bool:
    """Whether a value is a hash, UUID, ULID, checksum, version, path or address, none of which is secret by itself."""
    uuid = _UUID.search(value)
    if uuid:
        return not is_random(value[: uuid.start()] + value[uuid.end() :], 8)
    if _ULID.match(value) or _CHECKSUM.match(value):
        return True
    if _HEX.match(value):
        return len(value.removeprefix("0x")) in _HASH_LENGTHS or value.isdigit()
    return is_path(value)


def is_path(value: str) -> bool:
    """Whether a value is a file path or an address: names between slashes, none of them random."""
    value = value[:_LOOK]
    if "://" in value:
        return True
    pieces = value.split("/")
    if value.startswith(("/", "./", "../", "~/")):
        return not any(is_random(piece, 8) for piece in pieces)
    return len(pieces) > 1 and all(not piece or is_identifier(piece.replace(".", "")) for piece in pieces)


def is_strong(value: str) -> bool:
    """Whether a text can hardly be a word: eight characters or more of three kinds, a digit among them."""
    held = [any(map(kind, value)) for kind in (str.islower, str.isupper, str.isdigit)]
    held.append(not value.isalnum())
    return len(value) >= 8 and held[2] and sum(held) >= 3 and not is_path(value) and not is_ordinary(value)


def entropy(value: str) -> float:
    """Shannon's entropy of the characters, in bits per character."""
    counts = Counter(value).values()
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts)


def is_random(value: str, least: int = 12) -> bool:
    """Whether a value looks drawn at random: letters and digits in close turns, not the words of a name or a path.

    A random base-62 string changes between lower case, upper case and digits at 0.6 of its steps, base 36 at 0.4, hex
    at 0.47; names and versions below 0.2. `least` is the shortest length that counts, in characters.
    """
    value = value[:_LOOK]
    letters = [c for c in value if c.isalnum()]
    if len(letters) < least or entropy(value) < 2.8:
        return False
    kinds = [0 if c.isdigit() else 1 if c.islower() else 2 for c in letters]
    digits = kinds.count(0)
    turns = sum(a != b for a, b in pairwise(kinds)) / len(kinds)
    single = len(letters) >= 20 and value.isalnum() and (value.isupper() or value.islower())
    if digits >= 2 and turns >= (0.12 if single else 0.2):
        return True
    if len(letters) < 16:
        return False
    if value.isupper() or value.islower():
        return _CONSONANTS.search(value) is not None
    # Upper case that stands in twos, or in humps of one or two letters: camel case seldom has it, random text always.
    uneven = sum(a == b == 2 for a, b in pairwise(kinds)) + len(_SMALL_HUMP.findall(value))
    return digits < 2 and turns >= 0.3 and uneven >= 3
