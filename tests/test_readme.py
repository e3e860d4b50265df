"""The README's commands are run, and print what it shows.

`HOTWASH_UPDATE_README=1 pytest tests/test_readme.py` writes the real output into it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
RUN_ID = re.compile(r"\d{8}T\d{9}Z-(\w+)-[0-9a-f]{4}")
# Run by CI as they stand; each sets up its own virtual environment.
BY_CI = ("make demo", "make test", "git clone")
LONGEST = 44


def environment(folder: Path) -> dict[str, str]:
    """The demonstration's: a home and a store of its own, the sample sessions, the day on which they end."""
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder / "home"),
        "HOTWASH_NOW": "2026-11-28T09:00:00Z",
        "CLAUDE_CONFIG_DIR": str(folder / "examples" / "claude-code"),
        "CODEX_HOME": str(folder / "examples" / "codex"),
        "NO_COLOR": "1",
        "USER": "mika",
        "LOGNAME": "mika",
    }


def normalise(text: str, folder: Path) -> str:
    """Output without what differs between two machines: run ids and the folder."""
    return RUN_ID.sub(r"RUN-\1", text).replace(str(folder / "home"), "~").replace(str(folder), "~/hotwash").rstrip()


def shorten(text: str) -> str:
    """Long output as the README shows it: the start, then how much more there is."""
    lines = text.split("\n")
    return (
        text
        if len(lines) <= LONGEST
        else "\n".join([*lines[: LONGEST - 2], f"... {len(lines) - LONGEST + 2} more lines"])
    )


def commands_of(block: str) -> list[str]:
    """The commands of a console block."""
    return [line[2:] for line in block.split("\n") if line.startswith("$ ")]


def render(commands: list[str], outputs: list[str]) -> str:
    """A console block."""
    return (
        "```console\n" + "\n".join(f"$ {c}\n{o}".rstrip("\n") for c, o in zip(commands, outputs, strict=True)) + "\n```"
    )


def test_every_command_prints_what_the_readme_shows(tmp_path: Path) -> None:
    """In the order of the README, in one shell environment; ids that it names are those that a reader gets."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "home" / ".hotwash" / "inbox").mkdir(parents=True)
    for lesson in (tmp_path / "examples" / "inbox").glob("*.md"):
        shutil.copy(lesson, tmp_path / "home" / ".hotwash" / "inbox")
        os.utime(tmp_path / "home" / ".hotwash" / "inbox" / lesson.name, (1_796_000_000, 1_796_000_000))
    text = README.read_text(encoding="utf-8")
    last_run = ""

    def rerun(match: re.Match[str]) -> str:
        nonlocal last_run
        commands = commands_of(match[1])
        if not commands or commands[0].startswith(BY_CI):
            return match[0]
        outputs = []
        for command in commands:
            real = command.replace("RUN-curate", last_run)
            done = subprocess.run(
                ["bash", "-c", real],
                cwd=tmp_path,
                env=environment(tmp_path),
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
            assert done.returncode in (0, 1), f"{command}: {done.stderr}"
            found = re.search(r"hotwash undo (\S+)", done.stdout)
            last_run = found[1] if found else last_run
            outputs.append(shorten(normalise(done.stdout + done.stderr, tmp_path)))
        return render(commands, outputs)

    real = BLOCK.sub(rerun, text)
    if os.environ.get("HOTWASH_UPDATE_README"):
        README.write_text(real, encoding="utf-8")
        text = README.read_text(encoding="utf-8")
    assert real == text


@pytest.mark.parametrize("target", ["demo", "test"])
def test_the_two_commands_are_in_the_makefile_and_in_ci(target: str) -> None:
    """`make demo` and `make test` stand in the README, the Makefile and CI's script."""
    assert f"make {target}" in README.read_text(encoding="utf-8")
    assert f"\n{target}:" in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"make {target}" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
