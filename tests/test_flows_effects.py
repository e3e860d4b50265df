"""From the hook that gives a lesson to the report that says whether it helped, through real hooks and real runs."""

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from flows.cli import run_command
from flows.context import World, read_world
from flows.page.counts import count_repeats
from flows.pipeline import rebuild_index, session_end
from index.frontmatter import render_solution
from index.journal import read_runs
from index.records import Solution, Triggers
from index.store import read_store

SCRIPT = Path(__file__).resolve().parent.parent / "flows" / "hotwash_hook.py"
ERROR = "psycopg.OperationalError: could not connect to server: Connection refused"
IDENTITY = "01KB7ZC4S0T2J5Q8XW3N6M9R0A"


@pytest.fixture
def world(own_home: Path) -> World:
    """A store with one scanned lesson that fires on an error."""
    root = own_home / ".hotwash"
    place = root / "solutions" / "bugs" / "services-6m9r0a.md"
    place.parent.mkdir(parents=True)
    lesson = Solution(
        IDENTITY, "Tests need services", "bugs", "Postgres must run.\n\n**Instead:** run `make test-int`.\n",
        triggers=Triggers(errors=("could not connect to server",), commands=("pytest tests/integration",)),
        created=datetime.now(UTC) - timedelta(days=3),
    )  # fmt: skip
    place.write_text(render_solution(lesson))
    world = read_world(root)
    rebuild_index(world)
    (root / "spool" / ".start").touch()
    return world


def hook(world: World, moment: str, payload: dict[str, Any]) -> str:
    """What a hook of Claude Code answers."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(SCRIPT), "claude-code", moment], input=json.dumps(payload), text=True,
        capture_output=True, check=True, env={"HOME": str(world.home), "TMPDIR": str(world.home)},
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout


def record(number: int, time: datetime, content: list[dict[str, Any]], who: str, **more: Any) -> str:
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    entry = {
        "type": who, "uuid": f"u{number}-{time.timestamp()}", "parentUuid": None, "sessionId": "s-1",
        "timestamp": stamp,
        "cwd": "/w", "version": "2.1.300", "message": {"role": who, "id": f"m{number}", "content": content}, **more,
    }  # fmt: skip
    return json.dumps(entry) + "\n"


def call(number: int, time: datetime, command: str, output: str, failed: bool) -> str:
    """A shell call and its result, as Claude Code writes them."""
    use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": output, "is_error": failed}
    return record(2 * number, time, [use], "assistant") + record(2 * number + 1, time, [result], "user")


def counts(world: World) -> tuple[int, int]:
    [lesson] = [one for one in read_store(world.root).solutions if one.id == IDENTITY]
    return lesson.helpful, lesson.harmful


def repeats(world: World) -> tuple[int, int, int, int] | None:
    return count_repeats(world.root, read_store(world.root).solutions).get(IDENTITY)


def test_a_lesson_that_ended_an_error_is_counted_once(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """Given after the error, which comes no more: helpful once, however often the session is read; then it comes again
    in a later part of the same session: harmful once, helpful no more; undoing the runs takes both back."""
    now = datetime.now(UTC).replace(microsecond=0)
    transcript = world.home / ".claude" / "projects" / "-w" / "s-1.jsonl"
    transcript.parent.mkdir(parents=True)
    failed = call(1, now - timedelta(seconds=30), "pytest tests/integration", f"Exit code 2\n{ERROR}", True)
    payload = {"session_id": "s-1", "cwd": "/w", "error": f"Exit code 2\n{ERROR}", "tool_name": "Bash"}
    assert IDENTITY in hook(world, "error", payload)
    assert hook(world, "error", payload) == ""
    hook(world, "start", {"session_id": "s-1", "cwd": "/w", "source": "compact"})
    assert IDENTITY in hook(world, "error", payload), "an emptied context is given it anew"
    later = [now + timedelta(seconds=60 * number) for number in range(1, 5)]
    went = call(2, later[0], "make test-int", "ok", False) + call(3, later[1], "pytest tests/integration", "ok", False)
    transcript.write_text(failed + went)
    for _ in range(3):
        session_end(world, [transcript])
    assert counts(world) == (1, 0)
    again = call(4, later[2], "pytest tests/integration", f"Exit code 2\n{ERROR}", True)
    transcript.write_text(failed + went + again)
    for _ in range(2):
        session_end(world, [transcript])
    assert counts(world) == (0, 1)
    assert repeats(world) == (0, 1, 0, 1)
    assert run_command(["why", IDENTITY]) == 0
    assert "given back in 1 session: its error came no more in 0, came again in 1" in capsys.readouterr().out
    for run in reversed([run["run"] for run in read_runs(world.root) if run["stages"].get("effects")]):
        assert run_command(["undo", run]) == 0
    assert counts(world) == (0, 0)
    assert repeats(world) is None


def test_a_session_that_was_not_given_it_is_what_to_compare_with(world: World) -> None:
    """Its error met without the lesson counts for neither, and shows as such."""
    transcript = world.home / "s-1.jsonl"
    now = datetime.now(UTC).replace(microsecond=0)
    transcript.write_text(
        call(1, now, "psql", f"Exit code 2\n{ERROR}", True) + call(2, now + timedelta(minutes=1), "ls", "a", False)
    )
    session_end(world, [transcript])
    assert counts(world) == (0, 0)
    assert repeats(world) == (1, 0, 0, 0)
