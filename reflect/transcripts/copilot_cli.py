"""Reads the sessions of Copilot CLI: a file of events in a folder named by the session's id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from index.records import Session
from reflect.transcripts.calls import describe_call
from reflect.transcripts.lines import Tail, head_values, read_head, read_lines
from reflect.transcripts.outcomes import exit_code_at_end, judge_exit, without_exit_code
from reflect.transcripts.project import project_of
from reflect.transcripts.protocol import Mark
from reflect.transcripts.recorder import Place, Recorder, name_of
from reflect.transcripts.text import kind_of, parse_time, string, text_of
from reflect.transcripts.walk import walk_files

agent = "copilot-cli"

_SKIPPED = (
    "hook.", "session.", "assistant.turn_", "assistant.reasoning", "assistant.usage", "assistant.intent", "abort",
    "tool.user_requested", "tool.execution_partial", "tool.execution_progress", "subagent.", "skill.", "system.",
    "permission.", "user_input.", "command.", "external_tool.", "exit_plan_mode.", "elicitation.",
)  # fmt: skip


def find(home: Path, env: Mapping[str, str]) -> Iterator[Path]:
    """The event files under `~/.copilot/session-state` (COPILOT_HOME)."""
    root = Path(env["COPILOT_HOME"]) if env.get("COPILOT_HOME") else home / ".copilot"
    for path in walk_files(root / "session-state", (".jsonl",)):
        if path.name == "events.jsonl":
            yield path


def recognises(path: Path, head: bytes) -> bool:
    """Whether the file begins with an event of Copilot CLI."""
    first = next(head_values(head, 1), None)
    return first is not None and "." in kind_of(first) and isinstance(first.get("data"), dict)


def read(path: Path, mark: Mark | None = None) -> Iterator[Session]:
    """The one session of an event file."""
    recorder, tail = Recorder(agent, str(path)), Tail()
    heading: dict[str, Any] = next(head_values(read_head(path), 1), {})
    data = _data(heading) if heading.get("type") == "session.start" else {}
    context = data.get("context")
    context = context if isinstance(context, dict) else {}
    cwd = string(context.get("cwd"))
    finished = None
    for line in read_lines(path, mark, tail):
        if line.fault:
            recorder.not_understood(line.fault, line.number, f"{line.fault.replace('-', ' ')} in a transcript")
        for value in line.values:
            if isinstance(value, dict):
                time = parse_time(value.get("timestamp"))
                finished = time or finished
                _take(recorder, value, Place(line.number, line.offset, time, cwd))
            else:
                recorder.not_understood("not-an-object", line.number)
    host, name = string(context.get("hostType")), string(context.get("repository"))
    remote = f"https://{host}.com/{name}" if host == "github" and name else ""
    folder = path.parent.name if path.name == "events.jsonl" else path.stem
    yield recorder.session(
        string(data.get("sessionId")) or folder,
        cwd,
        lines=tail.lines,
        ended_at=tail.ended_at,
        sha256=tail.digest.hexdigest(),
        project=project_of(cwd, remote),
        branch=string(context.get("branch")),
        version=string(data.get("copilotVersion")),
        started=parse_time(data.get("startTime")),
        finished=finished,
    )


def _data(record: dict[str, Any]) -> dict[str, Any]:
    data = record.get("data")
    return data if isinstance(data, dict) else {}


def _take(recorder: Recorder, record: dict[str, Any], place: Place) -> None:
    kind, data, name = kind_of(record), _data(record), string(record.get("id"))
    if kind == "user.message":
        recorder.hear(string(data.get("content")), place, name)
    elif kind == "assistant.message":
        recorder.say("agent", string(data.get("content")), place, name)
    elif kind == "tool.execution_start":
        call = describe_call(string(data.get("toolName")), data.get("arguments"))
        recorder.call(call, place, string(data.get("toolCallId")))
    elif kind == "tool.execution_complete":
        _take_result(recorder, data, place)
    elif not kind.startswith(_SKIPPED):
        recorder.not_understood(f"unknown-type:{name_of(kind)}", place.line)


def _take_result(recorder: Recorder, data: dict[str, Any], place: Place) -> None:
    result, error = data.get("result"), data.get("error")
    text = text_of(result) or (string(error.get("message")) if isinstance(error, dict) else string(error))
    draft = recorder.result(string(data.get("toolCallId")), place, text)
    if draft.call is None:
        return
    code = exit_code_at_end(text) if draft.call.action == "shell" else None
    if kind_of(error, "code") in {"rejected", "denied"}:
        draft.refused = kind_of(error, "code") == "rejected"
    elif data.get("success") is False:
        draft.outcome, draft.exit_code = "failed", code
    elif code is not None:
        draft.text = without_exit_code(draft.text)
        draft.outcome, draft.exit_code = judge_exit(draft.call.command, code, draft.text), code
    else:
        draft.outcome = "passed"
