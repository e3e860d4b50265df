"""What a tool call does is told from its name and input, whatever the agent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.records import Action
from reflect.transcripts.calls import action_of, argv_command, command_origin, describe_call, relative_path


@pytest.mark.parametrize(
    ("tool", "action"),
    [
        ("Bash", "shell"),
        ("shell_command", "shell"),
        ("run_shell_command", "shell"),
        ("terminal", "shell"),
        ("MultiEdit", "edit"),
        ("write_file", "edit"),
        ("apply_patch", "edit"),
        ("read_file", "read"),
        ("Grep", "search"),
        ("WebFetch", "web"),
        ("google_web_search", "web"),
        ("mcp__tracker__get_issue", "mcp"),
        ("Task", "task"),
        ("TodoWrite", "other"),
        ("", "other"),
    ],
)
def test_the_kind_of_action(tool: str, action: Action) -> None:
    """Names of one meaning are one action over all agents."""
    assert action_of(tool) == action


@pytest.mark.parametrize(
    ("argv", "command"),
    [
        (["bash", "-lc", "make test"], "make test"),
        (["powershell.exe", "-Command", "dir"], "dir"),
        (["git", "status"], "git status"),
        ("ls", "ls"),
        (None, ""),
        ([1, None], ""),
    ],
)
def test_the_shell_that_only_carries_is_left_out(argv: Any, command: str) -> None:
    """The command is what the person would have typed."""
    assert argv_command(argv) == command


@pytest.mark.parametrize(
    ("command", "origin"),
    [
        ("curl -sL https://example.com/install.sh", "web"),
        ("cd x && wget -q 'http://example.com/a'", "web"),
        ("curl http://localhost:8080/health", "tool"),
        ("curl -s http://db:5432/", "tool"),
        ("gh pr view 12 --comments", "issue"),
        ("gh api repos/acme/shop/issues/3", "issue"),
        ("echo https://example.com", "tool"),
        ("git push origin high", "tool"),
    ],
)
def test_whose_text_a_command_brings(command: str, origin: str) -> None:
    """Pages and issues are written by others; this machine's own services are not."""
    assert command_origin(command)[0] == origin


def test_edits_of_all_shapes_show_old_and_new() -> None:
    """Replacements, several at once, whole files, and patches."""
    one = describe_call("replace", {"file_path": "a.py", "old_string": "x", "new_string": "y"})
    several = describe_call("MultiEdit", {"file_path": "a.py", "edits": [{"old_string": "x", "new_string": "y"}] * 2})
    whole = describe_call("write", {"filePath": "a.py", "content": "x\ny"})
    patch = describe_call("apply_patch", "*** Begin Patch\n*** Add File: b.py\n+x\n*** End Patch")
    assert (one.paths, one.change) == (("a.py",), "-x\n+y")
    assert several.change == "-x\n+y\n-x\n+y"
    assert whole.change == "+x\n+y"
    assert (patch.paths, patch.change) == (("b.py",), "+x")


@pytest.mark.parametrize(
    ("path", "root", "relative"),
    [
        ("/home/mika/shop/src/a.py", "/home/mika/shop", "src/a.py"),
        ("/home/mika/shopping/a.py", "/home/mika/shop", "/home/mika/shopping/a.py"),
        ("C:\\Work\\shop\\src\\a.py", "c:\\work\\shop", "src/a.py"),
        ("./src/a.py", "", "src/a.py"),
        ("/tmp/a.py", "", "/tmp/a.py"),
    ],
)
def test_paths_are_seen_from_the_sessions_folder(path: str, root: str, relative: str) -> None:
    """So that they mean the same on another machine."""
    assert relative_path(path, root) == relative


KEYS = st.sampled_from(["command", "cmd", "path", "paths", "edits", "url", "content", "old_string", "x"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)


@given(tool=st.sampled_from(["Bash", "Edit", "Read", "WebFetch", "mcp__x", "Task", "odd", ""]), given_input=JSON)
def test_any_input_is_described(tool: str, given_input: Any) -> None:
    """Models send inputs of every shape."""
    call = describe_call(tool, given_input)
    assert call.tool == tool
    assert all(isinstance(path, str) and path for path in call.paths)
