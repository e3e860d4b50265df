"""The rules of the poison scan, each held by its own texts."""

from __future__ import annotations

import pytest

from detectors.poison.examine import examine
from detectors.poison.rule import Rule
from detectors.poison.rules import RULES


def weight_of(rule: Rule, text: str) -> float:
    return max((found.weight for found in examine(text).fired if found.rule == rule.id), default=0.0)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_finds_its_examples(rule: Rule) -> None:
    """Every rule has examples, and each makes it fire with at least half its weight."""
    assert rule.examples
    assert {text: weight_of(rule, text) >= 0.5 for text in rule.examples} == dict.fromkeys(rule.examples, True)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.harmless], ids=lambda rule: rule.id)
def test_a_rule_spares_its_harmless_texts(rule: Rule) -> None:
    """Honest texts that use a rule's words do not make it fire with half its weight."""
    assert {text: weight_of(rule, text) < 0.5 for text in rule.harmless} == dict.fromkeys(rule.harmless, True)


def test_rule_ids_are_unique_and_begin_with_their_family() -> None:
    """A rule is known by its id, which says its family."""
    ids = [rule.id for rule in RULES]
    assert len(set(ids)) == len(ids)
    assert all(rule.id.startswith(rule.family + ".") and rule.reason and rule.origin for rule in RULES)
