"""What a tool result of Claude Code says: failed, refused by the person, stopped, or denied by a rule."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from index.records import Outcome
from reflect.transcripts.calls import Call
from reflect.transcripts.outcomes import exit_code_in, hides_exit_code, judge_exit, says_failed, says_no

_REFUSED = ("The user doesn't want to proceed with this tool use", "The agent proposed a plan that was rejected by")
_STOPPED = (
    "The user doesn't want to take this action right now",
    "[Request interrupted by user",
    "User rejected tool use",
)
_NOT_THIS_CALL = (
    "<tool_use_error>Sibling tool call errored",
    "<tool_use_error>Cancelled",
    "Cancelled: parallel tool call",
)
_DENIED = re.compile(
    r"^(?:Permission to use \S{1,200} |Permission for this action|Claude requested permissions to|"
    r"This command requires approval|Tool use was denied|The user has not granted|"
    r"\S{1,200} operation blocked by hook|Tool permission )"
)
_SAID = re.compile(r"the user (?:said|provided the following reason for the rejection):\s{0,10}")
_NOTE = "\n\nNote: The user's next message"
_STATUS = re.compile(r"<exit_code>(-?\d{1,10})</exit_code>")


@dataclass(slots=True)  # frozen, one costs four times as much
class Result:
    """How a call ended, and its output without what the harness put before it."""

    text: str
    outcome: Outcome = "unknown"
    exit_code: int | None = None
    refused: bool = False
    said: str = ""


def judge_result(call: Call, text: str, is_error: bool, detail: Any, denial: str) -> Result:
    """How a call ended, by its output, its error mark, `toolUseResult` and `toolDenialKind`."""
    head = text[:400]
    if is_error:
        return _judge_error(call, text, head, denial)
    if call.tool == "AskUserQuestion":
        return Result(text, "passed", said=text)
    if call.action != "shell":
        return Result(text, "passed")
    if call.tool in {"BashOutput", "TaskOutput"}:
        found = _STATUS.search(text)
        code = int(found[1]) if found else None
        return Result(text, judge_exit(call.command, code, text), code)
    if _is_unfinished(detail) or head.startswith("Command running in background"):
        return Result(text)
    if hides_exit_code(call.command):
        return Result(text, "failed" if says_failed(call.command, text) else "passed")
    return Result(text, "passed", 0)


def _judge_error(call: Call, text: str, head: str, denial: str) -> Result:
    if any(words in head for words in _REFUSED) or head.startswith(_STOPPED) or denial.startswith("user"):
        return Result(text, refused=True, said=_words(text))
    if head.startswith(_NOT_THIS_CALL) or denial or _DENIED.match(head):
        return Result(text)
    if call.action != "shell":
        return Result(text, "failed")
    code = exit_code_in(head)
    output = text.partition("\n")[2] if code is not None else text
    if code is None and text.strip() in {"", "Error"} and says_no(call.command, 1, ""):
        code = 1
    return Result(output, "failed" if code is None else judge_exit(call.command, code, output), code)


def _words(text: str) -> str:
    """What the person said with a refusal."""
    found = _SAID.search(text)
    return text[found.end() :].partition(_NOTE)[0].strip() if found else ""


def _is_unfinished(detail: Any) -> bool:
    return isinstance(detail, dict) and bool(detail.get("interrupted") or detail.get("backgroundTaskId"))
