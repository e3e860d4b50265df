"""Claude Code's transcripts become sessions: pairing, who said it, branches, sub-agents, outcomes, reading on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from index.records import Session, Turn
from reflect.transcripts.claude_code import read
from reflect.transcripts.protocol import OWN_MARK, Mark

SESSION = "5e551011-0000-4000-8000-000000000001"
Write = Callable[..., Path]


def record(name: str, parent: str | None, kind: str, **fields: Any) -> dict[str, Any]:
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "cwd": "/home/mika/code/shop",
        "sessionId": SESSION,
        "version": "2.1.322",
        "gitBranch": "main",
        "type": kind,
        "uuid": name,
        "timestamp": "2026-11-12T08:00:00.000Z",
        **fields,
    }


def user(name: str, parent: str | None, content: Any, **fields: Any) -> dict[str, Any]:
    return record(name, parent, "user", message={"role": "user", "content": content}, **fields)


def says(name: str, parent: str | None, text: str, **fields: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return record(name, parent, "assistant", message={"role": "assistant", "content": content}, **fields)


def call(name: str, parent: str | None, tool: str, given: Any, **fields: Any) -> dict[str, Any]:
    content = [{"type": "tool_use", "id": f"toolu_{name}", "name": tool, "input": given}]
    return record(name, parent, "assistant", message={"role": "assistant", "content": content}, **fields)


def result(name: str, parent: str, of: str, text: Any, error: bool = False, **fields: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": f"toolu_{of}", "content": text, "is_error": error}
    return user(name, parent, [block], **fields)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(*records: Any, name: str = SESSION) -> Path:
        path = tmp_path / f"{name}.jsonl"
        lines = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in records]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


def only(path: Path) -> Session:
    (session,) = read(path)
    return session


def one_call(write: Write, command: str, text: str, error: bool = False, tool: str = "Bash", **fields: Any) -> Turn:
    given = {"command": command}
    return only(write(call("a", None, tool, given), result("b", "a", "a", text, error, **fields))).turns[0]


def test_a_call_and_its_result_are_one_turn(write: Write) -> None:
    """Pairs are found by id, though parallel calls interleave; the lines are those of both."""
    session = only(
        write(
            call("a", None, "Bash", {"command": "make a"}),
            call("b", "a", "Bash", {"command": "make b"}),
            result("c", "b", "b", "b done"),
            result("d", "a", "a", "Exit code 2\nno rule", True),
        )
    )
    assert [(t.line, t.end, t.command, t.text, t.outcome, t.exit_code) for t in session.turns] == [
        (1, 4, "make a", "no rule", "failed", 2),
        (2, 3, "make b", "b done", "passed", 0),
    ]


def test_the_heading_says_where_it_ran(write: Write) -> None:
    """Id, folder, branch and version come from the first records; without a remote the project is the folder."""
    session = only(write(user("a", None, "hi"), record("b", "a", "progress", cwd="/elsewhere", gitBranch="other")))
    assert (session.key, session.cwd, session.branch) == (f"claude-code:{SESSION}", "/home/mika/code/shop", "main")
    assert (session.version, session.project) == ("2.1.322", "/home/mika/code/shop")
    assert session.started is not None


@pytest.mark.parametrize(
    ("command", "text", "outcome"),
    [
        ("grep -rn needle src", "Exit code 1", "passed"),
        ("cd src && rg needle", "Exit code 1", "passed"),
        ("git diff --quiet", "Exit code 1", "passed"),
        ("make && grep x y", "Exit code 1\nmake: *** [all] Error 1", "failed"),
        ("grep -rn needle gone", "Exit code 2\ngrep: gone: No such file or directory", "failed"),
        ("pytest -q", "Exit code 1\n1 failed", "failed"),
    ],
)
def test_exit_code_one_of_a_search_means_no(write: Write, command: str, text: str, outcome: str) -> None:
    """grep, rg, diff and test answer "no" with 1: that is no failure, and any other failure is one."""
    assert one_call(write, command, text, error=True).outcome == outcome


def test_a_pipe_does_not_hide_a_failure(write: Write) -> None:
    """`... | tail` reports the exit code of tail: what the output says counts then."""
    assert one_call(write, "pytest -q 2>&1 | tail -5", "FAILED tests/test_a.py::test_a\n1 failed").outcome == "failed"
    assert one_call(write, "pytest -q 2>&1 | tail -5", "12 passed in 0.1s").outcome == "passed"
    assert one_call(write, "cat build.log | tail -5", "ERROR: from yesterday").outcome == "passed"


def test_a_refusal_carries_the_persons_words(write: Write) -> None:
    """What the person typed while refusing is kept apart from the harness's text; a rule's denial is no refusal."""
    text = (
        "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n"
        "Use pnpm here.\n\nNote: The user's next message may contain a correction."
    )
    turn = one_call(write, "npm install", text, error=True)
    assert (turn.refused, turn.said, turn.outcome) == (True, "Use pnpm here.", "unknown")
    denied = one_call(write, "rm x", "Permission to use Bash with command rm x has been denied.", error=True)
    assert (denied.refused, denied.outcome) == (False, "unknown")


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("<tool_use_error>String to replace not found in file.</tool_use_error>", "failed"),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", "unknown"),
        ("[Request interrupted by user for tool use]", "unknown"),
    ],
)
def test_errors_of_the_harness(write: Write, text: str, outcome: str) -> None:
    """The harness's own refusals are failures, another call's failure and an interruption are not."""
    assert one_call(write, "", text, error=True, tool="Edit").outcome == outcome


def test_a_background_command_has_no_outcome_until_it_is_asked(write: Write) -> None:
    """The shell's later output carries the exit code of the command that was started."""
    session = only(
        write(
            call("a", None, "Bash", {"command": "make watch", "run_in_background": True}),
            result("b", "a", "a", "Command running in background with ID: bash_1"),
            call("c", "b", "BashOutput", {"bash_id": "bash_1"}),
            result("d", "c", "c", "<status>failed</status>\n<exit_code>3</exit_code>\n<stderr>boom</stderr>"),
        )
    )
    assert [(t.command, t.outcome, t.exit_code) for t in session.turns] == [
        ("make watch", "unknown", None),
        ("make watch", "failed", 3),
    ]


def test_what_the_harness_put_in_is_set_apart(write: Write) -> None:
    """Reminders inside a prompt, meta records, summaries, plans and interruptions are injected, the rest is typed."""
    session = only(
        write(
            user("a", None, "Fix it. <system-reminder>Use tools.</system-reminder> Now."),
            user("b", "a", "Base directory for this skill: /x", isMeta=True),
            user("c", "b", "This session is being continued from a previous conversation.", isCompactSummary=True),
            user("d", "c", [{"type": "text", "text": "[Request interrupted by user]"}]),
            user("e", "d", "<command-name>/fix</command-name><command-args>the login</command-args>"),
            user("f", "e", "Implement the following plan:\n\n# Plan"),
            user("g", "f", "Background task finished.", origin={"kind": "task-notification"}),
        )
    )
    assert [(t.line, t.who, t.text) for t in session.turns if t.who == "person"] == [
        (1, "person", "Fix it."),
        (1, "person", "Now."),
        (5, "person", "the login"),
    ]
    assert sum(t.who == "injected" for t in session.turns) == 7


def queued(operation: str, text: str | None = None) -> dict[str, Any]:
    words = {} if text is None else {"content": text}
    return {"type": "queue-operation", "operation": operation, "timestamp": "2026-11-12T08:00:00.000Z", **words}


@pytest.mark.parametrize("again", ["none", "user", "attachment"])
def test_what_was_typed_while_the_agent_was_busy_is_heard_once(write: Write, again: str) -> None:
    """Also where no record follows; before notices of tasks in the same queue; and not what was taken back."""
    words = "Stop, use a new migration instead of editing the first one."
    later = {
        "none": [],
        "user": [user("u2", "a", words)],
        "attachment": [record("u2", "a", "attachment", attachment={"type": "queued_command", "prompt": words})],
    }[again]
    made = only(
        write(
            user("u", None, "Add an index."),
            says("a", "u", "I will edit the first migration."),
            queued("enqueue", '{"task_id":"b1","description":"Run tests"}'),
            queued("enqueue", words),
            queued("remove"),
            *later,
            queued("remove"),
            queued("enqueue", "never mind"),
            queued("popAll"),
            queued("remove"),
            says("b", "u2" if later else "a", "A new one, then."),
        )
    )
    assert [turn.text for turn in made.turns if turn.who == "person"] == ["Add an index.", words]
    assert not made.unread


def test_a_rewound_branch_is_dropped(write: Write) -> None:
    """What the person took back by rewinding is not part of the story."""
    session = only(
        write(
            user("a", None, "Start."),
            says("b", "a", "Started."),
            user("c", "b", "Do it wrong."),
            says("d", "c", "Wrong."),
            user("e", "b", "Do it right."),
            says("f", "e", "Right."),
        )
    )
    assert [t.text for t in session.turns] == ["Start.", "Started.", "Do it right.", "Right."]


def test_compaction_keeps_what_lay_before(write: Write) -> None:
    """The boundary has no parent, but the turns before it stay; only the summary is set apart."""
    session = only(
        write(
            user("a", None, "Start."),
            says("b", "a", "Started."),
            record("c", None, "system", subtype="compact_boundary", logicalParentUuid="b"),
            user("d", "c", "This session is being continued from a previous conversation.", isCompactSummary=True),
            says("e", "d", "Going on."),
        )
    )
    assert [(t.who, t.text[:9]) for t in session.turns] == [
        ("person", "Start."),
        ("agent", "Started."),
        ("injected", "This sess"),
        ("agent", "Going on."),
    ]


def test_a_record_written_twice_counts_once(write: Write) -> None:
    """A resumed file of older versions repeats its records."""
    session = only(write(user("a", None, "Start."), user("a", None, "Start."), says("b", "a", "Started.")))
    assert [t.text for t in session.turns] == ["Start.", "Started."]


def test_sidechains_in_the_main_file_are_sessions_of_their_own(write: Write) -> None:
    """Older versions kept sub-agents in the main file, interleaved; each becomes a sub-agent's session."""
    main, first, second = read(
        write(
            user("a", None, "Go."),
            user("x1", None, "Search.", isSidechain=True),
            user("y1", None, "Write.", isSidechain=True),
            says("x2", "x1", "Found.", isSidechain=True),
            says("y2", "y1", "Written.", isSidechain=True),
            says("b", "a", "Done."),
        )
    )
    assert [t.text for t in main.turns] == ["Go.", "Done."]
    assert [t.text for t in first.turns] == ["Search.", "Found."]
    assert [t.text for t in second.turns] == ["Write.", "Written."]
    assert first.subagent
    assert first.parent == main.key
    assert first.key.startswith(f"{main.key}+")
    assert {turn.who for turn in (*first.turns, *second.turns)} == {"injected", "agent"}


def test_a_sub_agents_file_knows_its_parent(write: Write) -> None:
    """`agent-<id>.jsonl` belongs to the session that its records name."""
    path = write(user("a", None, "Search.", isSidechain=True, agentId="7f3"), name="agent-7f3")
    session = only(path)
    assert (session.key, session.parent) == (f"claude-code:{SESSION}+7f3", f"claude-code:{SESSION}")


def test_whose_text_a_tool_brings(write: Write) -> None:
    """Web pages, issues and MCP results are external, with their address."""
    session = only(
        write(
            call("a", None, "WebFetch", {"url": "https://docs.example.net/x", "prompt": "?"}),
            call("b", "a", "Bash", {"command": "curl -s https://api.example.net/v1"}),
            call("c", "b", "Bash", {"command": "gh issue view 12 --comments"}),
            call("d", "c", "mcp__tracker__search", {"query": "x"}),
            call("e", "d", "Bash", {"command": "curl -s http://localhost:8000/health"}),
        )
    )
    assert [(t.origin, t.ref) for t in session.turns] == [
        ("web", "https://docs.example.net/x"),
        ("web", "https://api.example.net/v1"),
        ("issue", "gh issue"),
        ("mcp", "mcp__tracker__search"),
        ("tool", ""),
    ]


def test_an_edit_tells_its_path_and_change(write: Write) -> None:
    """Paths are given from the session's folder; old lines are marked with "-", new ones with "+"."""
    given = {"file_path": "/home/mika/code/shop/src/a.py", "old_string": "x = 1", "new_string": "x = 2\ny = 3"}
    (turn,) = only(write(call("a", None, "Edit", given))).turns
    assert (turn.action, turn.paths, turn.change) == ("edit", ("src/a.py",), "-x = 1\n+x = 2\n+y = 3")


def test_what_is_not_understood_is_counted(write: Write) -> None:
    """Unknown kinds are counted by kind, broken lines are problems with their number, known state is neither."""
    session = only(
        write(
            user("a", None, "Hi."),
            {"type": "hologram", "uuid": "h"},
            "{broken",
            "[1, 2]",
            record("s", "a", "system", subtype="mystery"),
            {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
            {"type": "queue-operation", "operation": "enqueue"},
        )
    )
    assert session.unread == {
        "claude-code/bad-json": 1,
        "claude-code/not-an-object": 1,
        "claude-code/unknown-system:mystery": 1,
        "claude-code/unknown-type:hologram": 1,
    }
    assert [problem.line for problem in session.problems] == [3, 4]


def test_own_and_scheduled_runs_are_marked(write: Write) -> None:
    """A run of hotwash and one started by a timer can be told from the first prompt."""
    assert only(write(user("a", None, f"{OWN_MARK} Reflect on this."))).own
    assert only(write(user("a", None, "Nightly.", promptSource="cron"))).scheduled
    assert not only(write(user("a", None, "Hi."), user("b", "a", OWN_MARK))).own


def test_a_grown_session_is_read_on(write: Write) -> None:
    """From the mark on, only later turns are given, with true line numbers and the heading of the first lines."""
    records = [user("n0", None, "Go.")]
    for number in range(1, 900, 2):
        records.append(call(f"n{number}", f"n{number - 1}", "Bash", {"command": f"make {number}"}))
        records.append(result(f"n{number + 1}", f"n{number}", f"n{number}", "ok"))
    whole = only(write(*records))
    grown = write(*records, says("z", "n900", "Done."))
    later = next(iter(read(grown, Mark(whole.ended_at, whole.lines))))
    assert (later.key, later.branch, later.started) == (whole.key, whole.branch, whole.started)
    assert [(turn.line, turn.text) for turn in later.turns] == [(len(records) + 1, "Done.")]
    assert later.sha256 == only(grown).sha256
