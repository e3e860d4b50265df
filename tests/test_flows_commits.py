"""Where commits are noted: real commits in a real repository, the hook as an agent starts it, and the run after it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from flows.commits import COMMITS
from flows.context import World, read_world
from flows.install.base import install, uninstall
from flows.install.registry import INSTALLERS
from flows.pipeline import session_end
from index.store import EPISODES
from reflect.custody import read_episode

SCRIPT = Path(__file__).resolve().parent.parent / "flows" / "hotwash_hook.py"
KEY = "AKIA" + "Z7Q2M4N6P8R1S3T5"


def git(top: Path, *words: str) -> str:
    env = {
        "HOME": str(top), "PATH": os.environ["PATH"], "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org",
    }  # fmt: skip
    done = subprocess.run(["git", *words], cwd=top, env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a first commit, and settings that would run a program if they were heeded."""
    top = tmp_path / "my shop ü"
    top.mkdir()
    git(top, "init", "-q", "-b", "main")
    for name in ("diff.external", "core.pager", "gpg.program", "core.fsmonitor"):
        git(top, "config", name, "touch PWNED; false")
    git(top, "config", "log.showSignature", "true")
    (top / "a.py").write_text("print(1)\n")
    git(top, "-c", "core.fsmonitor=false", "add", "a.py")
    git(
        top,
        "-c",
        "core.fsmonitor=false",
        "commit",
        "-q",
        "-m",
        f"Pin redis to 7.2\n\n7.4 drops the module we need. Key {KEY}",
    )
    return top


@pytest.fixture
def world(own_home: Path) -> World:
    """An empty store."""
    (own_home / ".hotwash" / "spool").mkdir(parents=True)
    return read_world(own_home / ".hotwash")


def hook(world: World, payload: object) -> None:
    """One hook process; it must be silent."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(SCRIPT), "claude-code", "commit"], capture_output=True, text=True, check=False,
        input=payload if isinstance(payload, str) else json.dumps(payload),
        env={"HOME": str(world.home), "TMPDIR": str(world.home)},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def call(top: Path, command: str) -> dict[str, Any]:
    return {"session_id": "s-1", "cwd": str(top), "tool_name": "Bash", "tool_input": {"command": command}}


def noted(world: World) -> list[str]:
    return sorted(path.stem for path in (world.root / COMMITS).glob("*"))


def test_a_commit_is_kept_once_as_an_episode(world: World, repository: Path) -> None:
    """Message and diffstat, without the secret; noted twice and run twice it is one; nothing of the repository runs."""
    commit = git(repository, "rev-parse", "HEAD")
    (repository / "src").mkdir()
    for _ in range(2):
        hook(world, call(repository / "src", "git add -A && git commit -m 'Pin redis to 7.2'"))
    assert noted(world) == [commit]
    for _ in range(2):
        session_end(world, [])
    assert noted(world) == []
    [path] = (world.root / EPISODES).rglob("*.jsonl.gz")
    head, turns = read_episode(path.read_bytes())
    assert head["session"] == f"git:{commit}"
    assert "Pin redis to 7.2" in turns[0]["text"]
    assert "a.py | 1 +" in turns[1]["text"]
    assert not any(KEY.encode() in one.read_bytes() for one in world.root.rglob("*") if one.is_file())
    assert KEY not in json.dumps(turns)
    assert not list(repository.rglob("PWNED*"))


def test_a_worktrees_commit_is_found(world: World, repository: Path, tmp_path: Path) -> None:
    """Where .git is a file that points elsewhere."""
    tree = tmp_path / "tree"
    git(repository, "-c", "core.fsmonitor=false", "worktree", "add", "-q", "-b", "side", str(tree))
    (tree / "b.py").write_text("x\n")
    git(tree, "-c", "core.fsmonitor=false", "add", "b.py")
    git(tree, "-c", "core.fsmonitor=false", "commit", "-q", "-m", "Side")
    hook(world, call(tree, "git commit -m Side"))
    assert noted(world) == [git(tree, "rev-parse", "HEAD")]


@pytest.mark.parametrize("command", ["ls", "git status", "git log --grep=commit", "echo committed"])
def test_other_calls_note_nothing(world: World, repository: Path, command: str) -> None:
    """Only a call that may have committed is looked at."""
    hook(world, call(repository, command))
    assert noted(world) == []


def test_an_old_commit_or_another_step_is_none(world: World, repository: Path) -> None:
    """A commit that failed leaves the log as it was; a checkout or a reset is no commit."""
    log = repository / ".git" / "logs" / "HEAD"
    text = log.read_text()
    log.write_text(text.replace("> 1", "> 0", 1))
    hook(world, call(repository, "git commit -m x"))
    log.write_text(text.replace("commit (initial)", "checkout"))
    hook(world, call(repository, "git commit -m x"))
    assert noted(world) == []


@pytest.mark.parametrize(
    "payload", ["", "{", "null", '{"tool_input": 3, "cwd": []}', '{"tool_input": "git commit", "cwd": "/"}']
)
def test_any_payload_ends_well(world: World, payload: str) -> None:
    """Nothing is noted, nothing is said."""
    hook(world, payload)
    assert noted(world) == []


def test_a_note_that_leads_nowhere_goes_with_a_word(world: World, tmp_path: Path) -> None:
    """A repository that has gone, or a file that is no note, stops no run."""
    folder = world.root / COMMITS
    folder.mkdir(parents=True)
    (folder / "a.json").write_text(json.dumps({"top": str(tmp_path / "gone"), "commit": "a" * 40, "agent": "codex"}))
    (folder / "b.json").write_text('{"top": "/", "commit": "--output=x"}')
    (folder / "c.json").write_text("{")
    report = session_end(world, [])
    assert noted(world) == []
    assert any("git does not know" in note.text for stage in report.stages for note in stage.notes)


@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini-cli", "cursor"])
def test_it_is_off_until_it_is_asked_for(agent: str, tmp_path: Path) -> None:
    """`--commits` adds one hook, a later install without it takes it out, and uninstall leaves nothing."""
    installer, home = INSTALLERS[agent], tmp_path / "home"
    command = ["/usr/bin/python3", "-I", "-S", "/opt/hotwash_hook.py"]
    path = installer.config_path({}, tmp_path)

    def texts() -> int:
        return path.read_text().count('"commit"') + path.read_text().count(' commit"')

    install(installer, home, tmp_path, {}, command)
    assert texts() == 0
    install(installer, home, tmp_path, {}, command, commits=True)
    assert texts() == 1
    assert not install(installer, home, tmp_path, {}, command, commits=True).changed
    install(installer, home, tmp_path, {}, command)
    assert texts() == 0
    install(installer, home, tmp_path, {}, command, commits=True)
    uninstall(installer, home, tmp_path, {})
    assert not path.exists()
