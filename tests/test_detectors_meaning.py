"""detectors/meaning.py: the same lesson in other words is found, and nothing that only looks like it."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from itertools import combinations

import numpy as np
import pytest

from detectors.candidates import candidate_pairs
from detectors.embedding import find_embedder, nearest, normalised
from detectors.lesson_table import read_table
from detectors.meaning import find_same, judge_pair, newest_first
from detectors.traits import named_literals, read_traits, split_roles, weigh
from index.records import Solution, Triggers

START = datetime(2026, 5, 1, tzinfo=UTC)


def lesson(name: str, title: str, body: str, day: int = 1, **fields: object) -> Solution:
    """A solution of a day in May."""
    bare = Solution(name, title, "bugs", body, created=START.replace(day=day), path=f"solutions/bugs/{name}.md")
    return dataclasses.replace(bare, **fields)  # type: ignore[arg-type]


def filler(count: int = 24) -> list[Solution]:
    """Lessons about other things, so that what is rare is rare."""
    return [
        lesson(f"other{n}", f"Topic {n} of the module_{n}", f"The module_{n} writes to table_{n} on port {7000 + n}.\n")
        for n in range(count)
    ]


SYMPTOM = """## Symptom

```
Gateway exited with code -11
pool.c:88: conn_pool_create: Assertion `slots > 0` failed
```

`MAX_SLOTS` was unset in `gateway.env`.

## Fix

Set `MAX_SLOTS=48` and `IDLE_TTL=900` in `gateway.env`, then `systemctl restart gatewayd`.
"""
REWRITTEN = """**Problem:** every gateway process dies at start, conn_pool_create complains about `slots > 0`, code -11,
since `MAX_SLOTS` is missing from `gateway.env`.

**Solution:** put `MAX_SLOTS=48`, `IDLE_TTL=900` into `gateway.env` and run `systemctl restart gatewayd`.
"""
ENGLISH = (
    "Run `tools/seed.py --all` before `tools/check.py`. The server on api.internal.example.com:8443 reads "
    "`conf/seed.toml` and needs SEED_KEY, SEED_REGION and `seedctl 3.14.2`. It answers E4417 or HTTP 428 otherwise. "
    "See docs/seeding/overview.md, `pool_size=17` and the job `nightly-seed-verify`."
)
CHINESE = (
    "先运行 `tools/seed.py --all`，再运行 `tools/check.py`。api.internal.example.com:8443 上的服务读取 "
    "`conf/seed.toml`，需要 SEED_KEY、SEED_REGION 和 `seedctl 3.14.2`。否则会返回 E4417 或 HTTP 428。"
    "参见 docs/seeding/overview.md、`pool_size=17` 以及任务 `nightly-seed-verify`。"
)


def answers(solutions: list[Solution]) -> dict[tuple[str, str], str]:
    """What a pass over these and the filler says of each pair; without the related ones it says the same."""
    every = [*solutions, *filler()]
    found = find_same(every)
    assert find_same(every, related=False) == tuple(one for one in found if one.judgement.answer != "related")
    return {(every[j.a].id, every[j.b].id): j.judgement.answer for j in found}


def test_the_same_symptom_and_fix_in_other_words_is_the_same() -> None:
    """Few word sequences are shared, but all that cannot be reworded is."""
    a = lesson("a", "Gateway crashes at start", SYMPTOM)
    b = lesson("b", "Set MAX_SLOTS for gatewayd", REWRITTEN, day=4)
    assert answers([a, b])["a", "b"] == "same"


def test_only_pairs_with_a_fresh_lesson_are_judged_when_asked_so() -> None:
    """What did not change is not judged again."""
    every = [lesson("a", "Gateway crashes", SYMPTOM), lesson("b", "Set MAX_SLOTS", REWRITTEN, day=4), *filler()]
    assert find_same(every, fresh={5}) == tuple(j for j in find_same(every) if 5 in (j.a, j.b))
    assert find_same(every, fresh={1})[0].judgement.answer == "same"


def test_a_translation_is_the_same() -> None:
    """Only literals remain in another language, and they do."""
    pair = [lesson("a", "Seed before the check", ENGLISH), lesson("b", "检查之前先播种", CHINESE)]
    assert answers(pair)["a", "b"] == "same"


def test_one_template_does_not_make_two_lessons_the_same() -> None:
    """Same headings, same form, other subject."""
    other = SYMPTOM.replace("Gateway", "Mailer").replace("gateway", "mailer").replace("conn_pool", "spool")
    other = other.replace("MAX_SLOTS", "SPOOL_DIR").replace("48", "/var/spool/m").replace("IDLE_TTL=900", "KEEP=3")
    pair = [lesson("a", "Gateway crashes at start", SYMPTOM), lesson("b", "Mailer crashes at start", other)]
    assert answers(pair).get(("a", "b")) != "same"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The database listens on port 5432.", "The database listens on port 5433."),
        ("Retry on 429 with the same key.", "Do not retry on 429 with the same key."),
        ("Enable the build cache on CI runners.", "Disable the build cache on CI runners."),
        ("先清空缓存再部署。", "先不要清空缓存再部署。"),
    ],
)
def test_a_changed_value_is_a_conflict_however_alike_the_rest_is(old: str, new: str) -> None:
    """The veto stands above all evidence, with and without vectors."""
    rest = "\n\nIt was seen in `infra/main.tf` with `terraform 1.9.2` and error E5501.\n"
    a, b = lesson("a", "On the database", old + rest), lesson("b", "On the database", new + rest, day=9)
    weights = weigh([read_traits(one) for one in (a, b, *filler())])
    for embed in {None, find_embedder()}:
        judgement = judge_pair(a, b, weights, embed)
        assert judgement.answer == "conflict"
        assert judgement.differences


def test_a_newer_text_that_says_it_replaces_the_older_supersedes_it() -> None:
    """A contradiction in time is no conflict when the newer says so itself."""
    a = lesson("a", "Where the database listens", "The database listens on port 5432.\n")
    text = "This supersedes the note of May.\n\nThe database listens on port 5433.\n"
    b = lesson("b", "Where the database listens", text, day=9)
    weights = weigh([read_traits(one) for one in (a, b, *filler())])
    assert judge_pair(a, b, weights).answer == "supersedes"


def test_a_judgement_does_not_depend_on_which_lesson_is_first() -> None:
    """a to b is as b to a."""
    every = [lesson("a", "Gateway", SYMPTOM), lesson("b", "Slots", REWRITTEN, day=4), lesson("c", "Seed", ENGLISH)]
    every += [lesson("d", "播种", CHINESE), *filler(3)]
    weights = weigh([read_traits(one) for one in every])
    for a, b in combinations(every, 2):
        assert judge_pair(a, b, weights).answer == judge_pair(b, a, weights).answer


def test_unrelated_lessons_are_never_candidates() -> None:
    """Nothing rare is shared, so no pair is made: all pairs are never compared."""
    assert len(candidate_pairs(read_table(filler(60)))) < 60


def test_lessons_with_one_error_are_candidates() -> None:
    """An error signature is a key, whatever the words."""
    triggers = Triggers(errors=("psycopg.OperationalError: connection refused",))
    pair = [
        lesson("a", "Postgres first", "Start it.\n", triggers=triggers),
        lesson("b", "Other words", "Boot the thing.\n", triggers=triggers),
    ]
    assert answers(pair)["a", "b"] in ("related", "same")


def test_short_lessons_of_a_store_are_the_same_by_error_and_fix_not_by_trigger_alone() -> None:
    """One error and one remedy in other words are one lesson; another error behind the same command is another."""
    command, refused = ("pytest tests/integration",), ("could not connect to server: Connection refused",)
    why = "\n\n**Why it matters:** bare `pytest tests/integration` stops early.\n\n"
    a = lesson(
        "a",
        "Integration tests need services",
        f"The integration suite needs Postgres, which `make test-int` starts.{why}**Instead:** run `make test-int`.\n",
        triggers=Triggers(commands=command, errors=refused),
    )
    b = lesson(
        "b",
        "Start the services before integration tests",
        f"pytest dies in tests/integration unless Postgres is up.{why}**Instead:** use `make test-int`, it boots it.\n",
        day=6,
        triggers=Triggers(commands=command, errors=refused),
    )
    c = lesson(
        "c",
        "Integration tests need a migrated schema",
        f"The integration suite needs the newest schema.{why}**Instead:** run `make migrate`.\n",
        day=7,
        triggers=Triggers(commands=command, errors=('relation "users" does not exist',)),
    )
    found = answers([a, b, c])
    assert found["a", "b"] == "same"
    assert found.get(("a", "c")) != "same"
    assert found.get(("b", "c")) != "same"


def test_newest_first_swaps_only_what_contradicts() -> None:
    """Of two answers to one question the newer comes first; answers on other subjects keep their place."""
    old = lesson("old", "The shop uses Postgres 14.", "")
    new = lesson("new", "The shop uses Postgres 16.", "", day=9)
    other = lesson("other", "The blog uses Postgres 17.", "", day=20)
    ordered = newest_first([old, other, new], "What does the shop use")
    assert [hit.id for hit in ordered] == ["new", "old", "other"]


def test_the_newest_of_many_stale_facts_is_first_in_any_order() -> None:
    """Whatever the search returned first."""
    facts = [lesson(str(n), f"The queue of billing is run by team {n}.", "", day=n) for n in range(1, 6)]
    for order in ([4, 0, 2, 1, 3], [0, 1, 2, 3, 4], [2, 4, 3, 1, 0]):
        assert newest_first([facts[n] for n in order], "Who runs the queue of billing?")[0].id == "5"


def test_roles_are_read_from_headings_and_labels_in_several_languages() -> None:
    """Symptom and fix are found under headings and bold labels."""
    assert "slots" in split_roles(SYMPTOM)[0]
    assert "48" in split_roles(REWRITTEN)[1]
    assert (
        split_roles("## 原因\n\n証明書が切れた。\n\n## 対応\n\n`renew` を実行する。\n")[1]
        .strip()
        .endswith("を実行する。")
    )


def test_named_literals_are_what_cannot_be_reworded() -> None:
    """Names, numbers, paths and code; not words, not `and/or`."""
    text = "Run `make up` and/or see src/app.py: HTTP 428, camelCase, --flag, v2.3, long-standing."
    found = named_literals(text)
    assert {"make up", "src/app.py", "HTTP", "428", "camelCase", "--flag", "v2.3"} <= found
    assert not {"and/or", "long-standing"} & found


def test_nearest_finds_each_close_pair_once() -> None:
    """Against all pairs, in blocks smaller than the whole."""
    generator = np.random.default_rng(5)
    vectors = normalised(generator.normal(size=(50, 8)).astype(np.float32))
    wanted = {(a, b) for a, b in combinations(range(50), 2) if float(vectors[a] @ vectors[b]) >= 0.7}
    found = [(a, b) for a, b, _ in nearest(vectors, 49, 0.7, block=7)]
    assert set(found) == wanted
    assert len(found) == len(wanted)


def test_vectors_put_paraphrases_nearer_than_other_topics() -> None:
    """With the extra installed, its two files are read and give the meaning."""
    embed = find_embedder()
    if embed is None:
        pytest.skip("the [embed] extra is not installed")
    a, b, c = embed(
        ["start the database before the tests", "boot postgres first, then run tests", "pick a button colour"]
    )
    assert float(a @ b) > float(a @ c)
