"""Text as a reader of transcripts wants it: no escape codes, no images, cut in the middle when long."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

# Characters kept of each kind of text. The command is at the start of an output and the error mostly at its end.
PERSON_LIMIT = 20_000
AGENT_LIMIT = 8_000
OUTPUT_LIMIT = 6_000
COMMAND_LIMIT = 4_000
CHANGE_LIMIT = 6_000

_ANSI = re.compile(
    r"\x1b(?:\[[0-9;]{0,20}m|"
    r"\[[0-9;:?<=>]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,512}(?:\x07|\x1b\\)?|[()#][0-9A-Za-z]|[ -~])?"
)
# To ask a text whether it is printable costs ten times a look at its bytes, but for a short one no copy.
_SHORT_TEXT = 100
_CONTROL = bytes(code for code in (*range(32), 127) if code not in b"\t\n\r")
_BASE64 = re.compile(r"(data:[\w.+-]{1,64}/[\w.+-]{1,64};base64,)([A-Za-z0-9+/=\s]{64,})")


def cut_middle(text: str, limit: int) -> str:
    """The text with its middle replaced by a note of how many characters were cut, if it is longer than `limit`.

    A third of what is kept is from the start, the rest from the end.
    """
    if len(text) <= limit:
        return text
    head = limit // 3
    tail = limit - head
    return f"{text[:head]}\n[... {len(text) - limit} characters cut ...]\n{text[-tail:]}"


def clean_text(text: str, limit: int = OUTPUT_LIMIT) -> str:
    """The text cut to `limit`, without escape codes, control characters, progress that was overwritten, or images."""
    if len(text) <= _SHORT_TEXT and len(text) <= limit and text.isprintable() and "base64," not in text:
        return text
    if "base64," in text:
        text = _BASE64.sub(lambda found: f"{found[1]}[{len(found[2])} characters of data dropped]", text)
    text = cut_middle(text, limit)
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "\r" in text:
        text = _overwritten(text)
    return _without_control(text)


def _without_control(text: str) -> str:
    """The text without control characters and half surrogates; on bytes, twenty times as fast as by pattern."""
    try:
        raw = text.encode("utf-8")
    except UnicodeEncodeError:
        raw = text.encode("utf-8", errors="replace")
        text = raw.decode("utf-8")
    kept = raw.translate(None, _CONTROL)
    return text if len(kept) == len(raw) else kept.decode("utf-8")


def _overwritten(text: str) -> str:
    """What a terminal would show in the end: after a bare carriage return a line is written anew."""
    text = text.replace("\r\n", "\n")
    if "\r" not in text:
        return text
    return "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n"))


def text_of(content: Any) -> str:
    """The text of a message's content: a string, or blocks and parts of it. Images leave a note."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(part for part in (text_of(item) for item in content) if part)
    if isinstance(content, dict):
        return _text_of_block(content)
    return ""


def _text_of_block(block: dict[str, Any]) -> str:
    text = block.get("text")
    if isinstance(text, str):
        return text
    kind = kind_of(block)
    if kind in {"image", "input_image", "document", "image_url"} or "inlineData" in block:
        return f"[{kind or 'data'} dropped]"
    inner = block.get("content")
    return text_of(inner) if isinstance(inner, str | list) else ""


def kind_of(value: Any, key: str = "type") -> str:
    """What a record or block says it is under `key`; "" if it is no object or says nothing that is text."""
    kind = value.get(key) if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else ""


def string(value: Any) -> str:
    """The value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def parse_time(value: Any) -> datetime | None:
    """A time from ISO text, or from epoch seconds or milliseconds; None if it is neither. Always with a zone."""
    if isinstance(value, str):
        try:
            time = datetime.fromisoformat(value)
        except ValueError:
            return None
        return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = value / 1000 if abs(value) > 1e11 else value
        try:
            return datetime.fromtimestamp(seconds, UTC)
        except (ValueError, OverflowError, OSError):
            return None
    return None
