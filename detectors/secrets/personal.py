"""Personal data: mail addresses, user names in home paths, private hosts and addresses. Off unless asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from detectors.secrets.places import Hit

_MAIL = re.compile(
    r"(?<![\w.+%-])[A-Za-z0-9][\w.+%-]{0,63}@(?=[\w.-]{3,255})(?:[A-Za-z0-9-]{1,63}\.){1,6}[A-Za-z]{2,24}\b"
)
_KEPT_MAIL = re.compile(
    r"^(?:git|noreply|no-reply|postmaster|example|user|test|you|name|me)@|@(?:[\w-]+\.)*example\.|@users\.noreply\.",
    re.IGNORECASE,
)
_HOME = re.compile(
    r"(?:/home/|/Users/|/var/home/|[A-Za-z]:(?:\\{1,4}|/)Users(?:\\{1,4}|/))(?P<user>[^\s/\\:\"'<>|]{1,64})"
)
_SHARED_HOMES = frozenset(
    {"shared", "public", "runner", "user", "username", "me", "you", "<user>", "vscode", "node", "app"}
)
_IPV4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]\d|\d|\.\d)")
_HOST = re.compile(
    r"(?<![\w.@-])(?:[A-Za-z0-9-]{1,63}\.){1,5}(?:internal|corp|intranet|lan|local|home|private|intra)(?![\w-]|\.\w)"
)
_OPEN_IPS = ("127.", "0.0.0.0", "255.", "1.1.1.1", "8.8.", "192.0.2.", "198.51.100.", "203.0.113.", "169.254.")  # noqa: S104


def find_personal(text: str) -> Iterator[Hit]:
    """Kind, start and end of personal data. A `home` hit is replaced by `~`, the others by a mark."""
    if "@" in text:
        for match in _MAIL.finditer(text):
            if not _KEPT_MAIL.search(match[0]):
                yield "mail", *match.span()
    for match in _HOME.finditer(text) if ("/home/" in text or "Users" in text) else ():
        if match["user"].lower() not in _SHARED_HOMES:
            yield "home", *match.span()
    for match in _IPV4.finditer(text):
        if _is_address(match[0]) and not match[0].startswith(_OPEN_IPS):
            yield "ip", *match.span()
    for match in _HOST.finditer(text):
        yield "host", *match.span()


def _is_address(text: str) -> bool:
    parts = [int(part) for part in text.split(".")]
    return all(part < 256 for part in parts) and parts[0] > 0
