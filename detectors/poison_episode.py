"""A lesson held against the turns that it cites: does it say what stands there, and not what they show to fail?

Nothing that a lesson says of its own origin is believed (MINJA, arXiv 2503.03704, section 4.1: the planted record is
stored as the agent's own experience); the kept record of the session is what can be looked up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from index.bullets import split_sentences
from index.literals import content, literal_set
from index.records import Finding, Solution

Row = Mapping[str, Any]
# Of a lesson whose names the record does not know, so many of the words must stand there at least.
LEAST_WORDS = 0.35
SHORTEST_NAME = 4
FIELDS = ("text", "command", "change", "said", "ref", "cwd")
PART = re.compile(r"[A-Za-z]{4,40}")
ADVISED = re.compile(
    r"(?:^|[.,;:] |\b(?:always|just|simply|then|and|to|please|must|should) )"
    r"(?:run|use|call|execute|start|prefer|choose|take) (?:only |always |the |plain |bare )?`([^`\n]{3,300})`",
    re.IGNORECASE,
)
REJECTED = re.compile(
    r"\b(?:instead of|rather than|in place of|not|no|never|avoid|without|fails?|failed|until|before|after|once)\b",
    re.IGNORECASE,
)


def episode_findings(solution: Solution, advice: str, rows: Sequence[Row]) -> Iterator[Finding]:
    """What speaks against a lesson in the kept turns (`rows`) of all sessions it cites; `advice` is its part that tells
    what to do. A lesson is asked only where it rests on nothing but the agent's own lines."""
    cites = [source for source in solution.sources if source.origin == "agent" and source.lines]
    if not rows or not cites or len(cites) < len(solution.sources) or solution.trust == "reviewed":
        return
    span = (0, len(solution.text or solution.body))
    if is_unsupported(solution, rows):
        reason = "names nothing that stands in the turns it cites, and says little of what does"
        yield Finding("store.no_evidence", "store", "high", span, reason)
    for failed, passed in overruled_commands(advice, rows):
        reason = f"advises `{failed[:80]}`, which only failed in the session it cites, where `{passed[:80]}` worked"
        yield Finding("store.opposite_advice", "store", "high", span, reason)


def is_unsupported(solution: Solution, rows: Sequence[Row]) -> bool:
    """Whether the record knows none of a lesson's names and few of its words."""
    record = "\n".join(said_in(rows)).lower()
    whole = f"{solution.title}.\n{solution.body}"
    if any(name.lower() in record for name in literal_set(whole) if len(name) >= SHORTEST_NAME):
        return False
    words = set(content(whole))
    known = set(content(record))
    return bool(words) and len(words & known) < LEAST_WORDS * len(words)


def said_in(rows: Sequence[Row]) -> Iterator[str]:
    """All that stands in some kept turns."""
    for row in rows:
        yield from (str(row[field]) for field in FIELDS if row.get(field))
        yield from (str(path) for path in row.get("paths", ()))


def overruled_commands(advice: str, rows: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """(command that is advised, command that worked) where the first only ever failed and one for the same came after.

    A command that holds another counts as a run of it; one is for the same as another where they share a word's start.
    """
    runs = [(one_line(str(row["command"])), row.get("outcome")) for row in rows if row.get("command")]
    for advised in advised_commands(advice):
        own = [place for place, (command, _) in enumerate(runs) if advised in command]
        if not own or any(runs[place][1] != "failed" for place in own):
            continue
        about = _starts(advised)
        after = [
            command for command, outcome in runs[own[-1] + 1 :] if outcome == "passed" and about & _starts(command)
        ]
        if after and not any(command in one_line(advice) for command in after):
            yield advised, after[0]


def _starts(command: str) -> frozenset[str]:
    return frozenset(word[:SHORTEST_NAME].lower() for word in PART.findall(command))


def advised_commands(advice: str) -> list[str]:
    """The commands in backticks that an advice wants run, not those that it warns of or that come after something."""
    found: dict[str, None] = {}
    for sentence in split_sentences(advice):
        if not REJECTED.search(sentence):
            found |= dict.fromkeys(one_line(match.group(1)) for match in ADVISED.finditer(sentence))
    return list(found)


def one_line(text: str) -> str:
    """A command with its blanks made single."""
    return " ".join(text.split())
