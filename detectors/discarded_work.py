"""Uncommitted work was thrown away, or nearly: a stash dropped after its pop had been refused, a refused checkout.

Nobody says so in such a session; the commands do. Silent on drops after a pop that went through, and on stashes that
are listed and kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from detectors.evidence import is_shell, lines_of, teaches
from index.records import Episode, Session

_POP = re.compile(r"\bgit (?:-C \S{1,200} )?stash (?:pop|apply)\b")
_DROP = re.compile(r"\bgit (?:-C \S{1,200} )?stash (?:drop|clear)\b")
_REFUSED_POP = re.compile(
    r"would be overwritten by merge|The stash entry is kept in case you need it again|CONFLICT \(|"
    r"already exists, no checkout",
)
REACH = 30


def detect(session: Session) -> Iterator[Episode]:
    """Each drop of a stash that was the only copy of what its refused pop would have brought back."""
    if not teaches(session):
        return
    for at, turn in enumerate(session.turns):
        if not is_shell(turn) or not _POP.search(turn.command) or not _REFUSED_POP.search(turn.text):
            continue
        for later in range(at + 1, min(len(session.turns), at + REACH)):
            after = session.turns[later]
            if is_shell(after) and _POP.search(after.command) and not _REFUSED_POP.search(after.text):
                break
            if is_shell(after) and after.outcome == "passed" and _DROP.search(after.command):
                turns = (at, later)
                reason = "a stash was dropped after git had refused to bring it back"
                yield Episode("discarded_work", session.key, lines_of(session, turns), turns, reason, at, (later,))
                break
