"""What an installer is, and the one place that writes an agent's config: with a backup, a record and an exact undo."""

from __future__ import annotations

import base64
import difflib
import json
import os
import py_compile
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from index.decode import load_json
from index.errors import HotwashError

# Where a store keeps, by agent, what an install found and wrote.
INSTALLED = "installed"


class InstallError(HotwashError):
    """An agent's config cannot be changed safely."""


@dataclass(frozen=True, slots=True)
class Installer:
    """How one agent's config takes our hooks.

    `config_path` finds the file from the environment and the home folder. `plan_install` makes the new text from the
    old one (None: no such file) and the command that runs a hook, to which agent and moment are added;
    `plan_uninstall` takes ours out of a text, given the text before ours came in (None: there was no file).
    `gives` says when the agent lets a hook give lessons back, and what it does not allow. `plan_commits` adds the hook
    that notes commits, where the agent has an event after a tool call.
    """

    agent: str
    title: str
    config_path: Callable[[Mapping[str, str], Path], Path]
    plan_install: Callable[[str | None, Sequence[str]], str]
    plan_uninstall: Callable[[str, str | None], str]
    gives: str = ""
    notes: tuple[str, ...] = ()
    plan_commits: Callable[[str, Sequence[str]], str] | None = None

    @property
    def said(self) -> tuple[str, ...]:
        """What a person should know: when lessons come back, and what else."""
        return ((f"Lessons come back {self.gives}.",) if self.gives else ()) + self.notes


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an install or uninstall did, or with a dry run would do."""

    agent: str
    path: Path
    changed: bool
    diff: str
    backup: Path | None = None
    removed: bool = False
    notes: tuple[str, ...] = ()


def hook_command(python: str = sys.executable) -> list[str]:
    """The command that runs a hook: this interpreter, isolated and without site, on our script."""
    return [python, "-I", "-S", str(Path(__file__).resolve().parent.parent / "hotwash_hook.py")]


def install(
    installer: Installer,
    home: Path,
    user: Path,
    environ: Mapping[str, str],
    command: Sequence[str],
    dry_run: bool = False,
    commits: bool = False,
) -> Outcome:
    """Put our hooks into the agent's config; a second time changes nothing. `home` is the personal store; with
    `commits` commits are noted too, without it they are no more."""
    if commits and installer.plan_commits is None:
        raise InstallError(f"{installer.title} has no event after a tool call that commits could be noted at.")
    path = resolve(installer.config_path(environ, user))
    record_path = home / INSTALLED / f"{installer.agent}.json"
    now = read_bytes(path)
    record = read_record(record_path, path)
    before = strip(installer, path, now, record)
    try:
        text = installer.plan_install(decode(path, before), command)
        after = (installer.plan_commits(text, command) if commits and installer.plan_commits else text).encode()
    except ValueError as error:
        raise unreadable(path, error) from error
    if not dry_run:
        compile_hooks()
    if after == now:
        return Outcome(installer.agent, path, False, "", notes=installer.said)
    diff = render_diff(path, now, after)
    if dry_run:
        return Outcome(installer.agent, path, True, diff, notes=installer.said)
    backup = None
    if before is not None:
        backup = home / INSTALLED / f"{installer.agent}.backup"
        write_bytes(backup, before)
    write_bytes(
        record_path, render_record(path, before, after)
    )  # first, so that what stands in the config can always be taken out
    if read_bytes(path) != now:
        raise InstallError(f"{path}: changed while it was read; nothing was written. Run the command again.")
    write_bytes(path, after, like=path)
    return Outcome(installer.agent, path, True, diff, backup, notes=installer.said)


def uninstall(
    installer: Installer, home: Path, user: Path, environ: Mapping[str, str], dry_run: bool = False
) -> Outcome:
    """Take our hooks out: the exact bytes from before where nothing else changed, else only what is ours."""
    path = resolve(installer.config_path(environ, user))
    record_path = home / INSTALLED / f"{installer.agent}.json"
    now = read_bytes(path)
    record = read_record(record_path, path)
    before = strip(installer, path, now, record)
    diff = render_diff(path, now, before)
    if not dry_run:
        if before is None and now is not None:
            path.unlink()
        elif before is not None and before != now:
            write_bytes(path, before, like=path)
        record_path.unlink(missing_ok=True)
    return Outcome(installer.agent, path, before != now, diff, removed=before is None and now is not None)


def strip(
    installer: Installer, path: Path, now: bytes | None, record: tuple[bytes | None, bytes] | None
) -> bytes | None:
    """The config without our hooks."""
    if now is None:
        return None
    if record is not None and record[1] == now:
        return record[0]
    text = decode(path, now)
    assert text is not None  # noqa: S101
    try:
        before = decode(path, record[0]) if record is not None else text
        left = installer.plan_uninstall(text, before)
        return None if before is None and left.strip() in {"", "{}"} else left.encode()
    except ValueError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: ValueError) -> InstallError:
    """What to say of a config that does not parse or has another shape than the documented one."""
    return InstallError(f"{path}: {error}; it was left as it is. Repair it, then run the command again.")


def resolve(path: Path) -> Path:
    """The file itself where the config is a link, as dotfile managers make them."""
    return path.resolve() if path.is_symlink() else path


def decode(path: Path, data: bytes | None) -> str | None:
    """A config's text, line ends as they are."""
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InstallError(f"{path}: is not UTF-8 ({error}); it was left as it is.") from error


def read_bytes(path: Path) -> bytes | None:
    """A file's content, None when there is none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def write_bytes(path: Path, data: bytes, like: Path | None = None) -> None:
    """Write through a temporary file and a rename; permissions stay, or are the owner's alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.urandom(4).hex()}.tmp")
    mode = like.stat().st_mode & 0o777 if like is not None and like.exists() else 0o600
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.chmod(mode)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def read_record(record_path: Path, path: Path) -> tuple[bytes | None, bytes] | None:
    """The config's bytes before and after our install, if a record of this very file is there."""
    try:
        found = load_json(record_path.read_bytes())
        if found["path"] != str(path):
            return None
        before = None if found["before"] is None else base64.b64decode(found["before"])
        return before, base64.b64decode(found["after"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def render_record(path: Path, before: bytes | None, after: bytes) -> bytes:
    """The record of an install, as JSON."""
    kept = {
        "path": str(path),
        "before": None if before is None else base64.b64encode(before).decode(),
        "after": base64.b64encode(after).decode(),
    }
    return (json.dumps(kept, indent=2, ensure_ascii=False) + "\n").encode()


def render_diff(path: Path, old: bytes | None, new: bytes | None) -> str:
    """What changes, as a unified diff."""
    lines = [(data or b"").decode("utf-8", "replace").splitlines(keepends=True) for data in (old, new)]
    return "".join(difflib.unified_diff(lines[0], lines[1], str(path), str(path)))


def compile_hooks() -> None:
    """Compile what the hooks load, so that no session pays for it."""
    package = Path(__file__).resolve().parent.parent
    names = ("__init__", "error_matching", "globs", "matching", "signature", "words")
    ground = [package.parent / "index" / f"{name}.py" for name in names]
    modules = [*package.glob("hook*.py"), package / "__init__.py", *ground]
    for module in modules:
        try:
            py_compile.compile(str(module), doraise=True)
        except (OSError, py_compile.PyCompileError):
            return  # a folder that cannot be written costs speed, nothing else
