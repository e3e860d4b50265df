"""The entry: hotwash runs the same in a project that is made to break it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CODE = Path(__file__).parents[1]
SABOTAGE = "raise SystemExit('the project was imported instead of hotwash')\n"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A project with packages of our names, modules named as libraries that we use, and a sitecustomize."""
    for name in ("index", "detectors", "reflect", "curate", "flows", "tests"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(SABOTAGE)
    for name in ("yaml", "orjson", "json", "filelock", "rich", "argparse", "prefect", "hotwash"):
        (tmp_path / f"{name}.py").write_text(SABOTAGE)
    return tmp_path


def run(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """The installed command, started in a folder with PYTHONPATH=. set."""
    command = Path(sys.executable).with_name("hotwash")
    start = [str(command)] if command.exists() else [sys.executable, "-I", str(CODE / "hotwash.py")]
    environment = {**os.environ, "PYTHONPATH": env.pop("path", ""), **env}
    return subprocess.run(
        [*start, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def test_a_project_with_our_names_changes_nothing(hostile: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Started there without PYTHONPATH, the project's files are not even looked at."""
    store = tmp_path_factory.mktemp("store")
    done = run(hostile, "status", "--store", str(store))
    assert (done.returncode, done.stderr) == (0, "")
    assert str(store) in done.stdout


def test_packages_that_a_sitecustomize_imported_are_put_aside(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """PYTHONPATH=. with a sitecustomize that imports the project's own `index` before we start."""
    for name in ("index", "flows"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("MINE = True\n")
    (tmp_path / "sitecustomize.py").write_text("import index, flows\nassert index.MINE\n")
    store = tmp_path_factory.mktemp("store")
    done = run(tmp_path, "status", "--store", str(store), path=".")
    assert (done.returncode, done.stderr) == (0, "")
    assert str(store) in done.stdout


def test_an_isolated_start_ignores_the_project_altogether(
    hostile: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """`python -I hotwash.py`, as the hook starts it: not even a module named json in the folder is seen."""
    store = tmp_path_factory.mktemp("store")
    done = subprocess.run(
        [sys.executable, "-I", str(CODE / "hotwash.py"), "status", "--store", str(store)],
        cwd=hostile,
        env={**os.environ, "PYTHONPATH": "."},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("nonsense",), 2, "there is no command 'nonsense'"),
        (("run", "/no/such/file"), 2, "no such file or folder"),
        (("why",), 2, "`hotwash why --help` shows how it is used"),
        (("undo", "no-such-run"), 2, "There is no run no-such-run"),
    ],
)
def test_wrong_use_is_told_in_one_line(tmp_path: Path, arguments: tuple[str, ...], code: int, words: str) -> None:
    """What is wrong and what to do; no trace; the exit code says whose fault it is."""
    done = run(tmp_path, *arguments)
    assert done.returncode == code
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert words in done.stderr


def test_quick_commands_load_neither_prefect_nor_litellm(tmp_path: Path) -> None:
    """Start-up is part of the design: help, status and the ground import nothing that costs seconds."""
    code = (
        "import sys, contextlib, io, hotwash; hotwash.clean_path(); from flows.cli import run_command\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    run_command(['--help']); run_command(['status', '--store', sys.argv[1]])\n"
        "    run_command(['run', '--store', sys.argv[1]])\n"
        "heavy = {'prefect', 'litellm', 'datasketch', 'scipy'}\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & heavy))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=CODE, capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.strip() == "[]"
