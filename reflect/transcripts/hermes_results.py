"""What a tool result of Hermes says: JSON text whose keys tell whether the call failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from index.records import Outcome
from reflect.transcripts.calls import Call
from reflect.transcripts.lines import parse_values
from reflect.transcripts.outcomes import judge_exit
from reflect.transcripts.text import string, text_of


@dataclass(frozen=True, slots=True)
class Result:
    """How a call ended, and the tool's own output."""

    text: str
    outcome: Outcome = "unknown"
    exit_code: int | None = None
    refused: bool = False


def judge_result(call: Call, content: Any) -> Result:
    """How a call ended, by the content of its result: JSON text or an object; plain text says nothing."""
    value = content
    if isinstance(content, str):
        if not content.lstrip().startswith("{"):
            return Result(content)
        # Hints can follow the object ("use offset=50 to see more").
        values, _ = parse_values(content.encode("utf-8", errors="replace"))
        value = values[0] if values else None
    if not isinstance(value, dict):
        return Result(text_of(content))
    text = _text(value, content)
    code = value.get("exit_code")
    code = code if isinstance(code, int) and not isinstance(code, bool) else None
    status = string(value.get("status")).lower()
    if status == "blocked" or code == -1:
        refused = "denied by user" in text.lower() or "denied by the user" in text.lower()
        return Result(text, refused=refused)
    if code is not None:
        return Result(text, judge_exit(call.command, code, text), code)
    failed = bool(value.get("error")) or bool(value.get("error_type")) or value.get("success") is False
    if failed or status in {"error", "failed", "failure"}:
        return Result(text, "failed")
    return Result(text, "passed")


def _text(value: dict[str, Any], content: Any) -> str:
    parts = [string(value.get(key)) for key in ("output", "content", "stderr", "error", "message")]
    text = "\n".join(part for part in dict.fromkeys(parts) if part)
    if text:
        return text
    return content if isinstance(content, str) else orjson.dumps(content, default=str).decode()
