"""The agents whose hooks hotwash can install, by name."""

from __future__ import annotations

from flows.install import claude_code
from flows.install.base import Installer

INSTALLERS: dict[str, Installer] = {
    "claude-code": claude_code.INSTALLER,
}
