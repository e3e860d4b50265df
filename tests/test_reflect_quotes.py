"""Quotes are taken as they stand; titles are short; literals keep their marks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reflect.quotes import (
    LONGEST_TITLE,
    act_on,
    added_line,
    as_title,
    best_cause,
    best_order,
    capital,
    code,
    is_telling,
    line_pair,
    names_in,
    tidy,
    uncapital,
    without_paths,
)


def test_the_cause_is_the_sentence_that_names_it() -> None:
    """Of several sentences the one that says why and speaks of the same things, without its lead."""
    said = ["Let me check. The problem is that `Close()` waits for the upload. All tests pass."]
    assert best_cause(said, names_in("Close upload")) == "`Close()` waits for the upload."


def test_a_clause_after_that_is_no_pointing_back() -> None:
    """`Ensure that the x` says what; `ensure that` alone does not."""
    assert is_telling("Ensure that the division results in a float")
    assert not is_telling("Ensure that")


def test_a_change_within_a_string_is_shown_with_its_line() -> None:
    """What differs is not cut out of quotes."""
    told = act_on(
        "The merge is on `client`, so every row comes twice.",
        ['-rows = a.merge(b, on="client")\n+rows = a.merge(b, on="bill", how="left")'],
        ["bill.py"],
    )
    assert told.count('"') % 2 == 0


def test_a_bare_found_it_hands_over_to_the_next_sentence() -> None:
    """`Found the issue!` names nothing; what follows does."""
    said = ["I found the issue! The fixture `users.json` has no dates."]
    assert best_cause(said, names_in("users.json"), least=3) == "The fixture `users.json` has no dates."


def test_a_cause_about_other_things_is_none() -> None:
    """A reason that shares no name with the failure is not its reason."""
    assert best_cause(["This is slow because the network is busy."], names_in("undefined: math")) == ""


def test_the_order_is_what_is_to_be_done() -> None:
    """The step that names the same things wins over looks and over what only puts things right."""
    said = ["Let me look at `cart.go`. I need to import `math` because `round` uses it. Then fix the tests."]
    assert best_order(said, names_in("undefined: math")) == "Import `math` because `round` uses it"


def test_orders_that_say_nothing_are_none() -> None:
    """Fix the tests, put it there, a question: no next reader can act on them."""
    for order in ("fix the failing tests", "add it to the list", "use what?", "update the file", ""):
        assert not is_telling(order)
    assert is_telling("use `t.Chdir()`")


def test_fillers_are_left_out() -> None:
    """You're right, found it, list marks and bold marks go; the sentence stays."""
    assert tidy("You're right. **The** id is a plain uuid.") == "The id is a plain uuid."


def test_a_cause_becomes_a_title_that_says_what_to_do() -> None:
    """A need stands as it is; else the changed line, else the names of the cause that were written; else nothing."""
    assert act_on("The path must be absolute.", [], []) == "The path must be absolute"
    old_new = ["-lock = RLock()\n+lock = Lock()"]
    assert act_on("`get` writes under `RLock`", old_new, ["a.py"]) == "Write `lock = Lock()`, not `lock = RLock()`"
    wrote = ["+" + "x" * 100 + " timestamp = now()"]
    assert act_on("Each record has a `timestamp`", wrote, ["a/b.py"]) == "Set `timestamp` in `b.py`"
    assert act_on("The test expects `a` but `b` came", [], ["a.py"]) == ""
    assert act_on("This needs more careful work in `a`", [], ["a.py"]) == ""


def test_an_identifier_keeps_its_case() -> None:
    """No name, file, option or program is written with another letter for the sake of a sentence."""
    for name in ("camelCase", "snake_case", "npm", "--flag", "app.js", "`code`", "foo()", "utf8"):
        assert capital(f"{name} is set") == f"{name} is set"
    assert capital("use it") == "Use it"
    assert uncapital("The path") == "the path"
    assert uncapital("Postgres wants it") == "Postgres wants it"


@given(st.from_regex(r"[a-z]{1,8}([A-Z_./][a-z]{1,8}){1,3}", fullmatch=True))
def test_no_identifier_changes_its_case(name: str) -> None:
    """Whatever the identifier."""
    assert capital(name) == name


def test_paths_are_cut_from_titles() -> None:
    """Long paths say nothing in a title."""
    assert without_paths("cannot open '/home/a/b/c.txt': denied") == "cannot open '…': denied"


def test_the_changed_line_is_the_one_that_speaks_of_the_error() -> None:
    """Among several replaced lines the one that holds the name."""
    change = "-  count = 1\n-  run(cmd)\n+  count = 2\n+  run_context(ctx, cmd)"
    assert line_pair([change], names_in("run_context")) == ("run(cmd)", "run_context(ctx, cmd)")


def test_an_added_line_that_was_taken_out_again_is_not_shown() -> None:
    """A debug print that a later edit removed is no part of the fix."""
    changes = ["+print(total)\n+import math", "-print(total)"]
    assert added_line(changes, names_in("print total math")) == "import math"


@given(st.text(max_size=400))
def test_titles_and_literals_are_one_line(text: str) -> None:
    """Any text gives a title within its length on one line, and a literal whose marks are paired."""
    title = as_title(text)
    assert len(title) <= LONGEST_TITLE + 1
    assert "\n" not in title
    assert code(text).count("`") % 2 == 0 or "`" in text
