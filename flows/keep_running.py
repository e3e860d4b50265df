"""Keep `hotwash serve` running under systemd or launchd, by one file of the user's own that can be taken out again.

Nothing is started here: whoever installs it is told the command that does. The file's first lines hold the hash of the
rest, so that one that a person has edited is known and left alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import plistlib
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from flows.prefect_api import store_label
from flows.serve import ServeError
from index.files import read_bytes, write_atomic

# What a service manager's bare environment lacks: where programs, Prefect's server and the agents' transcripts are.
CARRIED = ("PATH", "PREFECT_API_URL", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "HERMES_HOME", "XDG_DATA_HOME")
OWN_FOLDERS = frozenset({"default.target.wants", "user", "systemd", "LaunchAgents"})
SECRETS_FILE = "serve.env"
RESTART_SECONDS = 30
STOP_SECONDS = 60
_MARK = re.compile(rb"written by hotwash serve \(install\); sha256 ([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Service:
    """A service's file, its bytes, and the commands that start and end it."""

    path: Path
    content: bytes
    enable: str
    disable: str


def serve_command(root: Path, python: str = sys.executable) -> list[str]:
    """The command that serves a store, wherever it is started."""
    return [python, "-P", "-m", "hotwash", "serve", "--store", str(root.absolute())]


def plan_service(root: Path, home: Path, env: Mapping[str, str], platform: str = sys.platform) -> Service:
    """The service of a store on this system; raises ServeError where its path cannot be written into such a file."""
    if any(char in str(root.absolute()) for char in "\n\r"):
        raise ServeError(f"{root}: a path with a line break cannot be kept running. Choose another --store.")
    carried = {name: env[name] for name in CARRIED if env.get(name) and "\n" not in env[name]}
    if "@" in carried.get("PREFECT_API_URL", ""):
        del carried["PREFECT_API_URL"]  # it may hold a password, which belongs into serve.env
    label = store_label(root)
    if platform == "darwin":
        path = home / "Library" / "LaunchAgents" / f"hotwash.{label}.plist"
        domain = f"gui/{os.getuid()}"
        enable = f"launchctl bootstrap {domain} {shlex.quote(str(path))}"
        return Service(path, _plist(root, label, carried), enable, f"launchctl bootout {domain}/hotwash.{label}")
    config = env.get("XDG_CONFIG_HOME") or ""
    base = Path(config) if config.startswith("/") else home / ".config"
    name = f"hotwash-{label}.service"
    enable = f"systemctl --user daemon-reload && systemctl --user enable --now {name}"
    disable = f"systemctl --user stop {name}; systemctl --user daemon-reload"
    return Service(base / "systemd" / "user" / name, _unit(root, carried), enable, disable)


def install_service(service: Service, dry_run: bool = False) -> bool:
    """Write the service's file; False where it is there as it should be. Raises ServeError for one that was edited."""
    now = read_bytes(service.path)
    if now == service.content:
        return False
    _check_ours(service.path, now)
    if not dry_run:
        write_atomic(service.path, service.content)
        service.path.chmod(0o644)
    return True


def uninstall_service(service: Service, dry_run: bool = False) -> bool:
    """Take the file away, and the link by which it was enabled; False where there is none. Raises ServeError for one
    that was edited."""
    now = read_bytes(service.path)
    if now is None:
        return False
    _check_ours(service.path, now)
    if not dry_run:
        link = service.path.parent / "default.target.wants" / service.path.name
        if link.is_symlink() and link.resolve() == service.path.resolve():
            link.unlink()
        service.path.unlink()
        # Folders that came with it go with it, where they hold nothing else.
        for folder in (link.parent, *list(service.path.parents)[:2]):
            if folder.name in OWN_FOLDERS:
                with contextlib.suppress(OSError):
                    folder.rmdir()
    return True


def _check_ours(path: Path, now: bytes | None) -> None:
    if now is None:
        return
    found = _MARK.search(now)
    if found is None or hashlib.sha256(_MARK.sub(b"", now, count=1)).hexdigest().encode() != found[1]:
        raise ServeError(f"{path}: is not as hotwash wrote it; it was left as it is. Move it away, then try again.")


def _marked(before: str, after: str) -> bytes:
    """A text with the hash of all else in the middle."""
    digest = hashlib.sha256((before + after).encode()).hexdigest()
    return f"{before}written by hotwash serve (install); sha256 {digest}{after}".encode()


def _unit(root: Path, carried: Mapping[str, str]) -> bytes:
    place = root.absolute()
    lines = [
        "",
        "[Unit]",
        f"Description=hotwash: schedules and reviews of {str(place).replace('%', '%%')}",
        "",
        "[Service]",
        f"ExecStart={' '.join(_quoted(part, command=True) for part in serve_command(root))}",
        *(f"Environment={_quoted(f'{name}={value}')}" for name, value in sorted(carried.items())),
        # For what must not stand in a file that others may read: PREFECT_API_AUTH_STRING, a model's key.
        f"EnvironmentFile=-{str(place / SECRETS_FILE).replace('%', '%%')}",
        "Restart=on-failure",
        f"RestartSec={RESTART_SECONDS}",
        # It ends its own server; what is left after that is killed.
        "KillMode=mixed",
        f"TimeoutStopSec={STOP_SECONDS}",
        "",
        "[Install]",
        "WantedBy=default.target",
        "",
    ]
    return _marked("# ", "\n".join(lines))


def _quoted(text: str, command: bool = False) -> str:
    """A word as systemd reads it: quoted, with its specifiers and, in a command, its variables taken literally."""
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{text.replace("$", "$$") if command else text}"'


def _plist(root: Path, label: str, carried: Mapping[str, str]) -> bytes:
    values = {
        "Label": f"hotwash.{label}",
        "ProgramArguments": serve_command(root),
        "EnvironmentVariables": dict(carried),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": RESTART_SECONDS,
        "ExitTimeOut": STOP_SECONDS,
        "StandardErrorPath": str(root.absolute() / "logs" / "serve.log"),
    }
    head, _, rest = plistlib.dumps(values).decode().partition("\n")
    return _marked(f"{head}\n<!-- ", f" -->\n{rest}")
