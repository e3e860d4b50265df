"""Secrets given to a command, a statement or a call: flags, pipes, SQL, files of logins, a login and its password."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from detectors.secrets.places import Hit, lowered, places
from detectors.secrets.shapes import is_placeholder, is_random, is_reference, is_strong
from detectors.secrets.transport import holds_login

_BARE = r"\\{0,3}[\"']?(?P<v>[^\s\"'\\]{4,400})"


@dataclass(frozen=True, slots=True)
class _Rule:
    """A command's flag: a word that must be there, the command as it stands before the flag, flags, and the value."""

    words: tuple[str, ...]
    before: re.Pattern[str] | None
    flags: tuple[str, ...]
    value: re.Pattern[str]


def _rule(words: str, before: str, flags: tuple[str, ...], value: str = _BARE) -> _Rule:
    return _Rule(tuple(words.split("|")), re.compile(before) if before else None, flags, re.compile(value))


_RULES = (
    _rule("mysql|mariadb|mycli", r"\b(?:mysql\w{0,20}|mariadb[\w-]{0,20}|mycli)\b", (" -p",),
          r"=?\\{0,3}[\"']?(?P<v>[^\s\"'\\]{3,200})"),
    _rule("sshpass", r"\bsshpass\s{0,3}\Z", (" -p",), r"\s{0,3}\\{0,3}[\"']?(?P<v>[^\s\"'\\]{2,200})"),
    _rule("docker|podman|helm|oras|nerdctl|skopeo|buildah|crane|az |mongo|oc |unzip",
          r"\b(?:docker|podman|helm|oras|nerdctl|skopeo|buildah|crane|az|mongo\w{0,12}|oc|unzip)\b",
          (" -p ", " -P ", " -w ", " -p=")),
    _rule("curl|wget|http|xh |hub|git", r"\b(?:curl|wget|httpie?|https?|xh|hub|git)\b",
          (" -u", " --user", " -a ", " --auth", " --proxy-user"),
          r"[ =]{0,2}\\{0,3}[\"']?[^\s:\"'\\]{0,100}:(?P<v>[^\s\"'\\]{1,200})"),
    _rule("zip|useradd|usermod", r"\b(?:zip|useradd|usermod)\b", (" -P ", " -p ")),
    _rule("openssl|ssh-keygen", r"\b(?:openssl|ssh-keygen)\b", (" -k ", " -N ", " -P ")),
    _rule("htpasswd", r"\bhtpasswd\b", (" -b", " -nb"),
          r"\w{0,4}\s{1,3}\S{1,200}\s{1,3}(?:\S{1,80}\s{1,3})?\\{0,3}[\"']?(?P<v>[^\s\"'\\]{4,200})"),
    _rule("smbclient|mount", r"\b(?:smbclient|mount)\b", (" -U", "username="),
          r"[ =]{0,2}\\{0,3}[\"']?[^\s%\"']{1,80}%(?P<v>[^\s\"'\\]{3,200})"),
    _rule("secret", r"\bsecrets?\b", (" --body ", " -b ", " --value ", " --secret-string ")),
    _rule("put-parameter", r"\bput-parameter\b", (" --value ",)),
    _rule("vault ", r"\bvault\b.{0,100}\b(?:put|write)\b", (" ",),
          r"[\w.-]{1,60}=\\{0,3}[\"']?(?P<v>[^\s\"'\\]{6,400})"),
    _rule("net use", r"\bnet use\b", (" /user:",), r"\S{1,80}\s{1,3}(?P<v>[^\s\"']{4,100})"),
    _rule("redis-cli|redli", r"\b(?:redis-cli|redli)\b", (" -a ", " --pass ")),
    _rule("pass:", "", ("pass:",), r"(?P<v>[^\s\"'\\]{3,200})"),
    _rule(" --pass| --token| --api| --sec| --acc| --auth| --client-s| --priv", "",
          (" --password", " --passwd", " --pass", " --token", " --api-key", " --apikey", " --secret", " --access-token",
           " --auth-token", " --client-secret", " --secret-key", " --private-key"), r"[ =]{1,2}" + _BARE),
)  # fmt: skip
# A login and its password side by side, in a call or in words.
_CALLS = ("auth=(", "auth = (", "basic_auth(", "basicauth(", "login(", "authenticate(", "sign_in(", "signin(")
_CALL = re.compile(
    r"[^(]{0,14}\(\s{0,20}[bfu]?\\{0,3}[\"'](?P<first>[^\"'\n\\]{1,400})\\{0,3}[\"']"
    r"(?:\s{0,3},\s{0,20}[bfu]?\\{0,3}[\"'](?P<v>[^\"'\n\\]{4,200})\\{0,3}[\"'])?"
)
_SIGNS = (".sign(", ".verify(")
_SIGN = re.compile(r"\.\w{4,6}\([^\n()]{1,80},\s{0,4}\\{0,3}[\"'](?P<v>[^\s\"'\n\\]{12,400})\\{0,3}[\"']")
_LOGIN_WORDS = ("login", "log in", "credential", "creds", "sign in")
_LOGIN_PAIR = re.compile(
    r"(?:log ?in|credentials?|creds|sign in)\b[^\n:,]{0,20}?[ :][\w.@+-]{2,60}\s?[:/]\s?"
    r"(?P<v>[^\s\"'`<>.(\[{][^\s\"'`<>]{7,100})",
    re.IGNORECASE,
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


def find_in_commands(text: str) -> Iterator[Hit]:
    """Passwords and tokens given to a command or a statement: `-p`, `-u user:`, `--password`, `IDENTIFIED BY`."""
    for rule in _RULES:
        if any(word in text for word in rule.words):
            for flag in rule.flags:
                yield from _flagged(rule, flag, text)
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
        setting = _NPMRC.match(text, at)
        if setting:
            yield from _argument(setting)
    for at in places(text, ("auth", "client-key-data", "id-token", "refresh-token", "identitytoken")):
        entry = _DATA.match(text, at)
        if entry and (is_random(entry["v"], 12) or holds_login(entry["v"])):
            yield from _argument(entry)


def _flagged(rule: _Rule, flag: str, text: str) -> Iterator[Hit]:
    for at in places(text, (flag,)):
        match = rule.value.match(text, at + len(flag))
        if match and (rule.before is None or rule.before.search(_line_before(text, at))):
            yield from _argument(match)


def find_logins(text: str) -> Iterator[Hit]:
    """A password beside its login: `auth=("me", "...")`, `login as me: ...`; a secret that a call signs with."""
    low = lowered(text)
    for at in places(low, _CALLS):
        match = _CALL.match(text, at)
        if match and match["v"]:
            yield from _password(match, "v")
        elif match and is_random(match["first"], 12):
            yield from _password(match, "first")
    for at in places(low, _SIGNS):
        match = _SIGN.match(text, at)
        if match and is_random(match["v"], 12):
            yield from _password(match, "v")
    for at in places(low, _LOGIN_WORDS):
        match = _LOGIN_PAIR.match(text, at)
        if match and is_strong(match["v"].rstrip(",;).")):
            yield from _password(match, "v")


def _password(match: re.Match[str], group: str) -> Iterator[Hit]:
    value = match[group].rstrip(",;).")
    if not is_placeholder(value, password=True) and not is_reference(value):
        yield "login-password", match.start(group), match.start(group) + len(value)


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
