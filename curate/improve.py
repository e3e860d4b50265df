"""Improve an existing skill: does it cover a pattern, what does it lack, and the text with that added."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

from curate.skills import Skill
from index.bullets import parse_bullets
from index.literals import differs

ADDED_HEADING = "## Learned from sessions"
# A statement is known when this share of its words stands in one statement, every code span too, and the two are about
# one thing: the other has at most twice its words ("Run `x`." is not said by "The suite needs what `x` starts.").
KNOWN_SHARE = 0.8
LEAST_SHARE = 0.5
# A skill covers a pattern when its name and description hold this share of the title's words and it names a trigger or
# makes a statement of the pattern; half of the words do where it does both.
TITLE_SHARE = 0.6
HALF = 0.5
_WORD = re.compile(r"[^\W_][\w.+#-]{2,60}")
_CODE = re.compile(r"`([^`\n]{1,200})`")
_STOP = frozenset(
    "the and for with that this from when then are was were has have had not but can will use used using its into "
    "after before because does did run runs running needs need must should".split()
)


def words(text: str) -> frozenset[str]:
    """The content words of a text, lower case."""
    found = (word.strip(".-").lower() for word in _WORD.findall(text))
    return frozenset(word for word in found if len(word) > 2) - _STOP


def is_known(statement: str, known: Sequence[str]) -> bool:
    """Whether one of the known statements says it: the same code spans, nearly all of its words, no other value."""
    wanted, codes = words(statement), set(_CODE.findall(statement))
    for other in known:
        if codes <= set(_CODE.findall(other)):
            theirs = words(other)
            common = len(wanted & theirs)
            close = common >= KNOWN_SHARE * len(wanted) and common >= LEAST_SHARE * len(theirs)
            if close and not differs(other, statement):
                return True
    return False


def overlap(a: str, b: str) -> float:
    """The share of their words that two statements have in common, 0 to 1 (Jaccard)."""
    of_a, of_b = words(a), words(b)
    return len(of_a & of_b) / len(of_a | of_b) if of_a or of_b else 0.0


def missing_statements(body: str, statements: Iterable[str]) -> tuple[str, ...]:
    """The statements that a skill's body does not make, each once."""
    known = list(parse_bullets(body))
    missing: list[str] = []
    for statement in statements:
        if not is_known(statement, [*known, *missing]):
            missing.append(statement)
    return tuple(missing)


def covering_skill(
    title: str, statements: Sequence[str], triggers: Sequence[str], skills: Iterable[Skill]
) -> Skill | None:
    """The existing skill about the same thing, if there is one; tags and single words never suffice."""
    wanted = words(title)
    if len(wanted) < 2:
        return None
    best: tuple[float, Skill] | None = None
    for skill in skills:
        listed = words(f"{skill.name.replace('-', ' ')} {skill.description}")
        share = len(wanted & listed) / len(wanted)
        if share < HALF:
            continue
        whole = f"{skill.description}\n{skill.body}".lower()
        named = any(len(trigger) > 5 and trigger.lower() in whole for trigger in triggers)
        said = any(is_known(statement, parse_bullets(skill.body)) for statement in statements)
        covers = (share >= TITLE_SHARE and (named or said)) or (share >= HALF and named and said)
        if covers and (best is None or share > best[0]):
            best = (share, skill)
    return best[1] if best else None


def improved_text(text: str, body: str) -> str:
    """A skill's file with the statements of `body` that it lacks added at its end; every other byte stays."""
    missing = missing_statements(text, parse_bullets(body))
    if not missing:
        return text
    heading = "" if ADDED_HEADING in text.splitlines() else f"\n{ADDED_HEADING}\n\n"
    added = heading + "".join(f"- {_item(statement)}\n" for statement in missing)
    end = "\r\n" if "\r\n" in text else "\n"
    return text.rstrip() + end + added.replace("\n", end)


def _item(statement: str) -> str:
    return statement.replace("\n", "\n  ")


def render_diff(before: str, after: str, name: str) -> str:
    """The unified diff between two texts of one skill."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), f"{name} now", f"{name} proposed", lineterm=""
    )
    return "\n".join(lines)
