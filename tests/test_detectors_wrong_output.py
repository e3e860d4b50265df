"""Output that was wrong though nothing failed is told with its cause; output that is right, or not there, is not."""

from __future__ import annotations

import pytest

from detectors.wrong_output import complaint, detect
from index.records import Turn
from reflect.lessons import write_lessons
from tests.recorded import agent, edit, person, run, session

WRONG: dict[str, tuple[list[Turn], str]] = {
    "a sum that is too high": (
        [
            run("python bill.py", "total 240"),
            agent("That can't be right: the ledger says 120."),
            agent("`join_rows` matches on `client`, so every row is counted once for each client."),
            agent("I'll join on `bill_id`."),
            edit("bill.py", "merge(on='client')", "merge(on='bill_id')"),
            run("python bill.py", "total 120"),
            agent("Now it agrees with the ledger."),
        ],
        "Join on `bill_id`",
    ),
    "an old answer from a server that was not restarted": (
        [
            run("curl -s localhost:8000/hi", "Hello"),
            agent(
                "It still says Hello even though the template changed. The loader caches templates because of "
                "`--preload`, so they are read at start only. The server has to be restarted after a change."
            ),
            run("systemctl --user restart web", ""),
            run("curl -s localhost:8000/hi", "Servus"),
        ],
        "The server has to be restarted after a change",
    ),
    "an error in a log of a run that ended well": (
        [
            run("kubectl get pods", "api CrashLoopBackOff"),
            run("kubectl logs api", "exec /app: exec format error"),
            agent(
                "The image was built for arm64, while the nodes are amd64. Rebuilding with `--platform linux/amd64`."
            ),
            run("docker buildx build --platform linux/amd64 --push .", "pushed"),
            run("kubectl get pods", "api Running"),
        ],
        "Rebuild with `--platform linux/amd64`",
    ),
    "a command that was typed otherwise": (
        [
            run("acme list --json | jq '.[] | select(.ok = false)'", '"a" "b"'),
            agent("It lists every job, also the good ones: it has to be `select(.ok == false)`, one sign assigns."),
            run("acme list --json | jq '.[] | select(.ok == false)'", '"b"'),
        ],
        "==",
    ),
    "the same look, sorted otherwise": (
        [
            run("du -h src | sort -n | tail -3", "912K a\n1.1M b"),
            agent("The result is off: `vendor` has 24M. `sort -n` does not understand the suffixes, `sort -h` does."),
            run("du -h src | sort -h | tail -3", "1.1M b\n24M vendor"),
        ],
        "Run `du -h src | sort -h | tail -3`, not `du -h src | sort -n | tail -3`",
    ),
    "the output that an issue reports": (
        [
            run("python repro.py", "344"),
            agent("We see the same output as the issue."),
            agent(
                "The code uses integer division, which truncates the milliseconds. To fix this, we should ensure that "
                "the division results in a float and round it before converting."
            ),
            edit("lib/delta.py", "a // b", "int(round(a / b))"),
            run("python repro.py", "345"),
        ],
        "Ensure that the division results in a float",
    ),
}
SILENT: dict[str, list[Turn]] = {
    "output that is not there yet": [
        run("python imp.py", "parsed 0"),
        agent("It prints only 0 because the parser isn't implemented yet."),
        edit("imp.py", "print(0)", "print(len(parse()))"),
        run("python imp.py", "parsed 10"),
    ],
    "output that is right": [
        run("python imp.py", "parsed 10"),
        agent("10 rows, because `parse` skips the header."),
        edit("imp.py", "", "# ten rows"),
        run("python imp.py", "parsed 11"),
    ],
    "a change that did not help": [
        run("python bill.py", "total 240"),
        agent("That total is wrong. `rate` is read twice because of the loop."),
        edit("bill.py", "rate", "rate_once"),
        run("python bill.py", "total 300"),
        agent("It's still wrong."),
    ],
    "a slip of the agent's own": [
        run("ls docs", "blue.md"),
        agent("I misread the task: the file should have been `red.md` instead of `blue.md`, because it says red."),
        edit("docs/blue.md", "blue", "red"),
        run("ls docs", "red.md"),
    ],
    "the person spoke in between": [
        run("python bill.py", "total 240"),
        agent("That can't be right, because `rate` is counted twice."),
        person("leave it"),
        edit("bill.py", "rate", "rate_once"),
        run("python bill.py", "total 120"),
    ],
    "no cause told": [
        run("python bill.py", "total 240"),
        agent("That looks wrong."),
        edit("bill.py", "a", "b"),
        run("python bill.py", "total 120"),
    ],
}


@pytest.mark.parametrize("story", WRONG)
def test_wrong_output_is_told(story: str) -> None:
    """What to do, and that no error says so."""
    turns, words = WRONG[story]
    made = session(*turns)
    (episode,) = detect(made)
    (lesson,) = write_lessons(made, [episode])
    assert words in f"{lesson.title}\n{lesson.body}"
    assert "without an error" in lesson.body


@pytest.mark.parametrize("story", SILENT)
def test_other_output_is_not(story: str) -> None:
    """Work under way, output that is right, changes that did not help, slips, and faults without a cause."""
    assert not list(detect(session(*SILENT[story])))


@pytest.mark.parametrize(
    ("said", "finds_fault"),
    [
        ("Expected 3 rows but got 2.", True),
        ("The list is empty.", True),
        ("It returns HTML instead of JSON.", True),
        ('It shows "undefined" although the variable is set.', True),
        ("8,412 lines, but there are only 4,206 members.", True),
        ("文字化けしています。", True),
        ("输出不对。", True),
        ("All rows are there.", False),
        ("The skeleton prints nothing so far.", False),
    ],
)
def test_what_finds_fault_with_an_output(said: str, finds_fault: bool) -> None:
    """Words for wrong, missing or other than expected."""
    assert bool(complaint(said)) is finds_fault
