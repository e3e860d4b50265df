"""Reads the trajectories of SWE-agent: one JSON object with a list of actions and what was observed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from index.records import Session
from reflect.transcripts.calls import Call
from reflect.transcripts.documents import LineFinder, read_document
from reflect.transcripts.outcomes import says_failed
from reflect.transcripts.protocol import Mark
from reflect.transcripts.recorder import Place, Recorder
from reflect.transcripts.text import COMMAND_LIMIT, clean_text, string, text_of

agent = "swe-agent"

_REFUSED_EDIT = "Your proposed edit has introduced new syntax error"
_EDITORS = frozenset({"create", "edit", "str_replace_editor", "insert"})


def find(home: Path, env: Mapping[str, str]) -> Iterator[Path]:
    """None: the trajectories lie where each run was told to put them."""
    yield from ()


def recognises(path: Path, head: bytes) -> bool:
    """Whether the file is a trajectory."""
    start = head[:65536]
    return start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and b'"trajectory"' in start and b'"action"' in start


def read(path: Path, mark: Mark | None = None) -> Iterator[Session]:
    """The one session of a trajectory. Exit codes are not recorded: a clear failure in the output is one."""
    recorder = Recorder(agent, str(path))
    document = read_document(path)
    value = document.value if isinstance(document.value, dict) else {}
    if document.fault or not value:
        recorder.not_understood(document.fault or "not-an-object", 1, "a trajectory that cannot be read")
    history = value.get("history")
    first = next((item for item in history if _is_task(item)), None) if isinstance(history, list) else None
    if first is not None:
        recorder.say("injected", text_of(first.get("content")), Place(1, 0))
    finder = LineFinder(document.raw)
    steps = value.get("trajectory")
    begun = len(recorder.drafts)
    for number, step in enumerate(steps if isinstance(steps, list) else []):
        line = finder.line_of("action")
        finder.at += 1
        begun = recorder.end_before(begun, line)
        if isinstance(step, dict):
            _take(recorder, step, Place(line, 0), f"step-{number}")
        else:
            recorder.not_understood("not-an-object", line)
    recorder.end_before(begun, finder.last + 1)
    yield recorder.session(
        path.stem,
        "",
        lines=finder.last,
        ended_at=len(document.raw),
        sha256=document.sha256,
    )


def _is_task(item: Any) -> bool:
    return isinstance(item, dict) and item.get("role") == "user" and not item.get("is_demo")


def _take(recorder: Recorder, step: dict[str, Any], place: Place, name: str) -> None:
    recorder.say("agent", string(step.get("thought")), place, f"{name}#thought")
    action = string(step.get("action")).strip()
    words = action.split(None, 1)
    if words and words[0] in _EDITORS:
        call = Call(words[0], "edit", change=clean_text("+" + words[-1].replace("\n", "\n+"), 6000))
    else:
        call = Call("bash", "shell", clean_text(action, COMMAND_LIMIT))
    recorder.call(call, place, name)
    draft = recorder.result(name, place, string(step.get("observation")))
    failed = says_failed(action, draft.text) or draft.text.startswith(_REFUSED_EDIT)
    draft.outcome = "failed" if failed else "unknown"
