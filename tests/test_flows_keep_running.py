"""The file by which systemd or launchd keeps `hotwash serve` running: written, known again, taken out exactly."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
from pathlib import Path

import pytest

from flows.cli import run_command
from flows.keep_running import Service, install_service, plan_service, serve_command, uninstall_service
from flows.serve import ServeError

ENV = {"PATH": "/opt/a b:/bin", "PREFECT_API_URL": "http://ann:secret@host/api", "SECRET": "x"}


def listing(folder: Path) -> dict[str, bytes]:
    """Every file and folder below, files with their bytes."""
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else b"" for p in sorted(folder.rglob("*"))}


@pytest.fixture(params=["linux", "darwin"])
def service(request: pytest.FixtureRequest, tmp_path: Path) -> Service:
    """The service of a store whose path is awkward, on either system."""
    (tmp_path / "home" / ".config").mkdir(parents=True)
    (tmp_path / "home" / "Library").mkdir()
    return plan_service(tmp_path / 'my "st%re" $x', tmp_path / "home", ENV, request.param)


def test_written_once_and_taken_out_exactly(service: Service, tmp_path: Path) -> None:
    """Twice changes nothing, a dry run neither; then every byte is as it was, the link that enabled it included."""
    before = listing(tmp_path)
    assert install_service(service, dry_run=True)
    assert listing(tmp_path) == before
    assert install_service(service)
    assert service.path.read_bytes() == service.content
    assert not install_service(service)
    wants = service.path.parent / "default.target.wants"
    wants.mkdir()
    (wants / service.path.name).symlink_to(service.path)
    assert uninstall_service(service, dry_run=True)
    assert service.path.exists()
    assert uninstall_service(service)
    assert listing(tmp_path) == before
    assert not uninstall_service(service)


def test_what_a_person_edited_stays(service: Service) -> None:
    """One of an older version of ours is renewed, an edited or a foreign one refused."""
    old = Service(service.path, service.content.replace(b"x", b"y"), "", "")
    for content in (b"[Unit]\n", service.content + b"# mine\n", old.content):
        service.path.parent.mkdir(parents=True, exist_ok=True)
        service.path.write_bytes(content)
        for change in (install_service, uninstall_service):
            with pytest.raises(ServeError, match="not as hotwash wrote it"):
                change(service)
        assert service.path.read_bytes() == content
    service.path.write_bytes(plan_service(Path("/other"), service.path.parents[2], {}, "linux").content)
    assert install_service(service)


def test_no_secret_is_written_and_the_store_is_named(service: Service) -> None:
    """An address with a password belongs into serve.env, which systemd reads."""
    assert b"ann:" not in service.content
    assert b"SECRET" not in service.content
    assert b"--store" in service.content


def test_launchd_reads_it(tmp_path: Path) -> None:
    """As a property list, awkward paths and all."""
    root = tmp_path / 'my "st%re" $x'
    service = plan_service(root, tmp_path, ENV, "darwin")
    values = plistlib.loads(service.content)
    assert values["ProgramArguments"] == serve_command(root)
    assert values["EnvironmentVariables"] == {"PATH": "/opt/a b:/bin"}
    assert values["KeepAlive"] == {"SuccessfulExit": False}
    assert service.enable.startswith(f"launchctl bootstrap gui/{os.getuid()} ")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd on this machine")
def test_systemd_reads_it(tmp_path: Path) -> None:
    """Without a complaint, awkward paths and all."""
    service = plan_service(
        tmp_path / 'my "st%re" $x', tmp_path, {**ENV, "XDG_CONFIG_HOME": str(tmp_path / "x")}, "linux"
    )
    assert service.path.parent == tmp_path / "x" / "systemd" / "user"
    install_service(service)
    command = ["systemd-analyze", "verify", "--user", "--man=no", str(service.path)]
    env = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    ours = [line for line in done.stderr.splitlines() if service.path.name in line]
    assert ours == []


def test_a_path_with_a_line_break_is_refused(tmp_path: Path) -> None:
    """It could smuggle a line into the file."""
    with pytest.raises(ServeError, match="line break"):
        plan_service(tmp_path / "a\nExecStart=b", tmp_path, {})


def test_the_command_tells_how_to_start_it(
    tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Install, the same again, uninstall; wrong use is exit code 2."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    before = listing(own_home)
    where = ["--store", str(tmp_path / "store")]
    assert run_command(["serve", "--install", "--dry-run", *where]) == 0
    assert "ExecStart=" in capsys.readouterr().out
    assert listing(own_home) == before
    assert run_command(["serve", "--install", *where]) == 0
    told = capsys.readouterr().out
    assert "start it: systemctl --user daemon-reload && systemctl --user enable --now hotwash-store-" in told
    assert "no systemctl on this machine" in told
    assert run_command(["serve", "--install", *where]) == 0
    assert "there already" in capsys.readouterr().out
    assert run_command(["serve", "--uninstall", *where]) == 0
    assert "end it: systemctl --user stop" in capsys.readouterr().out
    assert {name: raw for name, raw in listing(own_home).items() if raw} == {n: r for n, r in before.items() if r}
    assert run_command(["serve", "--install", "--uninstall", *where]) == 2
    assert run_command(["serve", "--dry-run", *where]) == 2
