"""The readers as a whole: each file is known by its content, and nothing in a file makes a reader raise."""

from __future__ import annotations

import json
import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.records import Session
from reflect.transcripts.registry import READERS, file_stamp, find_sessions, read_sessions, recognise

SAMPLES = sorted((Path(__file__).parent / "data" / "transcripts").iterdir())
EXAMPLES = Path(__file__).parent.parent / "examples"
AGENTS = {"hermes-session.json": "hermes", "hermes-trajectories.jsonl": "hermes"}
ODD: list[Any] = [
    None,
    True,
    -1,
    1e400,
    "",
    "\ud800",
    "\x1b[31mred\x00",
    [],
    [[]],
    {},
    {"type": []},
    [{"type": {}}, 3, None],
]


def whose(path: Path) -> str:
    return AGENTS.get(path.name, path.name.split(".")[0])


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_a_file_is_known_by_its_content(path: Path, tmp_path: Path) -> None:
    """A transcript is recognised under any name, by one reader only."""
    copy = tmp_path / f"renamed{path.suffix}"
    copy.write_bytes(path.read_bytes())
    head = copy.read_bytes()[:65536]
    assert [name for name, reader in READERS.items() if reader.recognises(copy, head)] == [whose(path)]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_every_sample_has_the_person_and_a_call(path: Path) -> None:
    """What all transcripts share comes out of each: the task and a tool call, on lines that are in the file."""
    (session,) = read_sessions(path)
    assert session.agent == whose(path)
    assert session.key == f"{session.agent}:{session.id}"
    assert not session.unread
    assert any("Fix the build." in turn.text or "The task." in turn.text for turn in session.turns)
    assert any(turn.who == "tool" and turn.tool for turn in session.turns)
    assert all(1 <= turn.line <= turn.end <= session.lines for turn in session.turns)


def test_how_the_calls_of_each_agent_ended() -> None:
    """The first call of each sample, by the rules of its agent: (command, outcome, exit code)."""
    ended = {}
    for path in SAMPLES:
        (session,) = read_sessions(path)
        turn = next(turn for turn in session.turns if turn.who == "tool" and turn.action == "shell")
        ended[path.name] = (turn.command, turn.outcome, turn.exit_code)
    assert ended == {
        "claude-code.jsonl": ("make build", "failed", 2),
        "codex.jsonl": ("make build", "failed", 2),
        "copilot-cli.jsonl": ("make build", "failed", 2),
        "cursor.jsonl": ("make build", "unknown", None),
        "droid.jsonl": ("make build", "failed", None),
        "gemini-cli.json": ("make build", "failed", 2),
        "gemini-cli.jsonl": ("make build", "passed", 0),
        "hermes-session.json": ("make build", "unknown", None),
        "hermes-trajectories.jsonl": ("make build", "failed", 2),
        "kiro.json": ("make build", "failed", None),
        "opencode.json": ("make build", "failed", 2),
        "pi.jsonl": ("grep x Makefile", "passed", 1),
        "swe-agent.traj": ("python a.py", "failed", None),
    }


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_reading_twice_gives_the_same(path: Path) -> None:
    """Equal input, equal sessions."""
    assert list(read_sessions(path)) == list(read_sessions(path))


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at] + [place for key, item in items for place in places(item, (*at, key))]


def replaced(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    if not place:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = replaced(value[place[0]], place[1:], new)
    return copy


def mutated(raw: bytes, source: random.Random) -> bytes:
    """The sample with a few values replaced by odd ones, in some line."""
    lines = raw.split(b"\n") if raw.count(b"}\n{") else [raw]
    for _ in range(source.randint(1, 4)):
        number = source.randrange(len(lines))
        if lines[number].strip():
            value = json.loads(lines[number])
            place = source.choice(places(value))
            lines[number] = json.dumps(replaced(value, place, source.choice(ODD))).encode("utf-8", "replace")
    return b"\n".join(lines)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_odd_values_never_raise(path: Path, tmp_path: Path) -> None:
    """Whatever stands in place of any value, reading goes on, and texts can be written as UTF-8."""
    raw, target = path.read_bytes(), tmp_path / path.name
    for seed in range(80):
        target.write_bytes(mutated(raw, random.Random(seed)))  # noqa: S311
        for session in READERS[whose(path)].read(target):
            check(session)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_a_file_cut_anywhere_never_raises(path: Path, tmp_path: Path) -> None:
    """A file that ends in the middle is read as far as it goes."""
    raw, target = path.read_bytes(), tmp_path / path.name
    for cut in range(0, len(raw), 97):
        target.write_bytes(raw[:cut])
        for session in read_sessions(target):
            check(session)
            assert session.ended_at <= cut


def check(session: Session) -> None:
    for turn in session.turns:
        f"{turn.text}{turn.command}{turn.change}{turn.said}{turn.id}".encode()
        assert 1 <= turn.line <= turn.end


@settings(max_examples=60, deadline=None)
@given(raw=st.binary(max_size=400))
def test_any_bytes_are_answered(raw: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A file of anything gives sessions or a problem, never an exception."""
    path = tmp_path_factory.mktemp("any") / "file.jsonl"
    path.write_bytes(raw)
    sessions = list(read_sessions(path))
    assert sessions
    assert all(session.unread or session.turns or session.lines >= 0 for session in sessions)


def test_what_no_reader_knows_is_a_problem(tmp_path: Path) -> None:
    """A file of no agent, an empty one and one that is not there are each a counted problem with a reason."""
    (tmp_path / "notes.md").write_text("# Notes\n")
    (tmp_path / "empty.jsonl").write_text("")
    kinds = [next(iter(read_sessions(tmp_path / name))).unread for name in ("notes.md", "empty.jsonl", "gone.jsonl")]
    assert kinds == [{"unknown/unknown-format": 1}, {"unknown/empty": 1}, {"unknown/unreadable": 1}]


def test_find_follows_the_environment_and_no_circles(tmp_path: Path) -> None:
    """CLAUDE_CONFIG_DIR and CODEX_HOME are heeded, order is fixed, and a link to a parent folder ends nowhere."""
    project = tmp_path / "claude" / "projects" / "-home-mika"
    project.mkdir(parents=True)
    (project / "b.jsonl").write_text("{}")
    (project / "a.jsonl").write_text("{}")
    (project / "memory").mkdir()
    (project / "memory" / "notes.jsonl").write_text("{}")
    (project / "loop").symlink_to(tmp_path / "claude")
    day = tmp_path / "codex" / "sessions" / "2026" / "11" / "12"
    day.mkdir(parents=True)
    (day / "rollout-x.jsonl").write_text("{}")
    (day / "rollout-x.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    env = {"CLAUDE_CONFIG_DIR": str(tmp_path / "claude"), "CODEX_HOME": str(tmp_path / "codex")}
    found = [(name, path.name) for name, path in find_sessions(tmp_path / "nobody", env)]
    assert found == [("claude-code", "a.jsonl"), ("claude-code", "b.jsonl"), ("codex", "rollout-x.jsonl")]
    assert find_sessions(tmp_path / "nobody", {}) == []


def test_the_examples_are_found_and_read() -> None:
    """The sample sessions of this repository: only the two planted oddities are not understood."""
    env = {"CLAUDE_CONFIG_DIR": str(EXAMPLES / "claude-code"), "CODEX_HOME": str(EXAMPLES / "codex")}
    found = find_sessions(Path("/nonexistent"), env)
    sessions = [session for _, path in found for session in read_sessions(path)]
    unread = {kind: count for session in sessions for kind, count in session.unread.items()}
    assert len(found) == 14
    assert unread == {"claude-code/cut-line": 1, "claude-code/unknown-type:session-weather": 1}


def test_the_stamp_of_a_database_counts_its_log(tmp_path: Path) -> None:
    """A store that grows only in its write-ahead log has changed."""
    path = tmp_path / "state.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE t (a)")
    connection.commit()
    before = file_stamp(path)
    connection.execute("INSERT INTO t VALUES ('x')")
    connection.commit()
    assert file_stamp(path) != before
    connection.close()


def test_a_long_first_line_is_recognised(tmp_path: Path) -> None:
    """A session record with long instructions, or a pasted image in the first prompt."""
    sample = (
        next(path for path in SAMPLES if path.name == "codex.jsonl").read_text().replace('"cli"', f'"{"x" * 99_999}"')
    )
    (tmp_path / "rollout.jsonl").write_text(sample)
    assert recognise(tmp_path / "rollout.jsonl") == "codex"


def test_recognise_says_nothing_of_other_files(tmp_path: Path) -> None:
    """JSON that is no transcript is not taken for one."""
    path = tmp_path / "package.json"
    path.write_text('{"name": "shop", "type": "module", "version": "1.0.0"}')
    assert recognise(path) == ""


JUNK = {
    "brackets": b"[" * 100_000 + b"\n",
    "zero bytes": b"\0" * 100_000 + b"\n" + b"\0" * 200_000 + b"\n",
    "half a record": b'{"type":"user","message":{"content":"' + b"x" * 100_000 + b"\n",
    "a warning": b"npm warn deprecated: x\n" * 40,
    "a mark": b"\xef\xbb\xbf",
    "zero bytes before the record": b"\0" * 4096,
}


# A document is one value: only a byte order mark can stand before it.
BROKEN = [(path, junk) for path in SAMPLES for junk in JUNK if path.suffix == ".jsonl" or junk == "a mark"]


@pytest.mark.parametrize(("path", "junk"), BROKEN, ids=lambda value: getattr(value, "name", value))
def test_a_transcript_is_known_behind_a_bad_beginning(path: Path, junk: str, tmp_path: Path) -> None:
    """What a crash or another program left before the first record hides nothing; it is counted by kind."""
    broken = tmp_path / path.name
    broken.write_bytes(JUNK[junk] + path.read_bytes())
    (whole,), (session,) = read_sessions(path), read_sessions(broken)
    assert (session.agent, session.cwd, session.version) == (whole.agent, whole.cwd, whole.version)
    assert [(turn.who, turn.text) for turn in session.turns] == [(turn.who, turn.text) for turn in whole.turns]
    counted = {"zero bytes": ("nul-line", 2), "a warning": ("bad-json", 40), "brackets": ("bad-json", 1)}
    kind, count = counted.get(junk, ("bad-json", int(junk == "half a record")))
    assert session.unread.get(f"{session.agent}/{kind}", 0) == count
