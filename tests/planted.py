"""False secrets of true shape, made at run time, each in the kind of text it is met in; and ordinary strings beside.

Nothing here is a literal secret: every value is drawn from a seeded generator behind its maker's prefix.
"""

from __future__ import annotations

import base64
import json
import random
import re
import string
import textwrap
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

ALNUM = string.ascii_letters + string.digits
WORD = ALNUM + "-_"
HEX = "0123456789abcdef"
BASE64 = ALNUM + "+/"
UPPER = string.ascii_uppercase + string.digits


@dataclass(frozen=True, slots=True)
class Planted:
    """A secret in its text: `value` is what must not be found afterwards, `text` where it stands."""

    kind: str
    value: str
    text: str


class Draw:
    """Random strings from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311

    def of(self, alphabet: str, length: int) -> str:
        """A string over the alphabet."""
        return "".join(self.random.choice(alphabet) for _ in range(length))

    def password(self) -> str:
        """What a person makes up: a word or two, a number, a sign."""
        words = ["sunny", "Tiger", "Kraken", "maple", "Orbit", "velvet", "Quartz", "badger", "Cobalt", "ferry"]
        first, second = self.random.sample(words, 2)
        number, sign = self.random.randrange(10, 9999), self.random.choice("!@#%^*&?_+-=.~")
        return self.random.choice(
            [f"{first}{number}{sign}", f"{first}-{second}-{number}", f"{sign}{first}{second}{number}"]
        )

    def bytes(self, length: int) -> bytes:
        """Random bytes."""
        return self.random.randbytes(length)

    def jwt(self) -> str:
        """A signed JSON web token."""
        claims = {"sub": self.of("0123456789", 10), "iat": 1_700_000_000, "scope": "read write"}
        parts = [json.dumps({"alg": "HS256", "typ": "JWT"}).encode(), json.dumps(claims).encode(), self.bytes(32)]
        return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)

    def key_block(self, name: str, size: int = 1190) -> str:
        """A PEM block of a private key."""
        body = "\n".join(textwrap.wrap(base64.b64encode(self.bytes(size)).decode(), 64))
        return f"-----BEGIN {name}-----\n{body}\n-----END {name}-----"


Maker = Callable[[Draw], str]

# Tokens that tell by their own form who made them.
TOKENS: dict[str, Maker] = {
    "anthropic": lambda d: "sk-ant-" + "api03-" + d.of(WORD, 93) + "AA",
    "anthropic-oauth": lambda d: "sk-ant-" + "oat01-" + d.of(WORD, 86) + "AA",
    "openai-project": lambda d: "sk-" + "proj-" + d.of(WORD, 74) + "T3Blbk" + "FJ" + d.of(WORD, 74),
    "openai-legacy": lambda d: "sk-" + d.of(ALNUM, 20) + "T3Blbk" + "FJ" + d.of(ALNUM, 20),
    "openai-service": lambda d: "sk-" + "svcacct-" + d.of(WORD, 60),
    "openrouter": lambda d: "sk-" + "or-v1-" + d.of(HEX, 64),
    "deepseek": lambda d: "sk-" + d.of(HEX, 32),
    "google-api": lambda d: "AI" + "za" + d.of(WORD, 35),
    "google-oauth-secret": lambda d: "GOC" + "SPX-" + d.of(WORD, 28),
    "google-access": lambda d: "ya" + "29." + d.of(WORD, 120),
    "groq": lambda d: "gs" + "k_" + d.of(ALNUM, 52),
    "xai": lambda d: "xa" + "i-" + d.of(ALNUM, 80),
    "huggingface": lambda d: "hf" + "_" + d.of(string.ascii_letters, 34),
    "replicate": lambda d: "r8" + "_" + d.of(ALNUM, 37),
    "perplexity": lambda d: "pp" + "lx-" + d.of(ALNUM, 48),
    "nvidia": lambda d: "nv" + "api-" + d.of(WORD, 64),
    "github-classic": lambda d: "gh" + "p_" + d.of(ALNUM, 36),
    "github-oauth": lambda d: "gh" + "o_" + d.of(ALNUM, 36),
    "github-server": lambda d: "gh" + "s_" + d.of(ALNUM, 36),
    "github-fine": lambda d: "github" + "_pat_" + d.of(ALNUM, 22) + "_" + d.of(ALNUM, 59),
    "gitlab": lambda d: "gl" + "pat-" + d.of(WORD, 20),
    "npm": lambda d: "np" + "m_" + d.of(ALNUM, 36),
    "pypi": lambda d: "py" + "pi-AgEIcHlwaS5vcmc" + d.of(WORD, 150),
    "rubygems": lambda d: "ruby" + "gems_" + d.of(HEX, 48),
    "docker-hub": lambda d: "dckr" + "_pat_" + d.of(WORD, 27),
    "aws-key-id": lambda d: "AK" + "IA" + d.of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16),
    "slack-bot": lambda d: "xo" + f"xb-{d.of('123456789', 12)}-{d.of('123456789', 13)}-" + d.of(ALNUM, 24),
    "slack-app": lambda d: "xa" + f"pp-1-A0{d.of(UPPER, 9)}-{d.of('123456789', 13)}-" + d.of(HEX, 64),
    "discord-bot": lambda d: "M" + d.of(ALNUM, 25) + "." + d.of(WORD, 6) + "." + d.of(WORD, 38),
    "telegram-bot": lambda d: d.of("123456789", 10) + ":" + "AA" + d.of(WORD, 33),
    "stripe-live": lambda d: "sk" + "_live_" + d.of(ALNUM, 24),
    "stripe-test": lambda d: "sk" + "_test_" + d.of(ALNUM, 99),
    "stripe-webhook": lambda d: "wh" + "sec_" + d.of(ALNUM, 32),
    "sendgrid": lambda d: "S" + "G." + d.of(WORD, 22) + "." + d.of(WORD, 43),
    "twilio": lambda d: "S" + "K" + d.of(HEX, 32),
    "mailgun": lambda d: "ke" + "y-" + d.of(HEX, 32),
    "mailchimp": lambda d: d.of(HEX, 32) + "-us" + "14",
    "digitalocean": lambda d: "do" + "p_v1_" + d.of(HEX, 64),
    "supabase": lambda d: "sb" + "p_" + d.of(HEX, 40),
    "linear": lambda d: "lin" + "_api_" + d.of(ALNUM, 40),
    "notion": lambda d: "nt" + "n_" + d.of(ALNUM, 46),
    "figma": lambda d: "fi" + "gd_" + d.of(WORD, 40),
    "databricks": lambda d: "da" + "pi" + d.of(HEX, 32),
    "vault": lambda d: "hv" + "s." + d.of(WORD, 90),
    "newrelic": lambda d: "NR" + "AK-" + d.of(UPPER, 27),
    "grafana": lambda d: "gl" + "sa_" + d.of(ALNUM, 32) + "_" + d.of(HEX, 8),
    "sentry": lambda d: "snt" + "rys_" + d.of(ALNUM, 60),
    "shopify": lambda d: "sh" + "pat_" + d.of(HEX, 32),
    "square": lambda d: "sq" + "0csp-" + d.of(WORD, 43),
    "age": lambda d: "AGE-SECRET" + "-KEY-1" + d.of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
    "tailscale": lambda d: "ts" + "key-auth-" + d.of(ALNUM, 17) + "-" + d.of(ALNUM, 32),
    "postman": lambda d: "PM" + "AK-" + d.of(HEX, 24) + "-" + d.of(HEX, 34),
    "jwt": lambda d: d.jwt(),
    "azure-client": lambda d: d.of(ALNUM, 3) + "8Q" + "~" + d.of(WORD + "~.", 34),
}  # fmt: skip

# What no form gives away, only the name beside it: the name, and a maker.
NAMED: dict[str, tuple[str, Maker]] = {
    "aws-secret": ("AWS_SECRET_ACCESS_KEY", lambda d: d.of(BASE64, 40)),
    "aws-session": ("AWS_SESSION_TOKEN", lambda d: "IQoJb3JpZ2lu" + d.of(BASE64, 300) + "=="),
    "azure-storage": ("AZURE_STORAGE_KEY", lambda d: base64.b64encode(d.bytes(64)).decode()),
    "twilio-auth": ("TWILIO_AUTH_TOKEN", lambda d: d.of(HEX, 32)),
    "datadog": ("DD_API_KEY", lambda d: d.of(HEX, 32)),
    "heroku": ("HEROKU_API_KEY", lambda d: str(uuid.UUID(bytes=d.bytes(16), version=4))),
    "cloudflare": ("CLOUDFLARE_API_TOKEN", lambda d: d.of(WORD, 40)),
    "mistral": ("MISTRAL_API_KEY", lambda d: d.of(ALNUM, 32)),
    "cohere": ("COHERE_API_KEY", lambda d: d.of(ALNUM, 40)),
    "django": ("SECRET_KEY", lambda d: d.of(string.ascii_lowercase + string.digits + "!@#%^&*(-_=+)", 50)),
    "nextauth": ("NEXTAUTH_SECRET", lambda d: base64.b64encode(d.bytes(32)).decode()),
    "jwt-secret": ("JWT_SECRET", lambda d: d.of(HEX, 64)),
    "totp": ("TOTP_SECRET", lambda d: d.of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 32)),
    "ethereum": ("DEPLOYER_PRIVATE_KEY", lambda d: "0x" + d.of(HEX, 64)),
    "webhook-secret": ("GITHUB_WEBHOOK_SECRET", lambda d: d.of(HEX, 40)),
    "oauth-client": ("OAUTH_CLIENT_SECRET", lambda d: d.of(ALNUM, 36)),
    "encryption": ("ENCRYPTION_KEY", lambda d: base64.urlsafe_b64encode(d.bytes(32)).decode()),
    "password": ("DB_PASSWORD", lambda d: d.password()),
    "smtp-pass": ("SMTP_PASS", lambda d: d.password()),
    "admin-pwd": ("ADMIN_PWD", lambda d: d.password()),
}


def camel(name: str) -> str:
    """`DB_PASSWORD` as `dbPassword`."""
    first, *rest = name.lower().split("_")
    return first + "".join(map(str.title, rest))


TOKEN_PLACES: tuple[Callable[[str], str], ...] = (
    lambda v: f"here you go: {v} please use that one and deploy",
    lambda v: f"export SERVICE_TOKEN={v}\n./deploy.sh --fast",
    lambda v: f'{{"api_key": "{v}", "retries": 3}}',
    lambda v: json.dumps({"content": f'config = {{"token": "{v}"}}\nprint(config)'}),
    lambda v: json.dumps(json.dumps({"stdout": f"\nLine one\n{v}\ndone"})),
    lambda v: f"curl -H 'Authorization: Bearer {v}' https://api.example.org/v1/me",
    lambda v: f"client = Client(api_key='{v}', timeout=30)  # for now",
    lambda v: f"  12\u2192TOKEN={v}\n  13\u2192DEBUG=1",
    lambda v: f"-TOKEN=old\n+TOKEN={v}\n",
    lambda v: f"error: 401 for https://hooks.example.org/run?access_token={quote(v, safe='')}&x=1",
    lambda v: f"\u001b[32m{v}\u001b[0m",
    lambda v: f"| service | token |\n|---|---|\n| mail | `{v}` |",
    lambda v: f"the key is {v}. Do not commit it.",
    lambda v: 'TOKEN = ("' + v[: len(v) // 2] + '"\n         "' + v[len(v) // 2 :] + '")',
    lambda v: "export TOKEN=" + v[: len(v) // 2] + "\\\n" + v[len(v) // 2 :] + "\n",
    lambda v: "paste: " + v[:-12] + "\n" + v[-12:] + "\nthat was cut by the terminal",
)  # fmt: skip
SPLIT_PLACES = 3

NAMED_PLACES: tuple[Callable[[str, str], str], ...] = (
    lambda n, v: f"# local\nDEBUG=1\n{n}={v}\nPORT=8080\n",
    lambda n, v: f'export {n}="{v}"\nnpm start',
    lambda n, v: f"{n}='{v}' python manage.py migrate",
    lambda n, v: json.dumps({n.lower(): v, "port": 5432}, indent=2),
    lambda n, v: json.dumps({"text": json.dumps({camel(n): v})}),
    lambda n, v: f"services:\n  app:\n    environment:\n      {n}: {json.dumps(v)}\n      PORT: 80\n",
    lambda n, v: f"settings.{camel(n)} = '{v}';",
    lambda n, v: f'{n.lower()}: str = "{v}"',
    lambda n, v: f'<{camel(n)}>{v}</{camel(n)}>',
    lambda n, v: f"[db]\n{n.lower()} = \"{v}\"\n",
    lambda n, v: f'os.environ["{n}"] = "{v}"',
    lambda n, v: f"  3\u2192{n}={v}\n  4\u2192",
    lambda n, v: f"+{n}={v}\n",
    lambda n, v: f"fly secrets set {n}={json.dumps(v)} --app shop",
    lambda n, v: f'os.environ.setdefault("{n}", "{v}")',
)  # fmt: skip


def _scenes(d: Draw) -> Iterator[Planted]:
    """Secrets that have a form of their own: blocks, addresses, headers, commands, files."""
    for name in ("RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "EC PRIVATE KEY", "PRIVATE KEY", "PGP PRIVATE KEY BLOCK"):
        block = d.key_block(name, 300)
        body = max(block.split("\n"), key=len)
        yield Planted("private-key", body, f"cat key\n{block}\nok")
        yield Planted("private-key-json", body, json.dumps({"type": "service_account", "private_key": block + "\n"}))
        yield Planted("private-key-cut", body, "PEM=" + block[: len(block) - 60])
        yield Planted("private-key-indented", body, "key: |\n" + textwrap.indent(block, "    ") + "\nnext: 1")
    for scheme in ("postgres", "postgresql+asyncpg", "mysql", "mongodb+srv", "redis", "amqp", "https"):
        password = quote(d.password(), safe="!*-._~")
        yield Planted("connection", password, f"DATABASE_URL={scheme}://app:{password}@db.example.org:5432/shop?ssl=1")
    yield from _addresses(d)
    yield from _headers(d)
    yield from _commands(d)
    yield from _files(d)
    yield from _manners(d)


def _addresses(d: Draw) -> Iterator[Planted]:
    value = d.of(ALNUM, 20)
    yield Planted("redis-url", value, f"redis://:{value}@cache:6379/0")
    value = d.of(HEX, 64)
    yield Planted("aws-presigned", value, f"https://b.s3.amazonaws.com/x.csv?X-Amz-Expires=60&X-Amz-Signature={value}")
    value = quote(base64.b64encode(d.bytes(32)).decode(), safe="")
    yield Planted(
        "azure-sas", value, f"https://acc.blob.core.windows.net/c/f.zip?sv=2024-01-01&se=2027-01-01&sp=r&sig={value}"
    )
    value = d.of(HEX, 128)
    yield Planted(
        "gcs-signed", value, f"https://storage.googleapis.com/b/o?X-Goog-Algorithm=a&X-Goog-Signature={value}"
    )
    value = d.of(ALNUM, 24)
    yield Planted(
        "slack-webhook", value, f"https://hooks.slack.com/services/T{d.of(UPPER, 8)}/B{d.of(UPPER, 10)}/{value}"
    )
    value = d.of(WORD, 68)
    yield Planted("discord-webhook", value, f"https://discord.com/api/webhooks/{d.of('123456789', 18)}/{value}")
    value = base64.b64encode(d.bytes(64)).decode()
    yield Planted(
        "azure-connection",
        value,
        f"DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={value};EndpointSuffix=core.windows.net",
    )
    value = d.password().replace(";", "x")
    yield Planted("ado", value, f"Server=tcp:db,1433;Database=shop;User ID=app;Password={value};Encrypt=True;")
    value = base64.b64encode(d.bytes(32)).decode()
    yield Planted(
        "service-bus",
        value,
        f"Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=root;SharedAccessKey={value}",
    )
    value = d.of(ALNUM, 40)
    yield Planted("git-remote", value, f"origin\thttps://x-access-token:{value}@git.example.org/acme/shop.git (fetch)")
    value = d.password()
    yield Planted(
        "jdbc",
        value,
        f"jdbc:postgresql://db/shop?user=app&password={quote(value, safe='')}&ssl=true".replace(
            quote(value, safe=""), value.replace("&", "x").replace("#", "x")
        ),
    )


def _headers(d: Draw) -> Iterator[Planted]:
    value = d.of(WORD, 43)
    yield Planted("bearer", value, f"> GET /v1/me HTTP/1.1\n> Authorization: Bearer {value}\n> Accept: */*")
    value = base64.b64encode(f"app:{d.password()}".encode()).decode()
    yield Planted("basic", value, f'headers = {{"Authorization": "Basic {value}"}}')
    value = d.of(HEX, 40)
    yield Planted("token-header", value, f"curl -H 'Authorization: token {value}' https://git.example.org/api/v3/user")
    value = d.of(ALNUM, 32)
    yield Planted("x-api-key", value, f"-H 'X-Api-Key: {value}' -H 'Accept: text/plain'")
    value = d.of(WORD, 20)
    yield Planted(
        "private-token", value, f'curl --header "PRIVATE-TOKEN: {value}" https://git.example.org/api/v4/projects'
    )
    value = d.of(WORD, 60)
    yield Planted("cookie", value, f"Cookie: theme=dark; sessionid={value}; lang=en")
    value = d.of(ALNUM, 32)
    yield Planted("set-cookie", value, f"< Set-Cookie: connect.sid=s%3A{value}; Path=/; HttpOnly; SameSite=Lax")
    value = d.of(WORD, 48)
    yield Planted("curl-cookie", value, f"curl -b 'sid={value}' https://app.example.org/")
    value = d.of(ALNUM, 30)
    yield Planted("json-header", value, json.dumps(json.dumps({"headers": {"authorization": f"Bearer {value}"}})))


def _commands(d: Draw) -> Iterator[Planted]:
    templates = {
        "mysql-p": "mysql -h db -u root -p{} shop -e 'select 1'",
        "mysqldump": "mysqldump --user=root --password={} shop > dump.sql",
        "sshpass": "sshpass -p '{}' ssh deploy@host.example.org uptime",
        "pgpassword": "PGPASSWORD={} psql -h db -U app -c 'select 1'",
        "docker-login": "docker login -u acme -p {} registry.example.org",
        "docker-stdin": "echo '{}' | docker login -u acme --password-stdin",
        "curl-u": "curl -u app:{} https://api.example.org/v1/items",
        "redis-cli": "redis-cli -h cache -a {} ping",
        "openssl": "openssl pkcs12 -in c.p12 -passin pass:{} -nodes",
        "flag-space": "deployctl login --user me --password {} --region eu",
        "flag-equals": "deployctl login --user=me --password={}",
        "sudo": "echo {} | sudo -S systemctl restart nginx",
        "sql-create": "CREATE USER app WITH PASSWORD '{}';",
        "sql-identified": "ALTER USER 'app'@'%' IDENTIFIED BY '{}';",
        "wget": "wget --user=me --password={} https://files.example.org/a.tar.gz",
        "prose": "the staging password is {} and the user is deploy",
        "prose-colon": "login: deploy\npassword: {}\nthanks",
        "prose-for": "Password for the admin panel: {}",
        "table": "| user | password |\n|---|---|\n| admin password | {} |",
    }
    for kind, template in templates.items():
        value = d.password()
        while value[0] == "-" or any(c in value for c in "&#'?*!%"):  # a shell would take these apart without quotes
            value = d.password()
        yield Planted(kind, value, template.format(value))


# Ways people and programs write a password ({p}), a token ({t}), forty characters of hex ({h}) or base64 ({b}) down.
MANNERS = r"""
my password is {p}
Password: {p}
The password's {p}
use password '{p}' for the db
user=admin pass={p}
login with admin:{p}
credentials: admin:{p}
username: admin\npassword: {p}
password = {p}  # comment
password -> {p}
passwd {p}
requirepass {p}
redis.auth={p}
spring.datasource.password={p}
spring:\n  datasource:\n    password: {p}\n
db.password: '{p}'
api key {t}
API key: {t}
here's the key: {t}
key={t}
https://maps.example.org/js?key={t}
x-goog-api-key: {t}
Ocp-Apim-Subscription-Key: {t}
Authorization: {t}
authorization: Token token={t}
-H "X-Auth-Token: {h}"
Bearer {h}
"refresh_token": "{t}"
JSESSIONID={t}
Set-Cookie: session={t}
csrftoken={t}
AWS Secret: {b}
aws configure set aws_secret_access_key {b}
git clone https://oauth2:{t}@git.example.org/x/y.git
git remote set-url origin https://{t}@git.example.org/x/y
postgresql://localhost/db?user=a&password={t}
kubectl create secret generic x --from-literal=password={p}
kubectl create secret generic x --from-literal=api-key={t}
docker run -e POSTGRES_PASSWORD={p} pg
docker run -e API_KEY={t} x
heroku config:set SECRET_KEY={t}
gh secret set TOKEN --body {t}
vault kv put secret/x value={t}
npm config set //r.example.org/:_authToken {t}
aws ssm put-parameter --name x --value {p} --type SecureString
az login -u a -p {p}
psql 'host=h user=u password={p} dbname=d'
htpasswd -b f user {p}
smbclient //h/s -U 'u%{p}'
curl --user 'a:{p}' x
curl -d '{{"password":"{p}"}}' x
curl -F token={t} x
http POST x password={p}
ssh-keygen -N '{p}' -f k
gpg --passphrase {p} -c f
zip -P {p} a.zip f
openssl enc -aes256 -k {p}
ansible-playbook -e 'ansible_become_pass={p}' site.yml
net use x: \\\\h\\s /user:a {p}
$env:API_KEY = '{t}'
setx API_KEY {t}
const apiKey = `{t}`;
private static final String PASSWORD = "{p}";
password := "{p}"
ENV['API_KEY'] = '{t}'
auth=('user', '{p}')
HTTPBasicAuth('user', '{p}')
connect(user='a', password='{p}')
new Client({{ token: '{t}' }})
client.login("{t}")
jwt.sign(payload, '{t}')
app.secret_key = b'{t}'
SECRET_KEY_BASE={h}{h}
<add key="ApiKey" value="{t}"/>
<string name="api_key">{t}</string>
"secretKey" : "{t}"
'secret' => '{t}'
password: |\n  {p}\n
- name: DB_PASSWORD\n  value: {p}\n
{{"name":"API_KEY","value":"{t}"}}
{{"key": "DB_PASSWORD", "value": "{p}"}}
wg: PrivateKey = {b}
Fernet key {b}
private key: 0x{h}
Token:\n\n{t}\n
Your API key is:\n\n    {t}\n
Generated password: {p}
root password: {p}
sudo password {p}
the secret is {t}
client secret {t}
SLACK_SIGNING_SECRET={h}
DSN https://{h}@o1.ingest.example.org/2
DBPASS={p}
MYSQL_PWD={p}
REDIS_AUTH={p}
LDAP_BIND_PW={p}
smtp_pw='{p}'
\\\"password\\\":\\\"{p}\\\"
%22password%22%3A%22{t}%22
password%3D{t}
&#34;token&#34;:&#34;{t}&#34;
contrase\u00f1a: {p}
Passwort: {p}
mot de passe : {p}
\u5bc6\u7801\uff1a{p}
\u30d1\u30b9\u30ef\u30fc\u30c9: {p}
\u043f\u0430\u0440\u043e\u043b\u044c: {p}
senha: {p}
""".strip().split("\n")


def _manners(d: Draw) -> Iterator[Planted]:
    for number, manner in enumerate(MANNERS):
        text = re.sub(r"\\u([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), manner).replace("\\n", "\n")
        made = {
            "p": f"Tr0ub{d.of(ALNUM, 3)}&{d.of('3456789', 2)}x!",
            "t": d.of(ALNUM, 32),
            "h": d.of(HEX, 40),
            "b": d.of(BASE64, 40),
        }
        letter = next(letter for letter in made if f"{{{letter}}}" in text)
        yield Planted(f"manner-{number}", made[letter], text.format(**made))


def _files(d: Draw) -> Iterator[Planted]:
    value = d.password()
    yield Planted("netrc", value, f"machine git.example.org login deploy password {value}\n")
    value = d.of(ALNUM, 22)
    yield Planted("pgpass", value, f"# ~/.pgpass\ndb.example.org:5432:shop:app:{value}\n")
    value = str(uuid.UUID(bytes=d.bytes(16), version=4))
    yield Planted("npmrc", value, f"//registry.example.org/:_authToken={value}\n")
    value = base64.b64encode(f"acme:{d.of(ALNUM, 30)}".encode()).decode()
    yield Planted("docker-auth", value, json.dumps({"auths": {"registry.example.org": {"auth": value}}}, indent=1))
    value = base64.b64encode(d.bytes(200)).decode()
    yield Planted("kube-key", value, f"users:\n- name: admin\n  user:\n    client-key-data: {value}\n")
    value = base64.b64encode(d.password().encode()).decode()
    yield Planted("kube-secret", value, f"kind: Secret\ndata:\n  password: {value}\n")
    value = "$2b$12$" + d.of("./" + ALNUM, 53)
    yield Planted("bcrypt", value, f"users: (1, 'me', '{value}');")
    words = d.random.sample(
        "abandon ability able about above absent absorb abstract absurd abuse access acid acoustic acquire".split(), 12
    )
    yield Planted("mnemonic", " ".join(words), f'MNEMONIC="{" ".join(words)}"')
    value = d.of(ALNUM, 30)
    encoded = base64.b64encode(f"DB_PASSWORD={value}\nPORT=1\n".encode()).decode()
    yield Planted("base64-env", encoded, f"echo {encoded} | base64 -d > .env")
    value = d.of(ALNUM, 300)
    yield Planted("image-data", value, f"![x](data:image/png;base64,{value}==)")
    value = d.password()
    yield Planted("private-tag", value, f"keep this <private>my door code is {value}\nand more</private> fine")
    value = d.of(ALNUM, 40)
    yield Planted("private-open", value, f"keep this <private>{value} never closed\nand the rest")
    value = d.of(ALNUM + "/+", 40)
    yield Planted(
        "aws-credentials",
        value,
        f"[default]\naws_access_key_id = x\naws_secret_access_key = {value}\nregion = eu-west-1\n",
    )
    value = d.of(ALNUM, 44)
    yield Planted("terraform", value, f'variable "db_password" {{}}\ndb_password = "{value}"\n')
    value = d.of(HEX, 40)
    yield Planted("long-prose", value, f"ok so the new api token for staging is {value}, rotate it later")


def planted(seed: int = 1) -> list[Planted]:
    """Well over 200 secrets: every token and every named kind in several places, and every scene once."""
    draw = Draw(seed)
    found = []
    for kind, make in TOKENS.items():
        for place in draw.random.sample(TOKEN_PLACES, 5):
            value = make(draw)
            found.append(Planted(kind, value, place(value)))
    for kind, (name, make_named) in NAMED.items():
        for place_named in draw.random.sample(NAMED_PLACES, 5):
            value = make_named(draw)
            found.append(Planted(kind, value, place_named(name, value)))
    found.extend(_scenes(draw))
    return found


def leaks(item: Planted, text: str) -> bool:
    """Whether the text still holds the value, or any twelve characters of it in a row."""
    value = item.value
    if len(value) <= 12:
        return value in text
    return any(value[at : at + 12] in text for at in range(len(value) - 11))


def ordinary(seed: int = 1, count: int = 1000) -> list[str]:
    """Lines with hashes, ids, paths and names that are no secrets, as transcripts are full of."""
    d = Draw(seed)

    def ulid() -> str:
        return "01" + d.of("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 24)

    def uid() -> str:
        return str(uuid.UUID(bytes=d.bytes(16), version=4))

    makers: tuple[Callable[[], str], ...] = (
        lambda: f"commit {d.of(HEX, 40)}\nAuthor: dev",
        lambda: f"{d.of(HEX, 7)} Fix the token refresh",
        lambda: f"index {d.of(HEX, 7)}..{d.of(HEX, 7)} 100644",
        lambda: f"sha256:{d.of(HEX, 64)}",
        lambda: f'"integrity": "sha512-{base64.b64encode(d.bytes(64)).decode()}"',
        lambda: f"{d.of(HEX, 64)}  dist/app-1.2.3.tar.gz",
        lambda: f'"sessionId": "{uid()}", "parentUuid": "{uid()}"',
        lambda: f'"id": "msg_01{d.of(ALNUM, 22)}", "tool_use_id": "toolu_01{d.of(ALNUM, 22)}"',
        lambda: f"request id: req_{d.of(ALNUM, 24)}",
        lambda: f'"call_id": "call_{d.of(ALNUM, 24)}"',
        lambda: f"chatcmpl-{d.of(ALNUM, 29)}",
        lambda: f"id: {ulid()}",
        lambda: f"/home/dev/shop/src/auth/TokenProvider{d.of('0123456789', 1)}.tsx:{d.random.randrange(999)}",
        lambda: f"node_modules/.pnpm/@types+node@20.11.{d.random.randrange(30)}/node_modules/@types/node/index.d.ts",
        lambda: f"/tmp/tmp{d.of(string.ascii_lowercase + string.digits + '_', 8)}/secret_store.py",
        lambda: f"const tokenExpiryInSeconds = getTokenExpiry(config.auth.token, {d.random.randrange(9999)});",
        lambda: f'"usage": {{"input_tokens": {d.random.randrange(99999)}, "cached_tokens": {d.random.randrange(999)}}}',
        lambda: "password: str = Field(..., min_length=8)",
        lambda: 'api_key = os.environ["OPENAI_API_KEY"]',
        lambda: "const secret = process.env.JWT_SECRET ?? throwMissing();",
        lambda: "token = ${{ secrets.GITHUB_TOKEN }}",
        lambda: "API_KEY=<YOUR_API_KEY>",
        lambda: "export TOKEN=$(gh auth token)",
        lambda: f"image: ghcr.io/acme/shop@sha256:{d.of(HEX, 64)}",
        lambda: f"go: downloading golang.org/x/mod v0.0.0-2024{d.of('0123456789', 10)}-{d.of(HEX, 12)}",
        lambda: f"h1:{base64.b64encode(d.bytes(32)).decode()}",
        lambda: f"assets/index-{d.of(WORD, 8)}.js  142.{d.random.randrange(99)} kB",
        lambda: f"arn:aws:iam::{d.of('0123456789', 12)}:role/deploy-role",
        lambda: f"0x{d.of(HEX, 40)}",
        lambda: f"ETag: \"{d.of(HEX, 32)}\"",
        lambda: f"https://example.org/blog/2026/how-tokens-work?utm_source=feed&page={d.random.randrange(99)}",
        lambda: f"class {d.of(string.ascii_uppercase, 1)}PasswordResetTokenGeneratorTests(TestCase): pass",
        lambda: f"git checkout feature/auth-key-rotation-{d.random.randrange(999)}",
        lambda: f"cache key: deps-linux-{d.of(HEX, 64)}",
        lambda: f"claude-sonnet-4-2025{d.random.randrange(1000, 1231)} gpt-4o-2024-11-20",
        lambda: f"trace_id={d.of(HEX, 32)} span_id={d.of(HEX, 16)}",
        lambda: f"container {d.of(HEX, 12)} exited with {d.random.randrange(200)}",
        lambda: f"primary_key=users_{d.random.randrange(9999)}_pkey, sort_key: created_at",
        lambda: f"--- PASS: TestTokenRefresh_{d.of(string.ascii_letters, 12)} (0.0{d.random.randrange(9)}s)",
        lambda: f"https://git.example.org/acme/shop/commit/{d.of(HEX, 40)}",
        lambda: f"secretsmanager:GetSecretValue denied for key alias/{d.of(string.ascii_lowercase, 9)}",
        lambda: f"{uid()}.jsonl",
        lambda: f"\"gitHead\": \"{d.of(HEX, 40)}\", \"_id\": \"shop@1.0.{d.random.randrange(99)}\"",
    )  # fmt: skip
    return [makers[n % len(makers)]() for n in range(count)]
