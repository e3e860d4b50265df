"""Reads the conversations of Kiro CLI: one JSON object with a history of pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from index.records import Session
from reflect.transcripts.calls import describe_call
from reflect.transcripts.documents import LineFinder, read_document
from reflect.transcripts.outcomes import judge_exit
from reflect.transcripts.protocol import Mark
from reflect.transcripts.recorder import Place, Recorder, name_of
from reflect.transcripts.text import string, text_of
from reflect.transcripts.walk import walk_files

agent = "kiro"


def find(home: Path, env: Mapping[str, str]) -> Iterator[Path]:
    """Saved conversations under `~/.kiro/sessions`."""
    yield from walk_files(home / ".kiro" / "sessions", (".json",))


def recognises(path: Path, head: bytes) -> bool:
    """Whether the file begins as a conversation of Kiro."""
    start = head[:4096]
    return (
        start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
        and b'"conversation_id"' in start
        and b'"history"' in start
    )


def read(path: Path, mark: Mark | None = None) -> Iterator[Session]:
    """The one session of a conversation."""
    recorder = Recorder(agent, str(path))
    document = read_document(path)
    value = document.value if isinstance(document.value, dict) else {}
    if document.fault or not value:
        recorder.not_understood(document.fault or "not-an-object", 1, "a conversation that cannot be read")
    finder = LineFinder(document.raw)
    history = value.get("history")
    for pair in history if isinstance(history, list) else []:
        line = finder.line_of("user")
        finder.at += 1
        if isinstance(pair, dict):
            _take_user(recorder, pair.get("user"), Place(line, 0))
            _take_answer(recorder, pair.get("assistant"), Place(line, 0))
        else:
            recorder.not_understood("not-an-object", line)
    yield recorder.session(
        string(value.get("conversation_id")) or path.stem,
        "",
        lines=finder.last,
        ended_at=len(document.raw),
        sha256=document.sha256,
    )


def _take_user(recorder: Recorder, user: Any, place: Place) -> None:
    content = user.get("content") if isinstance(user, dict) else None
    if content is None:
        return
    content = content if isinstance(content, dict) else {}
    for kind, body in content.items():
        body = body if isinstance(body, dict) else {}
        if kind == "Prompt":
            recorder.hear(string(body.get("prompt")), place)
        elif kind in {"ToolUseResults", "CancelledToolUses"}:
            if kind == "CancelledToolUses":
                recorder.hear(string(body.get("prompt")), place)
            results = body.get("tool_use_results")
            for result in results if isinstance(results, list) else []:
                if isinstance(result, dict):
                    _take_result(recorder, result, place, kind == "CancelledToolUses")
        else:
            recorder.not_understood(f"unknown-content:{name_of(kind)}", place.line)


def _take_result(recorder: Recorder, result: dict[str, Any], place: Place, cancelled: bool) -> None:
    text, code = _output(result.get("content"))
    draft = recorder.result(string(result.get("tool_use_id")), place, text)
    status = string(result.get("status")).lower()
    draft.refused = cancelled
    if code is not None and draft.call is not None:
        draft.exit_code, draft.outcome = code, judge_exit(draft.call.command, code, draft.text)
        return
    if not cancelled and status in {"success", "error"}:
        draft.outcome = "passed" if status == "success" else "failed"


def _output(content: Any) -> tuple[str, int | None]:
    """The text of a result's parts, and the exit code that one of them carries."""
    texts: list[str] = []
    code: int | None = None
    for part in content if isinstance(content, list) else [content]:
        body = part.get("Json") if isinstance(part, dict) else None
        if isinstance(body, dict):
            texts += [string(body.get("stdout")), string(body.get("stderr"))]
            status = str(body.get("exit_status", ""))
            code = int(status) if status.lstrip("-").isdecimal() and len(status) < 10 else code
        else:
            texts.append((string(part.get("Text")) if isinstance(part, dict) else "") or text_of(part))
    return "\n".join(text for text in texts if text), code


def _take_answer(recorder: Recorder, answer: Any, place: Place) -> None:
    answer = answer if isinstance(answer, dict) else {}
    for kind, body in answer.items():
        body = body if isinstance(body, dict) else {}
        if kind not in {"Response", "ToolUse"}:
            recorder.not_understood(f"unknown-answer:{name_of(kind)}", place.line)
            continue
        recorder.say("agent", string(body.get("content")), place, string(body.get("message_id")))
        uses = body.get("tool_uses")
        for use in uses if isinstance(uses, list) else []:
            if isinstance(use, dict):
                recorder.call(describe_call(string(use.get("name")), use.get("args")), place, string(use.get("id")))
