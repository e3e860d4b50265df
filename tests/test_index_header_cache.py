"""A store read by what is kept of its headers is the store that is read anew."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from index import store
from index.frontmatter import parse_solution, render_solution
from index.header_cache import read_rows, row_of
from index.records import Problem, Solution, Source, Triggers
from index.store import Store, read_store

PLAIN = "---\nid: 01KB7ZC4S0T2J5Q8XW3N6M9R0{}\ntitle: Lesson {}\ncategory: bugs\n{}---\n{}"
FULL = Solution(
    "01KB7ZC4S0T2J5Q8XW3N6M9RZZ",
    'A "quoted" title: with \u2028 and é',
    "patterns",
    "body\r\nof two\n",
    type="reflective",
    importance="high",
    confidence=0.75,
    trust="reviewed",
    tags=("a", "b c"),
    project="example.org/a/b",
    branch="main",
    triggers=Triggers(("src/**",), (), ("error: x",)),
    sources=(Source("codex:1", (1, 9), "agent"), Source("import:2", None, "web", "https://x.example", "0" * 64)),
    created=datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC),
    verified=date(2026, 2, 3),
    priority=1,
    supersedes=("X",),
    superseded_by="Y",
    helpful=3,
    harmful=1,
    expires=date(2027, 1, 1),
    extra={"archived": {"date": "2026-01-01", "n": [1, 2.0, True, None]}},
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Lessons as they come: whole, bare, with odd values, broken, twice."""
    folder = tmp_path / "solutions/bugs"
    folder.mkdir(parents=True)
    texts = {
        "full": render_solution(FULL),
        "bare": PLAIN.format("A", 1, "", "One.\n"),
        "crlf": PLAIN.format("B", 2, "tags: [x]\n", "Two.\n").replace("\n", "\r\n"),
        "odd": PLAIN.format("C", 3, "weight: .inf\nbig: 99999999999999999999\nwhen: {1: 2}\n", "Three."),
        "broken": PLAIN.format("D", 4, "priority: high\n", ""),
        "none": "No header.\n",
        "same": PLAIN.format("A", 1, "", "One again.\n"),
    }
    for name, text in texts.items():
        (folder / f"{name}.md").write_bytes(text.encode())
    (folder / "bytes.md").write_bytes(b"\xff")
    return tmp_path


def count_parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    parsed: list[str] = []

    def parse(path: str, text: str) -> Solution | Problem:
        parsed.append(path.rpartition("/")[2])
        return plain(path, text)

    plain = parse_solution
    monkeypatch.setattr(store, "parse_solution", parse)
    return parsed


def read(root: Path, keep: bool = True) -> Store:
    """Through the cache; always the same as without."""
    found = read_store(root, kept=root / "kept", keep=keep)
    assert found == read_store(root)
    assert [repr(one) for one in found.solutions] == [repr(one) for one in read_store(root).solutions]
    return found


def test_only_what_is_not_known_is_parsed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A header is known by its text, whatever became of the file's times or of the body below it."""
    assert len(read(root).solutions) == 5
    parsed = count_parsed(monkeypatch)
    read_store(root, kept=root / "kept")
    assert sorted(parsed) == ["broken.md", "none.md", "odd.md"]
    bare = root / "solutions/bugs/bare.md"
    bare.write_text(bare.read_text() + "More.\n")
    os.utime(bare, (1, 1))
    bare.rename(bare.with_name("moved.md"))
    parsed.clear()
    found = read_store(root, kept=root / "kept")
    assert "moved.md" not in parsed
    assert any(one.path.endswith("moved.md") and one.body == "One.\nMore.\n" for one in found.solutions)


def test_it_holds_what_the_store_holds(root: Path) -> None:
    """What was taken out of the store is in the cache no longer; and without `keep` nothing is written."""
    read(root, keep=False)
    assert not (root / "kept").exists()
    read(root)
    assert b"quoted" in (root / "kept").read_bytes()
    stamp = (root / "kept").stat().st_ino
    read(root)
    assert (root / "kept").stat().st_ino == stamp
    (root / "solutions/bugs/full.md").unlink()
    read(root, keep=False)
    assert b"quoted" in (root / "kept").read_bytes()
    read(root)
    assert b"quoted" not in (root / "kept").read_bytes()


@pytest.mark.parametrize("damage", [b"", b"{}", b"x" * 99, b"\n[]", None])
def test_a_damaged_cache_changes_nothing(root: Path, damage: bytes | None) -> None:
    """Cut, of another make, or with one letter changed."""
    read(root)
    raw = (root / "kept").read_bytes()
    (root / "kept").write_bytes(raw.replace(b"Lesson 1", b"Lesson 9") if damage is None else damage)
    assert read_rows(root / "kept") == {}
    read(root)
    assert (root / "kept").read_bytes() == raw


def test_where_it_cannot_be_written_the_store_is_read_all_the_same(root: Path) -> None:
    """A folder stands in its place."""
    (root / "kept").mkdir()
    read(root)


def test_a_row_holds_what_json_holds() -> None:
    """And where it would not, there is none."""
    assert row_of(FULL) is not None
    for value in (float("nan"), 1 << 70, {1: 2}, b"x", "\ud800", (1, 2)):
        assert row_of(replace(FULL, extra={"x": value})) is None
    assert row_of(replace(FULL, title="\ud800")) is None
    assert row_of(replace(FULL, helpful=1 << 70)) is None
