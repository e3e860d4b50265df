"""Count a text's tokens with a real tokenizer, where one is installed that needs no network."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

# litellm, which hotwash depends on, brings this file for its own counting; newer models cut a text much alike.
TOKENIZER = "litellm_core_utils/tokenizers/anthropic_tokenizer.json"


def find_counter() -> Callable[[str], int] | None:
    """What counts tokens, or None where no tokenizer is installed. litellm itself is not imported: it takes seconds."""
    spec = find_spec("litellm")
    folders = (spec.submodule_search_locations if spec else None) or []
    files = [Path(folder) / TOKENIZER for folder in folders]
    if find_spec("tokenizers") is None or not files or not files[0].is_file():
        return None
    return load_counter(files[0])


@lru_cache(maxsize=1)
def load_counter(file: Path) -> Callable[[str], int]:
    """A counter over a tokenizer's file in the form of the library `tokenizers`."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)
