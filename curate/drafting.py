"""Write a draft skill from solutions: their own statements, sorted into situation, steps, pitfalls and checks.

Nothing is added that no solution says: each statement is one of theirs, each said once, and what does not fit in the
body stands in references/lessons.md. So a draft loses nothing and invents nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from curate.improve import is_known, overlap
from curate.skills import plain, skill_name
from index.bullets import parse_bullets
from index.literals import differs
from index.records import IMPORTANCE_RANK, TRUST_RANK, Solution
from index.signature import error_signature

Section = Literal["lead", "when", "steps", "pitfalls", "verify"]
TITLES: dict[Section, str] = {"when": "When", "steps": "Steps", "pitfalls": "Pitfalls", "verify": "Verify"}
# Characters of each section in SKILL.md; together about 2,000 tokens, well below the 5,000 that the format advises.
BUDGET: dict[Section, int] = {"lead": 1600, "when": 1200, "steps": 3200, "pitfalls": 1800, "verify": 900}
MOST_TRIGGERS = 4
# Statements with so many words in common are held against each other for values that differ.
ALIKE = 0.5
MAX_LISTED = 300
MOST_TITLE = 90
MOST_NAME = 48
MOST_BRIEF = 80
NO_CHECK = "The sessions name no check; see for yourself that the steps had their effect."

_CODE = re.compile(r"`([^`\n]{6,400})`")
_QUOTED = re.compile(r'"([^"\n]{6,400})"')
_CODE_SPAN = re.compile(r"`[^`\n]{0,400}`?")
_CLAUSE = re.compile(r"; |: | (?:when|says|because|since|if|after|before) | [-–—] |, ")
# The two labels of a solution's form; any other bold words are part of what they stand in.
_LABEL = re.compile(r"\*\*(Why it matters|Why|Instead):?\*\*:?\s{0,4}", re.I)
_PLAIN_STARTS = frozenset(
    "a add after all always an and any as ask avoid before bare both call change check copy do each every export first "
    "for give if in install it keep let never no nothing on one only open pass pin prefer put read remove run set "
    "start that the then there this to turn two use wait when with without write you".split()
)
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]{1,8}(.{1,200})")
_FENCE = re.compile(r" {0,12}(`{3,}|~{3,})")
# What authors of lessons call their parts; the first word list that matches a heading or label decides.
_NAMED: tuple[tuple[Section, re.Pattern[str]], ...] = (
    ("verify", re.compile(r"\b(?:verif|check|test(?:s|ing|ed)?\b|confirm|acceptance)", re.I)),
    ("pitfalls", re.compile(r"\b(?:why|root cause|cause|pitfall|gotcha|caveat|trap|avoid|risk|warn|did(?:n.t| not) work"
                            r"|what didn|fail|matters|mistake)", re.I)),
    ("steps", re.compile(r"\b(?:instead|solution|fix|resolution|step|how|do\b|prevent|guidance|rule|approach|usage|"
                         r"recommend|practice|pattern|implementation|remedy|action)", re.I)),
    ("when", re.compile(r"\b(?:when|context|symptom|problem|situation|trigger|applies|scope|background)", re.I)),
)  # fmt: skip
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]{1,15}://[^\s<>\"'`)\]]{1,400}", re.I)
_SCRIPT = re.compile(r"\bscripts/[\w./-]{1,100}|\ballowed-tools\b|\bhooks?:", re.I)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a solution, and the part of a skill it belongs to."""

    section: Section
    text: str
    solution: str


@dataclass(frozen=True, slots=True)
class Written:
    """A draft's text: title, description, body, what did not fit, and which solution adds which statements."""

    title: str
    description: str
    body: str
    details: str
    adds: Mapping[str, tuple[str, ...]]
    disputed: tuple[tuple[str, str], ...] = ()


def order_solutions(solutions: Sequence[Solution]) -> list[Solution]:
    """The most trusted, important and certain first; the oldest of equals."""
    return sorted(
        solutions,
        key=lambda s: (-TRUST_RANK[s.trust], -IMPORTANCE_RANK[s.importance], -s.confidence, s.created, s.id),
    )


def section_of(name: str) -> Section | None:
    """The part of a skill that a heading or label names; None where it says nothing of the kind."""
    return next((section for section, pattern in _NAMED if pattern.search(name)), None)


def read_statements(solution: Solution) -> Iterator[Statement]:
    """The statements of a solution's body in order, each with its part: by heading or bold label, else the lead."""
    section: Section = "lead"
    for heading, block in _blocks(solution.body):
        if heading:
            section = section_of(heading) or "lead"
        for text in parse_bullets(block):
            label = _LABEL.match(text)
            if label:
                section = "steps" if label[1].lower() == "instead" else "pitfalls"
            said = _capital(text[label.end() :]) if label else text
            if said.strip():
                yield Statement(section, said.strip(), solution.id)


def _blocks(body: str) -> Iterator[tuple[str, str]]:
    """A body cut at its headings (those in code blocks are none): (heading or "", text below it)."""
    heading, fence = "", ""
    lines: list[str] = []
    for line in body.splitlines():
        opened = _FENCE.match(line)
        if fence:
            if opened and opened[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif opened:
            fence = opened[1]
        elif found := _HEADING.fullmatch(line):
            yield heading, "\n".join(lines)
            heading, lines = found[1], []
            continue
        lines.append(line)
    yield heading, "\n".join(lines)


def _capital(text: str) -> str:
    """A capital for a sentence that begins with a plain word; a command or name at the start stays as it is."""
    first = text.split(" ", 1)[0]
    return text[:1].upper() + text[1:] if first in _PLAIN_STARTS else text


def choose_statements(solutions: Sequence[Solution]) -> tuple[list[Statement], list[tuple[str, str]]]:
    """Every statement of the solutions once, and the pairs that differ only in a value: both stay, a person decides."""
    chosen: list[Statement] = []
    disputed: list[tuple[str, str]] = []
    for statement in (statement for solution in solutions for statement in read_statements(solution)):
        # In another part of the skill the same words say another thing: a fact is no step.
        peers = [other.text for other in chosen if other.section == statement.section]
        contrary = [
            other for other in peers if overlap(other, statement.text) >= ALIKE and differs(other, statement.text)
        ]
        disputed += [(other, statement.text) for other in contrary]
        if not is_known(statement.text, [other for other in peers if other not in contrary]):
            chosen.append(statement)
    return chosen, disputed


def write_draft(solutions: Sequence[Solution]) -> Written:
    """A draft skill from solutions about one thing; the same solutions give the same text."""
    ordered = order_solutions(solutions)
    statements, disputed = choose_statements(ordered)
    return arrange_draft(ordered, ordered[0].title, statements, statements, disputed)


def arrange_draft(
    ordered: Sequence[Solution],
    title: str,
    arranged: Sequence[Statement],
    chosen: Sequence[Statement],
    disputed: Sequence[tuple[str, str]],
) -> Written:
    """The draft's text with its statements as `arranged`; `chosen` are those that the solutions add, in their order."""
    title = short_title(plain(title))
    shown, left = _fit(arranged)
    triggers = _trigger_lines(ordered)
    checks = [f"The output no longer shows {_code(error)}." for error in _errors(ordered)]
    parts = [f"# {title}"]
    if lead := _texts(shown, "lead"):
        parts.append("\n\n".join(lead))
    for section, name in TITLES.items():
        extra = triggers if section == "when" else checks if section == "verify" else []
        items = [*extra, *_texts(shown, section)]
        if section == "verify" and not items:
            items = [NO_CHECK]
        if items:
            parts.append(f"## {name}\n\n{_list(items, numbered=section == 'steps')}")
    details = ""
    if left:
        parts.append(
            "Read `references/lessons.md` when this is not enough: it holds the rest of what the sessions noted."
        )
        details = f"# {title}: further notes\n\n{_list([statement.text for statement in left], numbered=False)}\n"
    adds = {
        solution.id: tuple(statement.text for statement in chosen if statement.solution == solution.id)
        for solution in ordered
    }
    return Written(title, _describe(title, ordered), "\n\n".join(parts) + "\n", details, adds, tuple(disputed))


def _texts(statements: Sequence[Statement], section: Section) -> list[str]:
    return [statement.text for statement in statements if statement.section == section]


def _fit(statements: Sequence[Statement]) -> tuple[list[Statement], list[Statement]]:
    """What fits into the sections' budgets, first come first served, and what is left for the details."""
    room = dict(BUDGET)
    shown, left = [], []
    for statement in statements:
        if len(statement.text) <= room[statement.section]:
            room[statement.section] -= len(statement.text)
            shown.append(statement)
        else:
            left.append(statement)
    return shown, left


def _all(solutions: Sequence[Solution], kind: Literal["paths", "commands", "errors"]) -> list[str]:
    found = (" ".join(text.split()) for solution in solutions for text in getattr(solution.triggers, kind))
    return [text for text in dict.fromkeys(found) if text][:MOST_TRIGGERS]


def _errors(solutions: Sequence[Solution]) -> list[str]:
    """The error texts of the triggers as the sessions quote them; a trigger itself has its values taken out."""
    quoted = {
        error_signature(found): found
        for solution in reversed(solutions)
        for pattern in (_QUOTED, _CODE)
        for found in pattern.findall(solution.body)
    }
    return list(dict.fromkeys(quoted.get(error_signature(error), error) for error in _all(solutions, "errors")))


def _brief(text: str) -> str:
    """The start of a text, cut between words: enough to know an error by."""
    return text if len(text) <= MOST_BRIEF else text[:MOST_BRIEF].rsplit(" ", 1)[0].rstrip(" ,:;(")


def short_title(title: str) -> str:
    """A title without its end mark; of one that is long or was cut, the first clause (marks inside code are none)."""
    title = title.rstrip(".")
    if len(title) <= MOST_TITLE and "…" not in title:
        return title
    return _first_clause(title)


def _first_clause(title: str) -> str:
    masked = _CODE_SPAN.sub(lambda match: "x" * len(match[0]), title)
    found = _CLAUSE.search(masked, 8)
    clause = title[: found.start()] if found else title
    return clause if len(clause.split()) > 1 else title


def draft_name(title: str) -> str:
    """A short name for a skill: its title's first clause, at most 48 characters, whole words."""
    name = skill_name(_first_clause(title))
    return name if len(name) <= MOST_NAME else name[: MOST_NAME + 1].rsplit("-", 1)[0]


def _trigger_lines(solutions: Sequence[Solution]) -> list[str]:
    return [
        *(f"The output shows {_code(error)}." for error in _errors(solutions)),
        *(f"You are about to run {_code(command)}." for command in _all(solutions, "commands")),
        *(f"You work on files that match {_code(path)}." for path in _all(solutions, "paths")),
    ]


def _code(text: str) -> str:
    """A code span that holds any text, by CommonMark's rule of a longer fence."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {text} {fence}" if longest else f"`{text}`"


def _list(items: Sequence[str], *, numbered: bool) -> str:
    lines = []
    for number, item in enumerate(items, 1):
        mark = f"{number}. " if numbered else "- "
        lines.append(mark + item.replace("\n", "\n" + " " * len(mark)))
    return "\n".join(lines)


def _describe(title: str, solutions: Sequence[Solution]) -> str:
    """When to use the skill, from its triggers, and its title; short, since every conversation pays for it."""
    situations = [
        *(f'when the output shows "{_brief(plain(error))}"' for error in _errors(solutions)[:2]),
        *(f"before running {plain(command)}" for command in _all(solutions, "commands")[:2]),
        *(f"when working on {plain(path)}" for path in _all(solutions, "paths")[:2]),
    ]
    if not situations:
        return plain(f"Use when this comes up: {title}.")[:MAX_LISTED]
    end = f": {title}."
    chosen = situations[:1]
    for situation in situations[1:]:
        if len(f"Use {', or '.join([*chosen, situation])}{end}") <= MAX_LISTED:
            chosen.append(situation)
    return plain(f"Use {', or '.join(chosen)}{end}")


def find_inventions(text: str, evidence: Sequence[str]) -> tuple[str, ...]:
    """Addresses, scripts, tool grants and hooks in a text that no piece of the evidence holds."""
    known = "\n".join(evidence)
    found = [match[0].rstrip(".,;:") for pattern in (_ADDRESS, _SCRIPT) for match in pattern.finditer(text)]
    return tuple(dict.fromkeys(item for item in found if item not in known))
