"""The person reported a failure, the agent named commands or settings to try, and one of them helped, as they said.

Which one, the person's words tell, or what the session writes of it later. Silent on: thanks without a word that it
worked, advice of several of which none is told apart, and what was only half a help ("works, but").
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from detectors.evidence import has_person, is_person, is_statement, lines_of, words_of
from detectors.options import place_of
from detectors.sentences import LITERAL, either
from index.records import Episode, Session

LONGEST = 200
LONGEST_REPORT = 3000
REACH_BACK = 40
REPORTS = 5
_HELPED = either(r"""
    \b(?:works?|worked|working|did it|did the trick|(?:has |have )?(?:fixed|solved|resolved|cured) (?:it|that|this)|helped|was (?:it|the (?:problem|issue|cause))|can'?t reproduce (?:it|that)|no longer happens|it was (?:the|a|my) \w+|that'?s it|got it (?:working|running))\b
    \b(?:is|it'?s) (?:fixed|solved|running|working|gone|up) ?(?:now)?\b|\bproblem solved\b|\bno more errors?\b
    \b(?:funktioniert|geht jetzt|läuft|geholfen|ça marche|funciona|funcionou|funziona)\b|работает|помогло
    好了|可以了|解决了|解決しました|動きました|直りました|됐어|됩니다|해결
""")  # noqa: E501 - one alternative a line
_NOT_HELPED = either(r"""
    \b(?:does|did|do|is|was|has|have|are)(?:n'?t| not)\b|\bnot (?:work|help)\w*|\bnone of\b|\bneither\b|\bstill\b|\bbut\b|\bonly (?:partly|half)\b|\?
    \bnicht\b|\bkein\w*|\bpas\b|\bno funciona\b|не работает|不行|没用|还是|動きません|안 ?돼
""")  # noqa: E501 - one alternative a line
_BROKEN = either(r"""
    \b(?:error|exception|fail\w*|crash\w*|broken|denied|refused|not found|cannot|can'?t|won'?t|doesn'?t|unable|stuck|hang\w*|too many|no space|exceeded|E[A-Z]{4,}|invalid|differs?|still (?:looks?|shows?))\b
    错误|失败|报错|エラー|失敗|動かない|오류|에러|안 ?돼|fehler|erreur|ошибка
""")  # noqa: E501 - one alternative a line
_FENCE = re.compile(r"```[\w-]{0,12}\n([^`]{3,400}?)\n?```")
_COMMAND = re.compile(r"(?:[A-Z_]{2,30}=\S+ )*(?:sudo )?[a-z.~/][\w./~+-]{1,40}(?: \S.{0,150})$")
# Commands that only show something: they help to find out, and mend nothing.
_LOOKS = re.compile(
    r"(?:sudo )?(?:\w+ )?(?:logs?|ps|status|list|ls|cat|describe|get|show|which|echo|printenv|env|lsof|top|df|du|"
    r"inspect|version|--version|-v|tail|head|grep|find|journalctl|curl|ping|dig|man|help)\b"
)
# A dotted key, and near it the value that it is to have.
_SETTING = re.compile(
    r"[`\"](?P<key>[a-z][\w-]*(?:\.[A-Za-z][\w-]*){1,5})(?<!\.json)(?<!\.md)(?<!\.ts)(?<!\.js)(?<!\.py)(?<!\.toml)[`\"]"
    r"(?:(?!`[a-z]\w*\.\w)[\s\S]){0,160}?\b(?:set(?:ting)?|to|=|value)\b[^`\"\n]{0,24}[`\"](?P<value>[\w.-]{1,40})[`\"]"
)
_ITEM = re.compile(r"^[ \t]{0,6}(?:[-*•]|\d{1,2}[.)])[ \t]+")


def detect(session: Session) -> Iterator[Episode]:
    """Each confirmed command of the agent's advice, with the report that it was for."""
    if not has_person(session):
        return
    for at, turn in enumerate(session.turns):
        if not is_person(turn):
            continue
        found = _advice_before(session, at)
        if found is None or not confirmed(session, at, session.turns[found[1]].text):
            continue
        turns = (found[0], found[1], at)
        reason = "a command that was advised for a reported failure, and helped"
        yield Episode("confirmed_advice", session.key, lines_of(session, turns), turns, reason)


def _advice_before(session: Session, at: int) -> tuple[int, int] | None:
    """(where the person reported a failure, where the agent advised on it) before their word that it helped."""
    advised = next((i for i in range(at - 1, max(-1, at - 4), -1) if is_statement(session.turns[i])), None)
    if advised is None or any(is_person(turn) for turn in session.turns[advised:at]):
        return None
    heard = [i for i in range(advised - 1, max(-1, advised - REACH_BACK), -1) if is_person(session.turns[i])][:REPORTS]
    reports = [i for i in heard if len(session.turns[i].text) <= LONGEST_REPORT]
    reported = next((i for i in reports if _BROKEN.search(session.turns[i].text)), None)
    return (reported, advised) if reported is not None else None


def advised(text: str) -> list[str]:
    """The commands that a statement names to be tried: in a fence of few lines, or in backticks."""
    found: list[tuple[int, str]] = []
    for block in _FENCE.finditer(text):
        lines = [line.strip().removeprefix("$ ") for line in block[1].split("\n") if line.strip()]
        if lines and len(lines) <= 3 and all(_COMMAND.match(line) for line in lines):
            found.append((block.start(), " && ".join(lines)))
    bare = _FENCE.sub(lambda block: " " * len(block[0]), text)
    for literal in LITERAL.finditer(bare):
        command = literal[0].strip("`").strip().removeprefix("$ ")
        if _COMMAND.match(command) and not _LOOKS.match(command) and not re.search(r"[(){};]|^\w+ = | => ", command):
            found.append((literal.start(), command))
    return list(dict.fromkeys(command for _, command in sorted(found)))


def confirmed(session: Session, at: int, advice: str) -> str:
    """What of an advice helped, by the person's words at a position, or "": a command, or "key: value" of a setting.

    Where the words leave it open, it is the one that the session names later, if only one is.
    """
    words = session.turns[at].text
    named = command_confirmed(words, advice)
    if named or not helped(words):
        return named
    later = "\n".join([words, *(f"{turn.change[:20_000]}\n{turn.command}" for turn in session.turns[at + 1 :])])
    later += "\n".join(turn.text[:2000] for turn in session.turns[at + 1 :] if is_person(turn))
    tried = [*advised(advice), *settings(advice)]
    told = [one for one in tried if one.partition(": ")[0] in later]
    return told[0] if len(told) == 1 else ""


def settings(text: str) -> list[str]:
    """The settings that a statement says to give a value, as "key: value"."""
    found = [f"{one['key']}: {one['value']}" for one in _SETTING.finditer(text)]
    return list(dict.fromkeys(found))


def command_confirmed(words: str, advice: str) -> str:
    """The command of an advice that a person's words say helped, or "": named, by its place, or the only one."""
    words = words.strip()
    if not helped(words):
        return ""
    commands = advised(advice)
    whole = next((command for command in commands if command in words), "")
    if whole or len(commands) == 1:
        return whole or commands[0]
    said = words_of(words)
    items = [(command, words_of(_item_of(advice, command), command)) for command in commands]
    shared = [command for command, its in items if said & its]
    if len(shared) == 1:
        return shared[0]
    place = place_of(words)
    return commands[place] if place is not None and place < len(commands) and not shared else ""


def helped(words: str) -> bool:
    """Whether a person's few words say that something works now, without a but."""
    return len(words) <= LONGEST and _HELPED.search(words) is not None and _NOT_HELPED.search(words) is None


def _item_of(text: str, command: str) -> str:
    """The list item that a command stands in, or the line of it."""
    first = command.split(" && ", maxsplit=1)[0]
    line = next((line for line in text.split("\n") if first in line), "")
    return _ITEM.sub("", line)
