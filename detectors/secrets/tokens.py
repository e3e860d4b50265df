"""Tokens that can be told by their own form: a maker's prefix, a fixed length, an alphabet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from detectors.secrets.places import Hit, places, starts_clean
from detectors.secrets.shapes import is_filler, is_placeholder, is_random


@dataclass(frozen=True, slots=True)
class TokenRule:
    """One maker's token: its prefixes, the characters behind them, and how many of these it has at least.

    `random` asks that the text behind the prefix looks drawn at random, for prefixes that words have as well.
    """

    kind: str
    prefixes: tuple[str, ...]
    body: re.Pattern[str]
    length: int
    random: bool = True


def _rule(kind: str, prefixes: str, body: str, least: int, random: bool = True) -> TokenRule:
    return TokenRule(kind, tuple(prefixes.split()), re.compile(rf"[{body}]{{{least},2000}}"), least, random)


_WORD = r"A-Za-z0-9_\-"
_ALNUM = "A-Za-z0-9"
_HEX = "0-9a-f"

# Prefixes and lengths as the makers document them; the lists of GitHub's and GitLab's secret scanning name most.
RULES: tuple[TokenRule, ...] = (
    _rule("anthropic-key", "sk-ant-", _WORD, 24, random=False),
    _rule("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", _WORD, 24, random=False),
    _rule("openrouter-key", "sk-or-", _WORD, 60),
    _rule("langfuse-key", "sk-lf-", _WORD, 24),
    _rule("api-key", "sk-", _WORD, 20),
    _rule("google-key", "AIza", _WORD, 35),
    _rule("google-oauth", "ya29. GOCSPX- 1//0", _WORD, 28),
    _rule("groq-key", "gsk_", _ALNUM, 52, random=False),
    _rule("xai-key", "xai-", _ALNUM, 64, random=False),
    _rule("huggingface-token", "hf_ api_org_", _ALNUM, 34, random=False),
    _rule("replicate-token", "r8_", _ALNUM, 32),
    _rule("perplexity-key", "pplx-", _ALNUM, 32),
    _rule("nvidia-key", "nvapi-", _WORD, 40),
    _rule("cerebras-key", "csk-", _ALNUM, 32),
    _rule("tavily-key", "tvly-", _WORD, 20),
    _rule("langsmith-key", "lsv2_pt_ lsv2_sk_ ls__", _WORD, 30),
    _rule("firecrawl-key", "fc-", _HEX, 32),
    _rule("api-key", "jina_ e2b_ exa_ ctx7sk- fw_ pa- sk_ rk_ key_ phx_ phc_", _ALNUM, 28),
    _rule("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", "A-Za-z0-9_", 36, random=False),
    _rule("github-token", "github_pat_", "A-Za-z0-9_", 40, random=False),
    _rule(
        "gitlab-token",
        "glpat- gldt- glft- glsoat- glrt- glcbt- glimt- glptt- glagent- gloas- GR1348941",
        _WORD,
        20,
        random=False,
    ),
    _rule("atlassian-token", "ATATT3 ATBB ATCTT3", _WORD + "=", 20),
    _rule("npm-token", "npm_", _ALNUM, 36, random=False),
    _rule("pypi-token", "pypi-", _WORD, 50),
    _rule("rubygems-key", "rubygems_", _HEX, 48),
    _rule("crates-token", "cio", _ALNUM, 32),
    _rule("nuget-key", "oy2", "a-z0-9", 43),
    _rule("docker-token", "dckr_pat_ dckr_oat_", _WORD, 24),
    _rule("aws-key-id", "AKIA ASIA ABIA ACCA", "0-9A-Z", 16, random=False),
    _rule("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", _HEX, 64),
    _rule("heroku-key", "HRKU-", _WORD, 30),
    _rule("supabase-key", "sbp_ sb_secret_ sb_publishable_", _WORD, 20),
    _rule("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", _ALNUM, 24),
    _rule("netlify-token", "nfp_", _ALNUM, 36),
    _rule("fly-token", "fm1_ fm2_ fo1_ fm1r_ fm2r_ fm1a_", _WORD + "+/=,", 40),
    _rule("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", _WORD + ".", 32),
    _rule("databricks-token", "dapi", _HEX, 32),
    _rule("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", _WORD + ".", 30),
    _rule("vault-token", "hvs. hvb. hvr.", _WORD, 24),
    _rule("pulumi-token", "pul-", _HEX, 40),
    _rule("newrelic-key", "NRAK- NRJS- NRII- NRIQ-", "A-Za-z0-9_-", 19, random=False),
    _rule("grafana-token", "glsa_ glc_", _WORD + "+/=", 32),
    _rule("sentry-token", "sntrys_ sntryu_", _WORD + "+/=", 40),
    _rule("linear-key", "lin_api_ lin_oauth_", _ALNUM, 40),
    _rule("notion-token", "ntn_ secret_", _ALNUM, 40),
    _rule("figma-token", "figd_ figo_", _WORD, 36),
    _rule("postman-key", "PMAK-", _WORD, 40),
    _rule("sonar-token", "squ_ sqp_ sqa_", _HEX, 40),
    _rule("circleci-token", "CCIPAT_ CCIPRJ_", _WORD, 30),
    _rule("buildkite-token", "bkua_ bkct_ bkaj_", _ALNUM, 36),
    _rule("tailscale-key", "tskey-", _WORD, 24),
    _rule("typeform-token", "tfp_", _WORD, 40),
    _rule("dropbox-token", "sl.u. sl.B sl.A", _WORD, 60),
    _rule("facebook-token", "EAAC EAAG EAAB EAAJ", _ALNUM, 60),
    _rule("shopify-token", "shpat_ shpss_ shpca_ shppa_", "A-Fa-f0-9", 32, random=False),
    _rule("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", _ALNUM, 24, random=False),
    _rule("square-token", "sq0csp- sq0atp- sq0idp- EAAAE EAAAl", _WORD, 22),
    _rule("paypal-token", "access_token$production$ access_token$sandbox$", _ALNUM + "$", 24),
    _rule("sendgrid-key", "SG.", _WORD + ".", 50),
    _rule("mailgun-key", "key-", _HEX, 32),
    _rule("brevo-key", "xkeysib- xsmtpsib-", _WORD, 50),
    _rule("resend-key", "re_", "A-Za-z0-9_", 24),
    _rule(
        "slack-token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs-", r"A-Za-z0-9\-.%", 24, random=False
    ),
    _rule("slack-token", "xapp-", r"A-Za-z0-9\-", 64),
    _rule("age-key", "AGE-SECRET-KEY-1", "0-9A-Z", 50),
    _rule("launchdarkly-key", "sdk- mob-", "0-9a-f-", 36),
    _rule("mapbox-token", "sk.eyJ", _WORD + ".", 60, random=False),
    _rule("terraform-token", ".atlasv1.", _WORD, 50),
    _rule("flutterwave-key", "FLWSECK_TEST- FLWSECK-", _WORD, 24),
    _rule("airtable-token", "pat", r"A-Za-z0-9.", 70),
    _rule("jwt", "eyJ", r"A-Za-z0-9_\-.=", 40, random=False),
    _rule("twilio-key", "AC SK", _HEX, 32),
    _rule("clickup-token", "pk_", "0-9A-Z_", 32),
    _rule("contentful-token", "CFPAT-", _WORD, 40),
    _rule("artifactory-token", "AKC", _ALNUM, 60),
    _rule("artifactory-token", "cmVmd", _ALNUM, 59),
    _rule("onepassword-token", "ops_eyJ A3-", _WORD + "+/=", 30),
    _rule("alibaba-key-id", "LTAI", _ALNUM, 20),
    _rule("tencent-key-id", "AKID", _ALNUM, 30),
    _rule("adobe-secret", "p8e-", _ALNUM, 32),
    _rule("clickhouse-key", "4b1d", _ALNUM, 38),
    _rule("clojars-token", "CLOJARS_", _ALNUM, 60),
    _rule("cloudflare-key", "v1.0-", _HEX + "-", 100),
    _rule("prefect-key", "pnu_ pnb_", _ALNUM, 36),
    _rule("dynatrace-token", "dt0c01. dt0s01.", _WORD + ".", 60),
    _rule("easypost-key", "EZAK EZTK", _ALNUM, 40),
    _rule("duffel-token", "duffel_live_ duffel_test_", _WORD, 40),
    _rule("shippo-token", "shippo_live_ shippo_test_", _HEX, 40),
    _rule("sourcegraph-token", "sgp_ slk_", _ALNUM + "_", 40),
    _rule("readme-key", "rdme_", _ALNUM, 60),
    _rule("infracost-key", "ico-", _ALNUM, 32),
    _rule("octopus-key", "API-", "A-Z0-9", 26),
    _rule("openshift-token", "sha256~", _WORD, 43),
    _rule("plaid-token", "access-sandbox- access-development- access-production-", "0-9a-f-", 36, random=False),
    _rule("scaleway-key", "SCW", "A-Z0-9", 17),
    _rule("yandex-token", "AQVN y0_AgAA t1.9eu", _WORD + ".", 35),
    _rule("modal-token", "ak- as- wk- ws-", _ALNUM, 22),
    _rule("together-key", "tgp_v1_", _WORD, 40),
    _rule("lark-token", "t-g1", _ALNUM, 36),
)

# Tokens told by a literal inside them: kind, the literals, how far before a literal one starts at most, the whole.
_FORMS: tuple[tuple[str, tuple[str, ...], int, re.Pattern[str]], ...] = (
    ("slack-webhook", ("hooks.slack.com/",), 0, re.compile(r"hooks\.slack\.com/\w{4,12}/(?P<v>[\w/]{20,120})")),
    ("discord-webhook", ("/webhooks/",), 0, re.compile(r"/webhooks/(?P<v>\d{16,20}/[\w-]{40,100})")),
    ("teams-webhook", ("office.com/webhook",), 0, re.compile(r"office\.com/webhook\w{0,4}/(?P<v>[\w@/-]{40,250})")),
    ("telegram-token", (":AA",), 12, re.compile(r"(?P<v>\d{7,12}:AA[\w-]{30,40})")),
    ("azure-client-secret", tuple(f"{n}Q~" for n in range(10)), 3, re.compile(r"(?P<v>[\w~.-]{3}\dQ~[\w~.-]{31,34})")),
    ("mailchimp-key", ("-us",), 32, re.compile(r"(?P<v>[0-9a-f]{32}-us\d{1,2})(?!\w)")),
    ("password-hash", ("$2", "$6$", "$5$", "$apr1$", "$argon2", "$y$"), 0, re.compile(
        r"(?P<v>\$(?:2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}|(?:apr1|5|6|y)\$(?:rounds=\d{1,9}\$|[./A-Za-z0-9]{1,16}\$)"
        r"[./A-Za-z0-9$]{20,110}|argon2(?:id|i|d)\$v=\d{1,3}\$[\w=,]{1,60}\$[A-Za-z0-9+/]{10,100}\$[A-Za-z0-9+/]{20,120}))")),
)  # fmt: skip


def find_tokens(text: str) -> Iterator[Hit]:
    """Every token of a known form."""
    for rule in RULES:
        for prefix in rule.prefixes:
            first = text.find(prefix)
            if first >= 0:
                yield from _matches(rule, prefix, text, first)
    for kind, literals, back, pattern in _FORMS:
        for at in places(text, literals):
            match = pattern.search(text, max(0, at - back), at + 300) if back else pattern.match(text, at)
            if match is None or match.start() > at or is_placeholder(match["v"]):
                continue
            if starts_clean(text, match.start("v")):
                yield kind, *match.span("v")


def _matches(rule: TokenRule, prefix: str, text: str, first: int) -> Iterator[Hit]:
    done = 0
    for start in places(text, (prefix,), first):
        match = rule.body.match(text, start + len(prefix)) if start >= done else None
        if match is None:
            continue
        done = match.end()
        if not starts_clean(text, start, joiners=len(prefix) > 4) or _is_false(rule, match[0]):
            continue
        yield rule.kind, start, match.end()


def _is_false(rule: TokenRule, body: str) -> bool:
    if rule.kind == "aws-key-id" and len(body) != rule.length:
        return True
    if rule.kind == "jwt" and body.count(".") < 1:
        return True
    low = body.lower()
    if "example" in low or "your" in low or "xxxx" in low or "..." in low or is_filler(body):
        return True
    return rule.random and not is_random(body)
