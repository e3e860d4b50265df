"""Near-duplicates: every pair there is, none that is not, and clusters that do not chain."""

from __future__ import annotations

import random
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from detectors.duplicates import Cluster, Pair, cluster_pairs, find_near_duplicates
from index.settings import DedupSettings
from index.similarity import jaccard, shingles

SETTINGS = DedupSettings()
WORDS = [f"{a}{b}" for a in ("build", "test", "cache", "login", "queue", "token") for b in "abcdefghij"]


def edited_corpus(seed: int, count: int, length: int) -> list[str]:
    """Texts of random words, half of them an earlier one with some words replaced."""
    rng = random.Random(seed)  # noqa: S311
    texts: list[list[str]] = []
    for _ in range(count):
        if texts and rng.random() < 0.5:
            words = list(rng.choice(texts))
            for _ in range(rng.randrange(0, max(2, length // 12))):
                words[rng.randrange(len(words))] = rng.choice(WORDS)
        else:
            words = [rng.choice(WORDS) for _ in range(rng.randrange(1, length))]
        texts.append(words)
    return [" ".join(words) for words in texts]


def true_pairs(texts: list[str], threshold: float) -> dict[tuple[int, int], float]:
    sets = [shingles(text) for text in texts]
    likeness = {(a, b): jaccard(sets[a], sets[b]) for a, b in combinations(range(len(texts)), 2)}
    return {pair: value for pair, value in likeness.items() if value >= threshold}


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1 << 30))
def test_pairs_against_exact_truth(seed: int) -> None:
    """No pair below the threshold is reported, values are the exact ones, and nothing at .9 and above is missed."""
    texts = edited_corpus(seed, 60, 200)
    truth = true_pairs(texts, SETTINGS.threshold)
    found = {(pair.a, pair.b): pair.jaccard for pair in find_near_duplicates(texts, SETTINGS)}
    assert found.items() <= truth.items()
    assert {pair for pair, value in truth.items() if value >= 0.9} <= found.keys()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1 << 30))
def test_short_texts_are_compared_exactly(seed: int) -> None:
    """Among texts of a few words the pairs are those of comparing all with all (before the ratio drops any)."""
    texts = edited_corpus(seed, 40, 12)
    lenient = DedupSettings(ratio=0.0)
    assert {(pair.a, pair.b) for pair in find_near_duplicates(texts, lenient)} == true_pairs(texts, 0.7).keys()


def test_values_are_reported_with_their_pair() -> None:
    """Equal texts have 1.0 and 100; a reordered text keeps a high ratio."""
    text = "The suite needs a database.\n\nStart it with make services before the tests run on any machine."
    swapped = "Start it with make services before the tests run on any machine.\n\nThe suite needs a database."
    pairs = find_near_duplicates([text, "something else entirely, about colours", text, swapped], SETTINGS)
    assert [(pair.a, pair.b) for pair in pairs] == [(0, 2), (0, 3), (2, 3)]
    assert (pairs[0].jaccard, pairs[0].ratio) == (1.0, 100.0)
    assert pairs[1].jaccard >= 0.7
    assert pairs[1].ratio > 95


def test_other_scripts_have_duplicates_too() -> None:
    """A Chinese and a Japanese lesson are found again with a character or two changed."""
    chinese = "重启服务之前必须先清空缓存，否则旧的会话会继续使用过期的令牌，登录页面会一直报错。"
    japanese = "サービスを再起動する前にキャッシュを消去しないと、古いトークンが使われ続けてログインに失敗する。"
    texts = [chinese, japanese, chinese.replace("一直", "不断"), japanese.replace("失敗", "失敗し続")]
    assert [(pair.a, pair.b) for pair in find_near_duplicates(texts, SETTINGS)] == [(0, 2), (1, 3)]


def test_one_template_does_not_make_lessons_alike() -> None:
    """Filled-in forms whose headings and labels are all they share are no pair."""
    form = "## Symptom\n\n{}\n\n## Root cause\n\n{}\n\n**Why it matters:** {}\n\n**Instead:** {}\n"
    one = form.format("Login fails.", "An expired key.", "Nobody gets in.", "Rotate it.")
    two = form.format("Build is red.", "A new compiler.", "No release.", "Pin it.")
    assert find_near_duplicates([one, two], SETTINGS) == ()


def test_empty_texts_are_in_no_pair() -> None:
    """Nothing equals nothing: texts without a word are left alone."""
    assert find_near_duplicates(["", "", "...", "***", "\n"], SETTINGS) == ()
    assert find_near_duplicates([], SETTINGS) == ()


def test_order_of_texts_does_not_matter() -> None:
    """The same texts in another order give the same pairs of texts."""
    texts = edited_corpus(5, 50, 150)
    order = list(range(50))
    random.Random(1).shuffle(order)  # noqa: S311
    moved = find_near_duplicates([texts[i] for i in order], SETTINGS)
    again = sorted(tuple(sorted((order[pair.a], order[pair.b]))) for pair in moved)
    assert again == [(pair.a, pair.b) for pair in find_near_duplicates(texts, SETTINGS)]
    assert again


def test_very_many_copies_are_each_paired_with_the_first() -> None:
    """A thousand equal texts give a thousand pairs, not half a million, and one cluster."""
    pairs = find_near_duplicates(["run make test before every push to main"] * 1000, SETTINGS)
    assert [(pair.a, pair.b) for pair in pairs] == [(0, i) for i in range(1, 1000)]
    assert cluster_pairs(pairs, 0.5) == (Cluster(0, tuple(range(1, 1000)), (1.0,) * 999),)


def test_clusters_do_not_chain() -> None:
    """A is like B, B like C, C like D: the far ends never meet, and each dropped one is in a pair with the kept one."""
    pairs = [Pair(0, 1, 0.8, 90), Pair(1, 2, 0.8, 90), Pair(2, 3, 0.8, 90)]
    far = {(0, 2): 0.55, (1, 3): 0.2, (0, 3): 0.1}
    assert cluster_pairs(pairs, 0.5, lambda a, b: far[a, b]) == (Cluster(1, (0, 2), (0.8, 0.8)),)
    assert cluster_pairs(pairs, 0.6, lambda a, b: far[a, b]) == (Cluster(1, (0,), (0.8,)), Cluster(2, (3,), (0.8,)))


def test_the_kept_one_can_be_preferred() -> None:
    """Among texts with as many pairs the preferred one is kept."""
    pair = Pair(0, 1, 0.9, 99)
    assert cluster_pairs([pair], 0.5, preference=lambda place: -place) == (Cluster(1, (0,), (0.9,)),)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1 << 30))
def test_clusters_hold_their_bounds(seed: int) -> None:
    """No text is in two clusters, dropped ones are pairs of the kept one, and no two members are below the bound."""
    texts = edited_corpus(seed, 50, 120)
    sets = [shingles(text) for text in texts]
    pairs = find_near_duplicates(texts, SETTINGS)
    clusters = cluster_pairs(pairs, 0.6, lambda a, b: jaccard(sets[a], sets[b]))
    known = {(pair.a, pair.b) for pair in pairs}
    members = [place for cluster in clusters for place in (cluster.keep, *cluster.drop)]
    assert len(members) == len(set(members))
    for cluster in clusters:
        assert all(tuple(sorted((cluster.keep, other))) in known for other in cluster.drop)
        for a, b in combinations((cluster.keep, *cluster.drop), 2):
            assert jaccard(sets[a], sets[b]) >= 0.6
