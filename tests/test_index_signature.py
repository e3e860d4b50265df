"""An error or a command that comes back in other words and places has the same signature."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.signature import command_key, command_parts, error_lines, error_signature, is_banner, mask

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "File \"/tmp/a1/x.py\", line 3, in f\nValueError: row 17 of 'users' is bad",
            "ValueError: row 9 of 'orders' is bad",
        ),
        ("error: cannot open /home/ann/app/.env", "error: cannot open /srv/b/.env"),
        (
            "2026-01-02T03:04:05Z ERROR job 3fa85f64-5717-4562-b3fc-2c963f66afa6 failed: timeout",
            "2027-11-12T13:14:15Z ERROR job 11111111-5717-4562-b3fc-aaaaaaaaaaaa failed: timeout",
        ),
        ("\x1b[31mfatal: unable to read 0xdeadbeef\x1b[0m", "fatal: unable to read 0xCAFE0001"),
        ("E   AssertionError: assert 3 == 4", "E   AssertionError: assert 31 == 49"),
        (
            "Error: listen EADDRINUSE: address already in use :::3000",
            "Error: listen EADDRINUSE: address already in use :::8081",
        ),
    ],
)
def test_what_varies_is_masked(first: str, second: str) -> None:
    """Numbers, ids, times, paths, quoted names and colours do not tell two occurrences apart."""
    assert error_signature(first) == error_signature(second) != ""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("ModuleNotFoundError: No module named 'redis'", "ModuleNotFoundError: No module named 'yaml'"),
        ("error[E0308]: mismatched types", "error[E0309]: mismatched types"),
        ("error TS2345: bad argument", "error TS2551: bad argument"),
        ("error: request failed with status 404", "error: request failed with status 500"),
    ],
)
def test_what_the_error_is_about_is_kept(first: str, second: str) -> None:
    """Error codes and what a missing module is called make two errors."""
    assert error_signature(first) != error_signature(second)


@pytest.mark.parametrize(
    ("output", "wanted"),
    [
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nKeyError: 'a'\n\n"
            "During handling of the above exception, another exception occurred:\n\n"
            "Traceback (most recent call last):\n"
            '  File "b.py", line 2, in g\nacme.StoreError: no row for that key',
            "acme.storeerror: no row for that key",
        ),
        ("Exit code 127\nbash: line 1: frobnicate: command not found", "bash: line #: frobnicate: command not found"),
        ("   Compiling app v0.1.0\nerror[E0502]: cannot borrow `x`\n  --> src/a.rs:1:2\nerror: could not compile `app`",
         "error[e0502]: cannot borrow '*'"),
        ("npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\nnpm ERR! A complete log",
         "eresolve unable to resolve dependency tree"),
        ("collected 3 items\n> assert f() == 4\nE   AssertionError: assert 3 == 4\nFAILED tests/test_a.py::test_f",
         "assertionerror: assert # == #"),
        ("", ""),
    ],
)  # fmt: skip
def test_the_telling_line_is_found(output: str, wanted: str) -> None:
    """Of a whole output, the signature is the line that says what failed."""
    assert error_signature(output) == wanted


@given(st.text(max_size=400))
def test_a_signature_is_stable_and_bounded(text: str) -> None:
    """Any text gives one bounded line without digits beyond codes, the same each time."""
    signature = error_signature(text)
    assert signature == error_signature(text)
    assert len(signature) <= 240
    assert "\n" not in signature


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_a_number_in_a_sentence_never_tells(first: int, second: int) -> None:
    """Two sentences that differ in a number mask to the same."""
    assert mask(f"waited {first} ms for it") == mask(f"waited {second} ms for it")


def test_error_lines_are_ranked() -> None:
    """The line with the error comes before the line that only mentions one."""
    lines = error_lines("2 errors were found\nTypeError: x is not a function\nat f (a.js:1:2)")
    assert lines[0] == "TypeError: x is not a function"
    assert not any(line.startswith("at ") for line in lines)


@pytest.mark.parametrize(
    ("command", "key"),
    [
        ("cd /repo && .venv/bin/pytest tests/int/test_a.py::test_x -q 2>&1 | tail -20", "pytest tests/int/test_a.py"),
        ("python3.12 -m pytest -x tests/int", "pytest tests/int"),
        ("PGHOST=x sudo -E git push --force origin main", "git push origin main --force"),
        ("git push origin main --force", "git push origin main --force"),
        ("bash -lc 'cd a && make test-int'", "make test-int"),
        ("uv run ruff check . > /tmp/out 2>&1; echo $?", "ruff check ."),
        ("timeout 30 cargo test --workspace --quiet", "cargo test --workspace"),
        ("npx tsc --noEmit && ls &> /dev/null", "tsc --noEmit"),
        ("cd there", ""),
        ("'unclosed", "unclosed"),
    ],
)
def test_a_command_is_known_by_what_it_runs(command: str, key: str) -> None:
    """Set-up, wrappers, folders, redirections, pipes and short flags are not part of a command's key."""
    assert command_key(command) == key


@given(st.text(max_size=200))
def test_any_line_has_parts(command: str) -> None:
    """No shell line raises; each part starts with a program."""
    assert all(part and part[0] for part in command_parts(command)) or command_parts(command) is not None
    assert command_key(command) == command_key(command)


def test_it_imports_nothing() -> None:
    """The module loads no other module, so that the recall hook can."""
    code = "import sys; before = set(sys.modules); import signature; print(sorted(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=ROOT / "index", capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['signature']"


BANNERS = """\
FAILURE: Build failed with an exception.
! [remote rejected] main -> main (pre-receive hook declined)
error: failed to push some refs to 'example.org:acme/app.git'
error: task failed
code ELIFECYCLE
Lifecycle script `lint:types` failed with error:
husky - pre-push script failed (code 1)
ERROR: failed to solve: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1
Execution failed for task ':compileJava'.
error: Recipe `build` failed on line 12 with exit code 1
bundler: failed to load command: bin/rails (bin/rails)
collect2: error: ld returned 1 exit status
ninja: build stopped: subcommand failed.
Test Suites: 1 failed, 3 passed, 4 total
Found 3 errors in 2 files."""
SPECIFIC = """\
bash: vale: command not found
! [rejected] main -> main (fetch first)
error: could not find `Cargo.toml`
error: invalid source release: 21
Error: timed out waiting for the condition
--- FAIL: TestCart (0.00s)
permission denied
fatal: not a git repository"""


@pytest.mark.parametrize("line", BANNERS.splitlines())
def test_a_banner_is_never_the_error(line: str) -> None:
    """That something ran and failed is no sign of what failed: any specific line beside it is the signature."""
    assert is_banner(line)
    assert error_signature(f"{line}\nerror: invalid source release: 21\n{line}") == "error: invalid source release: #"


@pytest.mark.parametrize("line", SPECIFIC.splitlines())
def test_what_names_a_reason_is_no_banner(line: str) -> None:
    """A line with one word about the reason counts."""
    assert not is_banner(line)
