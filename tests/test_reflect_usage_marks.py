"""One record of a transcript, and the signs of use in it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflect.usage_marks import Mark, find_marks, may_hold_marks

CALLS = [
    # Claude Code
    ({"type": "tool_use", "id": "t1", "name": "Skill", "input": {"skill": "deploy-preview", "args": "x"}}, "t1"),
    # an older form of the same
    ({"type": "tool_use", "id": "t1", "name": "Skill", "input": {"command": "deploy-preview"}}, "t1"),
    # Hermes and all that follow the chat-completions form
    ({"id": "c1", "function": {"name": "skill_view", "arguments": '{"name": "deploy-preview"}'}}, ""),
    # Gemini CLI
    ({"id": "g1", "name": "activate_skill", "args": {"name": "deploy-preview"}}, "g1"),
    # OpenCode
    ({"type": "tool", "tool": "skill", "callID": "o1", "state": {"input": {"name": "deploy-preview"}}}, "o1"),
]


@pytest.mark.parametrize(("record", "call"), CALLS)
def test_a_skill_load_is_found_in_the_form_of_every_agent(record: dict[str, object], call: str) -> None:
    """A call that loads a skill is one mark with the skill's name."""
    assert list(find_marks({"message": {"content": [record]}})) == [Mark("load", "deploy-preview", call=call)]


def test_a_slash_command_counts_only_where_the_harness_wrote_it() -> None:
    """The element counts at a message's start, not where a tool's output or a sentence quotes it."""
    typed = "<command-message>ship</command-message>\n<command-name>/ship</command-name>"
    assert list(find_marks({"content": typed})) == [Mark("command", "ship")]
    assert not list(find_marks({"content": f"the file holds {typed}"}))
    assert not list(find_marks({"type": "tool_result", "content": typed}))
    assert not list(find_marks({"toolUseResult": {"file": {"content": typed}}}))


def test_the_text_of_a_skill_tells_where_it_lies() -> None:
    """`Base directory for this skill` gives the skill's folder; Codex' own element its name and file."""
    shown = {
        "content": [{"type": "text", "text": "Base directory for this skill: /home/u/.claude/skills/ship\n\n# Ship"}]
    }
    assert list(find_marks(shown)) == [Mark("shown", "ship", "/home/u/.claude/skills/ship")]
    codex = {"text": "<skill>\n<name>ship</name>\n<path>/home/u/.codex/skills/ship/SKILL.md</path>\n# Ship</skill>"}
    assert list(find_marks(codex)) == [Mark("load", "ship", "/home/u/.codex/skills/ship")]


def test_reading_a_skill_or_memory_file_counts_and_writing_it_does_not() -> None:
    """A read by tool or shell is a use; an edit, a search pattern and a to-do are none."""
    read = {"name": "Read", "input": {"file_path": "/home/u/.claude/skills/ship/SKILL.md"}}
    shell = {"name": "exec_command", "arguments": json.dumps({"cmd": "sed -n 1,80p .codex/skills/ship/SKILL.md"})}
    memory = {"name": "Read", "input": {"file_path": "/srv/app/AGENTS.md"}}
    assert list(find_marks(read)) == [Mark("read", "ship", "/home/u/.claude/skills/ship")]
    assert list(find_marks(shell)) == [Mark("read", "ship", ".codex/skills/ship")]
    assert list(find_marks(memory)) == [Mark("memory", "/srv/app/AGENTS.md", "/srv/app/AGENTS.md")]
    for tool, given_ in (
        ("Write", {"file_path": "/srv/app/AGENTS.md", "content": "x"}),
        ("Glob", {"pattern": "**/AGENTS.md"}),
        ("TodoWrite", {"todos": [{"content": "write AGENTS.md"}]}),
        ("Bash", {"command": "git add AGENTS.md"}),
    ):
        assert not list(find_marks({"name": tool, "input": given_})), tool


def test_a_skill_that_the_harness_does_not_know_is_a_mark_of_its_own() -> None:
    """The refusal names the ghost."""
    record = {
        "type": "tool_result",
        "is_error": True,
        "content": "<tool_use_error>Unknown skill: shipp</tool_use_error>",
    }
    assert list(find_marks(record)) == [Mark("unknown", "shipp")]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.sampled_from(["Skill", "SKILL.md", "name"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["name", "input", "type", "content", "arguments", "skill", "x"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(values)
def test_no_record_breaks_the_search_and_every_mark_is_announced_by_its_bytes(record: object) -> None:
    """Any JSON value is looked through without an error; a record whose bytes hold no mark gives none."""
    marks = list(find_marks(record))
    if not may_hold_marks(json.dumps(record).encode()):
        assert marks == []
