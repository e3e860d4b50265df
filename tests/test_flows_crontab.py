"""The passes in the user's crontab: between markers, once, and out again to the byte."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.cli import run_command
from flows.crontab import cron_block, with_block, without_block
from flows.serve import ServeError
from index.settings import ServeSettings

ROOT, OTHER = Path("/home/ann/.hotwash"), Path("/srv/shared store")
SETTINGS = ServeSettings()
TABLE = "MAILTO=ann\n# my jobs\n0 5 * * 1 backup --all\n"

FAKE = """#!{python}
import os, sys
from pathlib import Path
table, argument = Path({table!r}), sys.argv[1]
if os.environ.get("CRON_BROKEN"):
    sys.exit("crontab: cannot open your spool")
if argument == "-l":
    if not table.exists():
        sys.exit("no crontab for ann")
    sys.stdout.buffer.write(table.read_bytes())
elif argument == "-r":
    table.unlink()
else:
    given = sys.stdin.buffer.read()
    if not given.endswith(b"\\n"):
        sys.exit("new crontab file is missing newline before EOF, can't install.")
    table.write_bytes(given)
"""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a `crontab` program that behaves as cron's does, first on the path."""
    place = tmp_path / "bin" / "crontab"
    place.parent.mkdir()
    place.write_text(FAKE.format(python=sys.executable, table=str(tmp_path / "table")))
    place.chmod(0o755)
    monkeypatch.setenv("PATH", f"{place.parent}:{os.environ['PATH']}")
    return tmp_path / "table"


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60), st.booleans())
def test_in_and_out_leaves_every_byte(mine: str, closed: bool) -> None:
    """Whatever stands in the table, with a line end or without; twice is once; two stores do not meet."""
    before = f"{mine}\n" if closed else mine
    block, second = cron_block(ROOT, SETTINGS), cron_block(OTHER, SETTINGS)
    once = with_block(before, ROOT, block)
    assert with_block(once, ROOT, block) == once
    assert without_block(once, ROOT) == before
    assert without_block(once, OTHER) == once
    both = with_block(once, OTHER, second)
    assert without_block(both, OTHER) == once
    assert without_block(without_block(both, ROOT), OTHER).rstrip("\n") == before.rstrip("\n")
    later = ServeSettings(weekly="0 1 * * 6")
    renewed = with_block(both, ROOT, cron_block(ROOT, later))
    assert "0 1 * * 6" in renewed
    assert with_block(renewed, ROOT, block) == both


def test_the_lines_run_both_passes_and_survive_odd_paths() -> None:
    """A percent sign would end a cron command, and a line break would be a line of its own."""
    weekly, daily = cron_block(Path("/a b/100%'"), SETTINGS, "/usr/bin/python3").split("\n")
    assert weekly.startswith("30 3 * * 0 /usr/bin/python3 -P -m hotwash curate --store ")
    assert daily.startswith("0 4 * * * /usr/bin/python3 -P -m hotwash daily --store ")
    command = weekly.split(" ", 5)[5].replace("\\%", "%")
    assert shlex.split(command)[6] == "/a b/100%'"
    assert "%" not in weekly.replace("\\%", "")
    with pytest.raises(ServeError, match="line break"):
        cron_block(Path("/a\n* * * * * rm"), SETTINGS)


def test_a_marker_that_lost_its_end_is_left_alone() -> None:
    """Nothing is guessed about a table that a person has cut."""
    cut = with_block(TABLE, ROOT, cron_block(ROOT, SETTINGS)).replace("# hotwash:end", "# hotwash end")
    assert without_block(cut, ROOT) == cut


def test_the_command_puts_them_in_and_out(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Into an own table, and into none; a dry run writes nothing."""
    where = ["--store", str(tmp_path / "store")]
    for before in (TABLE.encode(), None):
        if before is None:
            table.unlink()
        else:
            table.write_bytes(before)
        assert run_command(["serve", "--cron", "--dry-run", *where]) == 0
        assert "+30 3 * * 0" in capsys.readouterr().out
        assert (table.read_bytes() if table.exists() else None) == before
        for _ in range(2):
            assert run_command(["serve", "--cron", *where]) == 0
        assert table.read_bytes().startswith(before or b"# hotwash:begin")
        assert table.read_text().count("hotwash curate") == 1
        assert run_command(["serve", "--uninstall", *where]) == 0
        assert (table.read_bytes() if table.exists() else None) == before
    assert "holds nothing of this store" not in capsys.readouterr().out
    assert run_command(["serve", "--cron", "--uninstall", *where]) == 0
    assert "holds nothing of this store" in capsys.readouterr().out


def test_what_cron_refuses_is_said(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A spool that cannot be read, and no cron at all: one line, exit code 1, nothing written."""
    monkeypatch.setenv("CRON_BROKEN", "1")
    assert run_command(["serve", "--cron", "--store", str(tmp_path / "store")]) == 1
    assert "cannot open your spool" in capsys.readouterr().err
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert run_command(["serve", "--cron", "--store", str(tmp_path / "store")]) == 1
    assert "Install cron" in capsys.readouterr().err
    assert not table.exists()


@pytest.fixture
def no_table() -> Iterator[None]:
    """The real crontab of whoever asked for it, who must have none; none is left."""
    if b"no crontab" not in subprocess.run(["crontab", "-l"], capture_output=True, check=False).stderr:
        pytest.skip("there is a crontab, which a test must not touch")
    yield
    subprocess.run(["crontab", "-r"], capture_output=True, check=False)


@pytest.mark.skipif(
    shutil.which("crontab") is None or os.environ.get("CRONTAB_MAY_BE_WRITTEN") != "1",
    reason="writes this user's crontab: set CRONTAB_MAY_BE_WRITTEN=1",
)
@pytest.mark.usefixtures("no_table")
def test_the_real_program_takes_it(tmp_path: Path) -> None:
    """Cron itself accepts the lines, from none to ours and back to none."""
    where = ["--store", str(tmp_path / "a store")]
    assert run_command(["serve", "--cron", *where]) == 0
    listed = subprocess.run(["crontab", "-l"], capture_output=True, text=True, check=True).stdout
    assert listed.count("hotwash curate") == listed.count("hotwash daily") == 1
    subprocess.run(["crontab", "-"], input=f"{TABLE}{listed}", text=True, check=True)
    assert run_command(["serve", "--cron", "--uninstall", *where]) == 0
    assert subprocess.run(["crontab", "-l"], capture_output=True, text=True, check=True).stdout == TABLE
