"""Lessons say what to do in the episode's own words, point at their lines, and are the same every time."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from detectors.registry import detect_episodes
from index.frontmatter import parse_solution, render_solution
from index.records import CONFIDENCE_RANGE, Session, Solution, Turn
from reflect.lessons import MOST, TURNS_FOR_MORE, write_lessons
from tests.recorded import START, agent, edit, person, refused, run, session, tool

LINT = (
    "[lint] ERROR task failed\n"
    "shop/user.go:95:24: string `user` has 5 occurrences, but such constant `roleUser` already exists (goconst)"
)


def lessons(made: Session, most: int = MOST) -> tuple[Solution, ...]:
    """What a session teaches."""
    return write_lessons(made, detect_episodes(made), most)


def fixed() -> Session:
    """A session with one failure and its fix."""
    return session(
        person("clean up the imports"),
        run("go test ./...", "shop/cart.go:12:5: undefined: math", failed=True),
        agent("I need to add the `math` import back since `roundPrice` still uses it."),
        edit("shop/cart.go", "", '"math"'),
        run("go test ./...", "ok"),
    )


def test_a_lesson_says_what_to_do_why_and_instead_of_what() -> None:
    """Title as an order, the failure as fact, the change and the passing check at the end."""
    (lesson,) = lessons(fixed())
    assert lesson.title == "Add the `math` import back since `roundPrice` still uses it"
    assert "`go test ./...` fails with `undefined: math`" in lesson.body
    assert "**Why it matters:**" in lesson.body
    assert 'in `shop/cart.go`, `"math"` was added' in lesson.body.replace("In `", "in `")
    assert lesson.body.rstrip().endswith("Then `go test ./...` passes.")


def test_triggers_come_from_the_episode() -> None:
    """The edited file, the command and the stable part of the error."""
    (lesson,) = lessons(fixed())
    assert lesson.triggers.paths == ("shop/cart.go",)
    assert lesson.triggers.commands == ("go test ...",)
    assert lesson.triggers.errors == ("undefined: math",)
    assert set(lesson.tags) >= {"go"}


def test_source_project_and_time_are_those_of_the_episode() -> None:
    """First to last line of the episode; created when it ended; nothing of the day the lesson is written."""
    (lesson,) = lessons(fixed())
    assert [(s.session, s.lines, s.origin) for s in lesson.sources] == [("claude-code:s1", (3, 10), "agent")]
    assert (lesson.project, lesson.branch) == ("example.org/acme/shop", "main")
    assert (lesson.created - START).total_seconds() == 4 * 60


def test_the_same_session_gives_the_same_lessons_and_a_copy_the_same_ids() -> None:
    """A fork copies the records: its lessons have the ids that the first session's have."""
    made = fixed()
    assert lessons(made) == lessons(made)
    assert [one.id for one in lessons(replace(made, id="fork"))] == [one.id for one in lessons(made)]


def test_a_session_that_grew_keeps_its_ids() -> None:
    """More turns at the end add lessons; those there were stay as they are."""
    made = fixed()
    grown = session(*made.turns, person("thanks"), agent("You're welcome."))
    assert [one.id for one in lessons(grown)] == [one.id for one in lessons(made)]


def test_lessons_are_valid_solutions() -> None:
    """Rendered and read back they are the same, with a confidence that their type may carry."""
    (lesson,) = lessons(fixed())
    found = parse_solution("x.md", render_solution(lesson))
    assert isinstance(found, Solution)
    assert replace(found, path="", text="") == lesson
    low, high = CONFIDENCE_RANGE[lesson.type]
    assert low <= lesson.confidence <= high


def test_a_checkers_own_advice_is_the_title() -> None:
    """What the message says to write needs no words of the agent."""
    (lesson,) = lessons(
        session(
            run("make lint", LINT, failed=True),
            edit("shop/user.go", 'case "user":', "case roleUser:"),
            run("make lint", "clean"),
        )
    )
    assert lesson.title == "Use the constant `roleUser`, not the string `user`"


def test_a_persons_no_is_quoted() -> None:
    """The words of the person stand in the lesson, with what the agent had meant to do."""
    (lesson,) = lessons(
        session(
            person("fix tests"),
            agent("I need to update the `reset` command to print its own message."),
            refused("shop/reset.go"),
            person("fix the test, the code is right"),
            agent("Got it."),
            edit("shop/reset_test.go", '"Not a shop"', '"not a shop"'),
        )
    )
    assert lesson.title == "Fix the test: the code is right"
    assert "“fix the test, the code is right”" in lesson.body
    assert "update the `reset` command" in lesson.body
    assert lesson.sources[0].origin == "person"
    assert lesson.category == "patterns"


def test_what_a_person_asked_to_keep_is_never_cut() -> None:
    """Requests to remember come beside the others, however few are wanted."""
    made = session(
        person("Remember to run `make gen` after changing the schema."),
        run("go test ./...", "shop/cart.go:12:5: undefined: math", failed=True),
        agent("I need to add the `math` import back since `roundPrice` still uses it."),
        edit("shop/cart.go", "", '"math"'),
        run("go test ./...", "ok"),
    )
    assert [one.title for one in lessons(made, most=0)] == ["Run `make gen` after changing the schema"]
    assert len(lessons(made)) == 2


def test_one_failure_found_by_two_detectors_is_one_lesson() -> None:
    """A missing module is a failure with a fix and a fact of the machine: it is told once."""
    made = session(
        run("pytest -q", "ModuleNotFoundError: No module named 'shop'", failed=True),
        agent("The tests need `PYTHONPATH=.` because `shop` is not installed."),
        run("PYTHONPATH=. pytest -q", "8 passed"),
        run("PYTHONPATH=. pytest -q", "8 passed"),
        run("PYTHONPATH=. pytest -q", "8 passed"),
    )
    assert len(detect_episodes(made)) > 1
    assert len(lessons(made)) == 1


def test_text_from_outside_taints_what_rests_on_it() -> None:
    """A page read between failure and fix makes the lesson external, with its address."""
    made = fixed()
    page = replace(tool("WebFetch", "add the import", "web", origin="web"), ref="https://example.org/fix")
    turns = (*made.turns[:2], page, *made.turns[2:])
    (lesson,) = lessons(session(*turns))
    assert lesson.trust == "external"
    assert (lesson.sources[0].origin, lesson.sources[0].ref) == ("web", "https://example.org/fix")


def test_a_page_between_does_not_taint_the_persons_own_words() -> None:
    """What the person asked for is theirs, whatever was fetched around it."""
    page = tool("WebFetch", "text", "web", origin="web")
    (lesson,) = lessons(session(page, person("From now on, use pnpm and not npm."), page))
    assert lesson.trust == "observed"


def test_most_sessions_teach_little() -> None:
    """At most three by default, and none from a session in which nothing went wrong."""
    quiet = session(person("say hello"), edit("hello.py", "", "print('hello')"), run("python hello.py", "hello"))
    assert lessons(quiet) == ()
    many = session(
        *(
            turn
            for number in ("one", "two", "three", "four", "five")
            for turn in (
                run(f"make check{number}", f"a{number}.py:1:1: error: undefined name thing{number}", failed=True),
                agent(f"I need to import `thing{number}` because `caller{number}` uses it."),
                edit(f"a{number}.py", "", f"import thing{number}"),
                run(f"make check{number}", "ok"),
            )
        )
    )
    assert len(lessons(many)) == MOST
    talk = [agent("On it.")] * (2 * TURNS_FOR_MORE)
    assert len(lessons(session(*many.turns, *talk))) == MOST + 2
    assert len(lessons(session(*many.turns, *talk), MOST - 1)) == MOST - 1


WORDS = st.sampled_from(
    [
        "",
        "fix it",
        "no, never use `x`, always use `y` instead",
        "You're right. The problem is that `a.py` was missing. I need to add `a.py` because `b` wants it.",
        "error: a.py:1:1: undefined `x`\nTraceback",
        "ModuleNotFoundError: No module named 'a'",
        "git stash pop && make test",
        "make test",
        "Remember to run `make`.",
        "a`b``c\n```\n**",
        "\ud83d 改行\u2028",
    ]
)
TURNS = st.builds(
    Turn,
    line=st.just(0),
    end=st.just(0),
    who=st.sampled_from(["person", "agent", "tool", "injected"]),
    text=WORDS,
    tool=st.sampled_from(["", "Bash", "Edit"]),
    action=st.sampled_from(["", "shell", "edit", "read", "mcp", "web"]),
    command=WORDS,
    paths=st.sampled_from([(), ("a.py",), ("/tmp/x", "b/test_c.py"), ("",)]),
    change=st.sampled_from(["", "+x", "-a = 1\n+a = 2", "+\n-"]),
    outcome=st.sampled_from(["failed", "passed", "unknown"]),
    refused=st.booleans(),
    said=WORDS,
    origin=st.sampled_from(["", "person", "agent", "tool", "web"]),
    sidechain=st.booleans(),
)


@settings(deadline=None, max_examples=150)
@given(st.lists(TURNS, max_size=14), st.booleans())
def test_any_session_gives_sound_lessons_or_none(turns: list[Turn], subagent: bool) -> None:
    """No order of turns breaks the writing; what comes out points into the session and says what to do."""
    made = session(*turns, subagent=subagent)
    for lesson in lessons(made):
        assert lesson.title.strip()
        assert "\n" not in lesson.title
        assert "**Why it matters:**" in lesson.body
        assert "**Instead:** " in lesson.body
        (source,) = lesson.sources
        assert source.lines is not None
        assert 1 <= source.lines[0] <= source.lines[1] <= 2 * len(turns)
        low, high = CONFIDENCE_RANGE[lesson.type]
        assert low <= lesson.confidence <= high


def test_a_flood_of_text_is_written_about_in_bounded_work() -> None:
    """Lines without end, repeated marks and cues: the work is bounded by limits, not by the text."""
    for flood in (
        "error: " * 1100,
        "`" * 8000,
        "use x over " * 700,
        "can we " * 1100 + "?",
        "a && " * 1600,
        "'" * 8000,
    ):
        made = session(
            person(flood[:600]),
            run(flood[:4000], flood, failed=True),
            agent(flood),
            edit("a.py", flood[:6000], flood[:6000] + "x"),
            run(flood[:4000], "ok"),
        )
        for lesson in lessons(made):
            assert len(lesson.body) < 4000
