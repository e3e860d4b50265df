"""A solution's rows: cut in one go they are what each of them is alone."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from index.recall_rows import Texts, code_words, document_words, mentions, sentences_of, split_code, texts_of
from index.records import Solution, Triggers

PIECES = st.sampled_from(
    [
        "# Why it fails",
        "\n",
        "\n\n",
        ". ",
        "The importer of `make test-int` fails with `KeyError: 'tenant'`",
        "- one\n- two",
        "```sh\nuv run upload --workers 3\n```",
        "```\nnever closed",
        "```yaml of it\n",
        "src/app/main_loop.py",
        "`",
        "```",
        "HTTPServerError in docs/",
        "\u2014 the caf\u00e9\u2019s",
        "\u5f53\u7aef\u53e3\u5931\u8d25\u65f6",
        "v1.2.3",
        "again.\nAnd again",
        "\r\n",
        "x/y.\u3000z/w.md",
    ]
)
BODIES = st.lists(PIECES, max_size=14).map("".join)


@given(
    BODIES,
    st.sampled_from(["The port of it. Again", "a_b\nc", "\u7aef\u53e3", ""]),
    st.sampled_from([(), ("error: no\nport",)]),
)
@example("said.\n```sh\nrun it\n```\nThen. ```\nx\n```", "t", ())
def test_all_texts_in_one_go_are_those_made_one_by_one(body: str, title: str, errors: tuple[str, ...]) -> None:
    """Fences closed and open, sentences over lines, in every script."""
    each = Solution("A", title, "bugs", body, tags=("db", "http_pool"), triggers=Triggers(("src/**",), errors=errors))
    prose, code = split_code(body)
    assert texts_of(each) == Texts(
        " ".join(document_words(each)), sentences_of(title, prose), " ".join(code_words(code))
    )


@given(BODIES)
def test_a_path_is_found_wherever_it_stands(body: str) -> None:
    """Word by word the same paths are found as in the whole text."""
    alone = {key for word in body.split() for key in mentions(Solution("A", "", "bugs", word))}
    assert set(mentions(Solution("A", "", "bugs", body))) == alone


@pytest.mark.parametrize("around", ["({})", '"{}",', "`{}`;", "<{}>:", "[{}]?!", "'{}'"])
@pytest.mark.parametrize("path", ["src/app/main_loop.py", "docs/", "setup.cfg", "~/a/../b", "./x/y/", "*/z/{a,b}.md"])
def test_signs_around_a_path_are_none_of_it(around: str, path: str) -> None:
    """A path in a sentence is asked for like one that stands alone."""
    assert mentions(Solution("A", "", "bugs", around.format(path))) == mentions(Solution("A", "", "bugs", path))


def test_a_path_is_asked_for_by_its_ends_and_its_folders() -> None:
    """The longest end first, then each folder with the one it lies in; of a very long path the last eight parts."""
    assert mentions(Solution("A", "", "bugs", "in src/app/db/ it")) == [
        "src/app/db", "app/db", "db", "src/", "src/app/", "app/db/",
    ]  # fmt: skip
    long = "/".join("abcdefghij") + "/k.py"
    assert mentions(Solution("A", "", "bugs", long))[0] == "d/e/f/g/h/i/j/k.py"
