"""What a cache was made by: the source of the modules that its content follows from."""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from pathlib import Path
from types import ModuleType


@cache
def code_version(*modules: ModuleType) -> str:
    """A digest of the source of modules and of the Python that runs them: another one, and what they made is stale."""
    whole = hashlib.sha256(b"%d" % sys.hexversion)
    for module in modules:
        whole.update(Path(str(module.__file__)).read_bytes())
    return whole.hexdigest()
