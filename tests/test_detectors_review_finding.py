"""A fault told together with its fix: in the agent's report, or handed in by the person."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.registry import detect_episodes
from detectors.review_finding import addressed, detect, handed_in, reported
from index.records import Turn
from reflect.lessons import write_lessons
from tests.recorded import agent, edit, person, run, session

REPORT = """I found one issue in the branch.

- **High** — `parseDue` reads the date in local time, so that invoices of the last day are dated one day early.
  - Location: `src/billing/due.ts:40`
  - Fix: use `Date.UTC(...)` in `parseDue`, as `formatDue` does.
- **Low** — the log line names the customer.

The rest looks fine."""
HANDED = (
    'the reviewer left this comment: "The retry loop can send the same mail twice when the queue times out. Consider '
    "passing the message's key as `Idempotency-Key`.\" please fix"
)


def titles(*turns: Turn, **heading: object) -> list[str]:
    """The titles of the lessons that a session of these turns gives."""
    made = session(*turns, **heading)
    return [lesson.title for lesson in write_lessons(made, detect_episodes(made))]


def test_an_item_with_a_fault_and_its_fix_is_a_finding() -> None:
    """The heading without its grade is the fault, what the label holds the fix; an item without a fix is none."""
    (found,) = reported(REPORT)
    assert found.problem.startswith("`parseDue` reads the date in local time")
    assert found.fix.startswith("use `Date.UTC(...)`")


def test_a_report_gives_a_lesson_that_fires_on_the_file_it_names() -> None:
    """Nothing was changed, so that the path comes from the report."""
    made = session(agent(REPORT))
    (lesson,) = write_lessons(made, detect_episodes(made))
    assert lesson.title == "Use `Date.UTC(...)` in `parseDue`, as `formatDue` does"
    assert lesson.triggers.paths == ("src/billing/due.ts",)


def test_a_sub_agents_report_stands_beside_its_best_other_lesson() -> None:
    """What the machine lacks and what the review found are two things; a third is not kept."""
    gap = "Your Node version is incompatible with x.\n\nExpected version: >=20.0.0\nGot: v14.16.0"
    missing = [run("shellcheck a.sh", "zsh:1: command not found: shellcheck", failed=True), agent("Moving on.")]
    found = titles(run("pnpm test", gap, failed=True), *missing, agent(REPORT), subagent=True)
    assert found == [
        "Use node `>=20.0.0` for this project: this shell has `v14.16.0`",
        "Use `Date.UTC(...)` in `parseDue`, as `formatDue` does",
    ]


def test_a_reviews_words_that_were_acted_on_are_a_finding() -> None:
    """The person hands them in; the edit that speaks of them counts, another does not."""
    right = edit("mail.py", "send(m)", 'send(m, headers={"Idempotency-Key": m.key})')
    (found,) = detect(session(person(HANDED), edit("README.md", "", "a line"), right, agent("Done.")))
    assert found.change == (2,)
    assert titles(person(HANDED), right, agent("Done.")) == ["Pass the message's key as `Idempotency-Key`"]


def test_a_fault_and_a_fix_under_labels_need_no_review() -> None:
    """A person's own diagnosis, with a line broken within a sentence."""
    text = (
        "Problem: the global cap of 5 MB breaks\nuploads of bundles.\n\nFix: instead of one, choose the cap by route."
    )
    (found,) = handed_in(text)
    assert found.problem == "the global cap of 5 MB breaks uploads of bundles."
    change = edit("src/cap.ts", "CAP", "const cap = uploadRoutes.has(route) ? BUNDLES : CAP")
    assert titles(person(text), change) == [
        "Choose the cap by route: the global cap of 5 MB breaks uploads of bundles",
    ]


@pytest.mark.parametrize(
    "turns",
    [
        [person(HANDED), agent("I disagree, the queue has a key already.")],
        [person(HANDED), edit("README.md", "", "a line")],
        [person(HANDED), replace(edit("mail.py", "", "Idempotency-Key"), refused=True, outcome="unknown")],
        [agent(REPORT), person("no, the dates are local on purpose")],
        [agent("Plan:\n- Rename `a` to `b`\n- Fix: run `make`")],
        [person("review this: the parser is missing tests. Consider adding test cases for `parse`."), edit("p.py")],
        [person("Please review the module.\n\nIt should be fast. Use `asyncio` and report.")],
    ],
)
def test_what_nobody_acted_on_or_what_was_turned_down_says_nothing(turns: list[Turn]) -> None:
    """A fix not made, an edit that has nothing to do with it, a refusal, a plan, a wish for more tests."""
    assert titles(*turns) == []


@given(st.text(alphabet='-*`#:.\n Fixabc"1', max_size=400))
def test_any_text_has_an_answer(text: str) -> None:
    """Each finding has a fault and a fix that are not empty."""
    assert all(found.problem.strip() and found.fix.strip() for found in [*reported(text), *handed_in(text)])


ADDRESSED = """The review reported two issues:

- **High:** the size check can be passed over when `Content-Length` is missing.
- **Medium:** the secret scan does not read `.scan.toml` because the `config-path` input is not supported.

I continued and addressed the second:

- Updated `.github/workflows/scan.yml` to use:
  - `SCAN_CONFIG: .scan.toml`
  - (removed the unsupported `config-path`)
"""


def test_a_graded_fault_and_what_was_changed_for_it_are_a_finding() -> None:
    """The change is told further down; a fault that nothing was changed for is none."""
    (found,) = addressed(ADDRESSED)
    assert found.problem.startswith("the secret scan does not read `.scan.toml`")
    assert "`SCAN_CONFIG: .scan.toml`" in found.fix
    fixed = edit(".github/workflows/scan.yml", "config-path: .scan.toml", "SCAN_CONFIG: .scan.toml")
    (title,) = titles(fixed, agent(ADDRESSED))
    assert title.startswith("Update `.github/workflows/scan.yml` to use: `SCAN_CONFIG: .scan.toml`")


def test_a_graded_fault_without_a_change_is_none() -> None:
    """Neither where nothing was edited, nor where the edit is of something else, nor where no fault is graded."""
    assert titles(agent(ADDRESSED)) == []
    assert titles(edit("README.md", "", "more words"), agent(ADDRESSED)) == []
    assert addressed("I updated `a.py` to use `b`. High hopes for the rest.") == []
