"""curate/consolidate.py: many lessons become one that cites them, with every fact of theirs."""

from __future__ import annotations

import dataclasses
import json
import random
from datetime import UTC, datetime, timedelta

from curate.consolidate import Question, cluster_same, parse_answer, plan_consolidate, question_for
from curate.guard import covers, statements
from index.bullets import parse_bullets
from index.changes import Plan
from index.errors import ModelError
from index.frontmatter import parse_solution, render_solution
from index.records import Solution, Source, Triggers
from index.store import solution_id

START = datetime(2026, 1, 1, tzinfo=UTC)


def lesson(number: int, body: str, title: str = "The suite needs services", **fields: object) -> Solution:
    """A solution as it would be read from its file."""
    time = START + timedelta(days=number)
    bare = Solution(
        id=solution_id(time, f"test {number}"),
        title=title,
        category="bugs",
        body=body,
        sources=(Source(f"claude-code:s{number}"),),
        created=time,
        path=f"solutions/bugs/lesson-{number}.md",
    )
    whole = dataclasses.replace(bare, **fields)  # type: ignore[arg-type]
    return dataclasses.replace(whole, text=render_solution(whole))


A = lesson(1, "Run `make up` before the tests.\n\n**Why it matters:** Postgres on 5433 is not started by pytest.\n")
B = lesson(2, "- Redis must listen on 6379.\n- Never run the suite as root.\n", triggers=Triggers(errors=("refused",)))


def live(plan: Plan, solutions: list[Solution]) -> list[Solution]:
    """The live solutions after a plan, read back from its bytes."""
    gone = {change.path for change in plan.changes if change.after is None}
    kept = [solution for solution in solutions if solution.path not in gone]
    for change in plan.changes:
        if change.path.startswith("solutions/") and change.after is not None:
            read = parse_solution(change.path, change.after.decode())
            assert isinstance(read, Solution), read
            kept.append(read)
    return kept


def test_the_union_without_a_model_cites_its_sources() -> None:
    """One reflective solution with all statements; the sources go to the archive and name it."""
    plan = plan_consolidate([(0, 1)], [A, B])
    (merged,) = live(plan, [A, B])
    assert merged.type == "reflective"
    assert merged.supersedes == (B.id, A.id)
    assert merged.sessions == {"claude-code:s1", "claude-code:s2"}
    assert merged.triggers.errors == ("refused",)
    assert merged.created == B.created
    held = (merged.title, *parse_bullets(merged.body))
    for statement in (*statements(A), *statements(B)):
        assert any(covers(text, statement) for text in held)
    archived = [change for change in plan.changes if change.path.startswith("archive/")]
    retired = [parse_solution(change.path, (change.after or b"").decode()) for change in archived]
    assert [s.superseded_by for s in retired if isinstance(s, Solution)] == [merged.id, merged.id]
    assert len(archived) == 2


def test_same_sources_same_file_and_nothing_left_to_do() -> None:
    """The id comes from the sources, so two machines make one file; afterwards the cluster is gone."""
    first, second = plan_consolidate([(0, 1)], [A, B]), plan_consolidate([(1, 0)], [A, B])
    assert first == second
    assert plan_consolidate([], live(first, [A, B])).changes == ()
    assert plan_consolidate([(0,)], live(first, [A, B])).changes == ()


def test_nothing_is_refreshed() -> None:
    """The new file has the newest mtime of its sources, the archived ones keep theirs."""
    plan = plan_consolidate([(0, 1)], [A, B], mtimes={A.path: 700, B.path: 300})
    times = {change.path: change.mtime_ns for change in plan.changes if change.after is not None}
    assert sorted(times.values(), key=str) == [300, 700, 700]
    assert times[f"archive/{B.path}"] == 300


def test_reviewed_principles_and_external_lessons_are_left_out() -> None:
    """What a person approved stays; text from outside is not mixed with what was observed."""
    reviewed = lesson(3, "One.\n", trust="reviewed")
    principle = lesson(4, "Two.\n", type="principle", confidence=1.0)
    outside = lesson(5, "Three.\n", trust="external")
    plan = plan_consolidate([(0, 1, 2, 3)], [A, reviewed, principle, outside])
    assert plan.changes == ()
    assert {path for path, _ in plan.skipped} == {reviewed.path, principle.path, outside.path}


def test_external_lessons_stay_external_in_what_they_become() -> None:
    """The taint goes with the text."""
    pair = [lesson(5, "Three.\n", trust="external"), lesson(6, "Four.\n", trust="external")]
    (merged,) = live(plan_consolidate([(0, 1)], pair), pair)
    assert merged.trust == "external"


def test_a_model_gets_only_the_statements() -> None:
    """The prompt holds each statement once with short ids, no paths, no front matter."""
    question = question_for([A, B])
    assert A.path not in question.prompt
    assert A.id not in question.prompt
    rows = [json.loads(line) for line in question.prompt.splitlines()]
    assert {"n1", "n2"} == {identifier for row in rows for identifier in row["ids"]}


def test_an_answer_of_another_form_is_not_half_used() -> None:
    """Broken JSON, other keys, or an error: the union is taken and the note says so."""
    assert parse_answer('{"bullets": [{"text": "x"}]}') is None
    plain = plan_consolidate([(0, 1)], [A, B])

    def refuse(question: Question) -> str:
        raise ModelError("budget")

    for ask in (lambda question: '{"bullets": [{"te', refuse):
        plan = plan_consolidate([(0, 1)], [A, B], ask)
        assert plan.changes == plain.changes
        assert [note.kind for note in plan.notes] == ["model"]


def test_a_contradiction_is_kept_with_both_sides_and_shown() -> None:
    """The newer side first, also in the title; a note asks for review."""
    old = lesson(7, "Staging uses port 5432.\n", "The staging database listens on port 5432")
    new = lesson(8, "Staging uses port 5433.\n", "The staging database listens on port 5433", confidence=0.7)
    plan = plan_consolidate([(0, 1)], [old, new])
    (merged,) = live(plan, [old, new])
    assert merged.title == new.title
    assert "5432" in merged.body
    assert [note.kind for note in plan.notes] == ["conflict", "conflict"]


def test_disputes_do_not_multiply_over_many_rounds() -> None:
    """A value that changes every week is one dispute with all its sides, each once, the newest first."""
    solutions = [lesson(0, "- Staging listens on port 6000.\n- Ask before a restart.\n", "Staging database")]
    for n in range(1, 12):
        body = f"- Staging listens on port {6000 + n % 5}.\n"
        solutions.append(lesson(n, body, "Staging database"))
        solutions = live(plan_consolidate([range(len(solutions))], solutions), solutions)
    (merged,) = solutions
    assert merged.body.count("Disputed") == 1
    assert [merged.body.count(f"port {6000 + n}.") for n in range(5)] == [1, 1, 1, 1, 1]
    assert merged.body.count("Ask before a restart.") == 1
    assert merged.body.index("port 6001.") < min(merged.body.index(f"port {6000 + n}.") for n in (0, 2, 3, 4))


def test_clusters_do_not_chain() -> None:
    """a-b and b-c do not make a, b and c one."""
    assert cluster_same(3, [(0, 1), (1, 2)]) == ((0, 1),)
    assert cluster_same(4, [(0, 1), (1, 2), (0, 2)]) == ((0, 1, 2),)


def adversary(rng: random.Random) -> object:
    """A model that truncates, empties, invents, swaps values, repeats and splices."""

    def ask(question: Question) -> str:
        rows = [json.loads(line) for line in question.prompt.splitlines()]
        texts = [str(row["text"]) for row in rows]
        bullets: list[str] = []
        for text in texts:
            other = rng.choice(texts)
            cut = rng.randrange(len(text) + 1)
            bullets += rng.choice(
                [
                    [text],
                    [],
                    [""],
                    [text[:cut]],
                    [text.replace("1", "2").replace("never", "always").replace("Never", "Always")],
                    [text, text],
                    [f"{text[:cut]} {other}"],
                    [f"{text} and {other}"],
                    ["Keep the code clean.", text],
                    [f"{text} This is important for quality."],
                ]
            )
        answer = json.dumps({"bullets": [{"text": text, "ids": ["n1", "n99"]} for text in bullets]})
        return answer if rng.random() < 0.8 else answer[: rng.randrange(len(answer) + 1)]

    return ask


def test_after_fifty_rounds_with_an_adversary_every_fact_of_the_first_day_is_there() -> None:
    """New lessons join the cluster each round, the model does its worst, and no statement of any source is lost."""
    rng = random.Random(7)  # noqa: S311 - a fixed seed, so that a failure comes again
    ask = adversary(rng)
    facts = [
        "Run `make up` before the tests.",
        "Postgres listens on port 5433 in CI.",
        "Never run the suite as root.",
        "The lock at /var/lock/suite.lck is left behind by exit code 137.",
        "テストの前に `make up` を実行しない。",
        "Set RETRIES=3 in conf/ci.env, not in the shell.",
    ]
    solutions = [lesson(n, f"- {fact}\n", f"Suite, lesson {n}") for n, fact in enumerate(facts)]
    everything = [text for solution in solutions for text in statements(solution)]
    for round_ in range(50):
        extra = lesson(100 + round_, f"- {rng.choice(facts)}\n- Round {round_} met it again.\n", f"Again {round_}")
        everything += statements(extra)
        solutions.append(extra)
        plan = plan_consolidate([range(len(solutions))], solutions, ask)  # type: ignore[arg-type]
        assert plan.changes, plan.skipped
        solutions = live(plan, solutions)
        assert len(solutions) == 1
    held = (solutions[0].title, *parse_bullets(solutions[0].body))
    assert [text for text in everything if not any(covers(own, text) for own in held)] == []
    assert "clean" not in solutions[0].body
    assert "quality" not in solutions[0].body
    assert len(held) <= len(set(everything)) + 1
