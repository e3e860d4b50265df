"""The words by which texts are compared and found: lower case, lightly stemmed, identifiers in parts, CJK in pairs.

Imports nothing, so that the recall hook and the builder of its database cut texts in exactly the same way.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

STOP = frozenset(
    "a an and any are as at be been but by can could did do does for from had has have he her his how i if in into is "
    "it its me my no not of on or our she so than that the their them then there these they this those to too us was "
    "we were what when where which while who why will with would you your".split()
)
LONGEST_WORD = 40


class Separators(dict[int, str]):
    """A table for str.translate that keeps letters and digits and turns everything else into a space; fills itself."""

    def __missing__(self, code: int) -> str:
        """Decide once for each character."""
        char = chr(code)
        kept = char if char.isalnum() else " "
        if is_cjk(code):
            kept = f" {char}\x00 "  # each such character alone; words_of pairs neighbours
        self[code] = kept
        return kept


def is_cjk(code: int) -> bool:
    """Whether a character belongs to a script written without spaces: kana, Han, Hangul, Thai and their neighbours."""
    return code >= 0x0E00 and (
        0x2E80 <= code <= 0x9FFF
        or 0xAC00 <= code <= 0xD7AF
        or 0xF900 <= code <= 0xFAFF
        or code >= 0x20000
        or code < 0x0F00
    )


TABLE = Separators()


def words_of(text: str) -> list[str]:
    """The words of a text in order, stop words and plain numbers left out.

    An identifier in camel case gives itself and its parts; a run of CJK characters its overlapping pairs.
    """
    found: list[str] = []
    before = ""  # the CJK character before this word, if there is one
    for word in text.translate(TABLE).split():
        parts = KNOWN.get(word)
        if parts is None and word[-1] == "\x00":
            if before and found and found[-1] == before:
                found.pop()  # it stood alone until now
            found.append(before + word[0])
            before = word[0]
            continue
        before = ""
        found += word_parts(word) if parts is None else parts
    return found


KNOWN: dict[str, tuple[str, ...]] = {}
MOST_KNOWN = 200_000


def word_parts(word: str) -> tuple[str, ...]:
    """What one word stands for; remembered, since the same words come again and again."""
    low = word.lower()
    parts: list[str] = []
    if not word.isdigit() and len(word) <= LONGEST_WORD:
        if low != word and not word.isupper() and word[1:] != low[1:]:
            parts = [stem(part) for part in camel_parts(word) if part not in STOP]
        if low not in STOP:
            parts.append(stem(low))
    if len(KNOWN) > MOST_KNOWN:
        KNOWN.clear()
    KNOWN[word] = tuple(parts)
    return KNOWN[word]


def camel_parts(word: str) -> list[str]:
    """The lower-cased parts of an identifier in camel case: HTTPServerError gives http, server, error."""
    parts: list[str] = []
    start = 0
    for at in range(1, len(word)):
        new = word[at].isupper() and (not word[at - 1].isupper() or (at + 1 < len(word) and word[at + 1].islower()))
        if new:
            parts.append(word[start:at].lower())
            start = at
    parts.append(word[start:].lower())
    return [part for part in parts if len(part) > 1]


def stem(word: str) -> str:
    """A word without the commonest English endings; the rest keeps four letters, so that short words stay apart."""
    if len(word) < 5 or not word.isascii():
        return word[:-1] if len(word) == 4 and word[-1] == "s" and word[-2] not in "su" else word
    for ending, put in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            kept = word[: len(word) - len(ending)] + put
            if ending in {"ing", "ed"} and len(kept) > 3 and kept[-1] == kept[-2] and kept[-1] not in "lsz":
                kept = kept[:-1]
            return kept.removesuffix("e") if len(kept) > 4 else kept
    return word.removesuffix("e") if len(word) > 5 else word


# Longest first; "ss" stays.
ENDINGS = (
    ("sses", "ss"), ("ations", "at"), ("ation", "at"), ("ities", "iti"), ("ments", "ment"), ("ings", ""), ("ies", "y"),
    ("ied", "y"), ("ing", ""), ("ss", "ss"), ("ers", "er"), ("ed", ""), ("us", "us"), ("is", "is"), ("es", "e"),
    ("s", ""),
)  # fmt: skip


def path_words(path: str) -> list[str]:
    """The words of a path's folders and name, without those that say only what kind of file it is."""
    name = path.replace("\\", "/").rpartition("/")[2]
    kind = name.rpartition(".")[2].lower() if "." in name.strip(".") else ""
    return [word for word in words_of(path.replace("_", " ")) if word != kind]


def in_order(items: "Iterable[str]") -> list[str]:
    """Each once, first occurrence first."""
    return list(dict.fromkeys(items))
