"""Values that are secret by the name beside them: assignments, headers, cookies, commands, connection strings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from detectors.secrets.shapes import (
    MARK,
    entropy,
    is_identifier,
    is_ordinary,
    is_placeholder,
    is_random,
    is_reference,
    is_worded,
)

Hit = tuple[str, int, int]

_KEY_WORD = re.compile(
    r"passw|passphrase|_pass\b|\bpass\b|pwd|secret|token|credential|mnemonic|seed.?phrase"
    r"|(?:api|access|auth|signing|private|encryption|encrypt|master|account|service|license|licence|deploy|shared|session"
    r"|webhook|storage|admin|client|app|consumer|ssh|subscription|hmac|jwt|cookie|rsa|aes|secure|salt|root)[_\- ]?key"
    r"|_key\b|_pat\b|_auth\b|authkey|contrase|passwor|mot.?de.?passe|kennwort|passwort|\bsig\b|signature|_pw\b|\bpw\b|\bkey\b"
)
# What follows a key word when the name goes on to mean something else than the secret itself.
_NO_SECRET_NAME = re.compile(
    r"(?:count|counts|limit|limits|type|types|name|names|file|files|path|paths|url|uri|endpoint|length|len|size|format"
    r"|expiry|expires|expiration|ttl|expires_in|field|fields|input|inputs|label|prefix|suffix|usage|budget|version"
    r"|policy|manager|provider|store|service|handler|helper|util|utils|list|map|index|column|required|enabled|rotation"
    r"|validator|hint|help|reset|min|max|strength|rules|placeholder|title|error|errors|message|status|class|ids?"
    r"|_at|env|env_var|var|ref|reference|source|arn|alg|algorithm|scheme|method|s_used|izer|ize|ization|s_per_\w+)$"
)
_NO_SECRET_START = re.compile(
    r"(?:max|min|num|n|total|input|output|prompt|completion|cached?|cache_read|reasoning|thinking|next|prev|page|eos|bos"
    r"|pad|unk|special|cancellation|csrf_?field|public|primary|foreign|sort|partition|cache|map|dict|translation|react"
    r"|row|object|data|group|unique|composite|idempotency|i18n|hot|short|arrow|press|on|handle|route|query|design)[_\-.]?"
    r"(?:\w*_)?(?:tokens?|keys?)"
)
_NAME_BEFORE = re.compile(r"[A-Za-z0-9_\-.$]{0,40}\Z")
_TAIL = re.compile(
    r"(?P<rest>[A-Za-z0-9_\-.]{0,40})(?P<closing>\\{0,6}[\"'`*]{1,2})?[\])]?"
    r"(?:\s{0,8}(?P<sep>=>|:=|={1,3}|!={1,2}|::?|,|\()\s{0,8}|(?P<is>\s{1,3}(?:is|was|are|=)(?:\s?:)?\s{1,3})|(?P<xml>>)|(?P<gap>[ \t]{1,4}))"
    r"(?:(?:str|string|String|SecretStr|bytes)(?:\s{0,2}\|\s{0,2}None)?\s{0,3}=\s{0,3})?"
    r"(?P<at>[@bfru]{0,2})(?P<quote>\\{0,6}[\"'`]{1,3})?"
)  # fmt: skip
_BARE_VALUE = re.compile(r"[^\s\"'`<>\\]{1,1000}")
_LINE_START = re.compile(
    r"(?:^|\n|\\n)[ \t\-+>|]{0,12}(?:export |set |ENV |ARG |\$env:|-e |--env )?[\"']?[A-Za-z_][\w.\-]{0,60}\Z"
)


def find_assigned(text: str) -> Iterator[Hit]:
    """Values given to a name that says they are secret: `.env` and YAML lines, JSON, code, flags, headers, prose."""
    low = text.lower()
    if len(low) != len(text):  # a few letters lower to two characters; positions must stay
        low = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    for word in _KEY_WORD.finditer(low):
        hit = _assigned(text, low, word.start(), word.end())
        if hit is not None:
            yield hit


def _assigned(text: str, low: str, start: int, end: int) -> Hit | None:
    tail = _TAIL.match(text, end)
    if tail is None:
        return None
    before = _NAME_BEFORE.search(low, max(0, start - 40), start)
    prefix = before[0] if before else ""
    name = prefix + low[start:end] + tail["rest"].lower()
    family = family_of(name, low[start:end])
    if not family or not _separator_fits(text, start - len(prefix), name, tail):
        return None
    quote = tail["quote"] or ""
    value_start = tail.end()
    value_end = _closing(text, value_start, quote) if quote else _bare_end(text, value_start, start - len(prefix))
    value = text[value_start:value_end]
    if not value or not _is_secret(value, family, bool(quote), _is_env_line(text, end + len(tail["rest"]), tail), tail):
        return None
    return family, value_start, value_end


def family_of(name: str, word: str) -> str:
    """What a name promises: `password`, `secret`, `token`, `key`, or nothing (`max_tokens`, `primary_key`, `key_path`)."""
    bare = name.strip("-_.$").replace("-", "_")
    if _NO_SECRET_START.match(bare) or _NO_SECRET_NAME.search(bare) or bare.endswith("tokens"):
        return ""
    after = bare[bare.rfind(word.replace("-", "_")) + len(word) :]
    if after[:1].isalpha() and not after.startswith(
        (
            "or",
            "hra",
            "wd",
            "d",
            "s",
            "value",
            "key",
            "token",
            "id",
            "encoded",
            "b64",
            "base64",
            "raw",
            "plain",
            "text",
            "word",
            "for",
            "access",
            "ña",
            "na",
            "nya",
        )
    ):
        return ""
    if word.startswith(("passw", "passp", "pwd", "contrase", "mot", "kenn")) or word in ("_pass", "pass", "_pw", "pw"):
        return "password"
    if "mnemonic" in word or word.startswith("seed"):
        return "seed-phrase"
    if "token" in word or word == "_pat":
        return "token"
    if word in ("key", "sig", "signature"):
        return "weak-key"
    return "secret"


def _separator_fits(text: str, name_start: int, name: str, tail: re.Match[str]) -> bool:
    """Whether what stands between the name and the value binds them."""
    quoted = bool(tail["quote"])
    if tail["xml"]:
        return text[max(0, name_start - 1) : name_start] == "<" and not quoted
    if tail["gap"]:
        flag = name.startswith("--") or text[max(0, name_start - 2) : name_start] == "--"
        return (
            flag
            or text[max(0, name_start - 40) : name_start].rstrip().endswith("login")
            or _follows_login(text, name_start)
        )
    if tail["sep"] in {",", "("}:
        return quoted
    return True


def _follows_login(text: str, name_start: int) -> bool:
    return re.search(r"\blogin\s{1,4}\S{1,80}\s{1,4}\Z", text[max(0, name_start - 100) : name_start]) is not None


def _closing(text: str, start: int, quote: str) -> int:
    """Where a quoted value ends: before the same quote, at most 2,000 characters on, on the same line."""
    end = text.find(quote, start, start + 2000)
    line = text.find("\n", start, end if end >= 0 else start + 2000)
    if end < 0 or 0 <= line < end:
        end = line if line >= 0 else min(len(text), start + 2000)
    return end


def _bare_end(text: str, start: int, name_start: int) -> int:
    match = _BARE_VALUE.match(text, start)
    if match is None:
        return start
    value = match[0]
    if text[max(0, name_start - 1) : name_start] in {"?", "&", ";"}:
        value = re.split("[&#;]", value, maxsplit=1)[0]
    return start + len(value.rstrip(",;)]}.:|"))


def _is_env_line(text: str, name_end: int, tail: re.Match[str]) -> bool:
    """Whether the name begins its line and `=` follows at once, as in `.env` files and `export` lines."""
    return tail["sep"] == "=" and _LINE_START.search(text, max(0, name_end - 90), name_end) is not None


def _is_secret(value: str, family: str, quoted: bool, env_line: bool, tail: re.Match[str]) -> bool:
    if is_placeholder(value) or MARK.search(value) or len(value) < 4 or (not quoted and is_reference(value)):
        return False
    if family == "seed-phrase":
        return len(re.findall(r"[a-z]{3,8}", value)) >= 11
    if family == "password":
        return _is_password(value, quoted, env_line, tail)
    if any(c.isspace() for c in value) or is_identifier(value) or is_worded(value) or "://" in value:
        return False
    if family == "weak-key":
        return len(value) >= 20 and is_random(value, 16) and not is_ordinary(value)
    if value.startswith(("/", "./", "~/")) and value.count("/") > 1 and not is_random(value, 24):
        return False
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    if env_line:
        return mixed and len(value) >= 8
    return len(value) >= 10 and mixed and (is_random(value, 8) or (quoted and entropy(value) >= 3.0))


def _is_password(value: str, quoted: bool, env_line: bool, tail: re.Match[str]) -> bool:
    """A password may be any text, so the place decides: an `.env` line, quotes, or a digit or sign among the letters."""
    if tail["is"] and not quoted and is_identifier(value.rstrip("!?.")):
        return False
    if value.isdigit() and len(value) < 6 and not env_line:
        return False
    if env_line:
        return True
    if quoted:
        return (
            " " not in value.strip()
            or tail["sep"] in {"=", ":", ":="}
            and value.count(" ") <= 5
            and not value.endswith((".", "?", "!"))
            and any(c.isdigit() for c in value)
        )
    return not is_identifier(value) and any(c.isalnum() for c in value)


_STRONG = re.compile(
    r"(?i:(?:secret|token|api[ _-]?key|password|passphrase|credentials?|private key|access key)s?)\b"
    r"[\"'`*]{0,2}(?:[ \t]{1,2}[a-z]{1,12}){0,4}[ \t]{0,2}(?:[:=(-]|->|\u2192)?[ \t]{0,3}\n?[ \t]{0,4}[\"'`*(<]{0,3}"
    r"(?P<v>[A-Za-z0-9+/_\-.~]{16,400}={0,2})"
)


def find_near_key_word(text: str) -> Iterator[Hit]:
    """A random value that follows a strong key word within a few words: `the new token is ... `."""
    for match in _STRONG.finditer(text):
        value = match["v"].rstrip(".")
        if is_random(value, 16) and not is_ordinary(value) and not is_placeholder(value):
            start = match.start("v")
            yield "high-entropy", start, start + len(value)


_HEADER = re.compile(
    r"(?i:authorization|proxy-authorization)\\{0,6}[\"'`]?\s{0,3}(?:[:=,]|=>)\s{0,3}[fb]?\\{0,6}[\"'`]?\s{0,2}"
    r"(?P<scheme>(?i:bearer|basic|token|apikey|api-key|digest|negotiate|key|bot|splunk|sso-key|oauth|aws4-hmac-sha256))?\s{0,3}"
    r"(?P<v>[^\s\"'`\\<>]{4,4000})"
)
_BEARER = re.compile(r"\b(?i:bearer)\s{1,3}(?P<v>[A-Za-z0-9_\-.~+/]{12,4000}={0,2})")
_BASIC = re.compile(r"\b(?i:basic)\s{1,3}(?P<v>[A-Za-z0-9+/]{8,1000}={0,2})(?![A-Za-z0-9])")
_COOKIE = re.compile(
    r"(?i:\b(?P<set>set-)?cookie)\\{0,6}[\"'`]?\s{0,3}(?:[:=,]|=>)\s{0,3}\\{0,6}[\"'`]?(?P<v>[^\r\n\"'`\\]{3,4000})"
)
_CRUMB = re.compile(r"[\w!#$%&'*+.^`|~\-]{1,80}=(?P<v>[^;,\s\"'\\]{1,4000})")
_COOKIE_ATTRIBUTES = frozenset({"path", "domain", "expires", "max-age", "samesite", "version", "priority"})
_COOKIE_FLAG = re.compile(r"(?:^|\s)(?:-b|--cookie)[ =]{1,2}[\"']?(?P<v>[^\r\n\"'\\]{3,4000})")
_URL_LOGIN = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]{1,20})://(?P<user>[^\s:/?#@\"'`<>\\]{0,100}):(?P<v>[^\s\"'`<>\\/?#]{1,300})@(?=[^\s/@]{1,255})"
)
_URL_USER = re.compile(r"https?://(?P<v>[^\s:/?#@\"'`<>\\]{16,300})@(?=[\w.\-]{3,255})")
_SIGNED = re.compile(
    r"(?i:[?&;](?:amp;)?(?:X-Amz-(?:Signature|Credential|Security-Token)|X-Goog-(?:Signature|Credential)|AWSAccessKeyId|GoogleAccessId"
    r"|Signature|sig|sv_sig|hdnts|hmac|token|access_token|refresh_token|id_token|auth_token|auth|api_?key|apikey|key|secret"
    r"|client_secret|password|pwd|pass|code|session|sessionid|sid|jwt|assertion|se_sig|Policy|Key-Pair-Id))="
    r"(?P<v>[^\s&\"'`<>\\#;]{6,4000})"
)
_LOOSE_QUERY = ("code=", "key=", "session=", "sid=", "auth=", "token=", "pass=", "policy=")
_ADO = re.compile(
    r"(?i:;\s{0,2}|\b)(?i:password|pwd|accountkey|sharedaccesskey|sharedsecretkey|accesskey)\s{0,2}=\s{0,2}(?P<v>[^\s;\"'`<>]{4,300})"
)
_COMMANDS = (
    re.compile(r"\b(?:mysql|mysqldump|mysqladmin|mariadb|mycli|percona\w{0,20})\b[^\n|;&]{0,200}?\s-p(?P<q>\\?[\"']?)(?P<v>[^\s\"'\\]{3,200})"),
    re.compile(r"\bsshpass\s{1,3}-p\s{0,3}\\?[\"']?(?P<v>[^\s\"'\\]{2,200})"),
    re.compile(r"\b(?:docker|podman|helm|oras|nerdctl|skopeo|buildah|crane|az|mongo|mongosh|mongodump|redli|vault|oc|argocd|htpasswd)\b[^\n|;&]{0,200}?\s-p[ =]{1,2}\\?[\"']?(?P<v>[^\s\"'\\]{4,200})"),
    re.compile(r"\b(?:curl|wget|http|https|xh)\b[^\n]{0,400}?\s(?:-u|--user|-a|--auth|--proxy-user)[ =]{0,2}\\?[\"']?[^\s:\"'\\]{0,100}:(?P<v>[^\s\"'\\]{1,200})"),
    re.compile(r"\bredis-cli\b[^\n|;&]{0,200}?\s(?:-a|--pass)[ =]{1,2}\\?[\"']?(?P<v>[^\s\"'\\]{3,200})"),
    re.compile(r"-pass(?:in|out)?\s{1,3}\\?[\"']?pass:(?P<v>[^\s\"'\\]{2,200})"),
    re.compile(r"\becho\s{1,3}(?:-n\s{1,3})?\\?[\"']?(?P<v>[^\s\"'\\|$]{4,300})\\?[\"']?\s{0,3}\|[^\n|]{0,120}(?:--password-stdin|sudo -S|passwd|chpasswd|--stdin|secret put|secret set)"),
    re.compile(r"--(?:password|passwd|pass|token|api-key|apikey|secret|access-token|auth-token|client-secret)[ =]{1,2}\\?[\"']?(?P<v>[^\s\"'\\]{4,400})"),
    re.compile(r"\bidentified\s{1,3}(?:with\s{1,3}\w{1,40}\s{1,3})?(?:by|as)\s{1,3}\\?['\"](?P<v>[^'\"\\\n]{2,200})", re.IGNORECASE),
    re.compile(r"\b(?:with|encrypted)\s{1,3}password\s{1,3}\\?['\"](?P<v>[^'\"\\\n]{2,200})", re.IGNORECASE),
    re.compile(r"(?m)^[\w.*\-]{1,120}:(?:\d{2,5}|\*):[\w*\-]{1,60}:[\w*\-]{1,60}:(?P<v>[^\s:]{4,200})$"),
    re.compile(r"\b_(?:auth|authToken|password)\s{0,2}=\s{0,2}\\?[\"']?(?P<v>[^\s\"'\\]{6,1000})"),
    re.compile(r"\"auth\\{0,6}\"\s{0,3}:\s{0,3}\\{0,6}\"(?P<v>[A-Za-z0-9+/]{8,1000}={0,2})\\{0,6}\""),
    re.compile(r"\b(?:client-key-data|client-certificate-data|id-token|refresh-token)\\{0,6}\"?\s{0,2}:\s{0,2}\\{0,6}\"?(?P<v>[A-Za-z0-9+/._\-]{20,20000}={0,2})"),
)  # fmt: skip
_COMMAND_HINTS = (
    ("mysql", "mariadb", "mycli"), ("sshpass",), (" -p",), ("curl", "wget", "http", "xh "), ("redis-cli",), ("pass:",),
    ("echo",), ("--",), ("dentified", "DENTIFIED"), ("assword", "ASSWORD"), (":",), ("_auth", "_password"), ("auth",),
    ("-data", "-token"),
)  # fmt: skip


def find_headers(text: str) -> Iterator[Hit]:
    """Authorization headers, bearer and basic credentials, and cookies' values."""
    for match in _HEADER.finditer(text) if "uthorization" in text or "UTHORIZATION" in text else ():
        value = match["v"].rstrip(",;)]}")
        literal = not is_placeholder(value) and not is_reference(value) and not is_identifier(value)
        if literal and (match["scheme"] or is_random(value, 12)):
            yield "authorization", match.start("v"), match.start("v") + len(value)
    for match in _BEARER.finditer(text) if "earer" in text or "BEARER" in text else ():
        if is_random(match["v"], 10) and not is_placeholder(match["v"]):
            yield "authorization", *match.span("v")
    for match in _BASIC.finditer(text) if "asic" in text or "BASIC" in text else ():
        if _holds_login(match["v"]):
            yield "authorization", *match.span("v")
    if "ookie" in text or "OOKIE" in text:
        for match in _COOKIE.finditer(text):
            yield from _crumbs(match)
    if "-b" in text or "--cookie" in text:
        for match in _COOKIE_FLAG.finditer(text):
            yield from _crumbs(match)


def _crumbs(match: re.Match[str]) -> Iterator[Hit]:
    for crumb in _CRUMB.finditer(match.string, match.start("v"), match.end("v")):
        value, name = crumb["v"], crumb[0].partition("=")[0].lower()
        if (
            name in _COOKIE_ATTRIBUTES
            or len(value) < 6
            or is_placeholder(value)
            or is_reference(value)
            or is_identifier(value)
        ):
            continue
        yield "cookie", *crumb.span("v")


def _holds_login(value: str) -> bool:
    """Whether base64 text decodes to `user:password`."""
    import base64  # noqa: PLC0415  (rare)
    import binascii  # noqa: PLC0415

    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4)).decode("utf-8")
    except (binascii.Error, ValueError):
        return False
    return ":" in plain and plain.isprintable()


def find_addresses(text: str) -> Iterator[Hit]:
    """Passwords in connection strings, tokens and signatures in the query of an address."""
    if "://" in text:
        for match in _URL_LOGIN.finditer(text):
            if not is_placeholder(match["v"]) and not is_worded(match["v"]):
                yield "connection-password", *match.span("v")
        for match in _URL_USER.finditer(text):
            if is_random(match["v"], 14):
                yield "connection-password", *match.span("v")
    if "=" in text and ("?" in text or "&" in text):
        for match in _SIGNED.finditer(text):
            loose = match[0].lower().lstrip("?&;").removeprefix("amp;").startswith(_LOOSE_QUERY)
            value = match["v"].rstrip(").,]}")
            if is_placeholder(value) or is_reference(value) or (loose and not is_random(value, 10)):
                continue
            if is_identifier(value) or is_worded(value):
                continue
            yield "signed-url", match.start("v"), match.start("v") + len(value)
    if ";" in text or "=" in text:
        for match in _ADO.finditer(text):
            if not is_placeholder(match["v"]) and not is_reference(match["v"]) and not is_identifier(match["v"]):
                yield "connection-password", *match.span("v")


def find_in_commands(text: str) -> Iterator[Hit]:
    """Passwords and tokens given to a command: `-p...`, `-u user:...`, `--password`, `IDENTIFIED BY`, `.pgpass` lines."""
    for hints, pattern in zip(_COMMAND_HINTS, _COMMANDS, strict=True):
        if not any(hint in text for hint in hints):
            continue
        for match in pattern.finditer(text):
            value = match["v"].rstrip(",;)")
            if len(value) >= 3 and not is_placeholder(value) and not is_reference(value):
                yield "command-password", match.start("v"), match.start("v") + len(value)
