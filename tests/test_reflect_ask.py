"""The door to a model, through the real litellm against a scripted endpoint: every failure is one sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from index.errors import ModelError
from index.settings import ModelSettings
from reflect.ask import MOST_FAILURES, Ask, Prompt, make_ask
from reflect.budget import Budget, read_spend
from reflect.transcripts.protocol import OWN_MARK
from tests.model_server import ModelServer, Reply, answer, cut, failure, raw, serve_model, slow
from tests.planted import Draw, leaks, planted

DAY = date(2026, 11, 30)
QUESTION = Prompt("Answer in JSON.", "What is it?", {"type": "object"}, 200)
ROOT = Path(__file__).parents[1]


def door(root: Path, server: ModelServer, **changes: object) -> tuple[Ask, Budget]:
    """A door to the endpoint, with a ledger in `root`."""
    settings = replace(ModelSettings(name="openai/m", api_base=server.base, timeout_seconds=20), **changes)  # type: ignore[arg-type]
    budget = Budget(root, DAY, settings)
    ask = make_ask(settings, budget, {})
    assert ask is not None
    return ask, budget


def test_no_model_no_door(tmp_path: Path) -> None:
    """Without a name in the settings there is nothing to ask."""
    assert make_ask(ModelSettings(), Budget(tmp_path, DAY, ModelSettings()), {}) is None


def test_a_question_and_its_answer(tmp_path: Path) -> None:
    """The request holds our mark, the schema and temperature 0; the answer's usage is what the ledger keeps."""
    with serve_model(answer('{"ok": 1}')) as server:
        ask, budget = door(tmp_path, server)
        assert ask(QUESTION) == '{"ok": 1}'
        sent = json.loads(server.bodies[0])
    assert OWN_MARK in sent["messages"][1]["content"]
    assert (sent["temperature"], sent["max_tokens"]) == (0, 200)
    assert sent["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert server.headers[0]["authorization"] == "Bearer local"
    assert (budget.run.usd, budget.run.tokens, budget.run.calls) == (0.0, 150, 1)
    assert read_spend(tmp_path, DAY) == budget.run


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (failure(401, "Incorrect API key"), "key was refused"),
        (failure(403), "no right"),
        (failure(404, "no model"), "model.name"),
        (failure(400, "maximum context length is 10 tokens"), "longer context|failed"),
        (failure(429, "slow down", {"retry-after": "0"}), "quota"),
        (failure(429, "slow down", {"retry-after": "3600"}), "quota"),
        (failure(429, "slow down"), "quota"),
        (failure(500, "boom"), "Try again later"),
        (cut(answer('{"ok": 1}'), 60), "openai/m|nothing answers"),
        (cut(answer('{"ok": 1}'), 0), "openai/m|nothing answers"),
        (raw(200, b"<html>not json"), "openai/m"),
        (raw(200, b"{}"), "openai/m"),
        (answer("", "stop"), "no answer"),
        (answer('{"half": "', "length"), "model.max_tokens"),
        (answer("", "content_filter"), "no answer"),
    ],
)
def test_every_failure_is_a_sentence(
    reply: Reply, says: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whatever the endpoint does, a ModelError says what and what next; nothing is printed, on either stream."""
    with serve_model(reply) as server:
        ask, _ = door(tmp_path, server)
        with pytest.raises(ModelError, match=says) as caught:
            ask(QUESTION)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
    assert capfd.readouterr() == ("", "")


def test_a_silent_server_is_given_up(tmp_path: Path) -> None:
    """The timeout of the settings holds for each attempt."""
    with serve_model(slow(3)) as server:
        ask, budget = door(tmp_path, server, timeout_seconds=0.3)
        with pytest.raises(ModelError, match="timeout_seconds"):
            ask(QUESTION)
    assert budget.run.calls == 2, "it may have cost both attempts"


def test_nobody_there(tmp_path: Path) -> None:
    """A server that is down is named with its address, costs nothing, and is not asked for ever."""
    with serve_model(answer("x")) as server:
        pass
    ask, budget = door(tmp_path, server)
    for _ in range(MOST_FAILURES):
        with pytest.raises(ModelError, match="nothing answers at http://127"):
            ask(QUESTION)
    with pytest.raises(ModelError, match="not called again"):
        ask(QUESTION)
    assert budget.run.tokens == 0


def test_one_hiccup_is_got_over(tmp_path: Path) -> None:
    """A server's error is tried once more, and no more than once."""
    with serve_model(failure(500), answer("fine")) as server:
        assert door(tmp_path, server)[0](QUESTION) == "fine"
        assert len(server.bodies) == 2


def test_a_model_of_unknown_price_is_not_called(tmp_path: Path) -> None:
    """Off this machine, a price is needed first: in litellm's map or in the settings."""
    settings = ModelSettings(name="openai/never-heard-of", api_base="https://models.example.org/v1")
    ask = make_ask(settings, Budget(tmp_path, DAY, settings), {})
    assert ask is not None
    with pytest.raises(ModelError, match="input_cost_per_token"):
        ask(QUESTION)


def test_the_cap_holds_before_the_call(tmp_path: Path) -> None:
    """A call that may go over the day's cap never reaches the endpoint; one below it is counted by its usage."""
    with serve_model(answer("ok", usage=(1000, 100))) as server:
        ask, budget = door(tmp_path, server, input_cost_per_token=1e-5, output_cost_per_token=1e-5, daily_cap_usd=0.02)
        assert ask(QUESTION) == "ok"
        assert budget.run.usd == pytest.approx(0.011)
        with pytest.raises(ModelError, match="daily_cap_usd"):
            ask(replace(QUESTION, max_tokens=1400))
        assert len(server.bodies) == 1


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    """The variable that should hold the key stands in the message; another key of the environment is not used."""
    with serve_model(answer("ok")) as server:
        ask, _ = door(tmp_path, server, api_key_env="ACME_KEY")
        with pytest.raises(ModelError, match="ACME_KEY"):
            ask(QUESTION)
        assert server.bodies == []


def test_no_secret_goes_out_or_comes_back(tmp_path: Path) -> None:
    """Two hundred planted secrets in prompts do not reach the endpoint, and one in an answer does not come back."""
    items = planted(31)[::2]
    value = "gh" + "o_" + Draw(1).of("abcdefghABCDEFGH01234567", 36)
    with serve_model(answer(f"the token is {value}"), failure(400, f"bad key {value}")) as server:
        ask, _ = door(tmp_path, server, daily_cap_tokens=10**9)
        assert value not in ask(Prompt("s", "\n\n".join(item.text for item in items)))
        with pytest.raises(ModelError) as caught:
            ask(QUESTION)
        assert value not in str(caught.value)
    assert len(items) >= 200
    sent = json.loads(server.bodies[0])["messages"][1]["content"]
    assert [item.kind for item in items if leaks(item, sent)] == []


def test_the_folder_s_env_file_is_left_alone(tmp_path: Path) -> None:
    """Importing litellm in a folder with a `.env` takes nothing from it, and asks no network."""
    (tmp_path / ".env").write_text("HOTWASH_PROBE=1\nOPENAI_API_KEY=x\n")
    code = (
        "import os; from reflect.ask import import_litellm; import_litellm(); assert 'HOTWASH_PROBE' not in os.environ"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT), "HTTPS_PROXY": "http://127.0.0.1:9"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
