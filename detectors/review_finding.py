"""A fault of the code was told together with what puts it right: a review's finding, the agent's own or one handed in.

Two forms: an item of the agent's report that names a fault and, under a label, its fix; and a message of the person
that passes on a review's words, or names problem and fix, after which the agent changed files. Silent on: items
without a fix, plans and lists of work, wishes for more tests or words, and what the person turned down.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from detectors.agent_words import done_in, is_order
from detectors.evidence import has_person, is_edit, is_person, is_statement, lines_of, teaches, words_of
from detectors.person_words import rejects
from detectors.sentences import LITERAL, either, has_literal, sentences
from index.records import Episode, Session, Turn

LONGEST = 8000
LONGEST_QUOTED = 2000
LEAST_SHARED = 2
LEAST_KIN = 3
REACH_BACK = 24
REACH = 60
# A line broken within a sentence.
_WRAPPED = re.compile(r"(?<=[a-z,`]) {0,3}\n {0,3}(?=[a-z(`])")
_ITEM = re.compile(r"^(?:[-*•] |\d{1,3}[.)] |#{1,6} |\*\*)")
_FIX = re.compile(
    r"(?:^|[.;]\s+|\n)[ \t>*_-]{0,12}(?:(?:suggested|recommended|proposed|possible|minimal|required) )?"
    r"(?:fix(?: direction| suggestion| applied)?|remedy|solution|mitigation|recommendation)[*_]{0,2}\s?[:—–][*_]{0,2} ?"
    r"(?P<fix>\S[^\n]{14,600})",
    re.IGNORECASE,
)
_PROBLEM = re.compile(
    r"(?:^|\n)[ \t>*_-]{0,12}(?:problem|issue|bug|cause|root cause|finding)[*_]{0,2}\s?[:—–][*_]{0,2} ?"
    r"(?P<problem>\S[^\n]{14,600})",
    re.IGNORECASE,
)
# One of these stands in every label of a fix: most texts need no search.
_LABELS = ("fix", "remedy", "solution", "mitigation", "recommendation")
# How bad, before what: no part of what is wrong.
_SEVERITY = re.compile(
    r"^[\s*_\[(>#•-]{0,8}(?:\d{1,3}[.)]\s*)?[*_\[(]{0,3}(?:(?:severity|priority)[: ]{1,2})?"
    r"(?:critical|blocker|blocking|high|medium|low|major|minor|nit|important|P[0-3]|S[0-3])"
    r"(?: ?\([^)]{1,40}\))?(?: (?:severity|priority))?[\])*_]{0,3}(?:\s?[:—–-]\s?|\s+(?=\S))[*_]{0,2}\s*",
    re.IGNORECASE,
)
_GRADE = re.compile(r"(?m)^[\s*_\[(>#•-]{0,8}(?:critical|blocker|high|medium|low|major|minor|P[0-3])\b", re.IGNORECASE)
_REVIEW = either(r"""
    \bfeedback\b|\breview(?:er|ers|ed)?\b|\bcomments?\b|\bcode ?rabbit\b|\bcopilot\b|\bbugbot\b
    \bgreptile\b|\bsonar\w{0,6}\b
    \bfindings?\b|\bpointed out\b|\bsuggest(?:s|ed|ions?)\b|\bflagged\b|\breported\b
""")
_HARM = either(r"""
    (?<!you )(?<!we )(?<!i )\b(?:can|could|may|might) (?!you|we|i\b)\w{3,14}|\b(?:will|would) (?:\w+ )?(?:break|fail|crash|lose|leak|hang|never|throw|block|still)\b
    \b(?:inconsistent|incorrect(?:ly)?|wrong(?:ly)?|invalid|unsafe|insecure|vulnerab\w+|race condition|deadlock|duplicat\w+|redundant|ineffective|misleading|no-?op|unbounded|unhandled|unescaped|unvalidated|stale|brittle|bypass\w{0,3})\b
    \b(?:does|do|is|are|has|will)(?:n'?t| not)\b|\bnever\b|\bonly\b|\bleaks?\b|\bbreaks?\b|\bignores?\b|\bmiss(?:es|ed|ing)\b|\bfails?\b
    \bbecause\b|\bundefined\b|\bexclud\w+|\bdiscard\w+|\bdropp\w+|\bskip(?:s|ped)\b|\btoo (?:broad|narrow|early|late|loose|strict)\b|\binstead of\b|\balways\b|\bwithout\b
""")  # noqa: E501 - one alternative a line
_ADVICE = re.compile(
    r"^[\"'“(]?(?:please |i(?:'d| would) )?(?:consider|suggest|recommend)(?:ed|ing)?:? (?P<fix>\w{2,14}ing\b.{12,400})|"
    r"^[\"'“(]?(?:it |this |that |the [\w ]{2,40} )?should (?:instead |rather |also )?"
    r"(?P<should>(?!include|have|be )\w.{12,400})",
    re.IGNORECASE,
)
# "I got this feedback on x:", before the reviewer's own words.
_LEAD_IN = re.compile(
    r"^.{0,160}?\b(?:feedback|review|comments?|findings?|suggestions?|says?|said)\b.{0,120}?(?:[\"“]|: )(?=\S)",
    re.IGNORECASE,
)
# More tests, words or names are work to do, not something to know.
_MORE = re.compile(
    r"^(?:add|includ|writ|updat|document|renam|extend|expand|improv)\w*\b.{0,40}\b(?:tests?|cases?|coverage|documentation|"
    r"docs?|comments?|docstrings?|readme|note|assertions?|examples?|names?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, and what puts it right, as they were said."""

    problem: str
    fix: str


def detect(session: Session) -> Iterator[Episode]:
    """Each statement or message with at least one finding; the first three hold the gravest."""
    if not teaches(session):
        return
    for at, turn in enumerate(session.turns):
        if is_statement(turn) and reported(turn.text) and not _turned_down(session, at):
            reason = "the agent reported a fault and its fix"
            yield Episode("review_finding", session.key, lines_of(session, (at,)), (at,), reason)
        elif is_statement(turn) and addressed(turn.text) and not _turned_down(session, at):
            change = _changes_before(session, at, addressed(turn.text))
            if change:
                turns = tuple(sorted({at, *change}))
                reason = "the agent told a graded fault and what it changed for it"
                yield Episode("review_finding", session.key, lines_of(session, turns), turns, reason, None, change)
        elif is_person(turn) and has_person(session) and handed_in(turn.text):
            change = _changes_after(session, at, handed_in(turn.text))
            if change:
                turns = (at, *change)
                reason = "a review's finding was handed in and acted on"
                yield Episode("review_finding", session.key, lines_of(session, turns), turns, reason, None, change)


def reported(text: str) -> list[Finding]:
    """The items of a report that name a fault exactly, and its fix under a label."""
    if not any(word in text.lower() for word in _LABELS):
        return []
    found: list[Finding] = []
    for item in _items(text[:LONGEST]):
        fix = _FIX.search(item)
        if fix is None or not has_literal(item):
            continue
        said = sentences(item[: fix.start()], 12)
        heading = _SEVERITY.sub("", said[0]).strip(" *_:") if said else ""
        # What a heading leaves open, the sentence below it says.
        rest = next((one for one in said[1:] if has_literal(one)), "") if not has_literal(heading) else ""
        graded = bool(said) and _SEVERITY.match(said[0]) is not None
        problem = f"{heading.rstrip('.')}. {rest}".strip(". ") if rest else heading
        if len(problem) > 24 and (graded or _HARM.search(problem)) and not _MORE.match(fix["fix"]):
            found.append(Finding(problem, " ".join(fix["fix"].split())))
    return found


def addressed(text: str) -> list[Finding]:
    """The graded faults of a report that tells, further down, what was changed for them: fault and change, paired.

    They belong together where they share a name that one of them has in code, or three of their words.
    """
    if len(text) > LONGEST or not _GRADE.search(text):
        return []
    faults: list[str] = []
    changes: list[str] = []
    for item in _items(_joined(text)):
        said = sentences(item, 12)
        graded = _SEVERITY.match(item.lstrip("-*•# \t")) if said else None
        if graded is not None:
            fault = _SEVERITY.sub("", item.lstrip("-*•# \t").split("\n")[0]).strip(" *_:")
            if len(fault) > 24 and has_literal(fault) and _HARM.search(fault):
                faults.append(fault)
        else:
            changes += [one for one in said if has_literal(one) and done_in(one) and not _MORE.match(done_in(one))]
    found = []
    for fault in faults:
        best = max(changes, key=lambda change: _kinship(fault, change), default="")
        if best and _kinship(fault, best) >= LEAST_KIN:
            found.append(Finding(fault, best))
    return found


def _joined(text: str) -> str:
    """A text whose lines that end in a colon have their first two sub-items joined on to them."""
    lines: list[str] = []
    taken = 0
    for line in text.split("\n"):
        sub = re.match(r"^[ \t]{2,8}[-*•] (?P<item>\S.*)$", line)
        if sub and lines and taken < 2 and (lines[-1].rstrip().endswith(":") or taken):
            lines[-1] = f"{lines[-1].rstrip()}{' ' if not taken else ', '}{sub['item'].strip()}"
            taken += 1
            continue
        taken = 0
        lines.append(line)
    return "\n".join(lines)


def _kinship(fault: str, change: str) -> int:
    """How much a fault and a change speak of the same: three for a name in code, one for each other word."""
    code = {word for literal in LITERAL.findall(fault + change) for word in words_of(literal)}
    shared = {word.rstrip("s") for word in words_of(fault)} & {word.rstrip("s") for word in words_of(change)}
    return len(shared) + 2 * bool(shared & {word.rstrip("s") for word in code})


def handed_in(text: str) -> list[Finding]:
    """The findings in a person's message: a fault and its fix under labels, or a review's words with its advice."""
    if len(text) > LONGEST:
        return []
    text = _WRAPPED.sub(" ", text)
    problem, fix = _PROBLEM.search(text), _FIX.search(text)
    if problem is not None and fix is not None and problem.start() < fix.start():
        return [Finding(" ".join(problem["problem"].split()), " ".join(fix["fix"].split()))]
    quoted = len(text) <= LONGEST_QUOTED and _REVIEW.search(text) is not None
    said = sentences(text)
    found: list[Finding] = []
    for at, one in enumerate(said):
        words = _advised(one, quoted)
        before = [part for part in said[max(0, at - 3) : at] if _HARM.search(part) and not part.endswith("?")]
        if words and before and not _MORE.match(words):
            found.append(Finding(_LEAD_IN.sub("", before[0]).strip("\"'“ "), words.strip("\"'” ")))
    return found


def _advised(sentence: str, quoted: bool) -> str:
    """What a sentence says is the fix: under a label, or in a review's words (`quoted`) as advice; else ""."""
    label = _FIX.match(sentence)
    if label is not None or not quoted:
        return label["fix"] if label else ""
    advice = _ADVICE.match(sentence)
    if advice is not None:
        return advice["fix"] or advice["should"]
    return sentence if is_order(sentence) and has_literal(sentence) else ""


def _items(text: str) -> list[str]:
    """A report cut at its list items of the outermost level and at its paragraphs that open in bold."""
    parts: list[list[str]] = []
    for line in text.split("\n"):
        if _ITEM.match(line) or not parts:
            parts.append([])
        parts[-1].append(line)
    return ["\n".join(part) for part in parts]


def _turned_down(session: Session, at: int) -> bool:
    later = next((turn for turn in session.turns[at + 1 : at + REACH] if is_person(turn)), None)
    return later is not None and rejects(later.text)


def _changes_after(session: Session, at: int, findings: list[Finding]) -> tuple[int, ...]:
    """The edits for some findings, up to the person's next message, at most eight; none where a change was refused."""
    found: list[int] = []
    for later in range(at + 1, min(len(session.turns), at + REACH)):
        turn = session.turns[later]
        if is_person(turn) or len(found) == 8:
            break
        if turn.refused:
            return ()
        if is_edit(turn) and any(bears_on(one, turn) for one in findings):
            found.append(later)
    return tuple(found)


def _changes_before(session: Session, at: int, findings: list[Finding]) -> tuple[int, ...]:
    """The edits right before a report, since the person spoke, that bear on its findings; at most eight."""
    found: list[int] = []
    for before in range(at - 1, max(-1, at - 1 - REACH_BACK), -1):
        turn = session.turns[before]
        if is_person(turn) or turn.refused:
            break
        if is_edit(turn) and any(bears_on(one, turn) for one in findings):
            found.append(before)
    return tuple(sorted(found)[:8])


def bears_on(finding: Finding, edit: Turn) -> bool:
    """Whether an edit speaks of what a finding names: all words of one of its literals, else two of its plain words."""
    changed = "\n".join([edit.change[:8000], *edit.paths]).lower()
    told = f"{finding.problem}\n{finding.fix}"
    exact = [words for literal in LITERAL.findall(told) if (words := words_of(literal))]
    if exact:
        return any(all(word in changed for word in words) for words in exact)
    return sum(word.rstrip("s") in changed for word in words_of(told) if len(word) > 4) >= LEAST_SHARED
