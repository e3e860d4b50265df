"""A model's HTTP endpoint on loopback that answers by a script and keeps what it was sent."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = Callable[[], tuple[int, Mapping[str, str], bytes]]


def answer(text: str, reason: str = "stop", usage: tuple[int, int] | None = (120, 30)) -> Reply:
    """A chat completion with this text."""
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": text}}],
    }
    if usage:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return lambda: (200, {"content-type": "application/json"}, json.dumps(body).encode())


def failure(status: int, message: str = "no", headers: Mapping[str, str] | None = None) -> Reply:
    """An error in OpenAI's form."""
    body = json.dumps({"error": {"message": message, "type": "error", "code": None}}).encode()
    return lambda: (status, {"content-type": "application/json", **(headers or {})}, body)


def raw(status: int, body: bytes) -> Reply:
    """Any bytes."""
    return lambda: (status, {"content-type": "application/json"}, body)


def cut(reply: Reply, kept: int) -> Reply:
    """The first `kept` bytes of a reply whose length was announced in full: the line went dead."""

    def half() -> tuple[int, Mapping[str, str], bytes]:
        status, headers, body = reply()
        return status, {**headers, "content-length": str(len(body))}, body[:kept]

    return half


def slow(seconds: float) -> Reply:
    """An answer that comes too late."""

    def reply() -> tuple[int, Mapping[str, str], bytes]:
        time.sleep(seconds)
        return answer("late")()

    return reply


@dataclass
class ModelServer:
    """The script still to be answered by (its last reply stays), and the bodies that came in."""

    script: list[Reply]
    bodies: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    base: str = ""

    def take(self) -> Reply:
        """The next reply."""
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


@contextmanager
def serve_model(*script: Reply) -> Iterator[ModelServer]:
    """The endpoint while the block runs; `base` is its `api_base`."""
    server = ModelServer(list(script))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", 0))
            server.bodies.append(self.rfile.read(length).decode())
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            status, headers, body = server.take()()
            try:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                if "content-length" not in headers:
                    self.send_header("content-length", str(len(body)))
                self.close_connection = True
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                pass  # the client gave up waiting, as a test wants it to

        def log_message(self, format: str, *args: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    server.base = f"http://127.0.0.1:{http.server_address[1]}/v1"
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
