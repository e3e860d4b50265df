"""Secrets that run on over a line's end, or are put together from two string literals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from detectors.secrets.places import Hit
from detectors.secrets.plugins import find_by_plugins
from detectors.secrets.shapes import is_ordinary, is_random
from detectors.secrets.tokens import RULES, find_tokens

_NL = r"(?:\r?\n|(?:\\{1,3}r)?\\{1,3}n)"
_QUOTE = r"\\{0,3}[\"']"
_RUN_CLASS = r"[A-Za-z0-9_\-+/=.~:$%]"
# Explicit: two literals side by side or with `+` or `.` between them, or a shell's `\` before the line's end.
_JOIN = rf"{_QUOTE}[ \t]{{0,4}}[+.&]?[ \t]{{0,4}}\\?{_NL}?[ \t]{{0,60}}[+.&]?[ \t]{{0,4}}{_QUOTE}|\\{_NL}[ \t]{{0,60}}"
_GAP = rf"(?:(?P<join>{_JOIN})|{_NL}[ \t|>#*]{{0,60}})"
_EXPLICIT = re.compile(_JOIN)
_NEXT_GAP = re.compile(_GAP)
_RUN = re.compile(rf"{_RUN_CLASS}{{1,2000}}+")
_SEAM = re.compile(rf"(?<!{_RUN_CLASS})(?P<left>{_RUN_CLASS}{{3,2000}}+){_GAP}(?={_RUN_CLASS}{{4}})")
_WORDLIKE = re.compile(r"[A-Z]?[a-z]{2,}(?:[A-Z][a-z]{2,}){0,6}\d{0,3}|[A-Za-z]\d{0,3}|[A-Z]{2,9}\d{0,3}|\d{1,20}")
_LINE_ENDS = ("", "\n", "\r", "\\", '"', "'", ",")
_PREFIX = re.compile(
    "|".join(re.escape(prefix) for rule in RULES for prefix in rule.prefixes) + r"|:AA|\dQ~|-us\d|\.[\w-]{6}\."
)


def find_wrapped(text: str) -> Iterator[Hit]:
    """Tokens of a known form that lie in pieces, taken whole: the pieces are joined and looked at as one.

    Literals put together always join. A plain line end joins when only the joined text is a token, or when the next
    line begins with a scrap that is no word; a hash or an id below a token that is whole without it stays.
    """
    done = 0
    for seam in _SEAM.finditer(text):
        if seam.start() < done:
            continue
        pieces = _pieces(text, seam)
        done = pieces[-1][0]
        if len(pieces) > 1:
            yield from _crossing(text, pieces)


def joined_end(text: str, end: int) -> int:
    """Where a value that ends here ends, with the string literals and continued lines that are joined to it."""
    for _ in range(60):
        gap = _EXPLICIT.match(text, end)
        run = _RUN.match(text, gap.end()) if gap else None
        if run is None or not is_random(run[0], 8):
            break
        end = run.end()
    return end


def _pieces(text: str, seam: re.Match[str]) -> list[tuple[int, int]]:
    """The spans of the runs that belong together, from the seam's left on."""
    pieces, left = [seam.span("left")], seam["left"]
    gap: re.Match[str] | None = seam
    while gap and len(pieces) < 60:
        run = _RUN.match(text, gap.end())
        if run is None or not (gap["join"] or _goes_on(left, run[0], text[run.end() : run.end() + 1])):
            break
        pieces.append(run.span())
        left += run[0]
        gap = _NEXT_GAP.match(text, run.end())
    return pieces


def _goes_on(left: str, run: str, after: str) -> bool:
    """Whether a wrapped line's run, with `after` behind it, may be the rest of what stands before it."""
    if not _PREFIX.search(left + run):
        return False
    if any(_tokens(left)):
        return _is_scrap(run) and after in _LINE_ENDS and not (is_ordinary(run) and len(run) > 24)
    return any(_tokens(left + run)) or _is_scrap(run)


def _is_scrap(run: str) -> bool:
    """Whether a short run is no word or name: case and digits change within it as they do in none of these."""
    pieces = [piece for piece in re.split(r"[-_./:=+~$%]", run) if piece]
    return len(run) >= 4 and not all(_WORDLIKE.fullmatch(piece) for piece in pieces)


def _tokens(text: str) -> Iterator[Hit]:
    return chain(find_tokens(text), find_by_plugins(text))


def _crossing(text: str, pieces: list[tuple[int, int]]) -> Iterator[Hit]:
    joined, offsets = "", []
    for start, end in pieces:
        offsets.append((len(joined), start))
        joined += text[start:end]
    for kind, start, end in _tokens(joined):
        first = max(pair for pair in offsets if pair[0] <= start)
        last = max(pair for pair in offsets if pair[0] < end)
        if first != last:
            yield kind, first[1] + start - first[0], last[1] + end - last[0]
