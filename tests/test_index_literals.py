"""index/literals.py: what no rewording may touch, and the veto on texts that differ in a value."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import index.literals
from index.literals import (
    Token,
    content,
    differs,
    find_differences,
    literal_set,
    literals,
    statement_differences,
    stem,
    tokens,
)

CONFLICTS = [
    ("number", "Use port 5432.", "Use port 5433."),
    ("number", "The job waits 30s for the lock.", "The job waits 90s for the lock."),
    ("number", "The proxy answers HTTP 502 when full", "The proxy answers HTTP 504 when full"),
    ("number", "The port is 5433, not 5432", "The port is 5432, not 5433"),
    ("version", "Pin the linter at 0.6.9 in CI", "Pin the linter at 0.7.0 in CI"),
    ("path", "Edit src/a/config.yaml to fix it", "Edit src/b/config.yaml to fix it"),
    ("flag", "Run `pytest -x` first", "Run `pytest` first"),
    ("flag", "make test", "make test --fast"),
    ("flag", "Build with --no-cache here", "Build with --cache here"),
    ("host", "Deploys go to db1.example.com", "Deploys go to db2.example.com"),
    ("url", "Fetch it from https://a.example/x", "Fetch it from https://b.example/x"),
    ("error", "The loader raises KeyError here", "The loader raises ValueError here"),
    ("identifier", "Call load_user to refresh", "Call load_group to refresh"),
    ("name", "It fails on Debian", "It fails on Windows"),
    ("name", "Ask Alice for access to the vault", "Ask Bob for access to the vault"),
    ("name", "Start redis before the tests", "Start postgres before the tests"),
    ("name", "本番環境で実行してください", "ステージング環境で実行してください"),
    ("opposite", "Enable the cache in CI", "Disable the cache in CI"),
    ("opposite", "Commit before the migration", "Commit after the migration"),
    ("opposite", "Allow traffic from the office", "Deny traffic from the office"),
    ("opposite", "Set DEBUG=true", "Set DEBUG=false"),
    ("opposite", "The cache is safe to drop", "The cache is unsafe to drop"),
    ("opposite", "请启用缓存", "请禁用缓存"),
    ("opposite", "キャッシュを有効にする", "キャッシュを無効にする"),
    ("negation", "Always run make lint before a commit.", "Never run make lint before a commit."),
    ("negation", "Retry on 429.", "Do not retry on 429."),
    ("negation", "It works with sudo", "It works without sudo"),
    ("negation", "测试前要清空数据库", "测试前不要清空数据库"),
    ("negation", "再起動する", "再起動しない"),
    ("negation", "사용한다", "사용하지 않는다"),
]

HARMLESS = [
    ("The bare call fails", "The plain call fails"),
    ("Don't call it twice", "Do not call it twice"),
    ("You must not call it", "You must never call it"),
    ("Set the timeout to 30s", "Set the timeout to 30 s"),
    ("Set ttl to 1,000", "Set ttl to 1000"),
    ("It marks the event's turn", "It marks the _event's_ turn"),
    ("Tests fail. Run make test-int.", "Run make test-int. Tests fail."),
    ("Wait for the server", "Wait for the server, which takes 30 seconds"),
    ("- uses `foo.py`\n- uses `bar.py`", "- uses `foo.py`\n- uses `bar.py`\n- uses `baz.py`"),
    ("Use port 5432.", "Use port 5432.\n\nDo not touch the replica on 5433 while it catches up."),
]


@pytest.mark.parametrize(("kind", "a", "b"), CONFLICTS)
def test_a_changed_value_is_a_difference_of_its_kind(kind: str, a: str, b: str) -> None:
    """Two texts alike but for one value conflict, whichever comes first, with the differing words named."""
    assert kind in {difference.kind for difference in differs(a, b)}
    assert kind in {difference.kind for difference in differs(b, a)}
    assert next(find_differences(a, b)) == differs(a, b)[0]


@pytest.mark.parametrize(("a", "b"), HARMLESS)
def test_rewording_and_additions_are_no_difference(a: str, b: str) -> None:
    """Other words for the same, another order and statements that only one side has contradict nothing."""
    assert differs(a, b) == ()


def test_a_changed_value_is_found_amid_a_long_text_in_another_order() -> None:
    """The statement with the other value is found although everything around it moved."""
    filler = [f"Step {n} writes table_{n} and then tells the queue about it." for n in range(40)]
    a = "\n\n".join([*filler, "The server listens on port 8080."])
    b = "\n\n".join(["The server listens on port 8081.", *reversed(filler)])
    assert [(d.a, d.b) for d in differs(a, b)] == [("8080", "8081")]


def test_a_difference_shows_its_words_and_its_statements() -> None:
    """A person sees which words differ and in which sentences."""
    (difference,) = differs("Start. Use port 5432 here.", "Start. Use port 5433 here.")
    assert str(difference) == 'number: "5432" against "5433"'
    assert (difference.in_a, difference.in_b) == ("Use port 5432 here.", "Use port 5433 here.")


def test_literals_of_a_command_line() -> None:
    """Commands, flags, paths, versions, hosts, error codes and quoted strings are literals, plain words are not."""
    text = 'Run `npm ci --prefix web` on build.example.com, see src/app.py; v2.3 gives ENOENT "no such file".'
    kinds = {token.norm: token.kind for token in literals(text)}
    assert kinds["--prefix"] == "flag"
    assert kinds["src/app.py"] == "path"
    assert kinds["2.3"] == "version"
    assert kinds["build.example.com"] == "host"
    assert kinds["ENOENT"] == "error"
    assert kinds["npm ci --prefix web"] == "quoted"
    assert kinds["no such file"] == "quoted"
    assert "gives" not in kinds


def test_two_words_with_a_slash_are_no_path() -> None:
    """`and/or` is two words; a path has more to it."""
    assert [token.kind for token in tokens("and/or")] == ["word", "word"]
    assert literal_set("read it and/or write src/x.py") == {"src/x.py"}


def test_content_leaves_small_words_out_and_maps_forms_together() -> None:
    """What two statements say is compared by stems, literals as they are."""
    assert content("The server retries on 429") == content("server retried on 429")


@given(st.text(max_size=300))
def test_a_text_never_differs_from_itself(text: str) -> None:
    """Whatever the text, against itself there is no difference."""
    assert differs(text, text) == ()


@given(st.text(max_size=200), st.text(max_size=200))
def test_differences_do_not_depend_on_the_side(a: str, b: str) -> None:
    """Whether two statements conflict does not depend on which is given first."""
    assert bool(statement_differences(a, b)) == bool(statement_differences(b, a))


@given(st.text(max_size=300))
def test_spans_lie_in_the_text_and_in_order(text: str) -> None:
    """Every token's span is a place in the text, and tokens never overlap."""
    last = 0
    for token in tokens(text):
        assert last <= token.span[0] < token.span[1] <= len(text)
        last = token.span[1]


@given(st.text(alphabet="abcdefgings", max_size=20))
def test_stem_is_a_beginning_of_its_word(word: str) -> None:
    """A stem never grows, and never vanishes."""
    assert len(stem(word)) <= len(word)
    assert bool(stem(word)) == bool(word)


# Signs and words whose kind hangs on what is beside them.
PIECES = (
    *" \n\t.,:;!?-_/@`'\"|#*()$~\\%’\u3000\x1f",
    *(
        "a",
        "I",
        "The",
        "Debian",
        "and/or",
        "don't",
        "cannot",
        "v1.2.3",
        "30",
        "5",
        "1,000",
        "-7",
        "s",
        "ms",
        "min",
        "MB",
    ),
    *(
        "%",
        "Hz",
        "--force",
        "-x",
        "src/app.py",
        "~/x",
        "C:\\x",
        "https://a.example/b?c",
        "me@a.example",
        "a.b()",
        "f()",
    ),
    *(
        "KeyError",
        "ENOENT",
        "load_user",
        "_x_",
        "__init__",
        "loadUser",
        "CI",
        "localhost",
        "127.0.0.1",
        "enable",
        "never",
    ),
    *("不要", "启用", "文", "キャッシュ", "ない", "않는다", "사용", "é", "Éa", "ß", "\U0001d400", "٣"),
)
MIXED = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
SPACED = st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join)


# Every kind in its turn at every place, with no pattern of its own for what is plain.
WHOLE = re.compile(index.literals._LINKED.pattern.removeprefix(index.literals._PLAIN))


def read_whole(text: str) -> Iterator[Token]:
    """The tokens of a text by one pass over the whole of it, run by run or not."""
    last = 0
    for match in WHOLE.finditer(text):
        before = text[last : match.start()].strip(" *_`\"'([-#")
        yield from index.literals._found(match, last == 0 or before[-1:] in (".", "!", "?", ":", "\n"))
        last = match.end()


@given(st.one_of(MIXED, SPACED, st.text(max_size=80)))
def test_a_text_read_run_by_run_gives_the_tokens_of_the_whole(text: str) -> None:
    """Known runs are looked up: what stands around them settles the same as when the whole text is read."""
    whole = list(read_whole(text))
    assert list(tokens.__wrapped__(text)) == whole
    assert content(text) == tuple(
        stem(token.norm) if token.kind in ("word", "name", "opposite") else token.norm
        for token in whole
        if token.fixed or token.norm not in index.literals.STOPWORDS
    )
    assert [token for token in literals(text) if token.kind != "quoted"] == [token for token in whole if token.fixed]
    assert literal_set(text) == {
        token.norm for token in literals(text) if token.kind not in ("negation", "opposite") and len(token.norm) > 1
    }
