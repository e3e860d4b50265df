"""Failed, passed or unknown: by exit code, by the program that decides on it, by the output where it is hidden."""

from __future__ import annotations

import pytest

from reflect.transcripts.outcomes import exit_code_at_end, exit_code_in, judge_exit, without_exit_code


@pytest.mark.parametrize(
    ("command", "code", "output", "outcome"),
    [
        ("grep -c x a.py", 1, "0", "passed"),
        ("rg 'a|b' src && sed -n 1,9p src/a.py", 1, "", "passed"),
        ("ls src | grep test", 1, "", "passed"),
        ("diff a b", 1, "< x\n> y", "passed"),
        ("test -f x", 1, "", "passed"),
        ("ls gone 2>/dev/null", 1, "", "passed"),
        ("command -v fnm", 1, "", "passed"),
        ("git ls-remote origin | grep x", 1, "fatal: 'origin' does not appear to be a git repository", "failed"),
        ("make; grep x log", 1, "make: *** [all] Error 2", "failed"),
        ("grep x a.py", 2, "grep: a.py: No such file", "failed"),
        ("pytest", 1, "", "failed"),
        ("pytest | tail -3", 0, "=== 2 failed, 3 passed in 0.2s ===", "failed"),
        ("pytest || true", 0, "FAILED tests/test_a.py::test_b", "failed"),
        ("git log --oneline | head -3", 0, "error: handle it", "passed"),
        ("pytest", 0, "no failures", "passed"),
        ("pytest", None, "FAILED", "unknown"),
    ],
)  # fmt: skip
def test_outcomes_of_commands(command: str, code: int | None, output: str, outcome: str) -> None:
    """The last program of a pipeline decides on its exit code."""
    assert judge_exit(command, code, output) == outcome


def test_exit_codes_named_by_the_harness() -> None:
    """At the start or at the end of an output, and taken off it."""
    assert exit_code_in("Exit code: 127\nWall time: 1 seconds") == 127
    assert exit_code_in("the docs say Exit code: 1") is None
    assert exit_code_at_end("x\nCommand exited with code 2") == 2
    assert exit_code_at_end("ok\nExit Code: 1\nProcess Group PGID: 9") == 1
    assert exit_code_at_end("ok") is None
    assert without_exit_code("x\n\nExit Code: 1\nProcess Group PGID: 9") == "x"
