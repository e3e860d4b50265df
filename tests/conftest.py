"""Shared fixtures. Tests never touch the real home: every one of them gets a home of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is no fault of the law that a property test holds. The ordinary suite takes the same examples each
# time, so that a change is judged by what it changes; `HYPOTHESIS_PROFILE=search` looks for new ones.
settings.register_profile("hotwash", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "hotwash"))


# What the nightly suite may take for one case; the ordinary one's limit stands in pyproject.toml.
NIGHTLY_SECONDS = 3 * 3600


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All kill points of a pass take longer than any ordinary test may."""
    for item in items:
        if item.get_closest_marker("nightly") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(NIGHTLY_SECONDS))


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder for this test alone, and no HOTWASH_* variable of the machine's."""
    home = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name.startswith("HOTWASH_")]:
        if name not in ("HOTWASH_CORPORA", "HOTWASH_TEST_MODEL", "HOTWASH_UPDATE_README"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "HERMES_HOME", "XDG_DATA_HOME", "OPENCODE_DB"):
        monkeypatch.delenv(name, raising=False)
    return home
