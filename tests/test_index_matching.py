"""What fits an event is told by what is declared, and by how rare the words in common are."""

import math
import sqlite3
import tempfile
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.hook_recall import PROMPT_FLOOR
from index import matching
from index.error_matching import is_within, likeness, mask_label
from index.matching import Hit, log, mention_keys, one_slip, rarity, words_follow
from index.recall_db import build
from index.records import Solution

DAY = date(2026, 6, 1)


@given(st.floats(1e-6, 1e9))
def test_the_logarithm_is_the_natural_one(value: float) -> None:
    """Without the math module the same number comes out."""
    assert log(value) == pytest.approx(math.log(value), rel=1e-6, abs=1e-6)


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_rarer_words_weigh_more(count: int, more: int) -> None:
    """The more solutions hold a word the less it tells; words of the trade tell less from the start."""
    assert rarity("zebra", count, 5000) >= rarity("zebra", count + more, 5000) >= 0
    assert rarity("error", count, 5000) <= rarity("zebra", count, 5000)


@pytest.mark.parametrize(
    ("wanted", "words", "follows"),
    [
        (["pytest", "tests/int"], ["pytest", "-x", "tests/int/test_a.py::test_b"], True),
        (["pytest", "tests/int"], ["pytest", "tests/integration"], False),
        (["git", "push", "--force"], ["git", "push", "origin", "--force"], True),
        (["git", "push", "--force"], ["git", "push", "origin"], False),
        (["npm", "run", "build"], ["npm", "build", "run"], False),
        (["make", "./tools/"], ["make", "tools/x"], True),
    ],
)
def test_a_command_is_met_by_its_words_in_order(wanted: list[str], words: list[str], follows: bool) -> None:
    """Other words may stand between; a path stands for what lies below it, never for a longer name."""
    assert words_follow(wanted, words) == follows


@pytest.mark.parametrize(
    ("declared", "line", "within"),
    [
        ("could not connect to server", "psql: error: could not connect to server: Connection refused", True),
        ("connect to server", "psql: cannot reconnect to servers", False),
        ("No module named 'redis'", "ModuleNotFoundError: No module named 'redis'", True),
        ("No module named 'redis'", "ModuleNotFoundError: No module named 'numpy'", False),
        ("timeout", "connection timeout", False),
        ("error: row 7 of 'a' is bad", "row 9 of 'b' is bad", True),
    ],
)
def test_a_declared_error_is_found_within_a_line(declared: str, line: str, within: bool) -> None:
    """Masked, between word borders, and only when it says enough to tell."""
    assert is_within(mask_label(declared), mask_label(line)) == within


@given(st.lists(st.text(max_size=12), max_size=4), st.lists(st.text(max_size=12), max_size=4))
def test_likeness_is_a_share(names: list[str], others: list[str]) -> None:
    """0 to 1, the same both ways, 1 for the same names."""
    assert 0 <= likeness(names, others) <= 1
    assert likeness(names, others) == pytest.approx(likeness(others, names))
    assert likeness(names, names) == (1 if names else 0)


def test_a_path_is_asked_for_by_its_forms() -> None:
    """Whole, without leading folders, by its name, by its folders."""
    keys = dict(mention_keys("web/src/app.ts"))
    assert set(keys) == {"web/src/app.ts", "src/app.ts", "app.ts", "web/", "web/src/"}
    assert keys["web/src/app.ts"] > keys["src/app.ts"] > keys["app.ts"] > keys["web/src/"]


def test_of_one_kind_a_hit_counts_once() -> None:
    """Two patterns that match the same event are one reason."""
    hit = Hit(1)
    hit.add("path", 2.0, "a")
    hit.add("path", 2.0, "b")
    hit.add("error", 1.0, "c")
    assert (hit.score, hit.kinds, hit.reasons) == (3.0, ["path", "error"], ["a", "c"])


@pytest.mark.parametrize(
    ("word", "other", "slip"),
    [
        ("typscript", "typescript", True),
        ("typsecript", "typescript", True),
        ("reedis", "redis", True),
        ("eror", "error", True),
        ("kubernates", "kubernetes", True),
        ("mango", "mongo", False),
        ("redis", "redis", False),
        ("pyhton", "pthyon", False),
        ("cat", "catalogue", False),
    ],
)
def test_one_slip_is_mended_and_no_more(word: str, other: str, slip: bool) -> None:
    assert one_slip(word, other) is slip


def fits(tmp_path: Path, prompt: str, floor: float = PROMPT_FLOOR) -> set[str]:
    """The ids of what a prompt brings up in a small store."""
    hits: dict[int, Hit] = {}
    lessons = [
        lesson("K", "kubernetes", "Services run on EKS; the charts are in the monorepo.", ("k8s", "rolling-update")),
        lesson("T", "typescript settings", "Strict mode, and no implicit any.", ("ts",)),
        lesson("Q", "dead letter queue", "Failed messages wait in MongoDB until somebody replays them.", ("dlq",)),
    ]
    target = tmp_path / "fits.db"
    build(target, lessons, {each.path: True for each in lessons}, DAY)
    with closing(sqlite3.connect(target)) as db:
        matching.match_text(db, prompt, hits, floor)
        return {str(db.execute("select id from lesson where mid = ?", (mid,)).fetchone()[0]) for mid in hits}


def lesson(name: str, title: str, body: str, tags: tuple[str, ...]) -> Solution:
    return Solution(
        name, title, "knowledge", body, tags=tags, created=datetime(2026, 5, 1, tzinfo=UTC), path=f"{name}.md"
    )


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("k8s?", {"K"}),
        ("what do we do about a rolling update of the shop", {"K"}),
        ("rolling hills and a picture of them", set()),
        ("how do I configure typscript in strict mode?", {"T"}),
        ("replay what is in the dead letter queue", {"Q"}),
        ("the mango is ripe", set()),
        ("use strict words in the mode line", set()),
        ("please fix the failing test and run everything again", set()),
        ("ツールの設定を教えて", set()),
        ("", set()),
    ],
)
def test_a_prompt_brings_up_what_it_names_and_else_nothing(tmp_path: Path, prompt: str, found: set[str]) -> None:
    assert fits(tmp_path, prompt) == found


@given(st.text(max_size=80), st.floats(0.1, 20))
def test_a_higher_floor_never_lets_more_through(prompt: str, floor: float) -> None:
    with tempfile.TemporaryDirectory() as name:
        assert fits(Path(name), prompt, floor) <= fits(Path(name), prompt, 0.0)
