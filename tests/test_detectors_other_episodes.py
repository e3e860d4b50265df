"""The other detectors: each finds its kind and is silent beside it."""

from __future__ import annotations

from detectors import (
    abandoned_approach,
    decision,
    diagnosed_cause,
    discarded_work,
    environment_fact,
    repeated_failure,
)
from detectors.registry import DETECTORS, detect_episodes
from tests.recorded import agent, edit, person, refused, run, session, tool

MISSING = "ModuleNotFoundError: No module named 'shop'"


def test_the_registry_names_every_detector_by_its_module() -> None:
    """One entry a detector, called as its file is."""
    assert all(detect.__module__ == f"detectors.{name}" for name, detect in DETECTORS.items())


def test_an_error_three_times_is_a_repetition() -> None:
    """Twice is none; three times is one, solved or not."""
    twice = [run("cargo fmt", "error: could not create temp file: Operation not permitted", failed=True)] * 2
    assert not list(repeated_failure.detect(session(*twice)))
    (found,) = repeated_failure.detect(session(*twice, twice[0]))
    assert found.check is None


def test_a_missing_module_with_the_command_that_went_through() -> None:
    """What the machine lacks, and how the command was typed instead."""
    (found,) = environment_fact.detect(
        session(run("pytest -q", MISSING, failed=True), run("PYTHONPATH=. pytest -q", "8 passed"))
    )
    assert (found.failure, found.check) == (0, 1)


def test_a_file_that_a_look_did_not_find_is_no_fact_of_the_machine() -> None:
    """`ls` and `cat` of a wrong path teach nothing."""
    looked = session(run("ls src/old", "ls: src/old: No such file or directory", failed=True), run("ls src", "new"))
    assert not list(environment_fact.detect(looked))


def test_a_cause_named_and_acted_on_is_a_diagnosis() -> None:
    """The report, the statement that names the cause, the edit and the check."""
    (found,) = diagnosed_cause.detect(
        session(
            person("the command hangs for a second at exit"),
            agent("Let me look."),
            agent("Found it. The problem is that `Close()` waits for the upload."),
            edit("client.go", "", "ShutdownTimeout: 100 * time.Millisecond,"),
            run("go build ./...", "ok"),
        )
    )
    assert (found.failure, found.change, found.check) == (0, (3,), 4)


def test_a_refuted_diagnosis_says_nothing() -> None:
    """What the person turned down was not the cause."""
    start = (
        person("the date is invalid"),
        agent("The issue is that `id` lacks a date prefix."),
        edit("a.sh", "id=x", "id=2026-x"),
    )
    assert not list(diagnosed_cause.detect(session(*start, person("no, none of the files has a date in front"))))
    assert not list(diagnosed_cause.detect(session(*start, refused("a.sh", "the ids are plain uuids"))))


def test_a_stash_dropped_after_a_refused_pop_is_lost_work() -> None:
    """The pop was refused, the drop went through: the edits are gone."""
    pop = run(
        "git stash; make lint; git stash pop", "error: Your local changes would be overwritten by merge", failed=True
    )
    (found,) = discarded_work.detect(session(pop, run("git stash drop", "Dropped")))
    assert found.turns == (0, 1)


def test_a_stash_popped_at_last_is_not_lost() -> None:
    """A pop that went through in between saved the work."""
    pop = run("git stash pop", "error: Your local changes would be overwritten by merge", failed=True)
    assert not list(discarded_work.detect(session(pop, run("git stash pop", "ok"), run("git stash drop", "Dropped"))))


def test_an_approach_given_up_for_a_reason() -> None:
    """Tried, said why not, and taken back."""
    (found,) = abandoned_approach.detect(
        session(
            edit("db.py", "", "engine = create_async_engine(url)\nsession = AsyncSession(engine)"),
            agent("This won't work because `sqlite3` has no async driver here. Let me revert to `create_engine`."),
            run("git checkout -- db.py", ""),
        )
    )
    assert found.turns == (0, 1, 2)


def test_a_file_put_back_without_a_reason_is_no_abandoned_approach() -> None:
    """Restoring a file says nothing by itself."""
    put_back = session(
        edit("a.py", "", "x = 1\ny = 2"), agent("Let me restore the file."), run("git checkout -- a.py", "")
    )
    assert not list(abandoned_approach.detect(put_back))


def test_a_choice_with_its_reason_that_was_followed() -> None:
    """Named alternative, reason, and an edit that holds the chosen thing."""
    chosen = agent("I'll use `orjson` instead of `json` because the files are large.")
    (found,) = decision.detect(session(chosen, edit("io.py", "import json", "import orjson")))
    assert found.change == (1,)
    assert not list(decision.detect(session(agent("We could use `orjson` or `json`."), edit("io.py", "", "orjson"))))


def test_a_quiet_session_has_no_episode() -> None:
    """Reading, searching without a match and a clean edit are nothing to tell."""
    quiet = session(
        person("rename the file"),
        run("rg old_name", "", exit_code=1),
        tool("Read", "text", "read"),
        edit("a.py", "old", "new"),
        run("pytest", "3 passed"),
        agent("Renamed."),
    )
    assert detect_episodes(quiet) == ()


def test_a_word_spelt_right_is_no_way_round() -> None:
    """The same command with one word put right is a typo; another program is not."""
    wrong = run("npm tset", 'Unknown command: "tset"', failed=True)
    assert not list(environment_fact.detect(session(wrong, run("npm test", "ok"))))
    gone = run("docker-compose up", "docker-compose: command not found", failed=True)
    (found,) = environment_fact.detect(session(gone, run("docker compose up", "ok")))
    assert found.check == 1


def test_a_fault_that_is_seen_is_a_report() -> None:
    """What stays blank or comes twice is reported without the word error; its cause and change belong to it."""
    (found,) = diagnosed_cause.detect(
        session(
            person("after login the page just stays white"),
            agent("`useUser` never sets it because the token is read from `localStorage` too early."),
            edit("useUser.ts", "localStorage.getItem('token')", "await session.ready()"),
            person("works now"),
        )
    )
    assert found.change == (2,)
    told = session(
        person("make the page white"),
        agent("The page is white since `theme` says so."),
        edit("theme.ts", "theme: 'dark'", "theme: 'white'"),
    )
    assert not list(diagnosed_cause.detect(told))


def test_a_remedy_that_held_needs_no_reason_in_words() -> None:
    """A wrong behaviour was reported, an exact remedy told and written, and the check passed or the person says so."""
    report = person("clicking delete removes the wrong row")
    told = agent("Rows are keyed by `index`. I'll set their key to `row.id`.")
    change = edit("table.tsx", "key={index}", "key={row.id}")
    for held in (run("npm test", "8 passed"), person("works now")):
        (found,) = diagnosed_cause.detect(session(report, told, change, held))
        assert found.change == (2,)
    assert not list(diagnosed_cause.detect(session(report, told, change)))
