"""Settings: defaults, config.yaml, environment; and errors that say where."""

from __future__ import annotations

from pathlib import Path

import pytest

from index.errors import SettingsError
from index.settings import Settings, read_settings


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
        ("decay: {stale_days: many}", "decay: stale_days: wanted a number, found 'many'"),
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
