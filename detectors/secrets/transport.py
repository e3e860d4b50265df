"""Secrets on their way: headers, cookies, connection strings, signed addresses, arguments of commands."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from detectors.secrets.places import Hit, lowered, places
from detectors.secrets.shapes import is_identifier, is_placeholder, is_random, is_reference, is_strong, is_worded

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

# For each: what must be on the line before the flag, the flags, and the value behind the flag.
_ARGUMENTS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (r"\b(?:mysql\w{0,20}|mariadb[\w-]{0,20}|mycli)\b", (" -p", " --password="),
     r"=?\\{0,3}[\"']?(?P<v>[^\s\"'\\]{3,200})"),
    (r"\bsshpass\s{1,3}\Z|\bsshpass\Z", ("-p", " -p"), r"\s{0,3}\\{0,3}[\"']?(?P<v>[^\s\"'\\]{2,200})"),
    (r"\b(?:docker|podman|helm|oras|nerdctl|skopeo|buildah|crane|az|mongo\w{0,12}|oc|unzip)\b",
     (" -p ", " -P ", " -w ", " -p="), r"\\{0,3}[\"']?(?P<v>[^\s\"'\\]{4,200})"),
    (r"\b(?:curl|wget|httpie?|https?|xh|hub|git)\b", (" -u", " --user", " -a ", " --auth", " --proxy-user"),
     r"[ =]{0,2}\\{0,3}[\"']?[^\s:\"'\\]{0,100}:(?P<v>[^\s\"'\\]{1,200})"),
    (r"\b(?:zip|useradd|usermod|chpasswd)\b", (" -P ", " -p "), r"\\{0,3}[\"']?(?P<v>[^\s\"'\\]{4,200})"),
    (r"\bopenssl\b|\bssh-keygen\b", (" -k ", " -N ", " -P "), r"\\{0,3}[\"']?(?P<v>[^\s\"'\\]{4,200})"),
    (r"\bhtpasswd\b", (" -b", " -nb"),
     r"\w{0,4}\s{1,3}\S{1,200}\s{1,3}(?:\S{1,80}\s{1,3})?\\{0,3}[\"']?(?P<v>[^\s\"'\\]{4,200})"),
    (r"\bsmbclient\b|\bmount\b", (" -U", "username="),
     r"[ =]{0,2}\\{0,3}[\"']?[^\s%\"']{1,80}%(?P<v>[^\s\"'\\]{3,200})"),
    (r"\bsecrets?\b", (" --body ", " -b ", " --value ", " --secret-string "),
     r"\\{0,3}[\"']?(?P<v>[^\s\"'\\]{4,400})"),
    (r"\bput-parameter\b", (" --value ",), r"\\{0,3}[\"']?(?P<v>[^\s\"'\\]{4,400})"),
    (r"\bvault\b.{0,100}\b(?:put|write)\b", (" ",), r"[\w.-]{1,60}=\\{0,3}[\"']?(?P<v>[^\s\"'\\]{6,400})"),
    (r"\bnet use\b", (" /user:",), r"\S{1,80}\s{1,3}(?P<v>[^\s\"']{4,100})"),
    (r"\bredis-cli\b|\bredli\b", (" -a ", " --pass "), r"\\{0,3}[\"']?(?P<v>[^\s\"'\\]{3,200})"),
    (r"", ("pass:",), r"(?P<v>[^\s\"'\\]{3,200})"),
    (r"", (" --password", " --passwd", " --pass", " --token", " --api-key", " --apikey", " --secret", " --access-token",
           " --auth-token", " --client-secret", " --secret-key", " --private-key"),
     r"[ =]{1,2}\\{0,3}[\"']?(?P<v>[^\s\"'\\]{4,400})"),
)  # fmt: skip
_ARGUMENT_RULES = tuple((re.compile(before), flags, re.compile(value)) for before, flags, value in _ARGUMENTS)
# A login and its password side by side, in a call or in words.
_PAIR = re.compile(
    r"(?i:\bauth\s?=\s?\(|basic_?auth\(|\blogin\(|authenticate\(|sign_?in\()\s{0,20}[bfu]?\\{0,3}[\"'][^\"'\n\\]{1,80}\\{0,3}[\"']"
    r"\s{0,3},\s{0,20}[bfu]?\\{0,3}[\"'](?P<v>[^\"'\n\\]{4,200})\\{0,3}[\"']"
    r"|(?i:\b(?:log ?in|credentials?|creds|sign in)\b)[^\n:,]{0,20}?[ :][\w.@+-]{2,60}\s?[:/]\s?"
    r"(?P<w>[^\s\"'`<>.(\[{][^\s\"'`<>]{7,100})"
)
_LOGIN_CALL = re.compile(
    r"(?i:\b(?:jwt\.(?:sign|verify)|sign)\([^\n()]{1,80},|\.(?:login|authenticate)\()\s{0,4}\\{0,3}[\"'](?P<v>[^\s\"'\n\\]{12,400})\\{0,3}[\"']"
)
# The word for password in other languages.
_FOREIGN = re.compile(
    r"(?i:mot de passe|senha|пароль|密码|密碼|口令|パスワード|비밀번호|wachtwoord|parola|hasło|lösenord|şifre)"
    r"\s{0,2}(?:[:：=]|est|es|é|ist|è|は|是|为|為)\s{0,2}[\"'`«「]?(?P<v>[^\s\"'`»」。，]{4,100})"
)
_FOREIGN_HINTS = ("asse", "enha", "арол", "密", "口令", "パス", "비밀", "wachtw", "arola", "hasło", "lösen", "ifre")
_PIPED = re.compile(
    r"\becho\s{1,3}(?:-n\s{1,3})?\\?[\"']?(?P<v>[^\s\"'\\|$]{4,300})\\?[\"']?\s{0,3}\|[^\n|]{0,120}"
    r"(?:--password-stdin|sudo -S|passwd|chpasswd|--stdin|secret put|secret set|env add|login)"
)
_SQL = re.compile(
    r"(?i:\bidentified\s{1,3}(?:with\s{1,3}\w{1,40}\s{1,3})?(?:by|as)|\bpassword)\s{1,3}\\?['\"](?P<v>[^'\"\\\n]{3,200})\\?['\"]"
)
_PGPASS = re.compile(r"(?m)^[\w.*\-]{1,120}:(?:\d{2,5}|\*):[\w*\-]{1,60}:[\w*\-]{1,60}:(?P<v>[^\s:]{4,200})$")
_NPMRC = re.compile(r"_(?:auth|authToken|password)\s{0,2}=\s{0,2}\\?[\"']?(?P<v>[^\s\"'\\]{6,1000})")
_DATA = re.compile(
    r"(?:auth|client-key-data|id-token|refresh-token|identitytoken)\\{0,6}\"?\s{0,2}:\s{0,2}\\{0,6}\"?(?P<v>[A-Za-z0-9+/._\-]{12,20000}={0,2})"
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


def find_in_commands(text: str) -> Iterator[Hit]:
    """Passwords and tokens given to a command or a statement: `-p`, `-u user:`, `--password`, `IDENTIFIED BY`."""
    likely = " -" in text or "pass:" in text or "vault" in text or " /user:" in text
    for before, flags, value in _ARGUMENT_RULES if likely else ():
        for flag in flags:
            for at in places(text, (flag,)):
                match = value.match(text, at + len(flag))
                if match and (not before.pattern or before.search(_line_before(text, at))):
                    yield from _argument(match)
    if "ogin" in text or "auth" in text or "Auth" in text or "red" in text or "ign" in text:
        yield from _pairs(text)
    if any(hint in text for hint in _FOREIGN_HINTS):
        for match in _FOREIGN.finditer(text):
            if not match["v"].isalpha():
                yield from _argument(match)
    if "echo" in text:
        yield from _all("command-password", _PIPED, text)
    if "dentified" in text or "DENTIFIED" in text or "assword" in text or "ASSWORD" in text:
        yield from _all("command-password", _SQL, text)
    if "pgpass" in text or ":*:" in text or ":5432:" in text:
        yield from _all("command-password", _PGPASS, text)
    for at in places(text, ("_auth", "_password")):
        match = _NPMRC.match(text, at)
        if match:
            yield from _argument(match)
    for at in places(text, ("auth", "client-key-data", "id-token", "refresh-token", "identitytoken")):
        match = _DATA.match(text, at)
        if match and (is_random(match["v"], 12) or holds_login(match["v"])):
            yield from _argument(match)


def _pairs(text: str) -> Iterator[Hit]:
    for match in _PAIR.finditer(text):
        group = "v" if match["v"] else "w"
        value = match[group].rstrip(",;).")
        if is_placeholder(value, password=True) or is_reference(value) or (group == "w" and not is_strong(value)):
            continue
        yield "login-password", match.start(group), match.start(group) + len(value)
    for match in _LOGIN_CALL.finditer(text):
        if is_random(match["v"], 12) and not is_placeholder(match["v"]):
            yield "login-password", *match.span("v")


def _line_before(text: str, at: int) -> str:
    return text[max(0, at - 400, text.rfind("\n", 0, at)) : at]


def _argument(match: re.Match[str]) -> Iterator[Hit]:
    value = match["v"].rstrip(",;)")
    flag = value.startswith("-") and match.string[match.start("v") - 1] == " "
    if len(value) >= 3 and not flag and not is_placeholder(value, True) and not is_reference(value):
        yield "command-password", match.start("v"), match.start("v") + len(value)


def _all(kind: str, pattern: re.Pattern[str], text: str) -> Iterator[Hit]:
    for match in pattern.finditer(text):
        if not is_placeholder(match["v"], password=True) and not is_reference(match["v"]):
            yield kind, *match.span("v")
