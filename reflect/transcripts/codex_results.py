"""What the output of a Codex tool says: Codex marks failure in the text only, in a form for each tool and time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import orjson

from index.records import Outcome
from reflect.transcripts.calls import Call
from reflect.transcripts.outcomes import exit_code_in, judge_exit
from reflect.transcripts.text import text_of

_REFUSED = ("exec command rejected by user", "patch rejected by user", "rejected by user")
# How nearly all outputs begin: what stopped or was refused does not.
_HEADING = re.compile(
    r"(?:Chunk ID: [^\n]{0,80}\nWall time: [^\n]{0,80}\nProcess exited with code |Exit code: )(-?\d{1,10})"
)
_STOPPED = re.compile(
    r"(?:Wall time: [\d.]{1,20} seconds\s{1,3})?(?:aborted|user cancelled|user interrupted)", re.IGNORECASE
)
# The oldest form: any command that failed while in the sandbox.
_OLD_SANDBOX = re.compile(r"failed in sandbox .{0,200}?exit code: (-?\d{1,10}), stdout: (.*), stderr: (.*)", re.DOTALL)
_SANDBOX = re.compile(
    r"^(?:failed in sandbox|sandbox denied|sandbox error|command denied by sandbox|exec command rejected by sandbox)",
    re.IGNORECASE,
)
_FAILED = (
    "apply_patch verification failed",
    "failed to parse function arguments",
    "failed to parse",
    "execution error",
    "exec_command failed",
    "unsupported call",
    "tool call error",
    "error:",
    "Error:",
    "err:",
)
_RUNNING = re.compile(r"^Process running with session ID (\d{1,20})", re.MULTILINE)
_OUTPUT = re.compile(r"^(?:Output|Total output lines: \d{1,12}\s{1,4}Output):\n", re.MULTILINE)


@dataclass(slots=True)  # frozen, one costs four times as much
class Result:
    """How a call ended; `running` is the id of a process that goes on."""

    text: str
    outcome: Outcome = "unknown"
    exit_code: int | None = None
    refused: bool = False
    running: str = ""


def judge_result(call: Call, output: Any) -> Result:
    """How a call ended, by its output: a string, JSON in a string, or content parts."""
    text, code, success = _unwrap(output)
    if code is not None:
        text = _body(text)
        return Result(text, judge_exit(call.command, code, text), code)
    head = text[:300]
    if heading := _HEADING.match(head):
        code, text = int(heading[1]), _body(text)
        return Result(text, judge_exit(call.command, code, text), code)
    if head[:80].lower().startswith(_REFUSED):
        return Result(text, refused=True)
    if _STOPPED.match(head):
        return Result(text)
    if old := _OLD_SANDBOX.match(text):
        code, text = int(old[1]), f"{old[2]}\n{old[3]}".strip()
    elif _SANDBOX.match(head):
        return Result(text, "failed", code)
    if code is None:
        code = exit_code_in(head)
    if code is not None:
        text = _body(text)
        return Result(text, judge_exit(call.command, code, text), code)
    if running := _RUNNING.search(head):
        return Result(text, running=running[1])
    if success is False or head.startswith(_FAILED):
        return Result(text, "failed")
    if success or call.action in {"edit", "other"} or (call.action in {"mcp", "web"} and text):
        return Result(text, "passed")
    return Result(text)


def _unwrap(output: Any) -> tuple[str, int | None, bool | None]:
    """(text, exit code, success) of an output in any of its forms."""
    if isinstance(output, dict):
        return _unwrap_mapping(output)
    text = text_of(output)
    if text.startswith("{") and text.rstrip().endswith("}"):
        try:
            value = orjson.loads(text)
        except ValueError:
            return text, None, None
        if isinstance(value, dict) and ("output" in value or "metadata" in value or "content" in value):
            return _unwrap_mapping(value)
    return text, None, None


def _unwrap_mapping(value: dict[str, Any]) -> tuple[str, int | None, bool | None]:
    metadata = value.get("metadata")
    code = metadata.get("exit_code") if isinstance(metadata, dict) else value.get("exit_code")
    success = value.get("success")
    text = text_of(value.get("output")) or text_of(value.get("content"))
    good = isinstance(code, int) and not isinstance(code, bool)
    return text, code if good else None, success if isinstance(success, bool) else None


def _body(text: str) -> str:
    """The program's own output, below the heading of the harness."""
    at = text.find("Output:\n", 0, 600)
    if at < 0:
        return text
    if at == 0 or text[at - 1] == "\n":
        return text[at + 8 :]
    found = _OUTPUT.search(text, 0, 600)
    return text[found.end() :] if found else text
