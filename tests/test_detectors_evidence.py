"""Checks and errors are known again, however the command line was typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.evidence import checks_of, gone, is_failure, same_check, taken_back, telling_line
from tests.recorded import edit, run, session, tool


def test_checks_are_what_a_line_runs() -> None:
    """Looking, moving and setting up are left out; task runners keep the task's name."""
    assert checks_of("cd shop && npm run lint 2>&1 | tail -3; echo done") == ("npm run lint",)
    assert checks_of("export A=1 && ./scripts/harness.sh verify --fast") == ("harness.sh verify",)
    assert checks_of("git status && git push") == ("git push",)
    assert checks_of("grep -r x . | head") == ()
    assert checks_of("import os\nprint(os.getcwd())") == ()


def test_the_last_check_of_a_chain_is_the_one_that_counts() -> None:
    """`fmt && lint` is repeated by `lint`, not by `fmt`."""
    assert same_check("make fmt && make lint", "make lint")
    assert not same_check("make fmt && make lint", "make fmt")


def test_the_telling_line_is_the_finding_and_not_the_runners_lament() -> None:
    """Of a linter's output the finding, of a push the rejection, of a traceback the exception."""
    assert telling_line("[lint] ERROR task failed\n\na/b.go:3:1: undefined: x\n1 issues:") == "a/b.go:3:1: undefined: x"
    assert telling_line("error: failed to push some refs\n ! [rejected] a -> a (fetch first)").startswith(
        "! [rejected]"
    )
    assert telling_line("x.py:3: in <module>\n    import y\nE   ModuleNotFoundError: No module named 'y'").startswith(
        "ModuleNot"
    )
    assert telling_line('{"message":"Field \'x\' is unknown","code":3}') == "Field 'x' is unknown"


def test_a_failure_needs_an_output_of_its_own() -> None:
    """Without output, or with the harness's own words, nothing failed that teaches."""
    assert is_failure(run("make", "make: *** No rule to make target", failed=True))
    assert not is_failure(run("make", "", failed=True))
    assert not is_failure(run("make", "Command timed out after 120 s", failed=True))
    assert not is_failure(tool("Read", "File does not exist.", "read", failed=True))


@given(st.text(max_size=400), st.text(max_size=400))
def test_any_output_has_an_answer(command: str, output: str) -> None:
    """Any text is a command and an output to the questions."""
    checks_of(command)
    same_check(command, command)
    assert gone("", output) is False
    telling_line(output)


LINES = st.lists(st.text(alphabet="abc =", min_size=1, max_size=6), max_size=3).map("\n".join)


@given(LINES, LINES)
def test_an_edit_and_its_inverse_stand_for_nothing(old: str, new: str) -> None:
    """Both are taken back, whatever they change; another file's edit stands."""
    undone = taken_back(session(edit("a.py", old, new), edit("b.py", "x", "y"), edit("a.py", new, old)))
    lines = {frozenset(filter(None, map(str.strip, text.split("\n")))) for text in (old, new)}
    assert undone == ({0: 2, 2: 2} if len(lines) == 2 else {})


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("git checkout -- src/a.py", {0: 2}),
        ("git restore src/a.py", {0: 2}),
        ("git restore --staged src/a.py", {}),
        ("git checkout -- src/c.py", {}),
        ("git checkout .", {}),
        ("git restore .", {0: 2, 1: 2}),
        ("git reset --hard", {0: 2, 1: 2}),
        ("git checkout -b src/a.py-fix", {}),
    ],
)
def test_what_git_puts_back_did_not_stand(command: str, wanted: dict[int, int]) -> None:
    """The files that the command names, or all of them; not what was committed before."""
    edits = (edit("src/a.py", "x", "y"), edit("src/b.py", "x", "y"))
    assert taken_back(session(*edits, run(command, ""))) == wanted
    assert taken_back(session(*edits, run("git commit -am x", ""), run(command, ""))) == {}
