"""Did a lesson help? What came of it in each session that it was given to, or that met its error without it.

The hooks note what they give, when and why (`.cache/given`); when a session's transcript is read, its failed turns are
searched for the lessons' error triggers. What was seen of a lesson in a session is a set of signs that only grows, kept
in `spool/effects/`, so that a session counts once however often or in however many parts it is read.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from index.changes import Change, Plan
from index.files import read_bytes
from index.frontmatter import edit_frontmatter
from index.plural import plural
from index.recall_db import plain_name
from index.records import Session, Solution, Turn
from index.signature import error_signature
from index.store import SPOOL, slug

EFFECTS = f"{SPOOL}/effects"
GIVEN = ".cache/given"
# The signs: it was given; its error came up before that (or it was not given at all); tools ran after it was given; its
# error came up after it was given.
SIGNS = ("given", "met", "went-on", "again")
SHORTEST = 12  # characters; a shorter error text is in too many outputs to be looked for word for word
SLACK = 1.0  # seconds by which a transcript may date the call that a hook answered later than the hook did


@dataclass(frozen=True, slots=True)
class Given:
    """A lesson that a hook gave to a session: when (seconds since 1970) and for which reason."""

    id: str
    kind: str
    time: float


@dataclass(frozen=True, slots=True)
class Effects:
    """What was seen of each lesson in one session; `day` is that of its end."""

    key: str
    day: str
    signs: Mapping[str, frozenset[str]]


@dataclass(slots=True)
class Tally:
    """In how many sessions a lesson was given, did its error not come again after that, did it come again, and did its
    error come up where the lesson was not given; `helped_on` is the last day it helped."""

    given: int = 0
    helped: int = 0
    again: int = 0
    without: int = 0
    helped_on: date | None = None


@dataclass(slots=True)
class Causes:
    """Which lessons declare an error that an output shows: word for word, or by its signature."""

    known: set[str] = field(default_factory=set)
    signatures: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    texts: dict[str, set[tuple[str, str]]] = field(default_factory=lambda: defaultdict(set))

    def add(self, solutions: Iterable[Solution]) -> None:
        """Know these solutions too."""
        for one in solutions:
            if one.id in self.known:
                continue
            self.known.add(one.id)
            for trigger in one.triggers.errors:
                if signature := error_signature(trigger):
                    self.signatures[signature].add(one.id)
                wanted = squeeze(trigger)
                if len(wanted) >= SHORTEST:
                    self.texts[wanted[:SHORTEST]].add((wanted, one.id))

    def of(self, output: str) -> frozenset[str]:
        """The ids of the lessons whose error an output shows."""
        found = set(self.signatures.get(error_signature(output), ()))
        text = squeeze(output)
        for at in range(len(text) - SHORTEST + 1):
            for wanted, identity in self.texts.get(text[at : at + SHORTEST], ()):
                if text.startswith(wanted, at) and stands_alone(text, at, wanted):
                    found.add(identity)
        return frozenset(found)


def squeeze(text: str) -> str:
    """A text in one case with single spaces."""
    return " ".join(text.casefold().split())


def stands_alone(text: str, at: int, wanted: str) -> bool:
    """Whether a part of a text is not a part of longer words."""
    end = at + len(wanted)
    before = at > 0 and text[at - 1].isalnum() and wanted[0].isalnum()
    behind = end < len(text) and text[end].isalnum() and wanted[-1].isalnum()
    return not before and not behind


def parse_given(text: str) -> tuple[Given, ...]:
    """What a session's note of the hooks lists; lines of another form are left out."""
    found = []
    for line in text.split("\n"):
        words = line.split(" ")
        if len(words) == 3 and len(words[0]) == 26 and words[2].isdigit():
            found.append(Given(words[0], words[1], float(words[2])))
    return tuple(found)


def read_given(root: Path, session: str) -> tuple[Given, ...]:
    """What the hooks gave to a session, by its id; nothing where no note is kept any more."""
    return parse_given((read_bytes(root / GIVEN / plain_name(session)) or b"").decode("utf-8", "replace"))


def find_signs(
    turns: Iterable[Turn],
    given: Iterable[Given],
    causes: Causes,
    after_line: int = 0,
    earlier: Mapping[str, frozenset[str]] | None = None,
) -> dict[str, frozenset[str]]:
    """The signs that the turns after a line show, added to the `earlier` ones of the same session.

    A lesson that is given before a call or an error reaches the agent only after it, so what counts as after is the
    turns that begin later. Where the turns bear no times nothing is said of before and after.
    """
    first: dict[str, float] = {}
    for one in given:
        first[one.id] = min(one.time, first.get(one.id, one.time))
    signs: dict[str, set[str]] = defaultdict(set, {key: set(value) for key, value in (earlier or {}).items()})
    for identity, known in list(signs.items()):
        if "given" in known:
            first.setdefault(identity, 0.0)
    time: float | None = None
    for turn in turns:
        time = turn.time.timestamp() if turn.time else time
        if turn.line <= after_line or turn.who != "tool" or time is None:
            continue
        for identity, moment in first.items():
            if time > moment + SLACK:
                signs[identity].add("went-on")
        for identity in causes.of(turn.text) if turn.outcome == "failed" else ():
            late = identity in first and time > first[identity] + SLACK
            signs[identity].add("again" if late else "met")
    for identity in first:
        signs[identity].add("given")
    return {identity: frozenset(found) for identity, found in signs.items()}


def outcome(signs: frozenset[str]) -> str:
    """What a session says of a lesson: "again", "helped", "given" (neither can be told), "without", or ""."""
    if "given" not in signs:
        return "without" if "met" in signs else ""
    if "again" in signs:
        return "again"
    return "helped" if {"met", "went-on"} <= signs else "given"


def effects_path(key: str) -> str:
    """Where what was seen in a session is kept, relative to the store."""
    agent, _, session = key.partition(":")
    return f"{EFFECTS}/{slug(agent)}-{slug(session)[:48]}-{hashlib.sha256(key.encode()).hexdigest()[:8]}.json"


def render_effects(effects: Effects) -> bytes:
    """The record of one session."""
    signs = {key: sorted(value, key=SIGNS.index) for key, value in sorted(effects.signs.items()) if value}
    return (json.dumps({"key": effects.key, "day": effects.day, "signs": signs}, indent=1) + "\n").encode()


def parse_effects(raw: bytes) -> Effects | None:
    """A session's record, None where it cannot be used."""
    try:
        values = json.loads(raw)
        signs = {str(key): frozenset(value) & frozenset(SIGNS) for key, value in values["signs"].items()}
        return Effects(str(values["key"]), str(values["day"]), signs)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def read_effects(root: Path) -> Iterator[Effects]:
    """The records of all sessions."""
    for path in sorted((root / EFFECTS).glob("*.json")):
        if (raw := read_bytes(path)) and (effects := parse_effects(raw)):
            yield effects


def plan_effects(
    root: Path,
    session: Session,
    given: Iterable[Given],
    causes: Causes,
    solutions: Mapping[str, Solution],
    mtimes: Mapping[str, int],
    after_line: int = 0,
) -> Plan:
    """Keep what a session's new turns say of lessons, and bring `helpful` and `harmful` of those up to date.

    All of it lands together or not at all. A lesson's own date stays: that it is counted is no evidence for it.
    """
    path = effects_path(session.key)
    before = read_bytes(root / path)
    earlier = parse_effects(before) if before else None
    old = earlier.signs if earlier else {}
    signs = find_signs(session.turns, given, causes, after_line, old)
    if signs == old:
        return Plan("effects")
    day = session.finished.date().isoformat() if session.finished else ""
    unit = f"effects {session.key}"
    record = render_effects(Effects(session.key, max(day, earlier.day if earlier else ""), signs))
    changes = [Change(path, before, record, f"what came of {plural(len(signs), 'lesson')}", unit)]
    for identity in sorted(signs):
        one = solutions.get(identity)
        now, was = outcome(signs[identity]), outcome(old.get(identity, frozenset()))
        helpful, harmful = ((now == which) - (was == which) for which in ("helped", "again"))
        if one is None or not (helpful or harmful):
            continue
        counts = {"helpful": max(0, one.helpful + helpful), "harmful": max(0, one.harmful + harmful)}
        text = edit_frontmatter(one.text, counts)
        why = f"{'helped' if now == 'helped' else 'its error came again'} in {session.key}"
        changes.append(Change(one.path, one.text.encode(), text.encode(), why, unit, mtimes.get(one.path)))
    return Plan("effects", tuple(changes))


def tally(effects: Iterable[Effects]) -> dict[str, Tally]:
    """What all sessions together say of each lesson, by id."""
    tallies: dict[str, Tally] = defaultdict(Tally)
    for one in effects:
        for identity, signs in one.signs.items():
            found = tallies[identity]
            said = Counter([outcome(signs)])
            found.given += "given" in signs
            found.helped += said["helped"]
            found.again += said["again"]
            found.without += said["without"]
            if said["helped"] and (day := parse_day(one.day)):
                found.helped_on = max(day, found.helped_on or day)
    return dict(tallies)


def parse_day(text: str) -> date | None:
    """An ISO day, None where it is none."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
