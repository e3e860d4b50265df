"""The reviewed part of detect-secrets: those of its patterns that are bounded, exact and not about ids or addresses.

Left out, each for a reason: `KeywordDetector` and the two entropy detectors (they point at most lines of a transcript;
`names` does the same with the value's look taken in), `BasicAuthDetector`, `JwtTokenDetector`, `NpmDetector`,
`OpenAIDetector` (quantifiers without a bound that go quadratic on crafted text; `tokens` and `transport` have bounded
ones), `PrivateKeyDetector` (it finds the first line only; `blocks` takes the whole key), `CloudantDetector`,
`IbmCloudIamDetector`, `IbmCosHmacDetector` and `SoftlayerDetector` (an assignment to a secret name, found by
`names` at a tenth of the time), `ArtifactoryDetector`,
`MailchimpDetector` and `TelegramBotTokenDetector` (slow on long texts; `tokens` anchors them), `IPPublicDetector`
(personal data, see `personal`). `detect_secrets` itself scans
line by line through its settings, filters and plugins; its compiled patterns on the whole text do the same work in a
hundredth of the time.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from functools import cache

from detectors.secrets.places import starts_clean
from detectors.secrets.shapes import is_filler, is_placeholder, is_random

# module, class -> our kind, and the literal texts without which the pattern cannot match
REVIEWED: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("aws", "AWSKeyDetector", "aws-key", ("AKIA", "ASIA", "ABIA", "ACCA", "A3T", "aws", "AWS")),
    ("azure_storage_key", "AzureStorageKeyDetector", "azure-key", ("AccountKey=",)),
    ("discord", "DiscordBotTokenDetector", "discord-token", (".",)),
    ("github_token", "GitHubTokenDetector", "github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    ("gitlab_token", "GitLabTokenDetector", "gitlab-token", ("gl", "GR1348941")),
    ("pypi_token", "PypiTokenDetector", "pypi-token", ("pypi-AgE",)),
    ("sendgrid", "SendGridDetector", "sendgrid-key", ("SG.",)),
    ("slack", "SlackDetector", "slack-token", ("xox", "hooks.slack.com")),
    ("square_oauth", "SquareOAuthDetector", "square-token", ("sq0csp-",)),
    ("stripe", "StripeDetector", "stripe-key", ("k_live_",)),
    ("twilio", "TwilioKeyDetector", "twilio-key", ("AC", "SK")),
)

_RUN = re.compile(r"[\w-]{0,60}", re.ASCII)


@cache
def reviewed_patterns() -> tuple[tuple[str, tuple[str, ...], tuple[re.Pattern[str], ...]], ...]:
    """Kind, hints and compiled patterns of every reviewed plugin; imports detect-secrets on first use."""
    found = []
    for module, name, kind, hints in REVIEWED:
        plugin = getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), name)
        found.append((kind, hints, tuple(plugin.denylist)))
    return tuple(found)


def find_by_plugins(text: str) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of what the reviewed plugins of detect-secrets point at."""
    for kind, hints, patterns in reviewed_patterns():
        if not any(hint in text for hint in hints):
            continue
        for pattern in patterns:
            for match in pattern.finditer(text):
                start, end = match.span(match.lastindex or 0) if kind == "aws-key" else match.span()
                value = text[start:end].strip(' \t\n"=:')
                start = text.index(value, start)
                end = _RUN.match(text, start + len(value)).end()  # type: ignore[union-attr]  # may be empty
                value = text[start:end]
                if starts_clean(text, start) and _is_likely(value):
                    yield kind, start, end


def _is_likely(value: str) -> bool:
    return is_random(value, 12) and not is_placeholder(value) and not is_filler(value)
