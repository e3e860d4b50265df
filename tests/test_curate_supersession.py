"""Newer wins only where the newer replaces the older beyond doubt; all else is left to a person."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.dedup import pair_key
from curate.supersession import find_superseded, judge_supersession, plan_supersessions
from index.changes import Plan
from index.frontmatter import parse_solution, render_solution
from index.records import Solution, Source, Triggers
from index.store import path_for, solution_id

START = datetime(2026, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 11, 30, tzinfo=UTC)
SHOP = "example.org/acme/shop"
RUN = Triggers(commands=("make test-int",))


def lesson(day: int, title: str, body: str = "", triggers: Triggers = RUN, **fields: object) -> Solution:
    """A lesson of the shop that a session of that day taught."""
    time = START + timedelta(days=day)
    bare = Solution(
        id=solution_id(time, f"{day} {title}"),
        title=title,
        category="bugs",
        body=body,
        project=SHOP,
        triggers=triggers,
        sources=(Source(f"claude-code:s{day}"),),
        created=time,
    )
    whole = replace(bare, **fields)  # type: ignore[arg-type]
    whole = replace(whole, path=path_for(whole))
    return replace(whole, text=render_solution(whole))


def settled(old: Solution, new: Solution) -> bool:
    """Whether the newer replaces the older, in whichever order they are asked about."""
    answers = {isinstance(judge_supersession(*pair, NOW), tuple) for pair in ((old, new), (new, old))}
    assert len(answers) == 1
    return answers.pop()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The staging database listens on port 5432.", "The staging database listens on port 5433."),
        ("The suite needs Node 18.", "The suite needs Node 20."),
        ("The job's timeout is 30 s.", "The job's timeout is 90 s."),
        ("Integration tests need port 5432.", "Integration tests need port 5433, not 5432."),
        ("Install the tools with `pip`.", "Install the tools with `uv` instead of `pip`."),
        ("Never run the migrations by hand.", "Run the migrations by hand: the earlier rule was wrong."),
        ("Enable the build cache on CI.", "Disable the build cache on CI: as of 2026-05-02 it is corrected so."),
        ("集成测试使用端口 5432。", "集成测试使用端口 5433，而不是 5432。"),
        ("統合テストはポート 5432 を使う。", "統合テストは 5432 ではなくポート 5433 を使う。"),
        ("集成测试使用端口5432。", "集成测试使用端口5433，而不是5432。"),
        ("统一网关监听端口 5432。", "统一网关监听端口 5433。"),
        ("请求的超时为 30 秒。", "请求的超时为 90 秒。"),
        ("请求的超时为30秒。", "请求的超时为90秒。"),
        ("构建需要 Node 18。", "构建需要 Node 20。"),
        ("網關的端口是 `5432`。", "網關的端口是 `5433`。"),
        ("当前端口是 5432。", "当前端口是 5433。"),
        ("統合テストはポート 5432 を使う。", "統合テストはポート 5433 を使う。"),
        ("タイムアウトは 30 秒です。", "タイムアウトは 90 秒です。"),
        ("タイムアウトは30秒です。", "タイムアウトは90秒です。"),
        ("ビルドは Node 18 が必要です。", "ビルドは Node 20 が必要です。"),
        ("中継はポート 5432 で待ち受ける。", "中継はポート 5433 で待ち受ける。"),
    ],
)
def test_what_replaces_an_older_value_wins(old: str, new: str) -> None:
    """A changed value of one subject, the old value named as replaced, a correction that says so."""
    assert settled(lesson(1, "What the suite needs", old), lesson(9, "What the suite needs", new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The staging database listens on port 5432.", "The production database listens on port 5433."),
        ("On Node 18 run `npm ci --legacy`.", "On Node 20 run `npm ci --legacy`."),
        ("Shard 3 needs 4 GB.", "Shard 4 needs 6 GB."),
        ("Port 5432 needs TLS.", "Port 5433 needs TLS."),
        ("The api host is db1.example.org.", "The api host is db2.example.org."),
        ("Always run the linter first.", "Never run the linter first."),
        ("Set `--fast` for the unit tests.", "Set `--slow` for the unit tests."),
        ("Billing runs on port 5432.", "Shipping runs on port 5433 since 2026-05."),
        ("Error E1001 means a stale lock.", "Error E1002 means a stale lock."),
        ("在 Node 18 上运行 `npm ci`。", "在 Node 20 上运行 `npm ci`。"),
        ("使用 Node 18 时运行 `npm ci`。", "使用 Node 20 时运行 `npm ci`。"),
        ("使用 Node 18 的项目要运行 `npm ci`。", "使用 Node 20 的项目要运行 `npm ci`。"),
        ("如果端口是 5432，就启用 TLS。", "如果端口是 5433，就启用 TLS。"),
        ("启用 TLS，如果端口是 5432。", "启用 TLS，如果端口是 5433。"),
        ("分片 3 需要 4 GB。", "分片 4 需要 4 GB。"),
        ("分片 3 需要 4 GB。", "分片 4 需要 6 GB。"),
        ("端口 5432 需要 TLS。", "端口 5433 需要 TLS。"),
        ("因为 5432", "因为 5433"),
        ("这个端口不是 5432。", "这个端口不是 5433。"),
        ("构建不需要 Node 18。", "构建不需要 Node 20。"),
        ("错误是第 3 次重试。", "错误是第 4 次重试。"),
        ("Node 18 では `npm ci` を使う。", "Node 20 では `npm ci` を使う。"),
        ("Node 18 の場合は `npm ci` を使う。", "Node 20 の場合は `npm ci` を使う。"),
        ("ポートが 5432 なら TLS を使う。", "ポートが 5433 なら TLS を使う。"),
        ("シャード 3 は 4 GB が必要です。", "シャード 4 は 4 GB が必要です。"),
        ("ポート 5432 は TLS を使う。", "ポート 5433 は TLS を使う。"),
        ("ビルドは Node 18 のときだけ動く。", "ビルドは Node 20 のときだけ動く。"),
        ("API は db1.example.org を使う。", "API は db2.example.org を使う。"),
    ],
)
def test_what_may_be_another_case_is_left_to_a_person(old: str, new: str) -> None:
    """Two environments, two versions, two shards, a name, a bare reversal."""
    assert not settled(lesson(1, "What the suite needs", old), lesson(9, "What the suite needs", new))


OLD = lesson(1, "The staging database listens on port 5432")
NEW = lesson(9, "The staging database listens on port 5433")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ({"trust": "reviewed"}, {}, "vouches"),
        ({}, {"trust": "reviewed"}, "vouches"),
        ({"type": "principle", "confidence": 1.0}, {}, "vouches"),
        ({"priority": 1}, {}, "vouches"),
        ({}, {"trust": "external"}, "external"),
        ({"trust": "external"}, {"trust": "external"}, "external"),
        ({}, {"project": "example.org/acme/other"}, "two projects"),
        ({"project": ""}, {"project": ""}, "does not say"),
        ({"created": NEW.created}, {}, "dates"),
        ({}, {"created": NOW + timedelta(days=400)}, "dates"),
        ({}, {"sources": OLD.sources}, "one session"),
        ({"body": "Start it with `make up`."}, {}, "does not say"),
    ],
)
def test_what_stands_against_it(old: dict[str, object], new: dict[str, object], why: str) -> None:
    """Approval, taint, another project, dates that tell nothing, a fact that would be lost."""
    assert settled(OLD, NEW)
    found = judge_supersession(replace(OLD, **old), replace(NEW, **new), NOW)  # type: ignore[arg-type]
    assert isinstance(found, str)
    assert why in found


def test_a_pair_that_a_person_keeps_is_left() -> None:
    """Keep both is remembered here too."""
    kept = frozenset({pair_key(OLD, NEW)})
    assert find_superseded([(0, 1)], [OLD, NEW], kept, NOW) == ((), {(0, 1): "a person keeps both"})


def test_what_two_texts_say_is_found_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later run says the same without reading them again, also where nothing is settled; a change is read anew."""
    cases = (lesson(20, "On Node 18 run `npm ci`"), lesson(25, "On Node 20 run `npm ci`"))
    lessons, pairs = [OLD, NEW, *cases], [(0, 1), (2, 3)]
    expected = find_superseded(pairs, lessons, frozenset(), NOW)
    assert expected[0]
    assert expected[1]
    assert find_superseded(pairs, lessons, frozenset(), NOW, tmp_path) == expected
    early = find_superseded(pairs, lessons, frozenset(), NEW.created - timedelta(days=5))
    with monkeypatch.context() as patch:
        patch.setattr("curate.supersession.find_differences", None)
        patch.setattr("curate.supersession._without_replaced", None)
        assert find_superseded(pairs, lessons, frozenset(), NOW, tmp_path) == expected
        assert find_superseded(pairs, lessons, frozenset(), NEW.created - timedelta(days=5), tmp_path) == early
        kept = frozenset({pair_key(OLD, NEW)})
        assert (0, 1) in find_superseded(pairs, lessons, kept, NOW, tmp_path)[1]
    assert early != expected
    changed = [OLD, replace(NEW, body="Shard 3 is elsewhere."), *cases]
    assert find_superseded(pairs, changed, frozenset(), NOW, tmp_path) == find_superseded(
        pairs, changed, frozenset(), NOW
    )


def after(plan: Plan, path: str) -> Solution:
    """A file as the plan leaves it."""
    text = next(change.after for change in plan.changes if change.path == path)
    found = parse_solution(path, (text or b"").decode())
    assert isinstance(found, Solution)
    return found


def test_both_stay_in_the_history_the_newer_live_and_firing_where_the_older_did() -> None:
    """The older lies in the archive and names its successor; the newer names what it replaced; no mtime moves."""
    old = replace(OLD, triggers=Triggers(commands=RUN.commands, errors=("connection refused on 5432",)))
    old = replace(old, text=render_solution(old))
    new = replace(NEW, body="It is 5433, not 5432.\n")
    new = replace(new, text=render_solution(new))
    replaced, _ = find_superseded([(0, 1)], [old, new], frozenset(), NOW)
    plan = plan_supersessions(replaced, [old, new], {old.path: 300, new.path: 700})
    assert after(plan, f"archive/{old.path}").superseded_by == new.id
    live = after(plan, new.path)
    assert live.supersedes == (old.id,)
    assert live.triggers.errors == ("connection refused on 5432",)
    assert live.body == new.body
    assert {change.path: change.mtime_ns for change in plan.changes if change.after} == {
        f"archive/{old.path}": 300,
        new.path: 700,
    }
    assert [(note.kind, note.path) for note in plan.notes] == [("superseded", new.path)]
    assert '"5432" by "5433"' in plan.notes[0].text
    assert len({change.unit for change in plan.changes}) == 1


@given(st.lists(st.integers(1, 300), min_size=2, max_size=6, unique=True), st.randoms(use_true_random=False))
def test_of_many_generations_the_newest_alone_is_live(days: list[int], order: object) -> None:
    """Whatever the order, every older one ends in the archive behind something newer."""
    lessons = [lesson(day, f"The staging database listens on port {5000 + day}") for day in days]
    order.shuffle(lessons)  # type: ignore[attr-defined]
    pairs = [(a, b) for a in range(len(lessons)) for b in range(a + 1, len(lessons))]
    replaced, open_pairs = find_superseded(pairs, lessons, frozenset(), NOW)
    assert open_pairs == {}
    plan = plan_supersessions(replaced, lessons)
    gone = {change.path for change in plan.changes if change.after is None}
    newest = max(lessons, key=lambda one: one.created)
    assert gone == {one.path for one in lessons} - {newest.path}
    assert set(after(plan, newest.path).supersedes) == {one.id for one in lessons} - {newest.id}
    assert len({change.path for change in plan.changes}) == len(plan.changes)
