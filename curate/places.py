"""Where the agents on a machine keep skills, slash commands and memory files, and what lies there; reads only."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curate.skills import SKILL_FILE, SkillFolder, skill_folders
from index.decode import load_json

MAX_MEMORY_BYTES = 4 * 1024 * 1024
MAX_COMMANDS = 5_000
# Below the user's home, then below a project: (agent, folder), beside those that `skill_folders` names.
_MORE_FOLDERS = (
    ("gemini-cli", ".gemini/skills"),
    ("opencode", ".config/opencode/skills"),
    ("cursor", ".cursor/skills"),
    ("copilot-cli", ".copilot/skills"),
    ("droid", ".factory/skills"),
)
_PROJECT_FOLDERS = (
    ("claude-code", ".claude/skills"),
    ("codex", ".codex/skills"),
    ("agents", ".agents/skills"),
    ("gemini-cli", ".gemini/skills"),
    ("opencode", ".opencode/skills"),
    ("cursor", ".cursor/skills"),
    ("copilot-cli", ".github/skills"),
    ("droid", ".factory/skills"),
)
_COMMANDS = (".claude/commands", ".codex/prompts", ".gemini/commands", ".config/opencode/command", ".cursor/commands")
_USER_MEMORY = (
    ("claude-code", "user", ".claude/CLAUDE.md"),
    ("codex", "user", ".codex/AGENTS.md"),
    ("gemini-cli", "user", ".gemini/GEMINI.md"),
    ("opencode", "user", ".config/opencode/AGENTS.md"),
    ("hermes", "memory", ".hermes/memories/MEMORY.md"),
    ("hermes", "profile", ".hermes/memories/USER.md"),
)
_PROJECT_MEMORY = (
    ("claude-code", "project", "CLAUDE.md"),
    ("claude-code", "project", ".claude/CLAUDE.md"),
    ("claude-code", "project", "CLAUDE.local.md"),
    ("agents", "project", "AGENTS.md"),
    ("gemini-cli", "project", "GEMINI.md"),
)


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """A file that an agent loads by itself. `kind` is user, project, auto (written by the agent), memory or profile."""

    agent: str
    kind: str
    path: str
    text: str
    size: int


@dataclass(frozen=True, slots=True)
class Ground:
    """Everything an audit looks at besides skills and use: `commands` are the names of slash commands, `empty` the
    folders and links among the skills that hold no SKILL.md (agent, path)."""

    folders: tuple[SkillFolder, ...]
    memory: tuple[MemoryFile, ...] = ()
    commands: frozenset[str] = frozenset()
    empty: tuple[tuple[str, str], ...] = ()


def read_ground(home: Path, env: Mapping[str, str], projects: Iterable[Path]) -> Ground:
    """What lies below the home folder and the given project folders. Nothing is followed out of them but links that
    stand directly in a skills folder, as the agents do."""
    claude = Path(env["CLAUDE_CONFIG_DIR"]) if env.get("CLAUDE_CONFIG_DIR") else home / ".claude"
    places = sorted({project for project in projects if project not in (home, Path("/")) and _is_folder(project)})
    folders = find_folders(home, claude, places)
    memory = (*_user_memory(home, claude), *_project_memory(places))
    commands = frozenset(_command_names(home, claude, places))
    return Ground(folders, memory, commands, tuple(_empty_folders(folders)))


def find_folders(home: Path, claude: Path, projects: Iterable[Path]) -> tuple[SkillFolder, ...]:
    """Every folder with skills that an agent loads, each once; of Claude Code's plugins only those that are on."""
    plugins = {home / ".claude" / "plugins", claude / "plugins"}
    known = [folder for folder in skill_folders(home) if folder.path not in plugins]
    known.append(SkillFolder("claude-code", claude / "skills"))
    known += [SkillFolder("claude-code", place) for place in enabled_plugins(claude)]
    known += [SkillFolder(agent, home / place) for agent, place in _MORE_FOLDERS]
    known += [SkillFolder(agent, project / place) for project in projects for agent, place in _PROJECT_FOLDERS]
    found: dict[tuple[str, str], SkillFolder] = {}
    for folder in known:
        if _is_folder(folder.path):
            found.setdefault((folder.agent, os.path.realpath(folder.path)), folder)
    return tuple(found.values())


def enabled_plugins(claude: Path) -> list[Path]:
    """The folders of Claude Code's installed plugins that its settings do not switch off.

    `plugins/installed_plugins.json` names them (one mapping or a list of them for each, by version); where it cannot
    be read all of `plugins/cache` counts. Marketplaces are catalogues: what lies there is not loaded.
    """
    installed = _read_json(claude / "plugins" / "installed_plugins.json").get("plugins")
    if not isinstance(installed, dict):
        return [claude / "plugins" / "cache"]
    switched = _read_json(claude / "settings.json").get("enabledPlugins")
    switches = switched if isinstance(switched, dict) else {}
    found = []
    for name, entries in sorted(installed.items()):
        if switches.get(name) is False:
            continue
        for entry in entries if isinstance(entries, list) else [entries]:
            path = entry.get("installPath") if isinstance(entry, dict) else None
            if isinstance(path, str):
                found.append(Path(path) / "skills")
    return found


def _is_folder(path: Path) -> bool:
    """Whether there is a folder that we may look into; one of another user's counts as none."""
    with suppress(OSError):
        return path.is_dir()
    return False


def _read_json(path: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        value = load_json(path.read_bytes())
        if isinstance(value, dict):
            return value
    return {}


def _user_memory(home: Path, claude: Path) -> Iterator[MemoryFile]:
    for agent, kind, place in _USER_MEMORY:
        below = claude / "CLAUDE.md" if place == ".claude/CLAUDE.md" else home / place
        yield from _memory(agent, kind, below)
    for path in sorted((claude / "projects").glob("*/memory/MEMORY.md")):
        yield from _memory("claude-code", "auto", path)


def _project_memory(projects: Iterable[Path]) -> Iterator[MemoryFile]:
    for project in projects:
        for agent, kind, place in _PROJECT_MEMORY:
            yield from _memory(agent, kind, project / place)


def _memory(agent: str, kind: str, path: Path) -> Iterator[MemoryFile]:
    with suppress(OSError):
        size = path.stat().st_size
        with path.open("rb") as file:
            text = file.read(MAX_MEMORY_BYTES).decode("utf-8", "replace")
        yield MemoryFile(agent, kind, str(path), text, size)


def _command_names(home: Path, claude: Path, projects: Iterable[Path]) -> Iterator[str]:
    """`name` and `folder:name` of every command file."""
    places = [claude / "commands", *(base / place for base in (home, *projects) for place in _COMMANDS)]
    plugins = [place.parent / "commands" for place in enabled_plugins(claude)]
    left = MAX_COMMANDS
    for folder in (*places, *plugins):
        if not _is_folder(folder):
            continue
        for path in sorted((*folder.glob("*.*"), *folder.glob("*/*.*"))):
            if left <= 0:
                return
            left -= 1
            yield path.stem
            if path.parent != folder:
                yield f"{path.parent.name}:{path.stem}"


def _empty_folders(folders: Iterable[SkillFolder]) -> Iterator[tuple[str, str]]:
    """Links that lead nowhere, and folders without a SKILL.md at any depth that a reader looks at."""
    for folder in folders:
        if folder.path.name != "skills":
            continue
        try:
            paths = sorted(path for path in folder.path.iterdir() if not path.name.startswith("."))
        except OSError:
            continue
        for path in paths:
            with suppress(OSError):
                if (path.is_symlink() and not path.exists()) or (path.is_dir() and not _holds_skill(path)):
                    yield folder.agent, str(path)


def _holds_skill(folder: Path) -> bool:
    with suppress(OSError):
        for at, (_, folders, files) in enumerate(os.walk(folder)):
            if any(name.lower() == SKILL_FILE.lower() for name in files):
                return True
            if at > 500:
                return True
            folders[:] = [name for name in folders if name not in {".git", "node_modules"}]
    return False
