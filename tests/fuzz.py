"""Targets for a fuzzer: every parser that reads what others have written, and what must hold for any bytes.

`tests/fuzz_run.py` runs one of them. What broke goes into `FOUND`, and stays a test.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from curate.skills import check_skill, parse_skill
from detectors.poison.scan import scan_text
from detectors.registry import detect_episodes
from detectors.secrets import find_secrets
from flows.hook import is_whole, parse_object, read_event, render_json
from flows.install.registry import INSTALLERS
from index.errors import SettingsError
from index.frontmatter import edit_frontmatter, parse_solution, render_solution
from index.journal import half_done, read_journal
from index.records import Problem, Solution
from index.settings import RedactSettings, read_settings
from reflect.adopt import parse_foreign
from reflect.custody import read_episode
from reflect.lessons import write_lessons
from reflect.redact import redact_session, redact_text
from reflect.transcripts.registry import READERS

COMMAND = ["/usr/bin/python3", "-I", "-S", "/opt/hotwash/hotwash_hook.py"]
FOLDER = Path(tempfile.mkdtemp(prefix="hotwash-fuzz-"))


def solution(data: bytes) -> None:
    """A solution or a problem that names its place; a solution that is written again is the same one."""
    read = parse_solution("solutions/bugs/x.md", data.decode("utf-8", "replace"))
    if isinstance(read, Problem):
        assert read.reason
        return
    again = parse_solution(read.path, render_solution(read))
    assert isinstance(again, Solution)
    assert (again.id, again.title, again.triggers, again.sources) == (read.id, read.title, read.triggers, read.sources)
    edited = parse_solution(read.path, edit_frontmatter(read.text, {"helpful": 3}))
    assert isinstance(edited, Solution)
    assert (edited.helpful, edited.title, edited.body) == (3, read.title, read.body)


def lesson(data: bytes) -> None:
    """What people's own lessons hold, whatever their form."""
    text = data.decode("utf-8", "replace")
    for path in ("docs/solutions/a.md", "LEARNINGS.md", ".cursor/rules/a.mdc", "MEMORY.md"):
        parse_foreign(path, text)


def settings(data: bytes) -> None:
    """Settings, or an error that says where."""
    (FOLDER / "config.yaml").write_bytes(data)
    with suppress(SettingsError):
        read_settings(FOLDER, {})


def journal(data: bytes) -> None:
    """A journal of any bytes is read as far as it is one."""
    path = FOLDER / "r.jsonl"
    path.write_bytes(data)
    _, stages, _ = read_journal(path)
    half_done(stages)


def episode(data: bytes) -> None:
    """A damaged record of an episode holds nothing, and breaks nothing."""
    read_episode(data)


def _transcript(agent: str) -> Callable[[bytes], None]:
    """Every session that a reader sees is concluded from; the lessons can be written."""
    reader = READERS[agent]
    place = FOLDER / f"{agent}.jsonl"

    def target(data: bytes) -> None:
        place.write_bytes(data)
        reader.recognises(place, data[:4096])
        for session in reader.read(place):
            clean, _ = redact_session(session, RedactSettings())
            for made in write_lessons(clean, detect_episodes(clean)):
                render_solution(made).encode("utf-8")

    return target


def poison(data: bytes) -> None:
    """A verdict whose spans lie inside the text."""
    text = data.decode("utf-8", "replace")
    for finding in scan_text(text).findings:
        first, last = finding.span
        assert 0 <= first <= last <= len(text)


def secrets(data: bytes) -> None:
    """Spans inside the text, and a second redaction that changes nothing."""
    text = data.decode("utf-8", "replace")
    for found in find_secrets(text, personal=True):
        assert 0 <= found.span[0] < found.span[1] <= len(text)
    once, _ = redact_text(text, RedactSettings())
    assert redact_text(once, RedactSettings())[0] == once


def skill(data: bytes) -> None:
    """A skill or a problem; the strict check answers for both."""
    text = data.decode("utf-8", "replace")
    parse_skill("x/SKILL.md", text)
    check_skill(text, "x")


def hook(data: bytes) -> None:
    """Any payload becomes an entry that is JSON; what the hook's own parser reads is what `json` reads."""
    payload = parse_object(data.decode("utf-8", "replace")) if is_whole(data) else None
    assert json.loads(render_json(read_event("claude-code", "end", payload or {})))["moment"] == "end"
    if payload is not None:
        text = data.decode("utf-8", "replace").strip().removeprefix("\ufeff")
        assert repr(json.JSONDecoder(strict=False).raw_decode(text)[0]) == repr(payload)


def config(data: bytes) -> None:
    """An agent's configuration takes the hooks and gives all of them back, or is left alone with a ValueError."""
    text = data.decode("utf-8", "replace")
    for installer in INSTALLERS.values():
        with suppress(ValueError):
            after = installer.plan_install(text, COMMAND)
            left = installer.plan_uninstall(after, text)
            assert COMMAND[-1] in text or COMMAND[-1] not in left, installer.agent


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target
    for target in (solution, lesson, settings, journal, episode, poison, secrets, skill, hook, config)
} | {agent: _transcript(agent) for agent in READERS}

# What a fuzzer has broken, by target. Each stays mended.
FOUND: tuple[tuple[str, bytes], ...] = (
    ("settings", b"[" * 3000),
    ("settings", b"expires: 2026-13-45"),
    ("journal", b'{"a":' * 3000 + b"\n{}"),
    ("config", b"hooks: " + b"- " * 3000),
    ("episode", b"\x1f\x8b\x08\x00" + b"\x00" * 30),
)
