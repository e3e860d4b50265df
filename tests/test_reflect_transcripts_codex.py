"""Codex' rollouts become sessions: outcomes from text, patches, forks, roll-backs, old and new forms."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from index.records import Session
from reflect.transcripts import codex
from reflect.transcripts.codex import find, read, recognises
from reflect.transcripts.protocol import OWN_MARK, Mark

ID = "019af000-0000-7000-8000-000000000001"
Write = Callable[..., Path]


def line(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-11-12T08:00:00.000Z", "type": kind, "payload": payload}


def meta(**fields: Any) -> dict[str, Any]:
    git = {"branch": "main", "repository_url": "git@Git.Example.com:acme/shop.git"}
    return line("session_meta", id=ID, cwd="/home/mika/code/shop", cli_version="0.153.0", git=git, **fields)


def message(role: str, text: str) -> dict[str, Any]:
    return line("response_item", type="message", role=role, content=[{"type": "input_text", "text": text}])


def call(name: str, given: Any, number: str = "c1") -> dict[str, Any]:
    return line("response_item", type="function_call", name=name, call_id=number, arguments=json.dumps(given))


def output(value: Any, number: str = "c1") -> dict[str, Any]:
    return line("response_item", type="function_call_output", call_id=number, output=value)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(*records: Any, name: str = f"rollout-2026-11-12T08-00-00-{ID}") -> Path:
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        return path

    return write


def only(path: Path) -> Session:
    (session,) = read(path)
    return session


def test_the_heading_gives_the_project_by_its_remote(write: Write) -> None:
    """The first session record is the file's own; later ones belong to copied history."""
    session = only(write(meta(), line("session_meta", id="other", cwd="/x"), message("user", "Hi.")))
    assert (session.key, session.project, session.branch) == (f"codex:{ID}", "git.example.com/acme/shop", "main")
    assert (session.cwd, session.version) == ("/home/mika/code/shop", "0.153.0")


@pytest.mark.parametrize(
    ("given", "value", "outcome", "code", "text"),
    [
        ("make", "Chunk ID: 1\nProcess exited with code 2\nOutput:\nno rule", "failed", 2, "no rule"),
        ("make", "Exit code: 0\nWall time: 1 seconds\nOutput:\nok", "passed", 0, "ok"),
        ("make", json.dumps({"output": "no rule", "metadata": {"exit_code": 2}}), "failed", 2, "no rule"),
        ("rg x", json.dumps({"output": "", "metadata": {"exit_code": 1}}), "passed", 1, ""),
        ("make", "failed in sandbox: not permitted", "failed", None, "failed in sandbox: not permitted"),
        (
            "pytest",
            "failed in sandbox LinuxSeccomp with execution error: sandbox denied exec error, exit code: 1, "
            "stdout: 1 failed\n, stderr: ",
            "failed",
            1,
            "1 failed",
        ),
        ("make", "Wall time: 3 seconds\naborted by user", "unknown", None, "Wall time: 3 seconds\naborted by user"),
    ],
)  # fmt: skip
def test_the_outcome_is_in_the_text(
    write: Write, given: str, value: str, outcome: str, code: int | None, text: str
) -> None:
    """Each form in which a tool of Codex reports its end, old and new, and the output below its heading."""
    (turn,) = only(write(meta(), call("shell", {"command": ["bash", "-lc", given]}), output(value))).turns
    assert (turn.command, turn.outcome, turn.exit_code, turn.text) == (given, outcome, code, text)


def test_a_refused_command_is_refused(write: Write) -> None:
    """The person's no is no failure."""
    (turn,) = only(write(meta(), call("shell", {"command": "rm x"}), output("exec command rejected by user"))).turns
    assert (turn.refused, turn.outcome) == (True, "unknown")


def test_a_running_command_is_ended_by_a_later_call(write: Write) -> None:
    """`write_stdin` on a running process tells its end, and is a turn of the same command."""
    running = "Chunk ID: 1\nWall time: 10 seconds\nProcess running with session ID 42\nOutput:\n"
    ended = "Chunk ID: 2\nWall time: 5 seconds\nProcess exited with code 1\nOutput:\n1 failed"
    session = only(
        write(
            meta(),
            call("exec_command", {"cmd": "make test"}),
            output(running),
            call("write_stdin", {"session_id": 42, "chars": ""}, "c2"),
            output(ended, "c2"),
        )
    )
    assert [(t.command, t.outcome) for t in session.turns] == [("make test", "unknown"), ("make test", "failed")]


@pytest.mark.parametrize("form", ["custom", "function", "shell"])
def test_a_patch_is_an_edit_in_every_form(write: Write, form: str) -> None:
    """The same patch as a custom call, as a function's argument and as a shell argument."""
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x = 1\n+x = 2\n*** Add File: b.py\n+y = 3\n*** End Patch"
    record = {
        "custom": line("response_item", type="custom_tool_call", name="apply_patch", call_id="c1", input=patch),
        "function": call("apply_patch", {"input": patch}),
        "shell": call("shell", {"command": ["apply_patch", patch]}),
    }[form]
    (turn,) = only(write(meta(), record)).turns
    assert (turn.action, turn.paths, turn.change) == ("edit", ("src/a.py", "b.py"), "-x = 1\n+x = 2\n+y = 3")


def test_messages_come_from_the_events_where_there_are_no_others(write: Write) -> None:
    """A file without prompts among its items has them in its events; otherwise events only repeat."""
    event = line("event_msg", type="user_message", message="Fix it.")
    newer = line("event_msg", type="item_completed", item={"type": "UserMessage", "content": [{"text": "Fix it."}]})
    for first in (event, newer):
        assert [t.text for t in only(write(meta(), first, call("shell", {"command": "ls"}))).turns] == ["Fix it.", ""]
    assert [t.text for t in only(write(meta(), message("user", "Fix it."), event)).turns] == ["Fix it."]


def test_what_is_not_the_persons(write: Write) -> None:
    """Instructions, environment and the IDE's context are set apart from the request."""
    session = only(
        write(
            meta(),
            message("user", "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nBe good.\n</INSTRUCTIONS>"),
            message("developer", "<permissions instructions>\nx\n</permissions instructions>"),
            message(
                "user", "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nFix it."
            ),
        )
    )
    assert [(t.who, t.text) for t in session.turns if t.who == "person"] == [("person", "Fix it.")]
    assert sum(t.who == "injected" for t in session.turns) == 3


def test_rolled_back_turns_are_gone(write: Write) -> None:
    """`thread_rolled_back` takes the last turn of the person away, and all that followed it."""
    session = only(
        write(
            meta(),
            message("user", "One."),
            message("user", "Two."),
            message("assistant", "Did two."),
            line("event_msg", type="thread_rolled_back", num_turns=1),
        )
    )
    assert [t.text for t in session.turns] == ["One."]


def test_a_sub_agent_starts_at_its_own_part(write: Write) -> None:
    """History that was copied in from the parent is left out by its ordinals."""
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "p1", "depth": 1}}}
    session = only(
        write(
            meta(source=source, subagent_history_start_ordinal=2),
            {**message("user", "Copied."), "ordinal": 1},
            {**message("user", "Own."), "ordinal": 2},
        )
    )
    assert (session.key, session.parent, session.subagent) == (f"codex:p1+{ID}", "codex:p1", True)
    assert [(t.who, t.text) for t in session.turns] == [("injected", "Own.")]


def test_the_oldest_form_has_no_wrapper(write: Write) -> None:
    """Bare meta object, bare items."""
    session = only(
        write(
            {"id": ID, "timestamp": "2025-05-01T08:00:00Z", "instructions": None, "git": {}},
            {"record_type": "state"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix it."}]},
        )
    )
    assert ([t.text for t in session.turns], session.unread) == (["Fix it."], {})


def test_counters_are_left_out_only_when_whole(write: Write) -> None:
    """A cut counter line is still reported as cut."""
    path = write(meta(), line("event_msg", type="token_count", info={"a": 1}), message("user", "Hi."))
    raw = path.read_bytes()
    assert (only(path).unread, only(path).lines) == ({}, 3)
    path.write_bytes(raw.replace(b'"a": 1}}}', b'"a": 1').replace(b'"a":1}}}', b'"a":1'))
    assert only(path).unread == {"codex/bad-json": 1}


def test_what_is_not_understood_is_counted(write: Write) -> None:
    """Unknown types, items and events each by name."""
    session = only(write(meta(), line("hologram"), line("response_item", type="song"), line("event_msg", type="bell")))
    assert session.unread == {
        "codex/unknown-event:bell": 1,
        "codex/unknown-item:song": 1,
        "codex/unknown-type:hologram": 1,
    }


@pytest.fixture
def packed(tmp_path: Path, write: Write) -> Path:
    """A rollout that Codex compressed, in its place; the plain one is gone."""
    day = tmp_path / ".codex" / "sessions" / "2026" / "11" / "12"
    day.mkdir(parents=True)
    path = day / f"rollout-2026-11-12T08-00-00-{ID}.jsonl.zst"
    plain = write(meta(), message("user", "Fix the build."), message("assistant", "Done."))
    path.write_bytes(zstandard.compress(plain.read_bytes()))
    assert list(find(tmp_path, {})) == [path]
    assert recognises(path, path.read_bytes())
    return path


def test_a_compressed_rollout_is_read(packed: Path, write: Write) -> None:
    """As the plain one is, under its own path."""
    plain = only(write(meta(), message("user", "Fix the build."), message("assistant", "Done.")))
    session = only(packed)
    assert (session.key, session.path, session.turns) == (plain.key, str(packed), plain.turns)
    assert not session.unread


def test_a_compressed_rollout_that_is_cut_is_read_as_far_as_it_goes(packed: Path) -> None:
    """And says so."""
    packed.write_bytes(packed.read_bytes()[:-9])
    session = only(packed)
    assert session.key == f"codex:{ID}"
    assert session.unread["codex/zstd"] == 1
    packed.write_bytes(b"\x28\xb5\x2f\xfd rest")
    assert only(packed).unread == {"codex/zstd": 1}


def test_a_compressed_rollout_without_a_library_is_reported_and_not_ignored(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The problem says what to install."""
    monkeypatch.setattr(codex, "find_decompressor", lambda: None)
    session = only(packed)
    assert (session.key, session.unread) == (f"codex:{ID}", {"codex/zstd": 1})
    assert "hotwash[zstd]" in session.problems[0].reason


def test_a_grown_rollout_is_read_on(write: Write) -> None:
    """Only what lies behind the mark, under the heading of the first line."""
    first = [meta(), message("user", "One.")]
    whole = only(write(*first))
    mark = Mark(whole.ended_at, whole.lines)
    (later,) = read(write(*first, message("user", "Two.")), mark)
    assert [(t.line, t.text) for t in later.turns] == [(3, "Two.")]
    assert (later.key, later.project) == (whole.key, whole.project)


def test_an_own_run_stays_one_when_it_grows(write: Write) -> None:
    """The mark stands in the first prompt, which is not read again."""
    first = [meta(), message("user", f"{OWN_MARK} Reflect on this.")]
    whole = only(write(*first))
    (later,) = read(write(*first, message("user", "More.")), Mark(whole.ended_at, whole.lines))
    assert (whole.own, later.own) == (True, True)
