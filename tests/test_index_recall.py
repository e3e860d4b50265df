"""Solutions are found by what they declare and speak of, with the reason; the pack keeps its bounds."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.recall import build_pack, note_empty, read_empty, recall
from index.recall_db import build, database_path, plain_name
from index.recall_rows import brief_of, cut, mentions, unreachable
from index.records import Solution, Triggers
from index.tokens import find_counter
from index.words import bound_tokens, camel_parts, stem, words_of

DAY = date(2026, 6, 1)


def lesson(name: str, title: str, body: str = "", **values: object) -> Solution:
    created = datetime(2026, 5, 1, tzinfo=UTC)
    return Solution(name, title, "bugs", body, created=created, path=f"solutions/{name}.md", **values)  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path: Path) -> list[Path]:
    """A database of a few solutions."""
    return [write(tmp_path / "a.db", LESSONS)]


def write(target: Path, solutions: Sequence[Solution]) -> Path:
    build(target, solutions, {each.path: True for each in solutions}, DAY)
    return target


LESSONS = [
    lesson(
        "A1", "Integration tests need Postgres", "Start it with `make test-int`, see `infra/compose.yaml`.",
        triggers=Triggers(("tests/integration/**",), ("pytest tests/integration",), ("could not connect to server",)),
    ),
    lesson(
        "A2", "Forms use the shared validator", "The shared validator lives in `web/src/forms/validate.ts`.",
        tags=("forms",), project="example.org/acme/shop", confidence=0.9,
        triggers=Triggers(("web/src/forms/**/*.tsx",)),
    ),
    lesson("A3", "Retry the upload", "Uploads over 5 MB need the resumable endpoint.", confidence=0.6),
    lesson("A4", "ファイル名はNFCで保存する", "日本語のファイル名は正規化する。", priority=1),
    lesson("A5", "Redis", "", triggers=Triggers(errors=("ModuleNotFoundError: No module named 'redis'",))),
]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "found", "kind"),
    [
        ({"path": "tests/integration/db/test_a.py"}, "A1", "path"),
        ({"command": "cd api && .venv/bin/pytest tests/integration/test_b.py -q"}, "A1", "command"),
        ({"error": "Exit code 2\npsql: error: could not connect to server: Connection refused"}, "A1", "error"),
        ({"error": "Traceback (most recent call last):\nModuleNotFoundError: No module named 'redis'"}, "A5", "error"),
        ({"query": "where is the form validator?"}, "A2", "text"),
        ({"query": "ファイル名の保存"}, "A4", "text"),
        ({"query": "resumable uploads"}, "A3", "text"),
    ],
)
def test_each_kind_of_question_finds_its_solution(
    store: list[Path], question: dict[str, str], found: str, kind: str
) -> None:
    """By path, command, error and words, in any script; the reason says which."""
    first = recall(store, **question, today=DAY)[0]  # type: ignore[arg-type]
    assert (first.id, first.kinds) == (found, (kind,))
    assert first.reasons[0]


@pytest.mark.parametrize(
    "question",
    [
        {"path": "tests/unit/test_a.py"},
        {"command": "pytest tests/unit"},
        {"command": "echo pytest tests/integration"},
        {"error": "TypeError: x is not a function"},
        {"error": "ModuleNotFoundError: No module named 'numpy'"},
        {"query": ""},
        {"query": "zzz qqq"},
    ],
)
def test_what_nothing_speaks_of_finds_nothing(store: list[Path], question: dict[str, str]) -> None:
    """Another folder, another command, another error, unknown words: an empty answer."""
    assert recall(store, **question, today=DAY) == []  # type: ignore[arg-type]


def test_more_kinds_rank_higher_and_k_bounds(store: list[Path]) -> None:
    """A solution that fits by path and by words comes before one that fits by words alone."""
    found = recall(store, query="validator tests", path="web/src/forms/a/b.tsx", k=1, today=DAY)
    assert [one.id for one in found] == ["A2"]
    assert found[0].kinds == ("path", "text")


def test_the_first_database_wins_on_content(tmp_path: Path) -> None:
    """Of one id in two stores, the personal store's text is shown."""
    mine = lesson("A1", "Mine: integration tests", "My words.")
    databases = [write(tmp_path / "mine.db", [mine]), write(tmp_path / "shared.db", LESSONS)]
    assert [one.title for one in recall(databases, query="integration tests", today=DAY)] == ["Mine: integration tests"]


def test_a_text_that_the_personal_store_doubts_is_not_packed_from_the_shared_one(tmp_path: Path) -> None:
    """The same id in both: what I am unsure of is not given to me by another's words."""
    sure, doubted = lesson("A1", "Sure", "Words.", confidence=0.9), lesson("A1", "Doubted", "Words.", confidence=0.7)
    databases = [write(tmp_path / "mine.db", [doubted]), write(tmp_path / "shared.db", [sure])]
    assert build_pack(databases, "", confidence=0.8, today=DAY) == ""
    assert "Sure" in build_pack(databases[1:], "", confidence=0.8, today=DAY)


def test_a_missing_or_broken_database_holds_nothing(tmp_path: Path) -> None:
    """Recall answers from what can be read."""
    (tmp_path / "broken.db").write_bytes(b"no database" * 500)
    databases = [tmp_path / "none.db", tmp_path / "broken.db", write(tmp_path / "a.db", LESSONS)]
    assert [one.id for one in recall(databases, query="resumable uploads", today=DAY)] == ["A3"]


def test_the_same_solutions_give_the_same_answers(tmp_path: Path) -> None:
    """The order in which solutions are given to the builder does not show."""
    one, other = write(tmp_path / "1.db", LESSONS), write(tmp_path / "2.db", LESSONS[::-1])
    for question in ("tests", "validator uploads module"):
        assert recall([one], query=question, today=DAY) == recall([other], query=question, today=DAY)


def test_a_rebuild_replaces_the_file_at_once(tmp_path: Path) -> None:
    """Someone who reads while a new database is written goes on reading the old one; no draft is left."""
    target = write(tmp_path / "a.db", LESSONS)
    before = target.stat().st_ino
    write(target, LESSONS[:1])
    assert target.stat().st_ino != before
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]


def test_the_pack_holds_sure_lessons_of_the_project_first(store: list[Path]) -> None:
    """Below the bound of confidence nothing goes in; the project's own come first; another project's stay out."""
    pack = build_pack(store, "example.org/acme/shop", today=DAY)
    assert pack.index("[A2]") < pack.index("[A1]")
    assert "[A3]" not in pack
    assert "31 days old" in pack
    assert "[A2]" not in build_pack(store, "example.org/other/project", today=DAY)


def test_the_pack_keeps_its_bound_of_tokens(tmp_path: Path) -> None:
    """However many lessons there are, and whoever counts, the pack has at most its tokens."""
    many = [lesson(f"B{number:03}", f"Lesson {number}", "Fact. " * 60) for number in range(60)]
    store = [write(tmp_path / "a.db", many)]
    assert 1500 < bound_tokens(build_pack(store, "", today=DAY)) <= 2000
    assert len(build_pack(store, "", tokens=300, today=DAY, count=len)) <= 300
    assert build_pack([tmp_path / "none.db"], "", today=DAY) == ""


def test_what_fits_the_recent_work_goes_first(store: list[Path]) -> None:
    """A query, the changed files and the branch move a lesson up."""
    assert build_pack(store, "", today=DAY).index("[A4]") < build_pack(store, "", today=DAY).index("[A1]")
    pack = build_pack(store, "", recent=["tests/integration/a.py"], branch="fix/integration-tests", today=DAY)
    assert pack.index("[A1]") < pack.index("[A4]")


@given(st.text(max_size=300))
def test_the_token_bound_counts_every_sign(text: str) -> None:
    """A third of the letters at least, each other ASCII sign, two for any further one: never fewer."""
    letters = sum(char.isascii() and char.isalnum() for char in text)
    others = sum(
        (1 if char.isascii() else 2) for char in text if not (char.isascii() and char.isalnum()) and char != " "
    )
    assert bound_tokens(text) >= letters / 3 + others - 0.5


VARIED = {
    "prose": "Run the migrations before the tests, or every fixture that needs a table fails with a long trace.",
    "code": "def read_all(paths: list[Path]) -> dict[str, str]:\n\treturn {p.name: p.read_text() for p in paths}",
    "shell": "docker compose -f infra/compose.yaml up -d --wait db && PGPASSWORD=x psql -h 127.0.0.1 -c 'select 1'",
    "hash": "3f9a0c77e1b24d0a9c5e6f7788991b2c AKq9Zx0+/bQ== 550e8400-e29b-41d4-a716-446655440000",
    "capitals": "ERR_MODULE_NOT_FOUND XMLHTTPREQUEST ECONNREFUSED ZXQWVKJ",
    "chinese": "数据库启动之前必须先运行迁移脚本，否则测试会失败。",
    "japanese": "日本語のファイル名はNFCで正規化してから保存する。",
    "korean": "데이터베이스를 먼저 시작하지 않으면 테스트가 실패합니다.",
    "russian": "Сначала запустите миграции, затем тесты.",
    "thai": "ต้องเริ่มฐานข้อมูลก่อนการทดสอบ",
    "hindi": "परीक्षणों से पहले डेटाबेस शुरू होना चाहिए",
    "arabic": "يجب تشغيل قاعدة البيانات قبل الاختبارات",
    "emoji": "🎉🚀👩‍👩‍👧🏳️‍🌈 done ✅",
    "signs": "∀x∈ℝ: ⌈x⌉ ≠ ∅ → {}[]()<>!@#$%^&*",
    "blanks": "a\n\n\n    b\t\tc" + " " * 40 + "d",
}


@pytest.mark.parametrize("name", VARIED)
def test_the_token_bound_is_above_a_real_count(name: str) -> None:
    """Of prose, code, hashes and many scripts, alone and many times over."""
    count = find_counter()
    assert count is not None, "litellm is installed with hotwash, and brings a tokenizer"
    for times in (1, 7):
        text = (VARIED[name] + "\n") * times
        assert count(text) <= bound_tokens(text)


def test_the_bound_is_no_waste_on_prose() -> None:
    """Half as much again as a real count at most, so that a pack by the bound is still a pack."""
    count = find_counter()
    assert count is not None
    assert bound_tokens(VARIED["prose"]) <= 2 * count(VARIED["prose"])


def test_meaning_raises_what_is_alike_and_finds_what_shares_no_word(store: list[Path]) -> None:
    """With likeness a lesson without a common word is found, and at a floor only one that is much alike."""

    def likeness(query: str, texts: Sequence[str]) -> list[float]:
        assert query == "the shared validator"
        return [0.5 if text.startswith("Retry") else 0.0 for text in texts]

    assert [one.id for one in recall(store, "the shared validator", today=DAY)] == ["A2"]
    found = recall(store, "the shared validator", today=DAY, likeness=likeness)
    assert [one.id for one in found] == ["A2", "A3"]
    assert found[1].reasons == ("means much the same",)
    assert [one.id for one in recall(store, "the shared validator", today=DAY, floor=3.0, likeness=likeness)] == ["A2"]


def test_words_of_another_project_find_nothing_here(store: list[Path]) -> None:
    """Both known by their remotes, a lesson of the one is not given to the other; a folder is nobody's enemy."""
    for project, found in (("example.org/acme/shop", ["A2"]), ("example.org/acme/site", []), ("/w/site", ["A2"])):
        assert [one.id for one in recall(store, "the form validator", project=project, today=DAY)] == found


def test_what_was_not_found_is_kept_within_a_bound(tmp_path: Path) -> None:
    """Questions without an answer are listed oldest first; broken lines are skipped."""
    note_empty(tmp_path, "query", "how to x", "p", 1)
    note_empty(tmp_path, "error", "y: #", "p", 2)
    with (tmp_path / "logs" / "empty.jsonl").open("a") as file:
        file.write("{broken\n")
    assert [entry["asked"] for entry in read_empty(tmp_path)] == ["how to x", "y: #"]


def test_solutions_that_can_never_come_up_are_named() -> None:
    """No trigger and too unsure for the pack; or a glob that can never match."""
    bad = lesson("C1", "t", triggers=Triggers(paths=("../up",)))
    everything = lesson("C2", "t", confidence=0.6, triggers=Triggers(paths=("**/*",)))
    found = dict(unreachable([*LESSONS, bad, everything]))
    assert set(found) == {"solutions/A3.md", "solutions/C1.md", "solutions/C2.md"}


def test_a_shared_stores_database_lies_in_the_personal_store(tmp_path: Path) -> None:
    """No repository can bring a database of its own; two stores never share one."""
    home = tmp_path / "home"
    assert database_path(home, home) == home / ".cache" / "recall.db"
    one, other = database_path(home, tmp_path / "a-b"), database_path(home, tmp_path / "a" / "b")
    assert one != other
    assert one.is_relative_to(home)
    assert plain_name("a/b") != plain_name("a-b")


def test_the_brief_keeps_fact_why_and_instead() -> None:
    """What is given back of a long body is bounded and ends with what to do."""
    body = "\n\n".join(
        ["# Title", "The fact. " * 90, "More. " * 90, "**Why it matters:** it fails.", "**Instead:** do y."]
    )
    brief = brief_of(body)
    assert len(brief) < 900
    assert brief.startswith("The fact.")
    assert brief.endswith("**Why it matters:** it fails.\n**Instead:** do y.")
    assert cut("one two three", 9) == "one two…"


def test_paths_in_a_text_are_known_by_their_ends_and_folders() -> None:
    """A text that names an absolute path is found by the path within the project, by name and by folder."""
    keys = mentions(lesson("D1", "t", "See /home/ann/shop/web/src/app.ts and `docs/`."))
    assert {"web/src/app.ts", "app.ts", "web/src/", "docs/"} <= set(keys)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The HTTPError of parseFile()", ["http", "error", "httperror", "parse", "file", "parsefil"]),
        ("retries retried", ["retry", "retry"]),
        ("日本語", ["日本", "本語"]),
        ("12 and 3.5", []),
        ("class classes", ["class", "class"]),
    ],
)
def test_words_are_cut_alike_everywhere(text: str, words: list[str]) -> None:
    """Stems, identifiers in parts, pairs of CJK characters; stop words and numbers left out."""
    assert words_of(text) == words


@given(st.text(max_size=60))
def test_words_are_found_in_any_text(text: str) -> None:
    """Any text has words without spaces; cutting them again changes nothing about their letters."""
    assert all(word and " " not in word and "\x00" not in word for word in words_of(text))
    assert words_of(text) == words_of(text)


def test_stems_and_parts() -> None:
    """Short words stay; plurals and tenses fall together."""
    assert stem("tests") == stem("test") == "test"
    assert stem("running") == "run"
    assert stem("bus") == "bus"
    assert camel_parts("readFileSync") == ["read", "file", "sync"]
