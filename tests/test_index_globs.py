"""Path globs match exactly what gitignore and editors' rule files mean by them."""

import subprocess
import sys
from pathlib import Path
from sqlite3 import connect

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcmatch import glob

from index.globs import anchor_of, anchors, expand_braces, matches, matches_any, problem_of, sqlite_glob

ROOT = Path(__file__).resolve().parent.parent
segment = st.sampled_from(
    ["a", "ab", "b.ts", "*.ts", "*", "**", "?b", "[ab]", "[!a]b", "a*b", "{a,b}", "*.{ts,tsx}", ".x"]
)
pattern = st.lists(segment, min_size=1, max_size=4).map("/".join)
path = st.lists(st.sampled_from(["a", "b", "ab", "b.ts", "a.tsx", ".x", "axb", "ts"]), min_size=1, max_size=4).map(
    "/".join
)


@pytest.mark.parametrize(
    ("glob_", "hit", "miss"),
    [
        ("package.json", "web/package.json", "my-package.json.bak"),
        ("package.json", "package.json", "package.json5"),
        ("/package.json", "package.json", "web/package.json"),
        ("src/**/*.ts", "src/a/b.ts", "web/src/a.ts"),
        ("src/**/*.ts", "src/b.ts", "src/b.tsx"),
        ("**/migrations/**", "db/migrations/1.sql", "migrations"),
        ("**/*.{ts,tsx}", "a.tsx", "a.js"),
        ("docs/", "docs/a/b.md", "docs"),
        ("src/app", "src/app/x.py", "src/application/x.py"),
        ("*.py", ".hidden/x.py", "x.pyc"),
        ("a?c.txt", "d/abc.txt", "d/a/c.txt"),
        ("[!a]x", "bx", "ax"),
        ("**.go", "cmd/main.go", "cmd/main.god"),
        ("app/[[]id]/page.tsx", "app/[id]/page.tsx", "app/i/page.tsx"),
    ],
)
def test_a_glob_takes_what_it_means_and_no_more(glob_: str, hit: str, miss: str) -> None:
    """Whole segments, any depth without an inner slash, the root with one, braces, classes, folders."""
    assert matches(glob_, hit)
    assert not matches(glob_, miss)


def test_a_later_exclusion_wins() -> None:
    """`!` takes out again, and order decides, as in gitignore."""
    assert not matches_any(["src/**", "!src/gen/**"], "src/gen/a.ts")
    assert matches_any(["src/**", "!src/gen/**", "src/gen/keep.ts"], "src/gen/keep.ts")


@given(pattern, path)
def test_it_agrees_with_wcmatch(glob_: str, place: str) -> None:
    """On patterns with an inner slash and a wildcard at the end, the reference matcher says the same."""
    last = glob_.rpartition("/")[2]
    if "/" not in glob_ or not ("*" in last or "?" in last or "[" in last):
        return
    flags = glob.GLOBSTAR | glob.DOTGLOB | glob.BRACE | glob.FORCEUNIX
    reference = glob.globmatch(place, glob_, flags=flags)
    if last == "**":  # a trailing ** needs something below, in gitignore
        reference = reference and matches(glob_, place)
    assert matches(glob_, place) == reference


@given(pattern, path)
def test_the_database_never_loses_a_match(glob_: str, place: str) -> None:
    """Whatever matches is found through its anchor and SQLite's GLOB, which are supersets."""
    for one in expand_braces(glob_):
        if matches(one, place):
            assert anchor_of(one) in anchors(place)
            [(found,)] = connect(":memory:").execute("select ? glob ?", (place, sqlite_glob(one)))
            assert found


@given(st.text(alphabet="ab*?[]{},/!.\\", max_size=60), st.text(alphabet="ab/.", max_size=40))
def test_any_pattern_is_answered(glob_: str, place: str) -> None:
    """Whatever someone wrote as a pattern: an answer, no error, bounded expansion."""
    assert matches(glob_, place) in {True, False}
    assert len(expand_braces(glob_)) <= 512


def test_wildcards_do_not_explode() -> None:
    """A pattern made to backtrack is answered at once."""
    assert not matches("**/" * 30 + "*a*a*a*a*a*b", "/".join(["a" * 50] * 30))
    assert len(expand_braces("{a,b}" * 30)) <= 512


def test_bad_patterns_are_named() -> None:
    """A pattern that can never match, or would leave the project, says so when it is written."""
    assert all(problem_of(bad) for bad in ("", "/", "../x", "a" * 500, "a\nb"))
    assert not problem_of("src/**/*.ts")


def test_it_imports_nothing() -> None:
    """The module loads no other module, so that the recall hook can."""
    code = "import sys; before = set(sys.modules); import globs; print(sorted(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=ROOT / "index", capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['globs']"
