"""Redaction of texts and sessions: nothing secret is left, marks are stable, doing it again changes nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from index.records import Problem, Session, Turn
from index.settings import RedactSettings
from reflect.redact import redact_session, redact_text
from tests.planted import Draw, leaks, planted

PLAIN = RedactSettings()
STRICT = RedactSettings(personal_data=True)
PIECES = [item.text for item in planted(11)]


def test_a_mark_tells_the_kind_and_not_the_value() -> None:
    """The line stays readable and the value is gone."""
    text, counts = redact_text("run with DB_PASSWORD=Kraken-77-maple now\nDB_PASSWORD=Kraken-77-maple", PLAIN)
    assert "DB_PASSWORD=[redacted:password]" in text
    assert "Kraken" not in text
    assert counts["password"] >= 1


def test_equal_values_bear_equal_marks() -> None:
    """The same value has the same mark, another value of the kind the next number."""
    text, _ = redact_text("A_PASSWORD=one-Tiger-1\nB_PASSWORD=two-Tiger-2\nC_PASSWORD=one-Tiger-1\n", PLAIN)
    assert text == (
        "A_PASSWORD=[redacted:password]\nB_PASSWORD=[redacted:password:2]\nC_PASSWORD=[redacted:password]\n"
    )


def test_the_mark_does_not_depend_on_the_value() -> None:
    """Two sessions that show the same failure with two passwords read the same: nothing to guess by, one lesson."""
    assert redact_text("X_PASSWORD=aaa-Tiger-1", PLAIN) == redact_text("X_PASSWORD=bbb-Orbit-2", PLAIN)


def test_numbers_go_on_behind_marks_that_are_there() -> None:
    """A new secret in a text that was redacted before does not take an old mark."""
    text, _ = redact_text("[redacted:password] and B_PASSWORD=two-Tiger-2", PLAIN)
    assert text == "[redacted:password] and B_PASSWORD=[redacted:password:2]"


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=40)), max_size=4), st.sampled_from(["", "\n", " "]))
def test_redacting_twice_changes_nothing(pieces: list[str], between: str) -> None:
    """The second pass finds nothing, whatever the first one left side by side."""
    once, _ = redact_text(between.join(pieces), STRICT)
    assert redact_text(once, STRICT) == (once, {})


def test_private_passages_go_whole() -> None:
    """`<private>` takes everything up to its end, or to the end of the text where it is not closed."""
    assert redact_text("a <private>b\nc</private> d", PLAIN)[0] == "a [redacted:private] d"
    assert redact_text("a <private>b\nc", PLAIN)[0] == "a [redacted:private]"


def test_home_paths_become_a_tilde() -> None:
    """With personal data off the user's name is gone and the path can still be read."""
    assert redact_text("/home/jdoe/src/app.py:3 and C:\\Users\\Jo\\x", STRICT)[0] == "~/src/app.py:3 and ~\\x"


def test_a_session_is_clean_in_every_field() -> None:
    """Output, command, edit, words, reference, folder and paths: a value found once is taken out everywhere."""
    value = "Sunny-Quartz-4821"
    token = "gl" + "pat-" + Draw(5).of("abcdefgh0123456789XYZ", 20)
    turns = (
        Turn(1, 2, "tool", f"DB_PASSWORD={value}\nPORT=1", action="shell", command="cat .env"),
        Turn(3, 3, "agent", f"I connect with {value} and go on", paths=(f"/srv/{token}/x",), cwd=f"/srv/{value}"),
        Turn(
            4,
            4,
            "tool",
            "ok",
            command=f"psql --dsn x {value}",
            change=f"pw: {value}",
            said=value,
            ref=f"https://x?q={value}",
        ),
    )
    session = Session(
        "claude-code",
        "s",
        "s.jsonl",
        turns,
        (Problem("s.jsonl", 9, f"odd line {token}"),),
        project=f"https://o:{token}@h/p",
    )
    clean, counts = redact_session(session, PLAIN)
    assert value not in repr(clean)
    assert token not in repr(clean)
    assert clean.turns[1].text == "I connect with [redacted:password] and go on"
    assert counts["password"] == 7
    assert redact_session(clean, PLAIN) == (clean, {})


def test_a_plain_word_is_not_taken_out_everywhere() -> None:
    """A password that is an ordinary word goes where its place tells it, and the word stays elsewhere."""
    turns = (Turn(1, 1, "tool", "ADMIN_PASSWORD=sunshine\n"), Turn(2, 2, "person", "what a sunshine today"))
    clean, _ = redact_session(Session("codex", "s", "s", turns), PLAIN)
    assert clean.turns[0].text == "ADMIN_PASSWORD=[redacted:password]\n"
    assert clean.turns[1].text == "what a sunshine today"


def test_planted_secrets_do_not_survive_in_sessions() -> None:
    """A session that holds hundreds of secrets comes out without any."""
    items = planted(21)
    session = Session("codex", "s", "s", tuple(Turn(n, n, "tool", item.text) for n, item in enumerate(items)))
    clean, counts = redact_session(session, PLAIN)
    assert [item.kind for item, turn in zip(items, clean.turns, strict=True) if leaks(item, turn.text)] == []
    assert sum(counts.values()) >= len(items)
