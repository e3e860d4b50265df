"""The agents whose hooks hotwash can install, by name."""

from __future__ import annotations

from flows.install import claude_code, codex, cursor, gemini, hermes, opencode
from flows.install.base import Installer

INSTALLERS: dict[str, Installer] = {
    installer.agent: installer
    for installer in (
        claude_code.INSTALLER,
        codex.INSTALLER,
        hermes.INSTALLER,
        gemini.INSTALLER,
        cursor.INSTALLER,
        opencode.INSTALLER,
    )
}
