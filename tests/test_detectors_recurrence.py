"""detectors/recurrence.py: what recurs, and what counts as having recurred."""

from __future__ import annotations

import dataclasses
from datetime import UTC, date, datetime
from itertools import combinations
from pathlib import Path

import pytest
import yaml

import detectors.likeness
from detectors.recurrence import DATABASE, ROOT, SUBJECT, Link, find_patterns, scopes_of, shared_links
from index.records import Solution, Source, Triggers

ALPHA = "01KB7ZC4S0T2J5Q8XW3N6M9R"
REFUSED = Triggers(errors=("psycopg.OperationalError: connection to 127.0.0.1 refused",))


def lesson(number: int, title: str = "", **fields: object) -> Solution:
    """A solution of one session on one day."""
    bare = Solution(
        id=f"{ALPHA}{number:02d}",
        title=title or f"Lesson number {number}",
        category="bugs",
        body=f"Statement {number}.\n",
        sources=(Source(f"codex:s{number}"),),
        project="example.org/a/b",
        created=datetime(2026, 11, number, tzinfo=UTC),
        path=f"solutions/bugs/{number}.md",
    )
    return dataclasses.replace(bare, **fields)  # type: ignore[arg-type]


def test_three_sessions_with_one_error_are_a_pattern() -> None:
    """The same error in three sessions on three days is promotable, with its evidence."""
    solutions = [lesson(n, triggers=REFUSED) for n in (1, 2, 3)] + [lesson(4)]
    first = find_patterns(solutions)[0]
    assert first.ids == tuple(solution.id for solution in solutions[:3])
    assert first.sessions == ("codex:s1", "codex:s2", "codex:s3")
    assert first.days == (date(2026, 11, 1), date(2026, 11, 2), date(2026, 11, 3))
    assert first.promotable()
    assert not first.cross_project
    assert first.why.startswith("error ")


def test_one_day_or_two_sessions_are_not_enough() -> None:
    """Three sessions of one day, or two of two days, promote nothing."""
    day = datetime(2026, 11, 5, tzinfo=UTC)
    assert not find_patterns([lesson(n, triggers=REFUSED, created=day) for n in (1, 2, 3)])[0].promotable()
    assert not find_patterns([lesson(n, triggers=REFUSED) for n in (1, 2)])[0].promotable()


def test_sessions_that_do_not_count_are_no_evidence() -> None:
    """Replays, own runs, sub-agents and scheduled jobs are told by the caller and count for nothing."""
    solutions = [lesson(n, triggers=REFUSED) for n in (1, 2, 3)]
    found = find_patterns(solutions, counts=lambda session: session != "codex:s2")[0]
    assert found.sessions == ("codex:s1", "codex:s3")
    assert not found.promotable()


def test_one_lesson_of_three_sessions_is_a_pattern() -> None:
    """What was merged already keeps its sessions, with the days the caller knows."""
    sources = tuple(Source(f"codex:s{n}") for n in (1, 2, 3))
    dates = {"codex:s1": date(2026, 11, 1), "codex:s2": date(2026, 11, 1), "codex:s3": date(2026, 11, 9)}
    (found,) = find_patterns([lesson(1, sources=sources)], dates=dates)
    assert found.promotable()
    assert found.days == (date(2026, 11, 1), date(2026, 11, 9))


def test_a_shared_tag_links_nothing() -> None:
    """Tags alone never suffice."""
    assert shared_links([lesson(n, tags=("postgres",), triggers=Triggers()) for n in (1, 2, 3)]) == ()


def test_a_trigger_that_everything_has_links_nothing() -> None:
    """A command that half of the store fires on is no root."""
    everywhere = Triggers(commands=("make test-all",))
    assert shared_links([lesson(n, triggers=everywhere) for n in range(1, 29)]) == ()


def test_links_of_the_caller_make_groups_without_chaining() -> None:
    """A chain a-b, b-c, c-d does not pull four strangers into one group."""
    solutions = [lesson(n) for n in (1, 2, 3, 4)]
    groups = find_patterns(solutions, [Link(0, 1, "same"), Link(1, 2, "same"), Link(2, 3, "same")], least=2)
    assert max(len(group.ids) for group in groups) == 3


def test_two_projects_mark_a_pattern_as_cross_project() -> None:
    """Seen in two projects."""
    solutions = [lesson(1, triggers=REFUSED), lesson(2, triggers=REFUSED, project="example.org/x/y")]
    assert find_patterns(solutions, least=2)[0].cross_project


MOCKS = (
    ("Module mocks leak between specs", "A mock of the session module stays when the spec ends; restore the mock."),
    ("Restore module mocks after each spec", "The suite order breaks when a spec leaves its module mock behind."),
    ("Helpers that mock a module leak too", "A helper of the spec mocks the module; every later spec sees the mock."),
)


def test_lessons_on_one_subject_are_found_in_a_folder_without_sessions() -> None:
    """Plain markdown without triggers: words say what belongs together, and why is shown."""
    solutions = [lesson(n, title, body=body, sources=()) for n, (title, body) in enumerate(MOCKS, start=1)]
    others = "button colour, kernel panic, invoice total, airport code, font licence, wheel build, lawn mower".split(
        ", "
    )
    solutions += [
        lesson(n, f"About the {other}", body=f"It is the {other}.") for n, other in enumerate(others, start=4)
    ]
    found = find_patterns(solutions, least=3, subject=SUBJECT)
    assert [pattern.ids for pattern in found] == [tuple(solution.id for solution in solutions[:3])]
    assert "mock" in found[0].why
    assert not found[0].promotable()


def test_subjects_do_not_cross_projects_but_errors_do() -> None:
    """Words weigh within a project; the same error in two projects is one pattern."""
    projects = ("example.org/a/a", "example.org/b/b", "example.org/c/c")
    apart = [lesson(n + 1, MOCKS[n][0], body=MOCKS[n][1], project=projects[n]) for n in range(3)]
    assert find_patterns(apart, least=2, subject=SUBJECT) == ()
    tied = [dataclasses.replace(solution, triggers=REFUSED) for solution in apart]
    (found,) = find_patterns(tied, least=3)
    assert found.cross_project


def test_a_tree_of_projects_is_scoped_by_its_folders() -> None:
    """Below the folder that holds all, repositories part lessons and categories do not, wherever the tree lies."""
    trees = ("/home/me/all/shop/docs/bugs/a.md", "/home/me/all/shop/docs/b.md", "/home/me/all/blog/notes/c.md")
    assert scopes_of([lesson(n, project="", path=path) for n, path in enumerate(trees, 1)]) == ["shop", "shop", "blog"]
    flat = ("solutions/bugs/a.md", "solutions/patterns/b.md")
    assert scopes_of([lesson(n, project="", path=path) for n, path in enumerate(flat, 1)]) == ["", ""]
    assert scopes_of([lesson(1, project="example.org/a/b")]) == ["example.org/a/b"]


def test_patterns_do_not_depend_on_the_order_of_solutions() -> None:
    """Same store, same patterns."""
    solutions = [lesson(n, triggers=REFUSED if n < 4 else Triggers()) for n in range(1, 8)]
    first = {frozenset(pattern.ids) for pattern in find_patterns(solutions)}
    assert {frozenset(pattern.ids) for pattern in find_patterns(solutions[::-1])} == first


def test_groups_that_no_threshold_was_set_on_are_found() -> None:
    """Of made-up groups in one project, among lessons that belong to none: seven in ten, nine pairs in ten right."""
    read = yaml.safe_load((Path(__file__).parent / "data" / "recurring_lessons.yaml").read_text(encoding="utf-8"))
    lessons: list[Solution] = []
    group_of: dict[str, str] = {}
    for group, rows in [*read["groups"].items(), ("", read["others"])]:
        for title, body in rows:
            number = len(lessons) + 1
            made = lesson(number % 28 + 1, title, id=f"{ALPHA}{number:02d}", body=f"{body}\n", path=f"{number}.md")
            lessons.append(made)
            group_of[made.path] = group
    found = [pattern.paths for pattern in find_patterns(lessons, least=2, subject=SUBJECT)]
    pairs = [pair for paths in found for pair in combinations(paths, 2)]
    right = [pair for pair in pairs if group_of[pair[0]] and group_of[pair[0]] == group_of[pair[1]]]
    assert len({group_of[a] for a, _ in right}) >= 0.7 * len(read["groups"])
    assert len(right) >= 0.9 * len(pairs)


def many() -> list[Solution]:
    """Lessons of two projects and of none, some of which mention others."""
    made = [
        lesson(n % 28 + 1, *MOCKS[n % 3][:1], id=f"{ALPHA}{n:02d}", body=f"{MOCKS[n % 3][1]} {n // 3}.\n")
        for n in range(9)
    ]
    made += [
        lesson(n - 8, id=f"{ALPHA}{n:02d}", body=f"The {word} waits for the {word} of the price cache. See m{n}-a.md.")
        for n, word in enumerate("lock pool queue proxy index retry".split(), start=9)
    ]
    projects = ("example.org/a/a", "", "example.org/b/b")
    return [
        dataclasses.replace(one, project=projects[n // 5], path=f"solutions/bugs/m{n}-a.md")
        for n, one in enumerate(made)
    ]


def test_what_is_kept_of_scopes_and_texts_gives_the_same_groups(tmp_path: Path) -> None:
    """Whatever changes between two runs: a text, a name, a link, the lessons there are, the likeness asked for."""
    lessons = many()
    links = [Link(0, 3, "same"), Link(5, 6, "near")]
    stores = [
        (lessons, links),
        (lessons, links),
        ([*lessons[:4], dataclasses.replace(lessons[4], body="Of another kind."), *lessons[5:]], links),
        (lessons[2:], links[:1]),
        (lessons, []),
        ([dataclasses.replace(one, path=f"solutions/x/{n}.md") for n, one in enumerate(lessons)], links),
        (lessons[::-1], links),
    ]
    for subject in (SUBJECT, ROOT):
        for solutions, linked in stores:
            kept = find_patterns(solutions, linked, subject=subject, folder=tmp_path)
            assert kept == find_patterns(solutions, linked, subject=subject)
    assert any(len(pattern.ids) > 2 for pattern in find_patterns(lessons, links, subject=SUBJECT))


def test_only_scopes_in_which_something_changed_are_grouped_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And of these only the text that changed is read."""
    read: list[str] = []
    grouped: list[int] = []
    whole, words = detectors.likeness.group_lessons, detectors.likeness.read_words

    def watch_groups(terms: list[dict[str, int]], *rest: object) -> object:
        grouped.append(len(terms))
        return whole(terms, *rest)  # type: ignore[arg-type]

    def watch_words(title: str, body: str) -> object:
        read.append(title)
        return words(title, body)

    monkeypatch.setattr("detectors.likeness.group_lessons", watch_groups)
    monkeypatch.setattr("detectors.likeness.read_words", watch_words)
    lessons = many()
    find_patterns(lessons, folder=tmp_path)
    assert sorted(grouped) == [5, 5, 5]
    assert len(read) == 15
    find_patterns(lessons, folder=tmp_path)
    lessons[14] = dataclasses.replace(lessons[14], title="Anew", body="Nothing like it.")
    find_patterns([dataclasses.replace(one, verified=date(2026, 11, 2)) for one in lessons], folder=tmp_path)
    assert grouped[3:] == [5]
    assert read[15:] == ["Anew"]


@pytest.mark.parametrize("harm", [b"", b"no database", None])
def test_what_is_kept_may_be_lost_at_any_time(tmp_path: Path, harm: bytes | None) -> None:
    lessons = many()
    expected = find_patterns(lessons, folder=tmp_path)
    place = tmp_path / DATABASE
    place.unlink() if harm is None else place.write_bytes(harm)
    assert find_patterns(lessons, folder=tmp_path) == expected
    assert find_patterns(lessons, folder=tmp_path) == expected
