"""What fits an event is told by what is declared, and by how rare the words in common are."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.error_matching import is_within, likeness, mask_label
from index.matching import Hit, log, mention_keys, rarity, words_follow


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
