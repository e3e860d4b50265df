"""A lesson is filed under the kind its words show, with a confidence its type may carry and with reasons."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.records import CATEGORIES, CONFIDENCE_RANGE
from reflect.classify import WEIGHTS, classify, classify_text, judge, read_fields

BUG = """---
title: Upload worker drops the last chunk when the queue is full
---
## Symptoms
Uploads of more than 64 MB failed with `ChunkError: missing part 9`.

## Root cause
The worker closed the queue before it had been drained.

## Fix
Drain first, then close.
"""
PATTERN = """---
title: Prefer one fixture per service over a shared global one
---
## Context
Tests that share a service must not share its state.

## Guidance
Always build the service inside the fixture. Never reach for module globals.

## When to apply
Whenever a test writes.
"""
DECISION = """# 12. Keep the scheduler inside the API process

Status: accepted

## Context
There is one node.

## Decision
We will run the scheduler in the API process.

## Consequences
A second node would need a lock.

## Alternatives considered
A separate worker was rejected.
"""


@pytest.mark.parametrize(
    ("text", "category"),
    [
        (BUG, "bugs"),
        (PATTERN, "patterns"),
        (DECISION, "knowledge"),
        ("# 接続プール枯渇による障害\n\n## 影響\n停止した。\n\n## 根本原因\n接続が返却されなかった。\n", "bugs"),
        (
            "# 优先使用 fixture 而不是全局变量\n\n## 指导\n必须在 fixture 内创建。\n\n## 何时适用\n每当测试写入。\n",
            "patterns",
        ),
        ("# 결제 재시도 실패\n\n## 증상\n오류가 발생했다.\n\n## 원인\n타임아웃.\n\n## 해결\n수정했다.\n", "bugs"),
    ],
)
def test_clear_lessons_are_filed_by_their_words(text: str, category: str) -> None:
    """A failure with its cause is a bug, a rule to follow a pattern, a decision is knowledge, in any language."""
    found = classify_text(text)
    assert found.category == category
    assert found.reasons


def test_front_matter_that_names_our_category_is_believed() -> None:
    """A person's own `category:` decides, whatever the words look like."""
    assert classify("Upload fails", "## Root cause\nx\n", {"category": "Knowledge"}).category == "knowledge"


def test_broken_front_matter_still_classifies() -> None:
    """Front matter that is not valid YAML is read line by line: its type is not lost."""
    broken = '---\ntitle: Loader: retries: none\nproblem_type: "runtime error\n  bad: [\n---\nSome words.\n'
    fields = read_fields(broken.split("---\n")[1])
    assert fields["problem_type"] == "runtime error"
    assert classify_text(broken).category == "bugs"


def test_an_empty_lesson_classifies() -> None:
    """Nothing to go by is an answer with low confidence, never an error."""
    found = classify("", "", None)
    assert found.category in CATEGORIES


def test_weights_are_a_readable_table() -> None:
    """Every row names a cue and gives one number for each category."""
    weights = json.loads(WEIGHTS.read_text(encoding="utf-8"))["weights"]
    assert all(set(row) == set(CATEGORIES) for row in weights.values())


def test_authors_confidence_is_kept_where_it_fits() -> None:
    """A stated confidence within the type's range stays; one outside is replaced by one inside."""
    assert classify("t", "b", {"type": "semantic", "confidence": 0.9}).confidence == 0.9
    low, high = CONFIDENCE_RANGE["semantic"]
    assert low <= classify("t", "b", {"type": "semantic", "confidence": 0.2}).confidence <= high


@given(st.text(max_size=200), st.text(max_size=1500), st.dictionaries(st.text(max_size=12), st.text(max_size=20)))
def test_confidence_lies_in_its_types_range(title: str, body: str, fields: dict[str, str]) -> None:
    """Whatever comes in, the confidence is one that the type may carry, and the chances sum to one."""
    found = classify(title, body, fields)
    low, high = CONFIDENCE_RANGE[found.type]
    assert low <= found.confidence <= high
    assert sum(judge({"text: failed": 1.0}).values()) == pytest.approx(1.0)
