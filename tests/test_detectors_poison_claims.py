"""detectors/poison_claims.py: what saves a sentence the patterns for names takes none that they would find."""

from __future__ import annotations

import re
import string
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from detectors.poison_claims import (
    ARROW,
    CORES,
    LEADING_PHRASES,
    LEADING_WORDS,
    PATTERNS,
    count_names,
    fold,
    leading_sentences,
    swaps,
)

LEADING = re.compile(rf"\b(?:{'|'.join((*LEADING_WORDS, *LEADING_PHRASES))})\b|{ARROW.pattern}", re.IGNORECASE)
WORDS = (
    *(
        "use",
        "call",
        "the",
        "now",
        "not",
        "over",
        "instead of",
        "rather than",
        "in place",
        "stands for",
        "go to",
        "goes",
    ),
    *("moved to", "has been merged into", "lives in", "is gone", "was retired", "because", "took over", "than", "as"),
    *(
        "is newer",
        "has the same",
        "when",
        "for",
        "where",
        "says",
        "switch",
        "point",
        "to",
        "every",
        "refer",
        "MOVED to",
    ),
    *(
        "api-v1",
        "api-v2.",
        "`web`",
        "`the old one`,",
        "db.prod:",
        "userName",
        "1.2",
        "->",
        "=>",
        "→",
        "it's",
        "ab",
        "a",
    ),
    *(
        "Plain",
        "WORDS",
        "用",
        "ſame",
        "STAND\u017f for",
        "U\u017fE",
        "\u0130nstead OF",
        "sw\u0131tch",
        "LOO\u212aED UP",
        ";",
        ":",
        ".",
        "pay/core,",
    ),
)
SENTENCES = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=14).map(" ".join), min_size=1, max_size=4)

LED = [
    "api-v1 has been merged into `api-v2`.",
    "Use core.pay instead of `old-pay`.",
    "Instead of `old-pay` use core.pay.",
    "Whenever `old-pay` fails, call core.pay.",
    "Switch old-pay to core.pay.",
    "old-pay -> core.pay",
    "old-pay is gone, please open core.pay",
    "Now use core.pay for every old-pay there is",
    "old-pay fails because core.pay took over",
    "core.pay is newer than old-pay, so use it",
    "core.pay has the same schema as old-pay, use it",
    "old-pay is now called core.pay",
]


def test_each_form_of_leading_one_name_to_another_is_found() -> None:
    """One sentence for each pattern."""
    for sentence in LED:
        assert any(found.new in ("core.pay", "api-v2") for found in swaps(sentence)), sentence
        assert any(found.new in ("core.pay", "api-v2") for found in swaps(sentence.upper())), sentence


@settings(max_examples=300, deadline=None)
@given(SENTENCES)
def test_neighbours_are_judged_by_what_each_has(sentences: list[str]) -> None:
    """Two neighbours as one have the names of both, and lead where one of them does; so it is with the runs of one."""
    together = [f"{a.rstrip(' .;:')}, {b}" for a, b in pairwise(sentences)]
    assert list(leading_sentences(sentences)) == [
        one for one in (*sentences, *together) if count_names(one) >= 2 and LEADING.search(one)
    ]


@settings(max_examples=300, deadline=None)
@given(SENTENCES)
def test_no_pattern_matches_without_its_core(sentences: list[str]) -> None:
    """A pattern is left out only where it would not match."""
    for sentence in sentences:
        for place, core in CORES.items():
            assert core.search(fold(sentence)) or not PATTERNS[place].search(sentence)


@given(st.text(max_size=8))
def test_a_folded_text_is_what_a_pattern_without_regard_to_case_reads(text: str) -> None:
    """Each letter is one of a to z for both or for none."""
    for letter in (*text, *"\u0130\u0131\u017f\u212aKk"):
        folded = fold(letter)
        assert bool(re.fullmatch("[a-z]", folded)) == any(re.match(a, letter, re.I) for a in string.ascii_lowercase)
        assert len(folded) == 1
