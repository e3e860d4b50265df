"""The one door to a model: a prompt in, the answer's text out, every failure a ModelError that says what to do.

litellm is imported when the first question is asked: it takes seconds. Before that its switches are set so that it
fetches nothing, reads no `.env` of the folder it runs in, and prints nothing.
"""

from __future__ import annotations

import json
import logging
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from index.errors import ModelError
from index.settings import ModelSettings, RedactSettings
from reflect.budget import Budget, Price, Spend, is_loopback, most_tokens, price_of, read_prices
from reflect.redact import redact_text
from reflect.transcripts.protocol import OWN_MARK

RETRIES = 1
# A server that is down, or a key that is wrong, costs a run with hundreds of sessions no more than so many waits.
MOST_FAILURES = 3
NOT_REACHED = -1
# Nothing was made, so nothing is charged: no server, bad request, key, rights, name, rate.
_NOT_CHARGED = frozenset({NOT_REACHED, 400, 401, 403, 404, 422, 429})
_SHOWN = 300
_LOGGERS = ("LiteLLM", "LiteLLM Proxy", "LiteLLM Router", "httpx", "openai", "openai._base_client")


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked: the rules, the data, the JSON schema of the answer, and its most tokens (0: as set)."""

    system: str
    user: str
    schema: Mapping[str, Any] | None = None
    max_tokens: int = 0


Ask = Callable[[Prompt], str]


def make_ask(
    settings: ModelSettings, budget: Budget, env: Mapping[str, str], redact: RedactSettings | None = None
) -> Ask | None:
    """A function that asks the configured model, or None where none is configured.

    Each call is priced and reserved in the budget before it is made. What goes out and what comes back is redacted
    here once more, whatever the caller did; the question bears the mark by which a transcript of it is known as ours.
    """
    if not settings.name:
        return None
    redact = redact or RedactSettings()
    failures: list[str] = []

    def ask(prompt: Prompt) -> str:
        if len(failures) >= MOST_FAILURES:
            raise ModelError(f"{settings.name}: not called again in this run after {len(failures)} failures")
        price = _price(settings)
        key = _key(settings, env)
        system, user = (redact_text(text, redact)[0] for text in (prompt.system, f"{OWN_MARK}\n{prompt.user}"))
        most = min(prompt.max_tokens or settings.max_tokens, settings.max_tokens)
        schema = json.dumps(prompt.schema) if prompt.schema else ""
        tokens = most_tokens(system, user, schema)
        attempts = 1 + RETRIES
        reserved = Spend(attempts * price.of(tokens, most), attempts * (tokens + most), attempts)
        budget.reserve(reserved)
        took = reserved
        try:
            answer, took = _complete(settings, price, key, system, user, prompt.schema, most, reserved)
        except _Failed as failed:
            failures.append(str(failed))
            took = Spend(calls=1) if failed.status in _NOT_CHARGED else reserved
            raise ModelError(f"{settings.name}: {failed}") from failed.__cause__
        finally:
            budget.settle(reserved, took)
        failures.clear()
        return redact_text(_whole(settings, answer), redact)[0]

    return ask


class _Failed(Exception):
    """A call that gave no answer; `status` is the HTTP status, 0 where there was none, NOT_REACHED without a server."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status


def _price(settings: ModelSettings) -> Price:
    price = price_of(settings, read_prices())
    if price is None:
        raise ModelError(
            f"{settings.name}: not called, its price is not known. Set model.input_cost_per_token and "
            "model.output_cost_per_token in config.yaml, or model.api_base where it runs on this machine."
        )
    return price


def _key(settings: ModelSettings, env: Mapping[str, str]) -> str | None:
    """The key from the environment variable that the settings name; None leaves the choice to litellm."""
    if settings.api_key_env:
        key = env.get(settings.api_key_env)
        if not key:
            raise ModelError(
                f"{settings.name}: not called, the environment variable {settings.api_key_env} (model.api_key_env) "
                "is empty. Set it, or name another one."
            )
        return key
    # A local server wants some key; a real one in the environment is none of its business.
    return "local" if settings.api_base and is_loopback(settings.api_base) else None


def _complete(
    settings: ModelSettings,
    price: Price,
    key: str | None,
    system: str,
    user: str,
    schema: Mapping[str, Any] | None,
    most: int,
    reserved: Spend,
) -> tuple[Any, Spend]:
    """The model's reply and what it took; raises _Failed."""
    litellm = import_litellm()
    options: dict[str, Any] = {}
    if settings.api_base:
        options["api_base"] = settings.api_base
    if key is not None:
        options["api_key"] = key
    if schema is not None:
        form = {"name": "answer", "strict": True, "schema": dict(schema)}
        options["response_format"] = {"type": "json_schema", "json_schema": form}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reply = litellm.completion(
                model=settings.name,
                messages=[{"role": "system", "content": system}, {"role": "user", "content": user}],
                temperature=0,
                max_tokens=most,
                timeout=settings.timeout_seconds,
                max_retries=RETRIES,
                drop_params=True,
                **options,
            )
    except Exception as error:  # litellm raises its own, its providers' and bare exceptions: all are one failure here
        raise _failure(settings, error) from error
    return reply, _taken(reply, price, reserved)


def import_litellm() -> ModuleType:
    """litellm, told before its import to fetch nothing and to read no `.env`, and after it to keep quiet."""
    os.environ["LITELLM_OFFLINE_MODE"] = "true"
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_MODE"] = "PRODUCTION"
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import litellm
    litellm.suppress_debug_info = True
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    module: ModuleType = litellm
    return module


def _taken(reply: Any, price: Price, reserved: Spend) -> Spend:
    """What the reply says it took; the sum reserved where it does not say."""
    usage = getattr(reply, "usage", None)
    tokens_in, tokens_out = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
    if not isinstance(tokens_in, int) or not isinstance(tokens_out, int) or tokens_in + tokens_out <= 0:
        return reserved
    return Spend(round(price.of(tokens_in, tokens_out), 9), tokens_in + tokens_out, 1)


def _whole(settings: ModelSettings, reply: Any) -> str:
    """The answer's text, if there is one and it was not cut."""
    choices = getattr(reply, "choices", None)
    if not choices:
        raise ModelError(f"{settings.name}: its reply holds no answer. Try again, or choose another model.")
    text, reason = choices[0].message.content, choices[0].finish_reason
    if reason == "length":
        raise ModelError(
            f"{settings.name}: its answer was cut at {settings.max_tokens} tokens and is not used. "
            "Raise model.max_tokens in config.yaml."
        )
    if reason == "content_filter" or not isinstance(text, str) or not text.strip():
        raise ModelError(
            f"{settings.name}: it gave no answer ({reason or 'empty'}). Try again, or choose another model."
        )
    return text


# By litellm's status: what was wrong, and what to do next.
_ADVICE = {
    401: "its key was refused. Set the environment variable of model.api_key_env to a valid key.",
    403: "the key has no right to this model. Use another key or model.",
    404: "no such model there. Correct model.name or model.api_base.",
    408: "no answer within {timeout:g} s (model.timeout_seconds). Raise it, or choose a faster model.",
    413: "the prompt is too long for it. Choose a model with a longer context.",
    429: "it is out of quota or asked too often. Try again later.",
}


def _failure(settings: ModelSettings, error: Exception) -> _Failed:
    """A failure in one sentence, with the cause but without a key or a prompt in it."""
    name = type(error).__name__
    status = getattr(error, "status_code", 0)
    status = status if isinstance(status, int) else 0
    cause = " ".join(redact_text(str(error), RedactSettings())[0].split())[:_SHOWN]
    where = settings.api_base or "its provider"
    advice = _ADVICE.get(status, "").format(timeout=settings.timeout_seconds)
    if name == "ContextWindowExceededError":
        advice = _ADVICE[413]
    elif "onnection" in cause and status in {0, 500, 503}:
        advice = f"nothing answers at {where}. Start the server, or correct model.api_base."
        status = 0 if name == "Timeout" else NOT_REACHED
    advice = advice or f"{where} failed. Try again later, or choose another model."
    return _Failed(f"{advice} ({name}{f' {status}' if status > 0 else ''}: {cause})", status)
