"""Which project a session belongs to: its git remote, normalised, else its directory."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

_SCP = re.compile(r"^(?:[^@/\s]{1,200}@)?([A-Za-z0-9.-]{1,255}):(?!\d{1,5}/|//)(.{1,1000})$")
_URL = re.compile(
    r"^[a-z][a-z0-9+.-]{0,30}://(?:[^@/\s]{1,1000}@)?(\[[0-9A-Fa-f:]{2,45}\]|[^:/\s]{1,255})(?::\d{1,5})?/(.{1,1000})$",
    re.IGNORECASE,
)
_SECTION = re.compile(r'^\s{0,20}\[\s{0,5}(\w{1,50})(?:\s{1,5}"([^"]{0,200})")?\s{0,5}\]')
# Where agents and people put the working trees of a project, inside its folder.
_WORKTREE = re.compile(r"(?<=[^/\\])[/\\](?:\.claude[/\\]worktrees|\.worktrees)[/\\][^/\\]+")
_MAX_CONFIG = 1 << 20


def normalise_remote(url: str) -> str:
    """`host/owner/name` of a git remote: no scheme, user, password, port or `.git`; the host in lower case.

    A local path or a URL of no known form gives "".
    """
    url = url.strip()
    found = _URL.match(url) or (_SCP.match(url) if "://" not in url and not re.match(r"^[A-Za-z]:[\\/]", url) else None)
    if not found or url.lower().startswith("file:"):
        return ""
    path = found[2].strip("/").removesuffix(".git").strip("/").lstrip("~/")
    return f"{found[1].lower()}/{path}" if path else ""


def project_of(cwd: str, remote: str = "") -> str:
    """The project's name from a known remote, else from the git configuration found above `cwd`, else `cwd` itself,
    in place of a working tree that lies in its project's folder that folder."""
    return normalise_remote(remote) or _WORKTREE.sub("", _project_on_disk(cwd))


@lru_cache(maxsize=512)
def _project_on_disk(cwd: str) -> str:
    if not cwd.startswith("/") and not re.match(r"^[A-Za-z]:[\\/]", cwd):
        return cwd
    try:
        config = _find_config(Path(cwd))
        text = config.open("rb").read(_MAX_CONFIG).decode("utf-8", errors="replace") if config else ""
    except OSError:
        return cwd
    return normalise_remote(_remote_url(text)) or cwd


def _find_config(cwd: Path) -> Path | None:
    """The git configuration file of the repository that `cwd` is in; through the pointer file of a worktree."""
    for folder in (cwd, *cwd.parents):
        git = folder / ".git"
        if git.is_file():
            return _follow_pointer(git)
        if (git / "config").is_file():
            return git / "config"
    return None


def _follow_pointer(git: Path) -> Path | None:
    pointer = git.open("rb").read(4096).decode("utf-8", errors="replace").strip()
    if not pointer.startswith("gitdir:"):
        return None
    folder = git.parent / pointer.removeprefix("gitdir:").strip()
    common = folder / "commondir"
    if common.is_file():
        folder = folder / common.open("rb").read(4096).decode("utf-8", errors="replace").strip()
    config = folder / "config"
    return config if config.is_file() else None


def _remote_url(text: str) -> str:
    """The URL of the remote `origin`, else of the first remote by name."""
    remotes: dict[str, str] = {}
    name = None
    for line in text.splitlines():
        if section := _SECTION.match(line):
            name = section[2] if section[1].lower() == "remote" else None
        elif name is not None and "=" in line:
            key, _, value = line.partition("=")
            if key.strip().lower() == "url":
                remotes.setdefault(name, value.strip().strip('"'))
    return remotes.get("origin") or next((remotes[name] for name in sorted(remotes)), "")
