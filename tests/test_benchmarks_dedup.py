"""The corpus generator and the exact truth that near-duplicate detection is measured with."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from benchmarks.corpus import change_corpus, make_lesson, make_lessons, write_corpus
from benchmarks.dedup import bodies_of, exact_pairs, full_pass, report_truth
from index.signature_cache import scan_markdown
from index.similarity import jaccard, shingles, strip_front_matter


def test_a_lesson_depends_on_seed_and_number_alone() -> None:
    """Any lesson can be made by itself, and a small corpus is the beginning of a large one."""
    lessons = list(make_lessons(3, 60))
    assert lessons[50] == make_lesson(3, 50)
    assert lessons[50].text != make_lesson(4, 50).text
    assert len({lesson.path for lesson in lessons}) == 60


def test_edited_lessons_keep_what_was_meant() -> None:
    """Copies reach similarities over the whole range to their source, equal ones among them, some in Chinese."""
    copies = [lesson for lesson in make_lessons(1, 3_000) if lesson.copy_of is not None]
    assert 100 < len(copies) < 250
    likeness = [
        jaccard(_shingles(lesson.text), _shingles(make_lesson(1, lesson.copy_of or 0).text)) for lesson in copies
    ]
    for low, high in ((0.4, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 1.01)):
        assert any(low <= value < high for value in likeness)
    assert any(value == 1.0 for value in likeness)
    assert any("需要" in lesson.text for lesson in copies)


def _shingles(text: str) -> frozenset[str]:
    return shingles(strip_front_matter(text.encode()).decode())


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.9])
def test_exact_truth_is_that_of_comparing_all_with_all(threshold: float) -> None:
    """The join finds every pair that plain sets find, with the same value, and no other."""
    texts = [strip_front_matter(lesson.text.encode()) for lesson in make_lessons(2, 160)]
    sets = [shingles(text.decode()) for text in texts]
    plain = {(a, b): jaccard(sets[a], sets[b]) for a, b in combinations(range(160), 2)}
    assert exact_pairs(texts, threshold) == {pair: value for pair, value in plain.items() if value >= threshold}


def test_the_whole_measure_on_a_small_corpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Recall and precision are printed for a pass over files; nothing at .9 and above is missed."""
    write_corpus(tmp_path, 1_000, 1)
    report_truth(tmp_path, full_pass(tmp_path, tmp_path))
    printed = capsys.readouterr().out
    assert "recall at J >= 0.9: 1.0000" in printed
    assert "precision: 1.0000" in printed
    before = list(bodies_of(tmp_path))
    changed = change_corpus(tmp_path, 1_000, 1, 0.02, 1)
    assert 10 < changed < 60
    assert len(scan_markdown(tmp_path).paths) == 1_000
    assert sum(old != new for old, new in zip(before, bodies_of(tmp_path), strict=True)) == changed
