"""What counts when two lessons are compared."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from index.similarity import jaccard, normalise, shingles, strip_front_matter, weigh, words


def test_words_are_lower_case_and_keep_underscores() -> None:
    """Names of code stay whole; signs between words do not count."""
    assert normalise("Run `make test_int`, THEN — “wait”…") == "run make test_int then wait"


def test_scripts_without_spaces_count_by_the_character() -> None:
    """Chinese, Japanese, Korean and Thai texts have shingles of three characters."""
    assert words("重启服务器。Redis を再起動") == [*"重启服务器", "redis", *"を再起動"]
    assert shingles("서버 재시작") == {"서 버 재", "버 재 시", "재 시 작"}
    assert len(words("รีสตาร์ท")) == len("รีสตาร์ท")


def test_cyrillic_and_accents_are_letters() -> None:
    """Alphabets with spaces stay words, in lower case."""
    assert words("Перезапусти СЕРВЕР, très tôt: thế") == ["перезапусти", "сервер", "très", "tôt", "thế"]


def test_headings_and_labels_do_not_count() -> None:
    """Two lessons from one template share nothing when only the template is the same."""
    template = "## Symptom\n{}\n\n**Why it matters:** {}\n\n**Instead:** {}\n- **Fix**: {}\n"
    one = template.format("login fails at night", "people wait", "rotate the key", "use cron")
    two = template.format("the build is red", "nobody can merge", "pin the compiler", "edit the lock file")
    assert jaccard(shingles(one), shingles(two)) == 0.0
    assert normalise(one) == "login fails at night people wait rotate the key use cron"


def test_titles_code_and_bold_sentences_count() -> None:
    """Only what a template gives is left out: not the title, code, emphasis or a shell comment."""
    body = "# Title here\n**never** run\n```sh\n# comment\nmake all\n```\n**" + "long " * 12 + ":** x"
    assert normalise(body) == "title here never run sh comment make all " + "long " * 12 + "x"


def test_nothing_but_headings_counts_whole() -> None:
    """An outline is compared as it is, not as an empty text."""
    assert weigh("## One\n## Two\n") == "## One\n## Two\n"
    assert normalise("## One\n**Two:**") == "one two"


def test_front_matter_is_cut_off() -> None:
    """The body starts below the closing line; a rule inside a value or an open front matter cuts nothing."""
    assert strip_front_matter(b"---\na: 1\n---\nbody\n") == b"body\n"
    assert strip_front_matter(b"\xef\xbb\xbf---\r\na: '\n---x'\r\n---\r\nbody") == b"body"
    assert strip_front_matter(b"---\na: 1\n---") == b""
    assert strip_front_matter(b"---\n---\nbody") == b"body"
    assert strip_front_matter(b"---\nno end\n") == b"---\nno end\n"
    assert strip_front_matter(b"plain\n---\nrule\n---\n") == b"plain\n---\nrule\n---\n"


def test_short_texts_have_one_shorter_shingle() -> None:
    """A text of one or two words can still equal another; an empty one equals nothing."""
    assert shingles("pin it") == {"pin it"}
    assert jaccard(shingles("Pin it."), shingles("pin IT")) == 1.0
    assert jaccard(shingles(""), shingles("...")) == 0.0


@given(st.text(alphabet="ab *#:-\n\t。é中—", max_size=60), st.text(alphabet="ab *#:-\n\t。é中—", max_size=60))
def test_likeness_is_symmetric_and_reflexive(a: str, b: str) -> None:
    """J(a, b) = J(b, a), in 0..1, and 1 for a text and itself as soon as it has a word."""
    left, right = shingles(a), shingles(b)
    assert jaccard(left, right) == jaccard(right, left)
    assert 0.0 <= jaccard(left, right) <= 1.0
    assert jaccard(left, left) == (1.0 if left else 0.0)


@given(st.text())
def test_normalising_a_normalised_text_changes_nothing(text: str) -> None:
    """What texts are compared as is a fixed point."""
    once = normalise(text)
    assert normalise(once) == once
