"""What of a home folder the audit looks at."""

from __future__ import annotations

import json
from pathlib import Path

from curate.places import read_ground


def skill(folder: Path) -> None:
    """A folder with a SKILL.md."""
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: x\ndescription: y\n---\nz\n")


def test_plugins_count_only_where_they_are_installed_and_on(tmp_path: Path) -> None:
    """A marketplace is a catalogue; a plugin that the settings switch off loads nothing."""
    plugins = tmp_path / ".claude" / "plugins"
    skill(plugins / "marketplaces" / "m" / "skills" / "catalogue")
    for name in ("on", "off"):
        skill(plugins / "cache" / "m" / name / "1.0" / "skills" / name)
    entries = {f"{name}@m": [{"installPath": str(plugins / "cache" / "m" / name / "1.0")}] for name in ("on", "off")}
    (plugins / "installed_plugins.json").write_text(json.dumps({"version": 2, "plugins": entries}))
    (tmp_path / ".claude" / "settings.json").write_text(json.dumps({"enabledPlugins": {"off@m": False}}))
    folders = [str(folder.path.relative_to(plugins)) for folder in read_ground(tmp_path, {}, []).folders]
    assert folders == ["cache/m/on/1.0/skills"]


def test_projects_bring_their_own_skills_commands_and_memory(tmp_path: Path) -> None:
    """Folders, slash commands and memory files of a project are found, each once."""
    project = tmp_path / "app"
    skill(project / ".claude" / "skills" / "x")
    (project / ".claude" / "commands" / "db").mkdir(parents=True)
    (project / ".claude" / "commands" / "db" / "reset.md").write_text("x")
    (project / "CLAUDE.md").write_text("one\ntwo\n")
    ground = read_ground(tmp_path / "home", {}, [project, project])
    assert [folder.path for folder in ground.folders] == [project / ".claude" / "skills"]
    assert {"reset", "db:reset"} <= ground.commands
    assert [(file.agent, file.kind, file.size) for file in ground.memory] == [("claude-code", "project", 8)]


def test_a_broken_link_and_a_folder_without_a_skill_are_named(tmp_path: Path) -> None:
    """What stands among the skills and can't be loaded is found; a real skill is not named."""
    skills = tmp_path / ".claude" / "skills"
    skill(skills / "good")
    (skills / "bare").mkdir()
    (skills / "gone").symlink_to(tmp_path / "nowhere")
    empty = read_ground(tmp_path, {}, []).empty
    assert [(agent, Path(path).name) for agent, path in empty] == [("claude-code", "bare"), ("claude-code", "gone")]
