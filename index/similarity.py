"""What of a lesson's text counts when two lessons are compared, and how alike two texts are.

A body is cut into words; three neighbouring words are a shingle; likeness is the Jaccard index of the two sets of
shingles (Broder, "On the resemblance and containment of documents", 1997). Scripts that put no spaces between words
count character by character, so that three neighbouring characters are a shingle there.

What a template gives does not count: section headings (level two and below) and bold labels at the start of a line
(`**Why it matters:**`). Code fences and the title line do. `index.signatures` does the same on arrays of bytes; a
property test holds the two equal.
"""

from __future__ import annotations

import re

LABEL_LONGEST = 50  # bytes from the opening ** to the closing one; anything longer is a sentence in bold
VERSION = 1  # goes up whenever a text's shingles or their hashes change, so that stored signatures are made anew
_BOM = b"\xef\xbb\xbf"

# Characters that are words by themselves: Thai and Lao, Burmese, Khmer, kana, ideographs, Hangul, half-width kana.
# (Ranges are cut where the first two bytes of the UTF-8 form change: that is all that `index.signatures` looks at.)
_ALONE = "\u0e00-\u0eff\u1000-\u107f\u1780-\u17ff\u3040-\ufdff\ufe40-\ufeff\uff40-\uffff\U00020000-\U0010ffff"
# Not letters: Latin-1 signs, punctuation and symbols, ideographic and full-width punctuation, pictographs.
_SIGNS = "\u0080-\u00bf\u2000-\u2bff\u3000-\u303f\ufe00-\ufe3f\uff00-\uff3f\U0001f000-\U0001ffff"
_WORD = re.compile(rf"[{_ALONE}]|[^\x00-/:-@\[-^`{{-\x7f{_ALONE}{_SIGNS}]+")


def strip_front_matter(data: bytes) -> bytes:
    """The bytes of a markdown file below its front matter; all of them where there is none or it does not end."""
    data = data.removeprefix(_BOM)
    if not data.startswith((b"---\n", b"---\r\n")):
        return data
    at = data.find(b"\n---", 2)
    while at >= 0:
        end = data.find(b"\n", at + 4)
        line = data[at + 4 : end] if end >= 0 else data[at + 4 :]
        if not line.strip():
            return data[end + 1 :] if end >= 0 else b""
        at = data.find(b"\n---", at + 4)
    return data


def weigh(body: str) -> str:
    """The body without its section headings and leading bold labels; whole where nothing else would be left."""
    kept = "\n".join(_content(line) for line in body.split("\n"))
    return kept if _WORD.search(kept.lower()) else body


def words(body: str) -> list[str]:
    """The words that count, in order and lower case."""
    return _WORD.findall(weigh(_clean(body)).lower())


def normalise(body: str) -> str:
    """The words that count, one space between them: what texts are compared as."""
    return " ".join(words(body))


def shingles(body: str) -> frozenset[str]:
    """The set of three neighbouring words; one shorter shingle where there are only one or two words."""
    found = words(body)
    if len(found) < 3:
        return frozenset([" ".join(found)] if found else [])
    return frozenset(map(" ".join, zip(found, found[1:], found[2:], strict=False)))


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """Shared shingles over all shingles, 0 to 1; two empty sets share nothing (0)."""
    union = len(a | b)
    return len(a & b) / union if union else 0.0


def _clean(body: str) -> str:
    """The body as its UTF-8 bytes say it: a lone surrogate cannot be written, so it cannot count."""
    return body if body.isascii() else body.encode("utf-8", "replace").decode()


def _content(line: str) -> str:
    if line.startswith("##"):
        return ""
    start = 2 if line.startswith(("- ", "* ")) else 0
    if not line.startswith("**", start):
        return line
    end = line.find("**", start + 3)
    if end < 0 or len(line[start:end].encode()) > LABEL_LONGEST:
        return line
    return line[end + 2 :] if line[end - 1] == ":" or line[end + 2 : end + 3] == ":" else line
