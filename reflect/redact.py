"""Secrets out of a text and out of a session, each replaced by a mark that tells its kind and not its value.

A mark reads `[redacted:password]`, the second different value of a kind in a session `[redacted:password:2]`: equal
values bear equal marks and a lesson stays readable. The number counts, it is not computed from the value: a hash, keyed
or not, is a handle for guessing a weak password, and would make two sessions that show the same failure with two keys
look like two lessons.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from detectors.secrets import MARK, Secret, find_secrets
from detectors.secrets.shapes import is_identifier
from index.records import Problem, Session, Turn
from index.settings import RedactSettings

# Found once by its place (`DB_PASSWORD=...`), a value is taken out wherever else it stands, unless it is a plain word.
_REPEATED_LEAST = 6


@dataclass(slots=True)
class Marks:
    """The marks given out so far in one run over related texts: the number of each value within its kind."""

    numbers: dict[str, dict[str, int]] = field(default_factory=dict)
    taken: Counter[str] = field(default_factory=Counter)

    def reserve(self, text: str) -> None:
        """Leave out the numbers that marks in the text already bear."""
        for match in MARK.finditer(text) if "[redacted:" in text else ():
            kind, _, number = match[0][len("[redacted:") : -1].partition(":")
            self.taken[kind] = max(self.taken[kind], int(number or 1))

    def mark(self, kind: str, value: str) -> str:
        """The mark of a value: the same for the same value, the next number for a new one."""
        known = self.numbers.setdefault(kind, {})
        if value not in known:
            self.taken[kind] += 1
            known[value] = self.taken[kind]
        number = known[value]
        return f"[redacted:{kind}]" if number == 1 else f"[redacted:{kind}:{number}]"


def redact_text(text: str, settings: RedactSettings, marks: Marks | None = None) -> tuple[str, Counter[str]]:
    """The text without its secrets, and how many of each kind were taken out. Redacting the result changes nothing.

    It looks again until nothing is found: a value that went may have hidden another. Every round leaves less text
    outside of marks, so it ends. `marks` carries the numbering over several texts.
    """
    if marks is None:
        marks = Marks()
        marks.reserve(text)
    counts: Counter[str] = Counter()
    while found := find_secrets(text, settings.personal_data):
        counts.update(secret.kind for secret in found)
        text = _replaced(text, found, marks)
    return text, counts


def _replaced(text: str, found: Iterable[Secret], marks: Marks) -> str:
    pieces, last = [], 0
    for secret in found:
        start, end = secret.span
        pieces.append(text[last:start])
        pieces.append("~" if secret.kind == "home" else marks.mark(secret.kind, text[start:end]))
        last = end
    return "".join([*pieces, text[last:]])


def redact_session(session: Session, settings: RedactSettings) -> tuple[Session, Counter[str]]:
    """The session with every text of every turn redacted, and how many secrets of each kind were taken out.

    A value that its place gives away once is taken out everywhere in the session, also as JSON or URL writes it. This
    comes before anything of a session is stored, shown or sent.
    """
    marks = Marks()
    for text in _texts(session):
        marks.reserve(text)
    counts: Counter[str] = Counter()
    seen: dict[str, tuple[str, Counter[str]]] = {}  # paths, folders and commands come again and again

    def clean(text: str) -> str:
        if text not in seen:
            seen[text] = redact_text(text, settings, marks)
        text, found = seen[text]
        counts.update(found)
        return text

    redacted = map_texts(session, clean)
    known = _known_values(marks)

    def clean_known(text: str) -> str:
        for value in known:
            if any(form in text for form in value.forms):
                text, times = value.pattern.subn(marks.mark(value.kind, value.value), text)
                counts[value.kind] += times
        return text

    return map_texts(redacted, clean_known) if known else redacted, +counts


@dataclass(frozen=True, slots=True)
class _Known:
    """A value that was found, and the forms in which it may stand elsewhere."""

    value: str
    kind: str
    forms: tuple[str, ...]
    pattern: re.Pattern[str]


def _known_values(marks: Marks) -> list[_Known]:
    """The values found that are told from ordinary words, the longest first."""
    values = sorted(
        ((value, kind) for kind, numbers in marks.numbers.items() for value in numbers if _is_telling(kind, value)),
        key=lambda item: (-len(item[0]), item),
    )
    return [_known(value, kind) for value, kind in values]


def _is_telling(kind: str, value: str) -> bool:
    if kind in {"private", "embedded-file"} or len(value) < _REPEATED_LEAST or "\n" in value:
        return False
    return not is_identifier(value) or len(value) > 20


def _known(value: str, kind: str) -> _Known:
    written = {value, json.dumps(value)[1:-1], quote(value, safe="")}
    forms = tuple(sorted(written, key=lambda form: (-len(form), form)))
    either = "|".join(map(re.escape, forms))
    return _Known(value, kind, forms, re.compile(rf"(?<![A-Za-z0-9])(?:{either})(?![A-Za-z0-9])"))


def _texts(session: Session) -> Iterator[str]:
    for turn in session.turns:
        yield from (turn.text, turn.command, turn.change, turn.said, turn.ref, turn.cwd, *turn.paths)


def map_texts(session: Session, clean: Callable[[str], str]) -> Session:
    """The session with every text that was said or done in it replaced by what `clean` makes of it."""
    return replace(
        session,
        turns=tuple(_mapped_turn(turn, clean) for turn in session.turns),
        problems=tuple(_mapped_problem(problem, clean) for problem in session.problems),
        project=clean(session.project),
        cwd=clean(session.cwd),
        branch=clean(session.branch),
    )


def _mapped_turn(turn: Turn, clean: Callable[[str], str]) -> Turn:
    return replace(
        turn,
        text=clean(turn.text),
        command=clean(turn.command),
        change=clean(turn.change),
        said=clean(turn.said),
        ref=clean(turn.ref),
        cwd=clean(turn.cwd),
        paths=tuple(clean(path) for path in turn.paths),
    )


def _mapped_problem(problem: Problem, clean: Callable[[str], str]) -> Problem:
    return replace(problem, reason=clean(problem.reason))
