"""Whether a lesson helped is told once a session, however the session is read, and is the same however it is split."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given as for_all
from hypothesis import settings as examples
from hypothesis import strategies as st

from curate.effects import (
    EFFECTS,
    Causes,
    Effects,
    Given,
    Tally,
    find_signs,
    outcome,
    parse_effects,
    parse_given,
    plan_effects,
    read_effects,
    render_effects,
    tally,
)
from index.apply import apply, end_run, start_run
from index.changes import Run
from index.frontmatter import parse_solution, render_solution
from index.records import Session, Solution, Triggers, Turn

START = datetime(2026, 6, 1, 9, tzinfo=UTC)
ERRORS = ("could not connect to server", "No module named redis", "lock wait timeout exceeded")
IDS = tuple(f"01KB7ZC4S0T2J5Q8XW3N6M9R0{letter}" for letter in "ABC")


def lesson(place: int) -> Solution:
    made = Solution(
        IDS[place], f"Lesson {place}", "bugs", "Body.\n", triggers=Triggers(errors=(ERRORS[place],)), created=START,
        path=f"solutions/bugs/lesson-{place}.md",
    )  # fmt: skip
    read = parse_solution(made.path, render_solution(made))
    assert isinstance(read, Solution)
    return read


LESSONS = [lesson(place) for place in range(3)]
CAUSES = Causes()
CAUSES.add(LESSONS)


def turn(line: int, minute: float, error: int | None) -> Turn:
    """A tool call, failed with one of the errors or gone well."""
    return Turn(
        line, line, "tool", f"psql: {ERRORS[error]} (try {line})" if error is not None else "ok", tool="Bash",
        time=START + timedelta(minutes=minute), outcome="passed" if error is None else "failed",
    )  # fmt: skip


def given_at(place: int, minute: float, kind: str = "error") -> Given:
    return Given(IDS[place], kind, (START + timedelta(minutes=minute)).timestamp())


TURNS = st.lists(st.sampled_from([None, 0, 1, 2]), max_size=12).map(
    lambda errors: [turn(number, number, error) for number, error in enumerate(errors, 1)]
)
GIVEN = st.lists(st.builds(given_at, st.integers(0, 2), st.sampled_from([0.5, 1.5, 4.5, 9.5, 20])), max_size=5)


@for_all(TURNS, GIVEN, st.lists(st.integers(0, 12), max_size=4))
def test_read_in_parts_or_again_says_the_same(turns: list[Turn], given: list[Given], cuts: list[int]) -> None:
    """However a session is cut, and with its earlier turns read again or not, its signs are those of the whole."""
    whole = find_signs(turns, given, CAUSES)
    signs: dict[str, frozenset[str]] = {}
    concluded = 0
    for cut in [*sorted(cuts), 12]:
        part = [one for one in turns if max(0, concluded - 2) < one.line <= cut]  # some turns before are read again
        seen = [one for one in given if one.time <= (START + timedelta(minutes=cut + 0.9)).timestamp() or cut == 12]
        signs = find_signs(part, seen, CAUSES, concluded, signs)
        signs = find_signs(part, seen, CAUSES, cut, signs)
        concluded = cut
    assert signs == whole


@pytest.mark.parametrize(
    ("errors", "given", "said"),
    [
        ([0, None, None], [given_at(0, 1.1)], "helped"),
        ([0, None, 0, None], [given_at(0, 1.1)], "again"),
        ([0], [given_at(0, 1.1)], "given"),
        ([None, None], [given_at(0, 1.1, "path")], "given"),
        ([0, None], [], "without"),
        ([None, 0, None], [given_at(0, 2.0, "command")], "helped"),
        ([None, 0], [given_at(0, 0.1, "pack")], "again"),
        ([1, None], [], ""),
    ],
)
def test_what_came_of_a_lesson(errors: list[int | None], given: list[Given], said: str) -> None:
    """The error that made a lesson come up is no repeat; without an error or a later call nothing is told."""
    turns = [turn(number, number, error) for number, error in enumerate(errors, 1)]
    assert outcome(find_signs(turns, given, CAUSES).get(IDS[0], frozenset())) == said


def test_turns_without_times_say_nothing_of_before_and_after() -> None:
    """An agent that writes no times is given lessons, and neither helped nor harmed by our guess."""
    turns = [replace(turn(number, 1, 0), time=None) for number in (1, 2)]
    assert outcome(find_signs(turns, [given_at(0, 1)], CAUSES)[IDS[0]]) == "given"


def make_store(root: Path) -> dict[str, Solution]:
    for one in LESSONS:
        (root / one.path).parent.mkdir(parents=True, exist_ok=True)
        (root / one.path).write_text(one.text)
    return read_all(root)


def read_all(root: Path) -> dict[str, Solution]:
    found = {}
    for one in LESSONS:
        read = parse_solution(one.path, (root / one.path).read_text())
        assert isinstance(read, Solution)
        found[one.id] = read
    return found


def land(root: Path, name: str, session: Session, given: list[Given], concluded: int) -> int:
    """Plan and apply as a run does; how many files changed."""
    run = Run(name, "run")
    start_run(root, run, START.isoformat())
    plan = plan_effects(root, session, given, CAUSES, read_all(root), {}, concluded)
    landed = apply(plan, root, run).landed
    end_run(root, run, START.isoformat(), {})
    return len(landed)


@for_all(st.lists(st.tuples(st.integers(0, 2), TURNS, GIVEN, st.integers(0, 12)), max_size=5))
@examples(max_examples=12)
def test_counters_are_what_the_sessions_say(
    tmp_path_factory: pytest.TempPathFactory, reads: list[tuple[int, list[Turn], list[Given], int]]
) -> None:
    """Sessions read in parts, again and again: `helpful` and `harmful` are the outcomes of the sessions, each once."""
    root = tmp_path_factory.mktemp("store")
    make_store(root)
    for number, (name, turns, given, cut) in enumerate(reads):
        session = Session("codex", str(name), "t.jsonl", tuple(turns), finished=START + timedelta(days=name))
        part = replace(session, turns=tuple(one for one in turns if one.line <= cut))
        land(root, f"r{number}a", part, given, 0)
        land(root, f"r{number}b", session, given, cut)
        assert land(root, f"r{number}c", session, given, 12) == 0
    kept = list(read_effects(root))
    tallies = tally(kept)
    for identity, one in read_all(root).items():
        said = [outcome(effects.signs.get(identity, frozenset())) for effects in kept]
        assert (one.helpful, one.harmful) == (said.count("helped"), said.count("again"))
        found = tallies.get(identity, Tally())
        assert (found.helped, found.again, found.without) == (one.helpful, one.harmful, said.count("without"))
    assert len(kept) == len({effects.key for effects in kept}) == len(list((root / EFFECTS).glob("*")))


def test_counts_that_a_person_changed_are_counted_on_from(tmp_path: Path) -> None:
    """A hand edit stays; a lesson's other bytes stay too."""
    make_store(tmp_path)
    place = tmp_path / LESSONS[0].path
    place.write_text(place.read_text().replace("helpful: 0", "helpful: 7").replace("Body.", "Body, by hand."))
    session = Session("codex", "1", "t", (turn(1, 1, 0), turn(2, 2, None)), finished=START)
    assert land(tmp_path, "r1", session, [given_at(0, 1.1)], 0) == 2
    text = place.read_text()
    assert "helpful: 8" in text
    assert "Body, by hand." in text
    assert tally(read_effects(tmp_path))[IDS[0]].helped_on == date(2026, 6, 1)


@for_all(
    st.dictionaries(
        st.sampled_from(IDS), st.frozensets(st.sampled_from(["given", "met", "went-on", "again"]), min_size=1)
    )
)
def test_a_record_comes_back_as_it_was_written(signs: dict[str, frozenset[str]]) -> None:
    """Writing and reading is a round trip."""
    effects = Effects("claude-code:ü 1", "2026-06-01", signs)
    assert parse_effects(render_effects(effects)) == effects


@pytest.mark.parametrize("raw", [b"", b"[]", b"{}", b'{"key": 1, "day": "", "signs": []}', b"\xff"])
def test_a_damaged_record_is_none(raw: bytes) -> None:
    """What cannot be read is passed over."""
    assert parse_effects(raw) is None


def test_the_hooks_note_is_read_line_by_line() -> None:
    """Lines of other forms (known words, a mark, those of an older version) are left out."""
    text = f"{IDS[0]} error 1764480000\nwords a b\n--\n{IDS[1]} path\nx y 3\n{IDS[1]} pack 17644800ab\n"
    assert parse_given(text) == (Given(IDS[0], "error", 1764480000.0),)
