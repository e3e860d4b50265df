"""detectors/traits.py: what is read run by run, or only where a mark stands, is what the whole text gives."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from detectors.traits import (
    _FIX,
    _REVERSAL,
    _SCRIPT,
    _SYMPTOM,
    content_words,
    find_reversal,
    foreign_share,
    named_literals,
    split_roles,
)
from index.literals import STOPWORDS, stem

PIECES = (
    *" \n\t\u3000.,:;-_/@`*#()é",
    *("The", "tests", "KeyError", "and/or", "src/app.py", "--force", "v1.2", "loadUser", "don't", "ΣΑΣ", "Straße"),
    *(
        "キャッシュ",
        "无效",
        "사용",
        "1,000",
        "x" * 90,
        "`a b`",
        "supersedes",
        "No longer valid",
        "was wrong",
        "ſupersedes",
    ),
    *(
        "corrects the earlier",
        "REVERSED our",
        "obsolete",
        "已废弃",
        "\n## Problem\n",
        "\n**Fix:** ",
        "\n# 対策\n",
        "# Why\n",
    ),
)
TEXTS = st.one_of(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), st.text(max_size=100))


@given(TEXTS)
def test_words_and_literals_are_those_of_each_run(text: str) -> None:
    """The words of a text are those that one search of the whole finds, the literals those of its runs."""
    expected: set[str] = set()
    for word in re.findall(r"[^\W\d_]{1,80}", text.lower()):
        if not word.isascii():
            expected.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        elif len(word) > 1 and word not in STOPWORDS:
            expected.add(stem(word))
    assert content_words(text) == expected
    assert named_literals(text) == named_literals(text + " plain Words") | {
        literal for run in text.split() for literal in named_literals(run)
    }


@given(TEXTS)
def test_a_mark_is_there_wherever_the_pattern_matches(text: str) -> None:
    """What is left out by a look for marks would have found nothing."""
    assert find_reversal(text) == {match.lower() for match in _REVERSAL.findall(text)}
    assert foreign_share(text) == len(_SCRIPT.findall(text)) / max(1, len(text))


@given(TEXTS)
def test_roles_are_those_of_the_labels_at_the_beginnings_of_lines(body: str) -> None:
    """The parts are what stands from each label on to the next."""
    label = re.compile(r"^(?:#{1,6}[ \t]{1,4}([^\n]{1,80})|\*\*([^*\n]{1,60}?):?\*\*:?)", re.MULTILINE)
    marks = [(match.start(), match[1] or match[2]) for match in label.finditer(body)]
    parts = [(name, body[start:end]) for (start, name), (end, _) in pairwise([*marks, (len(body), "")])]
    fix = [part for name, part in parts if _FIX.search(name)]
    symptom = [part for name, part in parts if not _FIX.search(name) and _SYMPTOM.search(name)]
    assert split_roles(body) == ("\n".join(symptom), "\n".join(fix))
