"""Pairs of lessons that are alike and must stay two, and such as say the same: through both ways of merging."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import combinations

import pytest

from curate.dedup import decide_merges
from detectors.duplicates import find_near_duplicates
from detectors.embedding import find_embedder
from detectors.meaning import find_same
from index.records import Solution, Triggers
from index.settings import DedupSettings

START = datetime(2026, 1, 1, tzinfo=UTC)
RUN = Triggers(commands=("make deploy",), errors=("deploy: step 4 failed with code 17",))
# In each the second differs from the first in one thing that matters; all else, trigger and error too, is the same.
BASE = (
    "Before a deploy the queue must be drained, or jobs are lost. {}\n\n**Why it matters:** `make deploy` stops with "
    '"deploy: step 4 failed with code 17" and leaves `/var/run/deploy.lock` behind; `scripts/unlock.sh` removes it.\n\n'
    "**Instead:** run `queuectl drain --wait`, then `make deploy`.\n"
)
DIFFERENT = [
    ("The broker listens on port 5672.", "The broker listens on port 5671."),
    ("It needs Node 18.19.0.", "It needs Node 20.11.1."),
    ("Pin `celery==5.3.6`.", "Pin `celery==5.4.0`."),
    ("Restart the workers first.", "Do not restart the workers first."),
    ("Enable the maintenance page.", "Disable the maintenance page."),
    ("Always keep the old release.", "Never keep the old release."),
    ("Allow retries while it drains.", "Deny retries while it drains."),
    ("It is done before the migration.", "It is done after the migration."),
    ("The host is broker1.example.org.", "The host is broker2.example.org."),
    ("Set `DRAIN_TIMEOUT=30`.", "Set `DRAIN_TIMEOUT=90`."),
    ("Pass `--fast` to queuectl.", "Pass `--safe` to queuectl."),
    ("Pass `--no-verify` to git.", "Pass `--verify` to git."),
    ("The staging cluster is meant.", "The production cluster is meant."),
    ("Alice owns the broker.", "Carol owns the broker."),
    ("Edit conf/broker.toml for it.", "Edit conf/worker.toml for it."),
    ("See https://example.org/a/17.", "See https://example.org/a/18."),
    ("Its limit is 4 GB.", "Its limit is 8 GB."),
    ("It takes 30 s.", "It takes 30 min."),
    ("Wait for 5 % of the queue.", "Wait for 50 % of the queue."),
    ("Call `drain()` on the client.", "Call `flush()` on the client."),
    ("It returns 429 when full.", "It returns 503 when full."),
    ("The first replica goes first.", "The last replica goes first."),
    ("Increase the prefetch count.", "Decrease the prefetch count."),
    ("It works with TLS only.", "It works without TLS only."),
    ("The id is 3f2a9c1e.", "The id is 3f2a9c1f."),
    ("Use Postgres for the results.", "Use Redis for the results."),
    ("代理监听端口 5672。", "代理监听端口 5671。"),
    ("部署前启用维护页面。", "部署前禁用维护页面。"),
    ("必须先重启工作进程。", "不要先重启工作进程。"),
    ("デプロイの前にキャッシュを消す。", "デプロイの前にキャッシュを消さない。"),
    ("保守ページを有効にする。", "保守ページを無効にする。"),
    ("배포 전에 캐시를 지운다.", "배포 전에 캐시를 지우지 않는다."),
]
# One form, two subjects: nothing but the template is common.
TWINS = [
    (
        ("Upload fails on large files", "`nginx`", "413 Request Entity Too Large", "`client_max_body_size 64m`"),
        ("Login fails behind the proxy", "`haproxy`", "401 Unauthorized: no session", "`option forwardfor`"),
    ),
    (
        ("Cache misses after a rename", "`redis`", "MOVED 3999 127.0.0.1:6381", "`redis-cli --cluster fix`"),
        ("Search misses after a rename", "`solr`", "no live node for shard 2", "`solr healthcheck -c main`"),
    ),
]
FORM = (
    '## Problem\n\n{1} stops with "{2}".\n\n## Root cause\n\nIts default is too strict.\n\n'
    "## Fix\n\nSet {3}.\n\n## Prevention\n\nAdd it to the review list.\n"
)
SAME = [
    (
        "Drain before deploying",
        "Jobs get lost when a deploy starts with a full queue: `make deploy` fails in step 4, code 17. Run "
        "`queuectl drain --wait` first; `scripts/unlock.sh` removes the stale `/var/run/deploy.lock`.\n",
    ),
    (
        "A deploy needs an empty queue",
        '- `queuectl drain --wait`, then `make deploy`.\n- Else: "deploy: step 4 failed with code 17", lost jobs, and a'
        " lock at `/var/run/deploy.lock` (remove it with `scripts/unlock.sh`).\n",
    ),
]
FILLER = [
    ("Maps are cached", "Tiles stay for 7 days at the edge; purge them with `edgectl purge /tiles`.\n"),
    ("Invoices are rounded", "`round_half_up` in billing/money.py is what the tax office wants.\n"),
    ("Fonts in images", "`apt-get install fonts-dejavu` or thumbnails are empty, says MagickError E1177.\n"),
    ("Mondays are slow", "Vacuum of the `sessions` table runs at 09:00; move it to Sunday 02:00.\n"),
    ("Mail in tests", "It goes to mailpit on 1025 and is lost where that is not running.\n"),
    ("Certificates are pinned", "Ship the new pin in `pins.json` two releases before the old one expires.\n"),
]


def lesson(number: int, title: str, body: str, triggers: Triggers = RUN) -> Solution:
    return Solution(
        id=f"{number:026d}",
        title=title,
        category="bugs",
        body=body,
        triggers=triggers,
        project="example.org/acme/shop",
        created=START + timedelta(days=number),
        path=f"solutions/bugs/{number}.md",
    )


def merged(a: Solution, b: Solution, vectors: bool) -> bool:
    """Whether a pass would make one lesson of the two: as near-duplicates, or as the same in other words."""
    rest = [lesson(50 + n, title, body, Triggers()) for n, (title, body) in enumerate(FILLER)]
    every = [a, b, *rest]
    pairs = find_near_duplicates([one.body for one in every], DedupSettings())
    merges, _, _ = decide_merges(every, pairs, DedupSettings())
    judged = find_same(every, find_embedder() if vectors else None)
    together = [(merge.keep, *merge.drop) for merge in merges]
    together += [(one.a, one.b) for one in judged if one.judgement.answer == "same"]
    return any({0, 1} <= set(places) for places in together)


BOTH = [False, *([True] if find_embedder() is not None else [])]


@pytest.mark.parametrize("vectors", BOTH)
@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_differs_in_one_thing_stays_two(one: str, other: str, vectors: bool) -> None:
    """Whether the thing stands in the text, in the title, or is all of the text; in either order of time."""
    for title, text in (("Drain the queue", BASE), ("{}", BASE.replace(" {}", "")), ("About the deploy", "{}\n")):
        a = lesson(1, title.format(one), text.format(one))
        b = lesson(2, title.format(other), text.format(other))
        assert not merged(a, b, vectors), text
        assert not merged(b, a, vectors), text
        assert not merged(a, replace(b, triggers=Triggers()), vectors), text


@pytest.mark.parametrize("vectors", BOTH)
@pytest.mark.parametrize(("one", "other"), TWINS)
def test_twins_of_one_template_stay_two(one: tuple[str, ...], other: tuple[str, ...], vectors: bool) -> None:
    """Headings and form are the template's, the subject is theirs."""
    pair = [lesson(n, fields[0], FORM.format(*fields)) for n, fields in enumerate((one, other), start=1)]
    assert not merged(pair[0], pair[1], vectors)


@pytest.mark.parametrize("vectors", BOTH)
def test_one_lesson_in_other_words_is_one(vectors: bool) -> None:
    """Of three wordings of one error, with the same commands and paths, at least two pairs of three are found."""
    every = [lesson(n, title, body) for n, (title, body) in enumerate(SAME, start=1)]
    every.append(lesson(9, "Drain the queue", BASE.format("It was seen twice.")))
    assert sum(merged(a, b, vectors) for a, b in combinations(every, 2)) >= 2
