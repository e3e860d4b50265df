"""Settings: defaults, config.yaml, environment; and errors that say where."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from index.errors import SettingsError
from index.settings import ANY, BOUNDS, DAYS, Settings, read_settings


def test_no_file_and_no_variable_give_the_defaults(tmp_path: Path) -> None:
    """Every setting is optional."""
    assert read_settings(tmp_path, {}) == Settings()


def test_the_environment_wins_and_an_empty_variable_counts_as_unset(tmp_path: Path) -> None:
    """HOTWASH_<STAGE>_<NAME> overrides the file."""
    (tmp_path / "config.yaml").write_text("model: openai/small\ndecay: {stale_days: 7, archive_days: 14}\n")
    env = {"HOTWASH_DECAY_STALE_DAYS": "9", "HOTWASH_DECAY_ARCHIVE_DAYS": "", "HOTWASH_REDACT_PERSONAL_DATA": "yes"}
    settings = read_settings(tmp_path, env)
    assert (settings.decay.stale_days, settings.decay.archive_days) == (9, 14)
    assert settings.redact.personal_data is True
    assert settings.model.name == "openai/small"
    assert read_settings(tmp_path, {"HOTWASH_MODEL": "x/y"}).model.name == "x/y"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("decay: {stale_days: many}", "decay: stale_days: wanted a whole number, found 'many'"),
        ("decay: {stale_days: -3}", "decay: stale_days: wanted a whole number, from 0 to 36,500, found -3"),
        ("decay: {archive_days: 40000}", "wanted a whole number, from 0 to 36,500, found 40000"),
        ("memory: {pack_tokens: 10000000000000}", "wanted a whole number, from 0 to 1,000,000,000,000, found"),
        ("decay: {archive_days: 3.5}", "decay: archive_days: wanted a whole number, found 3.5"),
        ("decay: {stale_days: true}", "wanted a whole number, found True"),
        ("decay: {budget_per_pass: 5}", "wanted a number, from 0 to 1, found 5"),
        ("model: {daily_cap_usd: -1}", "wanted a number, 0 or more, found -1"),
        ("model: {daily_cap_usd: .inf}", "wanted a number, found inf"),
        ("model: {daily_cap_tokens: .inf}", "wanted a whole number, found inf"),
        ("model: {daily_cap_usd: .nan}", "wanted a number, found nan"),
        ("serve: {port: 99999999}", "wanted a whole number, from 0 to 65,535, found 99999999"),
        ("spread: {shard_files: 0}", "wanted a whole number, 1 or more, found 0"),
        ("decay: {stale: 1}", "unknown setting 'stale'. Known here: stale_days"),
        ("nonsense: 1", "unknown setting 'nonsense'"),
        ("redact: {personal_data: perhaps}", "wanted true or false, found 'perhaps'"),
        ("review: {skills_folders: 3}", "wanted a list of texts, found 3"),
        ("[1, 2]", "wanted a mapping of settings"),
        ("a: [", "not valid YAML"),
    ],
)
def test_a_bad_setting_is_named_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    """Where, what was wanted, what was found."""
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(SettingsError) as raised:
        read_settings(tmp_path, {})
    assert words in str(raised.value)
    assert "config.yaml" in str(raised.value)


def test_every_default_is_within_its_bounds() -> None:
    """And each bound is that of a setting there is."""
    names = set()
    for section in fields(Settings):
        values = getattr(Settings(), section.name)
        if not is_dataclass(values):
            continue
        for one in fields(values):
            value = getattr(values, one.name)
            names.add(one.name)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                least, most = BOUNDS.get(one.name, ANY)
                assert least <= value <= most, one.name
                assert most == DAYS[1] or not one.name.endswith("_days"), one.name
    assert BOUNDS.keys() <= names


def test_a_number_from_the_environment_is_held_to_its_bounds(tmp_path: Path) -> None:
    """The variable is named."""
    with pytest.raises(SettingsError, match="HOTWASH_DECAY_STALE_DAYS: wanted a whole number, from 0 to 36,500"):
        read_settings(tmp_path, {"HOTWASH_DECAY_STALE_DAYS": "-1"})
    assert read_settings(tmp_path, {"HOTWASH_DEDUP_THRESHOLD": "0.8"}).dedup.threshold == 0.8
