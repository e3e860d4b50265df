"""The report page: what it holds, that it loads nothing, and that a lesson cannot break out of it."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest

from flows.cli import run_command
from flows.page.counts import Moved, by_week, count_empty
from flows.page.facts import LessonRow, PageFacts
from flows.page.html import render_page
from index.records import Solution

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
EVIL = '</td><script>alert(1)</script><img src="https://x.example/a.png" onerror=alert(1)>'


class Tags(HTMLParser):
    """Collects the tags and attributes of a page, and whether they close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag opens."""
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links |= {value or "" for name, value in attrs if name in {"href", "src"}}
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag that closes itself."""
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        """A tag closes: it must be the one that was opened last."""
        assert self.open.pop() == tag


def facts(text: str = "plain") -> PageFacts:
    """Facts whose every text is `text`."""
    row = LessonRow(text, text, text, text, text, 1, 0, 1, 1, 0)
    moved = Moved(text, text, text, text)
    run = {"run": text, "stages": {text: 1}, "undone_by": text, "ended": ""}
    draft = {"name": text, "why": text, "created": text, "sessions": 3, "projects": [text], "days": [text]}
    return PageFacts(
        store=text,
        made=NOW,
        lessons=1,
        archived=1,
        weeks=(("2026-11-23", (1, 2, 0)),),
        grid=((text, (1, 0, 2)),),
        reasons=((text, 1),),
        useful=(row,),
        unused=(row,),
        unused_total=2,
        repeats=(row,),
        empty=((text, text, 1, text),),
        merged=(moved,),
        decayed=(moved,),
        ages=((text, 1),),
        poison=(moved,),
        suspect=((text, text, text),),
        spend=(("2026-11-30", 0.25, 100),),
        drafts=({**draft, "tainted": True, "improves": text},),
        runs=(run,),
        problems=(text,),
    )


def read(page: str) -> Tags:
    """The page's tags; its elements close in order."""
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    return tags


def test_no_text_of_a_lesson_becomes_part_of_the_page() -> None:
    """Hostile text in every place changes no tag and no attribute, and the policy forbids scripts and loading."""
    plain, hostile = read(render_page(facts(), Path("/h"))), read(render_page(facts(EVIL), Path("/h")))
    assert (hostile.tags, hostile.attributes, hostile.links) == (plain.tags, plain.attributes, plain.links)
    assert not {"script", "img", "link", "iframe"} & plain.tags
    assert all(link.startswith("#") for link in plain.links)
    assert "default-src 'none'" in render_page(facts(), Path("/h"))
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)", render_page(facts(), Path("/h")))


def test_an_empty_store_gives_a_page_that_says_so() -> None:
    """Every section stands, with a sentence in place of its table."""
    page = render_page(PageFacts("/s", NOW, 0, 0), Path("/h"))
    read(page)
    for sentence in (
        "Nothing has been quarantined.",
        "No draft waits.",
        "nothing was spent",
        "Nothing was asked in vain.",
    ):
        assert sentence in page


def test_weeks_run_from_the_first_lesson_to_today_without_a_gap() -> None:
    """A week without lessons stands too; at most half a year is shown."""
    lessons = [Solution("1", "t", "bugs", "b", created=datetime(2026, 11, day, tzinfo=UTC)) for day in (3, 3, 24)]
    weeks = list(by_week(lessons, date(2026, 11, 30)))
    assert [label for label, _ in weeks] == ["2026-11-02", "2026-11-09", "2026-11-16", "2026-11-23", "2026-11-30"]
    assert [sum(counts) for _, counts in weeks] == [2, 0, 0, 1, 0]
    old = [Solution("1", "t", "bugs", "b", created=datetime(2020, 1, 1, tzinfo=UTC))]
    assert len(list(by_week(old, date(2026, 11, 30)))) == 26


def test_questions_without_an_answer_are_counted_with_their_last_day() -> None:
    """The same question counts together; an entry of another shape is no error."""
    entries: list[dict[str, object]] = [
        {"time": 1_793_600_000, "kind": "prompt", "asked": "deploy the preview"},
        {"time": 1_793_700_000, "kind": "prompt", "asked": "deploy the preview"},
        {"time": "?", "asked": None},
    ]
    first, second = count_empty(entries)
    assert first == ("prompt", "deploy the preview", 2, "2026-11-03")
    assert second[2:] == (1, "")


LESSON = """---
id: 01KB7ZC4S0T2J5Q8XW3N6M9RVE
title: Integration tests need <services>
category: bugs
confidence: 0.85
triggers:
  errors: ["could not connect to server"]
created: 2026-11-29T18:03:11Z
---
The suite needs Postgres.
"""


@pytest.fixture
def store(own_home: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A store with one lesson."""
    assert run_command(["index"]) == 0
    (own_home / ".hotwash" / "solutions" / "bugs" / "tests.md").write_text(LESSON)
    assert run_command(["index"]) == 0
    capsys.readouterr()
    return own_home / ".hotwash"


def test_the_command_writes_one_file_and_prints_its_path(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By default in the store's cache; the lesson's title is in it as text."""
    assert run_command(["report"]) == 0
    path = Path(capsys.readouterr().out.strip())
    assert path == store / ".cache" / "report.html"
    page = path.read_text()
    read(page)
    assert "Integration tests need &lt;services&gt;" in page


def test_json_is_the_facts_and_writes_no_page(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same facts as the page, alone on stdout."""
    assert run_command(["report", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["lessons"] == 1
    assert found["unused"][0]["id"] == "01KB7ZC4S0T2J5Q8XW3N6M9RVE"
    assert found["audit"]["findings"] == []
    assert not (store / ".cache" / "report.html").exists()


def test_a_lesson_that_was_given_this_week_is_of_use(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the hooks noted of a session counts once for each session."""
    folder = store / ".cache" / "given"
    folder.mkdir(parents=True)
    for name in ("a", "b"):
        (folder / name).write_text("01KB7ZC4S0T2J5Q8XW3N6M9RVE error\n01KB7ZC4S0T2J5Q8XW3N6M9RVE text\nwords x y\n")
    assert run_command(["report", "--format", "json", "--no-audit"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["given"], found["unused"]) == (2, [])
    assert found["useful"][0]["given"] == 2


def test_a_place_that_cannot_be_written_is_an_error_with_its_name(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1 and the path, no trace."""
    (tmp_path / "file").write_text("x")
    assert run_command(["report", "--no-audit", "--output", str(tmp_path / "file" / "r.html")]) == 1
    assert "r.html" in capsys.readouterr().err
