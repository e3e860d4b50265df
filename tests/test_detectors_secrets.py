"""What counts as a secret, what does not, and that finding them stays linear."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.secrets import Secret, find_secrets
from detectors.secrets.names import family_of, words_of
from detectors.secrets.plugins import REVIEWED, reviewed_patterns
from detectors.secrets.shapes import is_filler, is_ordinary, is_path, is_placeholder, is_random, is_reference
from tests.planted import Draw, leaks, ordinary, planted


def cut_out(text: str, secrets: list[Secret]) -> str:
    """The text with every secret's span left out."""
    for secret in reversed(secrets):
        text = text[: secret.span[0]] + "\u2588" + text[secret.span[1] :]
    return text


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_planted_secret_survives(seed: int) -> None:
    """Of more than 400 secrets of over 100 kinds, in their usual surroundings, nothing is left beside the spans."""
    items = planted(seed)
    assert len(items) > 400
    assert len({item.kind for item in items}) > 100
    assert [item for item in items if leaks(item, cut_out(item.text, find_secrets(item.text)))] == []


def test_ordinary_strings_stay() -> None:
    """At most one in a hundred lines with hashes, ids, paths, names and placeholders is touched."""
    lines = ordinary(7, 2000)
    touched = [line for line in lines if find_secrets(line)]
    assert len(touched) <= 20, touched


@pytest.mark.parametrize(
    "text",
    [
        "API_KEY=<YOUR_KEY>",
        "api_key: xxxxxxxxxxxxxxxxxxxxxxxx",
        "export TOKEN=$OTHER_TOKEN",
        'password: "${DB_PASSWORD}"',
        "token: ${{ secrets.DEPLOY_TOKEN }}",
        "aws_access_key_id = AKIAIOSFODNN7EXAMPLE",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "postgres://user:password@localhost:5432/app",
        "Authorization: Bearer <token>",
        "curl -H 'Authorization: Bearer $TOKEN' https://api.example.org",
        'const password = getPassword("db");',
        "password = settings.database.password",
        "max_tokens=4096, input_tokens: 1200",
        "--- PASS: TestRotateKeys2Twice (0.01s)",
        "-----BEGIN RSA PRIVATE KEY-----",
        "the password is required and must have 8 characters",
        "Cookie: sessionid=<value>",
        "primary_key: user_2024_id",
        "sk-learn and task-runner-2 are fine",
    ],
)
def test_stand_ins_and_code_are_no_secrets(text: str) -> None:
    """A placeholder, a reference and a document's example are left alone."""
    assert find_secrets(text) == []


def test_a_maker_is_named() -> None:
    """The kind tells whose token it is, also where a name beside it would have found it."""
    value = "gh" + "p_" + Draw(3).of("abcdefghijkABCDEFGHIJK0123456789", 36)
    assert [secret.kind for secret in find_secrets(f"GITHUB_TOKEN={value}")] == ["github-token"]


def test_only_the_value_goes() -> None:
    """The name, the address and the rest of the line stay readable."""
    text = "DATABASE_URL=postgres://app:Tiger-maple-92@db.example.org/shop"
    assert cut_out(text, find_secrets(text)) == "DATABASE_URL=postgres://app:\u2588@db.example.org/shop"


def test_personal_data_only_when_asked() -> None:
    """Mail addresses, home folders, private hosts and addresses are found by setting; public stand-ins never."""
    text = "mail jo.doe@acme.io from /home/jdoe/src on build7.corp at 10.2.3.4; see git@github.com and 127.0.0.1"
    assert find_secrets(text) == []
    assert [secret.kind for secret in find_secrets(text, personal=True)] == ["mail", "home", "host", "ip"]


def test_marks_are_no_secrets() -> None:
    """What an earlier redaction left is not found again."""
    assert find_secrets("API_KEY=[redacted:secret:2] and password: [redacted:password]") == []


@given(st.text(max_size=300))
def test_spans_are_ordered_and_inside(text: str) -> None:
    """Any text: the spans are within it, not empty, in order and without overlap."""
    spans = [secret.span for secret in find_secrets(text, personal=True)]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(left[1] <= right[0] for left, right in pairwise(spans))


CRAFTED = (
    "sk-", "eyJ", "a://b:", "password=", "token is ", "-----BEGIN PRIVATE KEY-----", "'a' + '", "A1b2C3d4\n", "\\n\\n",
    "<private>", "Cookie: a=", "xoxb-1-", "key for a ", "mysql -p", "x.y@", "data:image/png;base64,", "://", "AAAA",
    " ",
    "PuTTY-User-Key-File-2", "hf_aB3", "echo a|", "authorization:", "?sig=", "\\\\", "ghp_", "$2b$12$",
)  # fmt: skip


@pytest.mark.timeout(20)
@pytest.mark.parametrize("unit", CRAFTED)
def test_crafted_text_does_not_explode(unit: str) -> None:
    """Any one piece repeated over 100,000 characters is read at all: the limit is thirty times what it takes."""
    find_secrets(unit * (100_000 // len(unit)), personal=True)


def test_every_reviewed_plugin_loads() -> None:
    """Each plugin that the review names is there and has patterns."""
    assert len(reviewed_patterns()) == len(REVIEWED)
    assert all(patterns for _, _, patterns in reviewed_patterns())


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("DB_PASSWORD", "password"),
        ("clientSecret", "secret"),
        ("X-Api-Key", "secret"),
        ("apikey", "secret"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("authToken", "token"),
        ("max_tokens", ""),
        ("next_page_token", ""),
        ("primary_key", ""),
        ("password_file", ""),
        ("keyboard", ""),
        ("monkey", ""),
        ("key", "weak-key"),
    ],
)
def test_a_name_promises_a_secret_or_not(name: str, family: str) -> None:
    """The last word of a name decides, the ones before it may take it back."""
    assert family_of(words_of(name)) == family


def test_shapes() -> None:
    """Random, ordinary, stand-in, filler, path and reference are told apart."""
    assert is_random("kX9vT2mQ8zL4pW7n")
    assert not is_random("get-user-name-from-request")
    assert is_ordinary("0f8fad5b-d9cb-469f-a165-70867728950e")
    assert is_ordinary("9b74c9897bac770ffc029102a200c5de0b1c2d3e")
    assert not is_ordinary("kX9vT2mQ8zL4pW7n")
    assert is_placeholder("my-secret-key")
    assert not is_placeholder("Secret123!", password=True)
    assert is_filler("1234567890abcdef")
    assert is_path("src/auth/token.py")
    assert is_reference("process.env.TOKEN")


@pytest.mark.parametrize("gap", ["\\\n  ", "\n", "' +\n    '", '"\n  "'])
@pytest.mark.parametrize("prefix", ["ghp_", "AKIA", "npm_"])
def test_a_token_broken_right_behind_its_prefix_is_found_whole(prefix: str, gap: str) -> None:
    """The prefix alone is a short word at a line's end."""
    letters = random.Random(prefix)  # noqa: S311
    alphabet = (
        "ABCDEFGHJKLMNPQRSTUVWXYZ234567" if prefix == "AKIA" else "abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQR23456789"
    )
    rest = "".join(letters.choice(alphabet) for _ in range(16 if prefix == "AKIA" else 36))
    quote = gap[-1] if gap[-1] in "'\"" else ""
    text = f"token = {quote}{prefix}{gap}{rest}{quote}\ndone\n"
    found = find_secrets(text)
    assert any(text[one.span[0] : one.span[1]].startswith(prefix) for one in found)
    assert any(one.span[1] >= text.index(rest) + len(rest) for one in found)
