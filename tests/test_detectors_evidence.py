"""Checks and errors are known again, however the command line was typed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from detectors.evidence import checks_of, gone, is_failure, same_check, telling_line
from tests.recorded import run, tool


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
