"""Values that are secret by the name they are given to: `.env` and YAML lines, JSON, code, flags, tables, prose."""

from __future__ import annotations

import re
from collections.abc import Iterator

from detectors.secrets.places import Hit, lowered, places
from detectors.secrets.shapes import (
    MARK,
    entropy,
    is_identifier,
    is_ordinary,
    is_path,
    is_placeholder,
    is_random,
    is_reference,
    is_strong,
    is_worded,
)
from detectors.secrets.wrapped import joined_end

_STEMS = tuple(
    """pass pwd secret token credential key mnemonic seed sig _pat pw contrase kennwort salt cookie session sessid
    auth""".split()
)
_NAME = re.compile(r"[A-Za-z0-9_\-.$ñ]{1,60}")
_NAME_BEFORE = re.compile(r"[A-Za-z0-9_\-.$]{0,60}\Z")
_WORD = re.compile(r"[A-Z]+(?![a-zñ])|[A-Z]?[a-zñ]+|\d+")
_SPACED = re.compile(r"(?:(?:[A-Za-z]{3,12}) ){1,2}\Z")

_PASSWORDS = frozenset(
    """password passwd passphrase passcode pwd pass pw passwort kennwort contraseña dbpass dbpwd userpass mysqlpass
    pgpass smtppass mailpass adminpass rootpass requirepass masterauth storepass keypass sudopass""".split()
)
_SESSIONS = frozenset({"jsessionid", "phpsessid", "sessionid", "aspsessionid"})
_QUALIFIERS = frozenset(
    """api access secret private auth authentication authorization signing sign encryption encrypt crypto master account
    service license licence deploy deployment shared session webhook storage admin client app application consumer ssh
    subscription hmac jwt cookie rsa aes secure root user server token integration management write ingest project
    developer personal org organization team bot billing payment merchant security vault backup ca
    tls ssl pem""".split()
)
# A name that ends in one of these means something else than the secret itself.
_OTHER_LAST = frozenset(
    """count counts limit limits type types name names file files filename path paths url urls uri endpoint length len
    size format expiry expires expiration ttl in field fields input inputs label prefix suffix usage budget version
    policy manager provider store service handler helper util utils list map index column required enabled rotation
    validator hint help reset min max strength rules placeholder title error errors message status class id ids at env
    var ref reference source arn alg algorithm scheme method used hash digest fingerprint checksum changed event press
    down up code codes user username protector file dir directory tokens keys secrets passwords exists missing valid
    set""".split()
)
_OTHER_BEFORE_TOKEN = frozenset(
    """max min num total input output prompt completion cached cache reasoning thinking next prev previous page eos bos
    pad unk special cancellation per first last current peek continuation sync nb stop mask cls sep""".split()
)
_OTHER_BEFORE_KEY = frozenset(
    """public primary foreign sort partition cache map dict translation react row object data group unique composite
    idempotency i18n hot short arrow query route state event lookup dedupe dedup bundle redis index natural surrogate
    storage_path field json config prop shadow""".split()
)
_AFTERTHOUGHTS = frozenset(
    """value raw plain base64 b64 encoded text str string prod production dev development staging stage test live old
    new primary secondary main default v1 v2 hex data here base""".split()
)

_QUOTE = r"(?:\\{0,6}(?:\"\"\"|'''|[\"'`])|%2[27]|&quot;|&#3[49];)"
# What may stand between a name and its value: an assignment, `is`, a table's bar, a `value:` beside a `name:`.
_SEP = (
    r"\s{0,8}(?:=>|->|\u2192|:=|={1,3}|!={1,2}|::?|,|\(|\||%3[AD])"
    r"|\s{1,3}(?:is|was|are)\s{0,2}:?(?=\s)|'s(?=\s)"
)
_PAIRED = rf"(?:\s{{0,4}},\s{{0,40}}|\s{{1,40}}){_QUOTE}?[vV]alue{_QUOTE}?\s{{0,4}}[:=]"
_TAIL = re.compile(
    rf"(?P<closing>\*{{0,2}}{_QUOTE}?\*{{0,2}})[\])]?"
    r"(?:(?P<of>\s(?:for|of|to|on|at|in)\s[\w.@' -]{1,40}?)?"
    rf"(?P<sep>(?P<paired>{_PAIRED})|{_SEP})"
    rf"(?:[ \t]{{0,8}}[|>][+-]?[ \t]{{0,4}}\n[ \t]{{1,40}}|\s{{0,60}}(?={_QUOTE})|[ \t]{{0,8}})"
    r"|(?P<xml>>)|(?P<gap>[ \t]{1,4}))"
    r"(?:(?:str|string|String|SecretStr|bytes)(?:\s{0,2}\|\s{0,2}None)?\s{0,3}=\s{0,3})?"
    rf"(?:[@bfru]{{1,2}}(?={_QUOTE}))?(?P<quote>{_QUOTE})?"
)
# Names looked at in one run without spaces or quotes: an address has a few; crafted text has as many as it likes.
_NAMES_IN_A_RUN = 24
_BARE = re.compile(r"[^\s\"'`<>\\]{1,600}")
_LINE = re.compile(r"[^\n\\\"']{1,200}")
_LINE_START = re.compile(
    r"(?:^|\n|\\n|;)[ \t\->|+]{0,12}(?:\d{1,6}[\u2192\t|:] ?)?(?:export |setx? |ENV |ARG |\$env:|-e |--env )?[\"']?\Z"
)
_NEAR = re.compile(
    r"s?[\"'`*]{0,2}(?:[ \t]{1,2}[a-z]{1,12}(?![^\s:=])){0,4}[ \t]{0,2}(?:[:=(-]|->|\u2192)?[ \t]{0,3}\n{0,2}[ \t]{0,8}"
    r"[\"'`*(<]{0,3}"
    r"(?P<v>[A-Za-z0-9+/_\-.~]{16,400}={0,2})"
)


def find_named(text: str) -> Iterator[Hit]:
    """Values given to a name that says they are secret, and random text a few words behind a strong key word."""
    low = lowered(text)
    last, run_end, tries = -1, 0, 0
    for at in sorted(set(places(low, _STEMS))):
        if at < last:
            continue
        if at >= run_end:
            run = _BARE.match(text, at)
            run_end, tries = run.end() if run else at, 0
        tries += 1
        if tries > _NAMES_IN_A_RUN:
            continue
        name = _NAME.match(text, at - len(_before(text, at)))
        if name is None:
            continue
        last = name.end()
        hit = _named(text, name)
        if hit is not None:
            yield hit


def _before(text: str, at: int) -> str:
    match = _NAME_BEFORE.search(text, max(0, at - 60), at)
    return match[0] if match else ""


def _named(text: str, name: re.Match[str]) -> Hit | None:
    start, end = name.start(), name.start() + len(name[0].rstrip(".-$"))
    if end - start > 24 and is_random(text[start:end], 24):
        return None  # a piece of base64 that happens to end in such a word
    phrase = text[max(start, end - 6) : end].lower().endswith(("key", "phrase", "secret"))
    spaced = _SPACED.search(text, max(0, start - 26), start) if phrase else None
    family = family_of(words_of((spaced[0] if spaced else "") + text[start:end]))
    if not family:
        return None
    tail = _TAIL.match(text, end)
    hit = _value(text, start, end, family, tail) if tail else None
    if hit is None and family != "seed-phrase" and text[start:end].lower() != "pass":
        near = _NEAR.match(text, end)
        value = near["v"].rstrip(".") if near else ""
        if near and _is_exposed(value) and (family != "weak-key" or len(value) >= 32):
            return "high-entropy", near.start("v"), near.start("v") + len(value)
    return hit


def _is_exposed(value: str) -> bool:
    """Whether text near a key word, bound to it by nothing but place, is random enough to be the secret."""
    if not is_random(value, 16) or (sum(map(str.isdigit, value)) < 2 and re.search(r"[_.~-]", value)):
        return False
    return not (is_ordinary(value) or is_placeholder(value) or is_reference(value))


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name in any style, in lower case: `clientSecret`, `DB_PASSWORD_2`, `X-Api-Key`."""
    return tuple(word.lower() for word in _WORD.findall(name))


def family_of(words: tuple[str, ...]) -> str:
    """What a name promises: `password`, `secret`, `token`, `seed-phrase`, `weak-key`; else ""."""
    while len(words) > 1 and (words[-1] in _AFTERTHOUGHTS or words[-1].isdigit()):
        words = words[:-1]
    if not words or (words[-1] in _OTHER_LAST and words[-2:] != ("sas", "url")):
        return ""
    last, before = words[-1], frozenset(words[:-1])
    if last in _PASSWORDS or last.endswith(("password", "passwd", "passphrase", "passwort")):
        return "password"
    if words[-2:] == ("redis", "auth") or last in _SESSIONS:
        return "password" if last == "auth" else "weak-key"
    if last == "mnemonic" or words[-2:] == ("seed", "phrase"):
        return "seed-phrase"
    if last.endswith(("secret", "credential", "credentials")):
        return "secret"
    if last.endswith("token") or last in {"pat", "authtoken"}:
        return "" if before & _OTHER_BEFORE_TOKEN else "token"
    if last.endswith("key"):
        if before & _OTHER_BEFORE_KEY or last in {"hotkey", "monkey", "turkey", "pubkey", "publickey", "donkey"}:
            return ""
        strong = before & _QUALIFIERS or (last != "key" and last.removesuffix("key") in _QUALIFIERS)
        return "secret" if strong else "weak-key"
    return "weak-key" if last in {"sig", "signature", "salt", "cookie", "session", "auth", "sid"} else ""


def _value(text: str, start: int, end: int, family: str, tail: re.Match[str]) -> Hit | None:
    if not _is_bound(text, start, family, tail):
        return None
    quote = tail["quote"] or ""
    at = tail.end()
    env_line = _is_env(text, start, tail)
    if quote:
        stop = _closing(text, at, quote)
    elif "phrase" in text[start:end].lower() and (line := _LINE.match(text, at)) and (env_line or _is_phrase(line[0])):
        stop = line.end()
    else:
        stop = _bare_end(text, at, start, env_line)
    value = text[at:stop]
    if not _is_secret(value, family, bool(quote or tail["xml"]), env_line):
        return None
    if tail["gap"] and not _is_flag(text, start) and not (family == "password" and is_strong(value)):
        return None
    if family != "password" and is_random(value):
        stop = joined_end(text, stop)
    return family, at, stop


def _is_env(text: str, start: int, tail: re.Match[str]) -> bool:
    """Whether this is an environment variable's line: `NAME=value` without spaces, in capitals or at a line's start."""
    if tail["sep"] not in {"=", "=="} or text[tail.end("sep") : tail.end("sep") + 1].isspace():
        return False
    name = text[start : tail.start()]
    return name.isupper() or _LINE_START.search(text, max(0, start - 40), start) is not None


def _is_bound(text: str, start: int, family: str, tail: re.Match[str]) -> bool:
    """Whether what stands between the name and the value binds the one to the other."""
    sep = (tail["sep"] or "").strip()
    before = text[max(0, start - 60) : start]
    if text[start : tail.start()].lower() == "pass" and not (sep == "=" or tail["closing"] or before.endswith("--")):
        return False  # a test's result, or the verb
    if tail["paired"]:
        return re.search(r"(?i)\b(?:name|key)[\"']{0,2}\s{0,4}[:=]\s{0,4}\\{0,6}[\"']?\Z", before) is not None
    if tail["xml"]:
        return not tail["quote"] and (before.endswith("<") or bool(tail["closing"] and "name=" in before))
    if tail["gap"]:
        return not tail["closing"]
    if sep == "'s" and tail["of"]:
        return False
    if sep == ",":
        return bool(tail["quote"] and tail["closing"]) and re.search(r"\(\s{0,20}[\"'`]\Z", before) is not None
    if sep == "(":
        return bool(tail["quote"])
    if sep == "|":
        return "|" in text[text.rfind("\n", 0, start) + 1 : start]
    return not tail["of"] or family == "password" or sep in {"is", ":", "="}


def _is_flag(text: str, start: int) -> bool:
    """Whether the name is a flag, or follows a login as in `.netrc`: then a space binds the value to it."""
    before = text[max(0, start - 60) : start]
    if before.endswith("--") or text.startswith("--", start):
        return True
    return re.search(r"\blogin\s{1,4}\S{1,40}\s{1,4}\Z", before) is not None


def _is_phrase(line: str) -> bool:
    return re.fullmatch(r"(?:[a-z]{3,12}[ -]){3,11}[a-z]{3,12}", line.strip()) is not None


def _closing(text: str, start: int, quote: str) -> int:
    """Where a quoted value ends: before the same quote on the same line, at most 2,000 characters on."""
    limit = min(len(text), start + 2000)
    line = text.find("\n", start, limit)
    limit = line if line >= 0 else limit
    end = text.find(quote, start, limit)
    while end > start and text[end - 1] == "\\" and not quote.startswith("\\"):  # an escaped quote inside the value
        end = text.find(quote, end + 1, limit)
    return end if end >= 0 else limit


def _bare_end(text: str, start: int, name_start: int, env_line: bool) -> int:
    match = _BARE.match(text, start)
    if match is None:
        return start
    value = match[0]
    if text[max(0, name_start - 1) : name_start] in {"?", "&"}:
        value = re.split("[&#;]", value, maxsplit=1)[0]
    elif not env_line:
        value = re.split(r";(?=[\w ]{1,40}=|\Z)|\|(?=\Z)|&(?=\w{1,40}=)", value, maxsplit=1)[0]
    return start + len(value.rstrip(",;)]}.:|"))


def _is_secret(value: str, family: str, quoted: bool, env_line: bool) -> bool:
    if len(value) < 4 or is_placeholder(value, password=family == "password") or MARK.search(value):
        return False
    if not quoted and is_reference(value) and not (env_line and value[-1] not in ")]"):
        return False
    if family == "seed-phrase":
        return len(re.findall(r"\b[a-z]{3,8}\b", value)) >= 11
    if family == "password":
        return _is_password(value, quoted, env_line)
    if any(c.isspace() for c in value) or is_identifier(value) or is_worded(value) or "://" in value or is_path(value):
        return False
    if family == "weak-key":
        return len(value) >= 20 and is_random(value, 16) and not is_ordinary(value)
    if is_random(value, 16):
        return True
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    if env_line:
        return mixed and len(value) >= 8
    return len(value) >= 10 and mixed and (is_random(value, 8) or (quoted and entropy(value) >= 3.0))


def _is_password(value: str, quoted: bool, env_line: bool) -> bool:
    """A password may be any text, so the place decides: an `.env` line, quotes, or a digit or sign among letters."""
    if env_line:
        return True
    spaced = value.count(" ")
    if quoted:
        strong = any(c.isdigit() for c in value) or not value.replace(" ", "").isalpha()
        return not spaced or (spaced <= 5 and strong and not value.rstrip().endswith((".", "?", "!", ":")))
    if is_path(value) or (value.isdigit() and len(value) < 6):
        return False
    if is_identifier(value) and not any(c.isdigit() for c in value):
        return False
    return any(c.isalnum() for c in value) and not value.endswith(("()", "[]"))
