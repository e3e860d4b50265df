"""curate/guard.py: a merge loses nothing and invents nothing, whatever a model answers."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from curate.guard import (
    Bullet,
    check_merge,
    covers,
    find_conflicts,
    render_conflict,
    statements,
    uncovered,
    union_bullets,
)
from index.bullets import render_bullets
from index.records import Solution

ALPHA = "01KB7ZC4S0T2J5Q8XW3N6M9RV"


def lesson(number: int, body: str, title: str = "", day: int = 1) -> Solution:
    """A solution with an id and a date of its own."""
    return Solution(
        id=f"{ALPHA}{number}",
        title=title or f"Lesson {number}",
        category="bugs",
        body=body,
        created=datetime(2026, 11, day, tzinfo=UTC),
    )


A = lesson(1, "- Run `make up` before the tests.\n- The suite needs Postgres on port 5433.\n", "Tests need services")
B = lesson(2, "Redis must listen on 6379.\n\nNever run the suite as root.\n", "Tests need Redis", day=2)


def test_a_faithful_merge_stands_as_it_is() -> None:
    """Bullets made of whole source statements are kept, with the ids they rest on, and nothing is appended."""
    bullets = [Bullet(text, ("claimed",)) for source in (A, B) for text in statements(source)]
    guarded = check_merge([A, B], bullets)
    assert [bullet.text for bullet in guarded.bullets] == [bullet.text for bullet in bullets]
    assert not guarded.appended
    assert not guarded.dropped
    assert not guarded.conflicts
    assert all(set(bullet.ids) <= {A.id, B.id} for bullet in guarded.bullets)


def test_two_statements_in_one_bullet_cover_both() -> None:
    """A bullet that joins two statements with "and" keeps both."""
    joined = "Run `make up` before the tests and the suite needs Postgres on port 5433."
    guarded = check_merge([A], [Bullet(A.title), Bullet(joined)])
    assert guarded.appended == ()
    assert guarded.dropped == ()


def test_a_lost_statement_is_appended_verbatim() -> None:
    """What the output leaves out comes back word for word."""
    guarded = check_merge([A, B], [])
    assert {bullet.text for bullet in guarded.appended} == {*statements(A), *statements(B)}


def test_an_invented_bullet_is_dropped() -> None:
    """No source, no bullet; the reason is kept."""
    guarded = check_merge([A], [Bullet("This keeps the code clean and maintainable.", (A.id,))])
    assert guarded.dropped[0][1] == "no source says it"
    assert all("maintainable" not in bullet.text for bullet in guarded.bullets)


def test_a_rationale_added_to_a_true_statement_is_dropped() -> None:
    """A true statement with an invented reason does not stand; the statement itself does."""
    guarded = check_merge([A], [Bullet("Run `make up` before the tests, because it is faster.")])
    assert guarded.dropped[0][1] == "no source says all of it"
    assert "Run `make up` before the tests." in {bullet.text for bullet in guarded.bullets}


def test_a_swapped_value_covers_nothing() -> None:
    """Another number is another statement."""
    guarded = check_merge([A], [Bullet("The suite needs Postgres on port 5432.")])
    assert [bullet.text for bullet, _ in guarded.dropped] == ["The suite needs Postgres on port 5432."]
    assert "The suite needs Postgres on port 5433." in {bullet.text for bullet in guarded.appended}


def test_two_values_that_change_places_cover_nothing() -> None:
    """All words and all numbers are there, but each number stands where the other belongs."""
    source = lesson(1, "- The app uses port 5432.\n- The db uses port 5433.\n")
    guarded = check_merge([source], [Bullet("The app uses port 5433 and the db uses port 5432.")])
    assert len(guarded.dropped) == 1


def test_a_lost_negation_covers_nothing() -> None:
    """ "Never run" and "run" are opposites."""
    assert not covers("Run the suite as root.", "Never run the suite as root.")
    assert not covers("The value is a == b", "The value is a != b")


def test_code_is_kept_line_by_line() -> None:
    """A code block is covered by the same lines only."""
    code = "```sh\nmake up\nmake test\n```"
    assert covers(f"Do this:\n{code}", code)
    assert not covers("```sh\nmake test\nmake up\n```", code)


def test_a_contradiction_becomes_one_bullet_with_both_sides() -> None:
    """Two sources that differ in a value stand side by side with date and id, the newer first, and are reported."""
    old = lesson(3, "- The staging database listens on port 5432.\n", "Staging database", day=3)
    new = lesson(4, "- The staging database listens on port 5433.\n", "Staging database", day=9)
    guarded = check_merge([old, new], [Bullet("The staging database listens on port 5432.")])
    (conflict,) = guarded.conflicts
    assert [side.ids for side in conflict.sides] == [(new.id,), (old.id,)]
    (disputed,) = [bullet.text for bullet in guarded.bullets if "5432" in bullet.text or "5433" in bullet.text]
    assert disputed.index(f"2026-11-09 {new.id}") < disputed.index(f"2026-11-03 {old.id}")
    assert guarded.dropped[0][1] == "sources disagree on it"


def test_a_contradiction_with_an_earlier_dispute_joins_it() -> None:
    """A third value does not nest: the bullet lists three sides."""
    old = lesson(3, "The staging database listens on port 5432.\n", "Staging database", day=3)
    new = lesson(4, "The staging database listens on port 5433.\n", "Staging database", day=9)
    merged = lesson(5, render_bullets([render_conflict(c, [old, new]).text for c in find_conflicts([old, new])]), day=9)
    newest = lesson(6, "The staging database listens on port 5434.\n", "Staging database", day=11)
    guarded = check_merge([merged, newest], [])
    text = "\n".join(bullet.text for bullet in guarded.bullets)
    assert text.count("Disputed") == 1
    assert [text.count(port + ".") for port in ("5432", "5433", "5434")] == [1, 1, 1]


def test_union_says_each_thing_once() -> None:
    """Without a model the union keeps every statement once."""
    twice = lesson(7, "- Run `make up` before the tests!\n- Something else entirely here.\n", "Tests need services")
    texts = [bullet.text for bullet in union_bullets([A, twice])]
    assert len([text for text in texts if "make up" in text]) <= 2
    assert len(texts) == len(set(texts))


WORDS = st.sampled_from("cache port 5432 5433 never not server `make` before after enable disable 8s docs/a.md".split())
SENTENCE = st.lists(WORDS, min_size=1, max_size=7).map(lambda words: " ".join(words) + ".")
BODY = st.lists(SENTENCE, min_size=1, max_size=4).map(lambda lines: "".join(f"- {line}\n" for line in lines))


@st.composite
def adversary(draw: st.DrawFn) -> tuple[list[Solution], list[Bullet]]:
    """Sources, and an answer that copies, truncates, empties, swaps values, splices, repeats and invents."""
    bodies = draw(st.lists(BODY, min_size=1, max_size=3))
    sources = [lesson(i, body, title=draw(SENTENCE), day=i + 1) for i, body in enumerate(bodies)]
    known = [text for source in sources for text in statements(source)]
    answer: list[str] = []
    for _ in range(draw(st.integers(0, 6))):
        text = draw(st.sampled_from(known))
        other = draw(st.sampled_from(known))
        cut = draw(st.integers(0, len(text)))
        answer.append(
            draw(
                st.sampled_from(
                    [
                        text,
                        text[:cut],
                        "",
                        text.replace("5432", "5433"),
                        text.replace("never", ""),
                        text[:cut] + other,
                        f"{text} and {other}",
                        f"{text} It is best practice.",
                        "Invented advice without any source.",
                    ]
                )
            )
        )
    return sources, [Bullet(text, ("nobody",)) for text in answer]


@settings(max_examples=300, deadline=None)
@given(adversary())
def test_nothing_is_lost_and_nothing_is_invented(case: tuple[list[Solution], list[Bullet]]) -> None:
    """Under any answer each source statement is covered, and each output bullet is made of source statements."""
    sources, answer = case
    guarded = check_merge(sources, answer)
    texts = [bullet.text for bullet in guarded.bullets]
    known = [text for source in sources for text in statements(source)]
    assert uncovered(known, texts) == ()
    disputes = len(guarded.conflicts)
    for text in texts[: len(texts) - disputes]:
        assert any(covers(text, statement) for statement in known)
        assert "best practice" not in text
        assert "Invented" not in text


@settings(max_examples=100, deadline=None)
@given(adversary())
def test_a_merge_of_a_merge_adds_nothing(case: tuple[list[Solution], list[Bullet]]) -> None:
    """What the guard let through, as the only source, comes through again without a change in what is said."""
    sources, answer = case
    first = check_merge(sources, answer)
    body = render_bullets(bullet.text for bullet in first.bullets)
    again = check_merge([lesson(9, body, title=sources[0].title)], [])
    assert uncovered([bullet.text for bullet in first.bullets], [bullet.text for bullet in again.bullets]) == ()
    assert len(again.bullets) <= len(first.bullets) + 1
