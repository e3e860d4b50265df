"""Hooks go into an agent's config without touching anything else, and come out byte for byte."""

import difflib
import json
import shlex
from pathlib import Path

import pytest
import yaml

from flows.install.base import Installer, InstallError, hook_command, install, uninstall
from flows.install.claude_code import plan_plugin
from flows.install.registry import INSTALLERS

COMMAND = ["/opt/py thon/bin/python", "-I", "-S", "/opt/hot wäsche/flows/hotwash_hook.py"]
SETTINGS = """{
    "model": "opus", // mine
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say"}]}]
    },
}
"""
agents = pytest.mark.parametrize("installer", INSTALLERS.values(), ids=INSTALLERS)


def config(installer: Installer, user: Path) -> Path:
    return installer.config_path({}, user)


@agents
def test_uninstall_leaves_the_file_as_before(installer: Installer, tmp_path: Path) -> None:
    """A config that was there has its bytes back; one that was not is gone; the hooks stood there between."""
    user, home = tmp_path / "us er ü", tmp_path / "home"
    path = config(installer, user)
    others = installer.plan_install(None, ["python", "elsewhere.py"]).replace("hotwash", "other").encode()
    for before in (None, others) if installer.agent != "opencode" else (None,):
        if before is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(before)
        assert install(installer, home, user, {}, COMMAND).changed
        assert "hotwash_hook.py" in path.read_text("utf-8")
        assert uninstall(installer, home, user, {}).changed
        assert (path.read_bytes() if path.exists() else None) == before


@agents
def test_a_second_install_changes_nothing(installer: Installer, tmp_path: Path) -> None:
    """Installing is idempotent, and a moved interpreter replaces the old entry instead of adding one."""
    home = tmp_path / "home"
    install(installer, home, tmp_path, {}, COMMAND)
    first = config(installer, tmp_path).read_bytes()
    assert not install(installer, home, tmp_path, {}, COMMAND).changed
    assert config(installer, tmp_path).read_bytes() == first
    moved = [COMMAND[0].replace("opt", "srv"), *COMMAND[1:]]
    assert install(installer, home, tmp_path, {}, moved).changed
    text = config(installer, tmp_path).read_text("utf-8")
    assert "/opt/py" not in text
    assert text.count("hotwash_hook.py") == first.decode().count("hotwash_hook.py")
    uninstall(installer, home, tmp_path, {})
    assert not config(installer, tmp_path).exists()


@agents
def test_a_dry_run_writes_nothing_and_shows_the_change(installer: Installer, tmp_path: Path) -> None:
    """The diff names our script; no file or folder appears."""
    outcome = install(installer, tmp_path / "home", tmp_path, {}, COMMAND, dry_run=True)
    assert "+" in outcome.diff
    assert "hotwash_hook.py" in outcome.diff
    assert list(tmp_path.iterdir()) == []


def test_only_our_lines_leave_a_config_changed_since(tmp_path: Path) -> None:
    """What the user added after the install stays, comments and order too."""
    installer, home = INSTALLERS["claude-code"], tmp_path / "home"
    path = config(installer, tmp_path)
    path.parent.mkdir()
    path.write_text(SETTINGS, "utf-8")
    install(installer, home, tmp_path, {}, COMMAND)
    text = path.read_text("utf-8")
    path.write_text(text.replace('"model": "opus"', '"theme": "dark",\n    "model": "opus"'), "utf-8")
    uninstall(installer, home, tmp_path, {})
    assert path.read_text("utf-8") == SETTINGS.replace('"model": "opus"', '"theme": "dark",\n    "model": "opus"')


def test_a_config_without_a_record_loses_only_ours(tmp_path: Path) -> None:
    """With the record lost, hooks of others in the same event stay."""
    installer, home = INSTALLERS["claude-code"], tmp_path / "home"
    path = config(installer, tmp_path)
    path.parent.mkdir()
    path.write_text(SETTINGS, "utf-8")
    install(installer, home, tmp_path, {}, COMMAND)
    (home / "installed" / "claude-code.json").unlink()
    uninstall(installer, home, tmp_path, {})
    text = path.read_text("utf-8")
    assert "hotwash" not in text
    assert '"command": "say"' in text


@pytest.mark.parametrize("text", ['{"hooks": ', '{"hooks": []}', '{"hooks": {"Stop": 1}}', "[]"])
def test_a_config_that_cannot_be_read_is_left_alone(text: str, tmp_path: Path) -> None:
    """Broken JSON, or another shape than the documented one: stop, say so, write nothing."""
    installer = INSTALLERS["claude-code"]
    path = config(installer, tmp_path)
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(InstallError, match=r"settings\.json: .* left as it is"):
        install(installer, tmp_path / "home", tmp_path, {}, COMMAND)
    assert path.read_text() == text
    assert not (tmp_path / "home").exists()


def test_a_linked_config_stays_a_link(tmp_path: Path) -> None:
    """A config that dotfiles link elsewhere is changed where it really lies."""
    installer = INSTALLERS["claude-code"]
    real = tmp_path / "dotfiles" / "settings.json"
    real.parent.mkdir()
    real.write_text("{}\n")
    path = config(installer, tmp_path)
    path.parent.mkdir()
    path.symlink_to(real)
    install(installer, tmp_path / "home", tmp_path, {}, COMMAND)
    assert path.is_symlink()
    assert "hotwash_hook.py" in real.read_text()
    uninstall(installer, tmp_path / "home", tmp_path, {})
    assert real.read_text() == "{}\n"


def test_claude_code_runs_without_a_shell(tmp_path: Path) -> None:
    """Program and arguments stand apart, so that spaces and non-ASCII need no quoting; SessionEnd asks for 10 s."""
    install(INSTALLERS["claude-code"], tmp_path / "home", tmp_path, {}, COMMAND)
    hooks = json.loads((tmp_path / ".claude" / "settings.json").read_text("utf-8"))["hooks"]
    handler = hooks["SessionEnd"][0]["hooks"][0]
    assert [handler["command"], *handler["args"]] == [*COMMAND, "claude-code", "end"]
    assert handler["timeout"] == 10
    assert {"Stop", "SubagentStop", "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUseFailure"} <= set(
        hooks
    )


def test_the_plugin_folder_has_claude_codes_layout() -> None:
    """Only plugin.json lies in .claude-plugin; the hooks lie at the root under a "hooks" key."""
    files = plan_plugin(COMMAND, "1.2.3")
    assert sorted(files) == [".claude-plugin/plugin.json", "hooks/hooks.json"]
    assert json.loads(files[".claude-plugin/plugin.json"])["name"] == "hotwash"
    assert "SessionEnd" in json.loads(files["hooks/hooks.json"])["hooks"]


def test_the_command_is_isolated() -> None:
    """The hook's interpreter ignores the user's environment and site."""
    assert hook_command("/x/python")[:3] == ["/x/python", "-I", "-S"]
    assert Path(hook_command()[3]).is_file()


HERMES = """# my settings
model: "x"   # the good one
hooks:
    # mine
    on_session_end:
    - command: "say done"
      timeout: 5
    pre_tool_call:
        - command: check
terminal:
    backend: local
"""


def test_yaml_keeps_comments_order_and_indentation(tmp_path: Path) -> None:
    """In Hermes' YAML only lines are added, in the file's own indentation, and they come out again."""
    installer, home = INSTALLERS["hermes"], tmp_path / "home"
    path = config(installer, tmp_path)
    path.parent.mkdir()
    path.write_text(HERMES, "utf-8")
    install(installer, home, tmp_path, {}, COMMAND)
    text = path.read_text("utf-8")
    assert not [line for line in difflib.ndiff(HERMES.splitlines(), text.splitlines()) if line.startswith("- ")]
    hooks = yaml.safe_load(text)["hooks"]
    assert hooks["on_session_end"][0]["command"] == "say done"
    assert shlex.split(hooks["on_session_finalize"][0]["command"]) == [*COMMAND, "hermes", "end"]
    path.write_text(text.replace("backend: local", "backend: docker"), "utf-8")
    uninstall(installer, home, tmp_path, {})
    assert path.read_text("utf-8") == HERMES.replace("backend: local", "backend: docker")


@pytest.mark.parametrize("text", ["hooks: {on_session_end: []}\n", "hooks: [1]\n", "a: [\n", "- 1\n"])
def test_yaml_that_cannot_be_extended_is_left_alone(text: str, tmp_path: Path) -> None:
    """A flow-style or broken YAML is not rewritten: stop and say so."""
    installer = INSTALLERS["hermes"]
    path = config(installer, tmp_path)
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(InstallError, match="left as it is"):
        install(installer, tmp_path / "home", tmp_path, {}, COMMAND)
    assert path.read_text() == text


def test_codex_takes_only_known_keys_and_at_most_three_seconds(tmp_path: Path) -> None:
    """Codex refuses a file with other top-level keys and warns of a SessionEnd timeout over 3; trust is said."""
    installer = INSTALLERS["codex"]
    outcome = install(installer, tmp_path / "home", tmp_path, {}, COMMAND)
    data = json.loads(config(installer, tmp_path).read_text("utf-8"))
    assert set(data) == {"hooks"}
    assert data["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"] == 3
    assert any("trust" in note for note in outcome.notes)


def test_gemini_counts_in_milliseconds_and_cursor_names_its_version(tmp_path: Path) -> None:
    """Each agent's own units and shape."""
    install(INSTALLERS["gemini-cli"], tmp_path / "home", tmp_path, {}, COMMAND)
    gemini = json.loads(config(INSTALLERS["gemini-cli"], tmp_path).read_text("utf-8"))
    assert gemini["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"] == 2000
    install(INSTALLERS["cursor"], tmp_path / "home", tmp_path, {}, COMMAND)
    cursor = json.loads(config(INSTALLERS["cursor"], tmp_path).read_text("utf-8"))
    assert cursor["version"] == 1
    assert shlex.split(cursor["hooks"]["sessionEnd"][0]["command"]) == [*COMMAND, "cursor", "end"]


def test_a_foreign_plugin_file_is_left_alone(tmp_path: Path) -> None:
    """OpenCode: a file of our plugin's name that is not ours stops the install."""
    path = config(INSTALLERS["opencode"], tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text("export const x = 1\n")
    with pytest.raises(InstallError, match="not ours"):
        install(INSTALLERS["opencode"], tmp_path / "home", tmp_path, {}, COMMAND)
    assert path.read_text() == "export const x = 1\n"


@pytest.mark.parametrize("installer", INSTALLERS.values(), ids=list(INSTALLERS))
def test_an_install_says_when_lessons_come_back(installer: Installer, tmp_path: Path) -> None:
    """Each agent allows something else, and what it does not allow is said, not left to be found out."""
    outcome = install(installer, tmp_path / "home", tmp_path, {}, COMMAND)
    assert outcome.notes[0].startswith("Lessons come back ")
    assert install(installer, tmp_path / "home", tmp_path, {}, COMMAND).notes == outcome.notes
    if installer.agent in {"gemini-cli", "cursor", "hermes", "opencode"}:
        assert "before a tool call" in outcome.notes[0] or "around a tool call" in outcome.notes[0]


def test_commits_need_an_event_after_a_tool_call(tmp_path: Path) -> None:
    """Where an agent has none, --commits is refused before anything is written."""
    with pytest.raises(InstallError, match="no event after a tool call"):
        install(INSTALLERS["hermes"], tmp_path / "home", tmp_path, {}, COMMAND, commits=True)
    assert not list(tmp_path.rglob("config.yaml"))


def test_no_hook_of_cursors_can_stop_a_tool(tmp_path: Path) -> None:
    """Its events before a tool decide on permissions, and a broken answer there blocks: none of ours stands there."""
    install(INSTALLERS["cursor"], tmp_path / "home", tmp_path, {}, COMMAND, commits=True)
    hooks = json.loads(config(INSTALLERS["cursor"], tmp_path).read_text("utf-8"))["hooks"]
    assert not [event for event in hooks if event.startswith(("before", "preTool"))]
