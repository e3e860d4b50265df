"""Which lessons are held against one: bounded, and the ones that have to do with it."""

from __future__ import annotations

import zlib
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors import poison_neighbours
from detectors.poison_neighbours import COMMON, FILE, NEAREST, KeyRows, Neighbours, codes_of, keys_of, name_of
from index.records import Solution, Source

WORDS = ("registry", "deploy", "cache", "token", "branch", "review", "index", "mirror")


def lesson(number: int, body: str, session: str = "") -> Solution:
    """One lesson."""
    return Solution(
        f"01KB7ZC4S0T2J5Q8XW3N{number:06d}",
        f"Lesson {number}",
        "knowledge",
        body,
        sources=(Source(f"codex:{session or number}", (1, 2), "agent"),),
        created=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=number),
        path=f"solutions/knowledge/{number}.md",
    )


def test_a_shared_name_is_found_among_very_many() -> None:
    """One of two thousand lessons names the same host; words that all of them have find nothing."""
    lessons = [lesson(number, f"The build needs service{number} to be up.") for number in range(2000)]
    lessons[700] = lesson(700, "Wheels come from registry.corp.example.")
    lessons.append(lesson(2000, "registry.corp.example is now kept under mirror.example.net."))
    assert 700 in Neighbours(lessons).near(2000)
    assert len(Neighbours(lessons).near(5)) < NEAREST


def test_lessons_of_one_origin_and_those_that_it_replaces_are_near() -> None:
    """A burst from one session and a supersession are seen whatever the words are."""
    first, second = lesson(1, "Alpha beta.", "one"), lesson(2, "Gamma delta.", "one")
    third = replace(lesson(3, "Epsilon zeta."), supersedes=(first.id,))
    others = [lesson(number, "Alpha gamma epsilon.") for number in range(4, 400)]
    assert set(Neighbours([first, second, third, *others]).near(0)) == {1, 2}


@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), min_size=1, max_size=40))
def test_neighbours_are_others_and_bounded(drawn: list[list[str]]) -> None:
    """Never the lesson itself, never more than the bound, the same for the same store."""
    lessons = [lesson(number, " ".join(words)) for number, words in enumerate(drawn)]
    index, again = Neighbours(lessons), Neighbours(lessons)
    for place in range(len(lessons)):
        near = index.near(place, 5)
        assert place not in near
        assert len(near) <= 5
        assert near == again.near(place, 5)


def plainly_near(lessons: list[Solution], place: int, most: int = NEAREST) -> tuple[int, ...]:
    """The same by looking into every lesson."""
    keys = [{zlib.crc32(key.encode()) for key in keys_of(one)} for one in lessons]
    used = Counter(key for one in keys for key in one)
    few = sorted(key for key in keys[place] if 1 < used[key] <= COMMON)
    score = {
        other: sum(1.0 / used[key] for key in few if key in keys[other])
        for other in range(len(lessons))
        if other != place and keys[other] & set(few)
    }
    return tuple(sorted(sorted(score, key=lambda other: (-score[other], other))[:most]))


@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), min_size=1, max_size=30))
def test_the_nearest_are_those_that_share_the_rarest(drawn: list[list[str]]) -> None:
    """Equal to counting shared keys one by one, ties by place."""
    lessons = [lesson(number, " ".join(words), str(number % 7)) for number, words in enumerate(drawn)]
    index = Neighbours(lessons)
    for place in range(len(lessons)):
        assert index.near(place, 5) == plainly_near(lessons, place, 5)


def store(*numbers: int) -> list[Solution]:
    """Lessons on a few services, two of them with the same text."""
    made = [lesson(number, f"Service{number % 5} needs port {number % 11} of host{number % 3}.") for number in numbers]
    return [*made, replace(made[0], path="solutions/knowledge/copy.md")]


def test_kept_keys_find_the_same_and_only_new_lessons_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over runs in which lessons come, go and change their places."""
    read: list[str] = []
    monkeypatch.setattr(poison_neighbours, "FEW", 1_000_000)
    monkeypatch.setattr(poison_neighbours, "SPARE", 0)

    def codes_of(solution: Solution) -> object:
        read.append(solution.path)
        return codes(solution)

    codes = poison_neighbours.codes_of
    monkeypatch.setattr(poison_neighbours, "codes_of", codes_of)
    for numbers in (range(20), range(5, 30), (29, 7, 8, 40), range(60), (1, 2)):
        lessons = store(*numbers)
        known = KeyRows(tmp_path)
        index = Neighbours(lessons, known)
        known.save()
        fresh = Neighbours(lessons)
        assert [index.near(place) for place in range(len(lessons))] == [
            fresh.near(place) for place in range(len(lessons))
        ]
    read.clear()
    Neighbours(store(1, 2), KeyRows(tmp_path))
    assert read == []
    Neighbours(store(1, 2, 77), KeyRows(tmp_path))
    assert read == ["solutions/knowledge/77.md"]


@pytest.mark.parametrize("harm", ["cut", "turned", "empty", "other", "gone", "folder"])
def test_a_damaged_file_of_keys_is_not_believed(tmp_path: Path, harm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut off, changed, empty, of another version, deleted, or where nothing can be written."""
    place, lessons = tmp_path / FILE, store(*range(20))
    known = KeyRows(tmp_path)
    found = [Neighbours(lessons, known).near(one) for one in range(len(lessons))]
    known.save()
    raw = place.read_bytes()
    if harm == "other":
        monkeypatch.setattr(poison_neighbours, "code_version", lambda *_: "another")
    place.unlink()
    if harm == "folder":
        place.mkdir()
    elif harm != "gone":
        turned = raw[:900] + bytes([raw[900] ^ 1]) + raw[901:]
        place.write_bytes({"cut": raw[:-7], "turned": turned, "empty": b"", "other": raw}[harm])
    known = KeyRows(tmp_path)
    index = Neighbours(lessons, known)
    assert [index.near(one) for one in range(len(lessons))] == found
    known.save()
    assert harm == "folder" or KeyRows(tmp_path).rows(lessons, [name_of(one) for one in lessons]).tolist()


def test_a_dry_run_keeps_no_keys(tmp_path: Path) -> None:
    """Nothing is written where the rows are frozen."""
    known = KeyRows(tmp_path / "none", frozen=True)
    Neighbours(store(1, 2, 3), known)
    known.save()
    assert not (tmp_path / "none").exists()


@given(st.text(st.sampled_from("aZéΣİ中9@._/:+- \t\n\x1c\x85\u3000,"), max_size=300), st.integers(0, 500))
def test_codes_are_those_of_the_keys(text: str, many: int) -> None:
    """However blanks, signs and scripts fall, and also where a lesson has more keys than count."""
    body = f"{text} {' '.join(f'name{number}' for number in range(many))}"
    codes = {zlib.crc32(key.encode("utf-8", "replace")) for key in keys_of(lesson(1, body))}
    assert codes_of(lesson(1, body)).tolist() == sorted(codes)
