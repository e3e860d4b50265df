"""A command waited for an answer that nobody gave; later it, or another one, went through without asking.

Silent on: passwords and passphrases, which are no matter of options, programs that the person answers, and questions
that no later command was spared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from detectors.evidence import (
    PROGRAM_TEXT,
    check_in_common,
    is_person,
    is_shell,
    is_statement,
    lines_of,
    teaches,
)
from detectors.sentences import either
from index.records import Episode, Session, Turn
from index.signature import command_parts, split_lines

REACH = 14
# How many of an output's last lines may hold the question that it stopped at.
TAIL = 6
LONGEST_TAIL = 1200
LONGEST = 20_000
_SECRET = re.compile(r"passw|passphrase|secret|token|\bPIN\b|verification code|one-time", re.IGNORECASE)
# What only a person is asked: a line that ends in an open question, or in the marks of a menu.
_QUESTION = either(r"""
    [\[(](?:y(?:es)?\s?/\s?n(?:o)?|n\s?/\s?y)(?:/[^\])]{1,24})?[\])]
    \?\s?\(y\)|\?\s?\[(?:no|yes|n|y)\]:?|^\W{0,3}\? .{3,}|\? › |\(use (?:the )?arrow keys|^\s*❯ .{2,}|^\(END\)$
    \bpress (?:any key|enter|return|\^C)\b|\bOk to proceed\b|\bdo you want to (?:continue|proceed)\b
    \bare you sure\b.{0,80}\?|\b(?:overwrite|replace|proceed|continue)\b[^.!]{0,80}\? ?$
    ^(?:please )?(?:enter|choose|select|type|pick) .{3,80}: ?$|^package name: \(
    \bselect (?:a|an|one|the)\b.{0,40}: ?$
""")
# What a program says that will not ask where nobody can answer.
_NOBODY = either(r"""
    \bnon-?interactive(?:ly)?\b|\bnot (?:running )?interactive(?:ly)?\b|\b(?:stdin|stdout|input device|input) is not a (?:tty|terminal)\b
    \bnot a tty\b|\bno tty\b|\brequires? (?:an? )?(?:tty|terminal|interactive)\b|\bproblem with the editor\b|terminal prompts disabled
    \bto (?:proceed|confirm|continue), (?:please )?(?:type|enter|re-?run|pass|use)\b|\bre-?run (?:this|the|your)? ?command with `?--?\w
    \binput is disabled\b|\bterminal is dumb\b|\bcannot (?:prompt|ask)\b|\binteractive (?:mode|prompt|input) (?:is )?(?:not|required)
""")  # noqa: E501 - one alternative a line
# How an agent says that a command stopped to ask.
WAITS = either(r"""
    \binteractiv\w*|\bwait(?:s|ing|ed)? (?:for|on) .{0,40}(?:input|answer|confirm|respon|prompt|key|user|editor)
    \bprompt(?:s|ed|ing)?\b|\basks? (?:for|questions?|whether|me|you)\b|\bpager\b|\beditor\b|\bconfirmation\b|\bhang(?:s|ing)?\b|\btty\b
    \bterminal\b|交互|等待输入|対話|入力待ち|대화형
""")  # noqa: E501 - one alternative a line
_UNATTENDED = re.compile(
    r"^(?:-y|-f|--yes|--force|--assume-?yes|--no-?input|--non-?interactive|--no-?interaction|--batch|--default(?:s|-yes)?|"
    r"--fill(?:-first|-verbose)?|--no-?pager|--no-?edit|--auto-?approve|--no-?prompt|--no-?confirm|--skip-[\w-]+|"
    r"--accept-[\w-]+|--confirm|--quiet|-q|-m|--message|--title|--body|-auto-approve|-input=false|-no-?prompt|-batch|"
    r"(?:CI|DEBIAN_FRONTEND|GIT_PAGER|PAGER|GIT_EDITOR|EDITOR|NONINTERACTIVE|GIT_SEQUENCE_EDITOR|[A-Z_]*NO_INPUT)=\S*|"
    r"[A-Z][A-Z0-9_]*=(?:0|1|false|true|no|yes|never|off|noninteractive|cat|dumb)|"
    r"--no-[\w-]+)(?:=.*)?$"
)
# The words of a line as they are typed, what stands in quotes apart.
_WORD = re.compile(r"[^\s'\";&|()]+")
_ANSWERED = re.compile(
    r"(?:^|[;&(] ?)(?:yes(?: \S{1,20})?|echo [^|]{0,40}|printf [^|]{1,40}) ?\| ?|</dev/null|<<< ?\S|\| ?cat\b"
)


def detect(session: Session) -> Iterator[Episode]:
    """Each command that stopped at a question, once, with the one that went through in its place."""
    if not teaches(session):
        return
    seen: set[str] = set()
    for at, turn in enumerate(session.turns):
        question = question_of(turn) if is_shell(turn) and not PROGRAM_TEXT.search(turn.command) else ""
        if not question or question in seen or not _stopped(session, at):
            continue
        spared = _spared(session, at)
        if spared is None:
            continue
        seen.add(question)
        said = tuple(i for i in range(at + 1, spared) if is_statement(session.turns[i]))
        turns = tuple(sorted({at, *said, spared}))
        reason = "a command waited for an answer, another run of it needed none"
        yield Episode("waiting_prompt", session.key, lines_of(session, turns), turns, reason, at, (spared,), spared)


def question_of(turn: Turn) -> str:
    """The line in which an output asks for an answer, or says that it cannot ask; "" for none and for secrets."""
    said, text = "", turn.text
    if turn.outcome != "passed" and _NOBODY.search(text[:LONGEST]):
        said = next((line.strip() for line in split_lines(text[:LONGEST]) if _NOBODY.search(line)), "")
    tail, asked = text[-LONGEST_TAIL:].rstrip(), ""
    if not said and ("?" in tail or "ress " in tail or tail.endswith((":", "(END)", ")", "]"))):
        lines = [line.strip() for line in split_lines(tail) if line.strip()]
        asked = next((line for line in reversed(lines[-TAIL:]) if _QUESTION.search(line)), "")
    found = said or asked
    return "" if _SECRET.search(found) or len(found) > 300 else found


def unattended(old: str, new: str) -> tuple[str, ...]:
    """What a later command has over an earlier one that keeps it from asking: options, variables, a piped answer."""
    before = set(_WORD.findall(old))
    found = [word for word in _WORD.findall(new) if word not in before and _UNATTENDED.match(word)]
    piped = _ANSWERED.search(new)
    if piped and not _ANSWERED.search(old):
        found.append(piped[0].strip(" ;&("))
    return tuple(dict.fromkeys(found))


def _stopped(session: Session, at: int) -> bool:
    """Whether a command got no further than its question: it failed, or the agent says that it waits."""
    if session.turns[at].outcome == "failed":
        return True
    after = next((turn for turn in session.turns[at + 1 : at + 3] if is_statement(turn)), None)
    return after is not None and WAITS.search(after.text[:600]) is not None


def _spared(session: Session, at: int) -> int | None:
    """The later command that went through without asking: the same check, or where the agent says why, its program."""
    asked = session.turns[at]
    programs = _programs(asked.command)
    told = False
    for later in range(at + 1, min(len(session.turns), at + REACH)):
        turn = session.turns[later]
        if is_person(turn):
            return None
        told = told or (is_statement(turn) and WAITS.search(turn.text[:600]) is not None)
        if not is_shell(turn) or turn.outcome == "failed" or question_of(turn):
            continue
        same = bool(check_in_common(asked.command, turn.command))
        alike = bool(programs & _programs(turn.command))
        if (same or alike) and unattended(asked.command, turn.command):
            return later
        if told and alike and turn.command.strip() != asked.command.strip() and _does(turn.command):
            return later
    return None


def _programs(command: str) -> set[str]:
    """The programs that a line runs, whatever options stand before them."""
    return {next((word for word in words if not word.startswith("-")), "") for words in command_parts(command)}


_LOOK = re.compile(r"\b(?:status|log|diff|show|--version|--help|-h|list|ls)\b")


def _does(command: str) -> bool:
    return _LOOK.search(command) is None
