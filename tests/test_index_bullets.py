"""index/bullets.py: a body's statements, none lost."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from index.bullets import parse_bullets, render_bullets, split_sentences

BODY = """# Title

The suite needs a database,
which `make up` starts.

- first item
  goes on
- second item
  1. nested item

```sh
make up

make test
```

| a | b |
| - | - |
| 1 | 2 |
"""


def test_items_paragraphs_fences_and_tables_are_bullets() -> None:
    """Each list item, paragraph, fence and table is one bullet; headings are none."""
    assert parse_bullets(BODY) == (
        "The suite needs a database,\nwhich `make up` starts.",
        "first item\ngoes on",
        "second item",
        "nested item",
        "```sh\nmake up\n\nmake test\n```",
        "| a | b |\n| - | - |\n| 1 | 2 |",
    )


def test_rendered_bullets_are_read_back() -> None:
    """parse(render(x)) == x."""
    bullets = parse_bullets(BODY)
    assert parse_bullets(render_bullets(bullets)) == bullets


@settings(max_examples=400)
@given(st.lists(st.text(alphabet="ab .-*#`\n1|=", max_size=60), max_size=5))
def test_bullets_of_any_bodies_survive_render_and_parse(parts: list[str]) -> None:
    """Whatever bodies hold, their bullets rendered together and parsed are the same: merging again adds none."""
    bullets = tuple(bullet for part in parts for bullet in parse_bullets(part))
    assert parse_bullets(render_bullets(bullets)) == bullets


@given(st.text(max_size=400))
def test_no_word_of_a_body_is_lost(body: str) -> None:
    """Every line that is neither heading, rule nor blank is in some bullet."""
    text = "\n".join(parse_bullets(body))
    for word in body.split():
        if word.isalnum() and not any(line.lstrip().startswith("#") for line in body.splitlines()):
            assert word in text


def test_sentences_join_wrapped_lines_and_keep_code_lines_apart() -> None:
    """Prose is cut at sentence ends, across wrapped lines; code is cut at line ends."""
    assert split_sentences("One two\nthree. Four.\n\n```\na. b\nc\n```\n") == ("One two three.", "Four.", "a. b", "c")


def test_chinese_sentences_end_at_their_own_full_stop() -> None:
    """No space follows a Chinese full stop."""
    assert split_sentences("先跑测试。再提交。") == ("先跑测试。", "再提交。")


@settings(max_examples=400)
@given(st.text(alphabet='ab.!:。；"`)]* ', max_size=60))
def test_prose_is_cut_after_the_end_of_each_sentence(text: str) -> None:
    """The cuts are those of a pattern that looks back at each place for the end of a sentence."""
    cut = re.split(r"(?<=[.!?;:])[\"'`)\]*]{0,4}\s{1,8}(?=\S)|(?<=[。！？；])", text.strip())
    prose = "x " + text.strip()
    assert [part.strip() for part in ("x " + cut[0], *cut[1:]) if part.strip()] == list(split_sentences(prose))
