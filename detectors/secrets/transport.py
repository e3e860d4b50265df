"""Secrets on their way: headers, cookies, connection strings, signed addresses."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from detectors.secrets.places import Hit, lowered, places
from detectors.secrets.shapes import is_identifier, is_placeholder, is_random, is_reference, is_worded

_HEADER = re.compile(
    r"\\{0,6}[\"'`]?\s{0,3}(?:[:=,]|=>)\s{0,3}[fb]?\\{0,6}[\"'`]?\s{0,2}"
    r"(?P<scheme>(?i:bearer|basic|token|apikey|api-key|digest|negotiate|key|bot|splunk|sso-key|oauth|aws4-hmac-sha256)\s{1,3})?"
    r"(?P<v>[^\s\"'`\\<>]{4,4000})"
)
_BEARER = re.compile(r"[ \t]{1,3}(?P<v>[A-Za-z0-9_\-.~+/]{12,4000}={0,2})")
_BASIC = re.compile(r"[ \t]{1,3}(?P<v>[A-Za-z0-9+/]{8,1000}={0,2})(?![A-Za-z0-9])")
_COOKIE = re.compile(r"\\{0,6}[\"'`]?\s{0,3}(?:[:=,]|=>)\s{0,3}\\{0,6}[\"'`]?(?P<v>[^\r\n\"'`\\]{3,4000})")
_COOKIE_FLAG = re.compile(r"[ =]{1,2}[\"']?(?P<v>[^\r\n\"'\\]{3,4000})")
_CRUMB = re.compile(r"(?P<name>[\w!#$%&*+.^|~\-]{1,80})=(?P<v>[^;,\s\"'\\]{1,4000})")
_COOKIE_ATTRIBUTES = frozenset({"path", "domain", "expires", "max-age", "samesite", "version", "priority"})

_LOGIN = re.compile(
    r"://(?P<user>[^\s:/?#@\"'`<>\\]{0,100}):(?P<v>[^\s\"'`<>\\/?#]{1,300})@(?=[^\s/@]{1,255})"
    r"|://(?P<u>[^\s:/?#@\"'`<>\\]{14,300})(?::x-oauth-basic)?@(?=[\w.\-]{3,255})"
)
_QUERY = re.compile(
    r"(?i:(?:amp;)?(?P<name>X-Amz-(?:Signature|Credential|Security-Token)|X-Goog-(?:Signature|Credential)|AWSAccessKeyId"
    r"|GoogleAccessId|Signature|sig|hdnts|hmac|(?:access_|refresh_|id_|auth_|session_)?token|auth|api_?key|apikey"
    r"|subscription-key|key|(?:client_)?secret|password|pwd|pass|passwd|code|session|sessionid|sid|jwt|assertion|Policy|Key-Pair-Id))="
    r"(?P<v>[^\s&\"'`<>\\#;]{6,4000})"
)
_LOOSE_QUERY = frozenset(
    {"code", "key", "session", "sessionid", "sid", "auth", "token", "pass", "policy", "hmac", "key-pair-id"}
)


def find_headers(text: str) -> Iterator[Hit]:
    """Authorization headers, bearer and basic credentials, and the values of cookies."""
    low = lowered(text)
    for at in places(low, ("authorization",)):
        match = _HEADER.match(text, at + len("authorization"))
        if match and (match["scheme"] or is_random(match["v"], 12)):
            yield from _literal("authorization", match, ",;)]}")
    for at in places(low, ("bearer",)):
        match = _BEARER.match(text, at + len("bearer"))
        if match and is_random(match["v"], 10):
            yield from _literal("authorization", match, ".")
    for at in places(low, ("basic",)):
        match = _BASIC.match(text, at + len("basic"))
        if match and holds_login(match["v"]):
            yield "authorization", *match.span("v")
    done = 0
    for at in places(low, ("cookie",)):
        match = _COOKIE.match(text, at + 6) or _COOKIE_FLAG.match(text, at + 6) if at >= done else None
        if match:
            done = match.end()
            yield from _crumbs(match)
    for at in places(text, (" -b ",)):
        if "curl" in text[max(0, at - 300) : at]:
            match = _COOKIE_FLAG.match(text, at + 3)
            yield from _crumbs(match) if match else ()


def _literal(kind: str, match: re.Match[str], trailing: str) -> Iterator[Hit]:
    """The match's value, if it is written out and neither a placeholder nor code that fetches it."""
    value = match["v"].rstrip(trailing)
    if len(value) >= 3 and not (is_placeholder(value) or is_reference(value) or is_identifier(value)):
        yield kind, match.start("v"), match.start("v") + len(value)


def _crumbs(match: re.Match[str]) -> Iterator[Hit]:
    for crumb in _CRUMB.finditer(match.string, match.start("v"), match.end("v")):
        value = crumb["v"]
        if crumb["name"].lower() in _COOKIE_ATTRIBUTES or len(value) < 6:
            continue
        if not (is_placeholder(value) or is_reference(value) or is_identifier(value)):
            yield "cookie", *crumb.span("v")


def holds_login(value: str) -> bool:
    """Whether base64 text decodes to `user:password`."""
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4)).decode("utf-8")
    except (binascii.Error, ValueError):
        return False
    return ":" in plain and plain.isprintable()


def find_addresses(text: str) -> Iterator[Hit]:
    """Passwords in connection strings; tokens and signatures in the query of an address."""
    if "@" in text:
        for at in places(text, ("://",)):
            match = _LOGIN.match(text, at)
            if match and match["u"] and is_random(match["u"], 14):
                yield "connection-password", *match.span("u")
            elif match and match["v"] and not is_placeholder(match["v"], password=True):
                yield "connection-password", *match.span("v")
    done = {"?": 0, "&": 0}
    for at in places(text, done):
        match = _QUERY.match(text, at + 1) if at >= done[text[at]] else None
        if match is None:
            continue
        done[text[at]] = match.end()
        if is_worded(match["v"]):
            continue
        if match["name"].lower() not in _LOOSE_QUERY or is_random(match["v"], 10):
            yield from _literal("signed-url", match, ").,]}")
