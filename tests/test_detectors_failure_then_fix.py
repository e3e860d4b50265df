"""A failure counts with its fix: what was changed before the same check passed; and many failures do not count."""

from __future__ import annotations

from detectors.failure_then_fix import detect
from tests.recorded import agent, edit, person, refused, run, session, tool

UNDEFINED = "shop/cart.go:12:5: undefined: math"


def test_a_fixed_failure_is_an_episode_with_failure_change_and_check() -> None:
    """The failed run, the edit after it and the passing run are named by position, with their lines."""
    found = list(
        detect(
            session(
                person("remove the helper"),
                run("go test ./...", UNDEFINED, failed=True),
                agent("I need to keep the `math` import."),
                edit("shop/cart.go", "", '"math"'),
                run("go test ./...", "ok"),
            )
        )
    )
    assert [(e.failure, e.change, e.check, e.lines) for e in found] == [(1, (3,), 4, (3, 10))]


def test_the_check_may_pass_in_another_command_line() -> None:
    """`fmt && lint` that failed in lint has passed when `lint` alone passes, tail or not."""
    found = list(
        detect(
            session(
                run("make fmt && make lint", "a.py:3:1: error: missing colon", failed=True),
                edit("a.py", "if x", "if x:"),
                run("make lint 2>&1 | tail -5", "clean"),
            )
        )
    )
    assert len(found) == 1


def test_changes_that_did_not_help_are_not_the_fix() -> None:
    """An edit after which the same error stood again is left out; the one before the pass is the fix."""
    (found,) = detect(
        session(
            run("pytest", "E   KeyError: 'size'", failed=True),
            edit("a.py", "x = 1", "x = 2"),
            run("pytest", "E   KeyError: 'size'", failed=True),
            edit("b.py", "y = {}", "y = {'size': 1}"),
            run("pytest", "3 passed"),
        )
    )
    assert found.change == (3,)


def test_one_check_can_hold_two_failures() -> None:
    """When a run fails with another error, the first is solved at that point."""
    found = list(
        detect(
            session(
                run("make lint", "a.go:1:1: undefined: Foo", failed=True),
                edit("a.go", "Foo", "Bar"),
                run("make lint", "a.go:9:1: missing return", failed=True),
                edit("a.go", "", "return nil"),
                run("make lint", "clean"),
            )
        )
    )
    assert [(e.failure, e.check) for e in found] == [(0, 2), (2, 4)]


def test_a_command_that_cleared_the_way_is_the_change() -> None:
    """A push refused, a pull, the push again: the pull is what was changed."""
    (found,) = detect(
        session(
            run("git push", "! [rejected] main -> main (fetch first)", failed=True),
            run("git status", "behind"),
            run("git pull --rebase", "ok"),
            run("git push", "ok"),
        )
    )
    assert found.change == (2,)


def test_test_driven_work_says_nothing() -> None:
    """A test written first and made to pass by the code it tests is no lesson."""
    assert not list(
        detect(
            session(
                edit("tests/test_cart.py", "", "def test_total(): assert total([1]) == 1"),
                run("pytest", "E   NameError: name 'total' is not defined", failed=True),
                edit("cart.py", "", "def total(items): return sum(items)"),
                run("pytest", "1 passed"),
            )
        )
    )


def test_a_run_that_was_meant_to_fail_says_nothing() -> None:
    """What the agent announced as red is no failure."""
    assert not list(
        detect(
            session(
                agent("Let me run it: the new test should fail first."),
                run("pytest", "E   AssertionError: 1", failed=True),
                edit("cart.py", "a", "b"),
                run("pytest", "1 passed"),
            )
        )
    )


def test_refusals_and_the_harness_own_errors_say_nothing() -> None:
    """A refused edit, a file not read yet, a sibling's error, an interruption: none is a failure."""
    assert not list(
        detect(
            session(
                refused("a.py"),
                tool("Edit", "<tool_use_error>File has not been read yet.</tool_use_error>", "edit", failed=True),
                run("ls", "<tool_use_error>Sibling tool call errored</tool_use_error>", failed=True),
                run("make test", "[Request interrupted by user]", failed=True),
                edit("a.py", "a", "b"),
                run("make test", "ok"),
            )
        )
    )


def test_a_failure_never_seen_to_pass_says_nothing() -> None:
    """Without a passing run there is no fix."""
    assert not list(detect(session(run("make test", UNDEFINED, failed=True), edit("a.go", "a", "b"))))


def test_the_same_command_passing_by_itself_says_nothing() -> None:
    """A flake that went away teaches nothing."""
    assert not list(detect(session(run("make test", UNDEFINED, failed=True), run("make test", "ok"))))


def test_own_and_scheduled_runs_say_nothing() -> None:
    """hotwash never learns from itself, nor from a timer's runs."""
    turns = (run("make test", UNDEFINED, failed=True), edit("a.go", "a", "b"), run("make test", "ok"))
    assert not list(detect(session(*turns, own=True)))
    assert not list(detect(session(*turns, scheduled=True)))
    assert list(detect(session(*turns)))
