"""A chat server of the standard library that plays Sudoku, and a proxy before it that injects faults."""

from __future__ import annotations

import http.client
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from puzzles.sudoku import Sudoku
from solvers import oracle as make_oracle


def expert_answer(body: dict[str, Any]) -> str:
    """Return an expert's reply to a prompt that shows a 4x4 board; which of them depends on the seed."""
    board = body["messages"][-1]["content"].rpartition("Board:\n")[2]
    puzzle = Sudoku(4)
    state = puzzle.parse("".join(re.findall(r"[1-4.]", board.split("\n\n")[0])))
    moves = make_oracle(puzzle, state).expert_moves(state)
    return f"One digit fits. Action: {puzzle.format_action(moves[body.get('seed', 0) % len(moves)])}"


class ChatServer:
    """Answers chat completions and remembers what it was asked."""

    def __init__(self, answer: Callable[[dict[str, Any]], str] = expert_answer) -> None:
        self.answer = answer
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.url = ""
        self.message: dict[str, Any] = {}
        self.finish_reason = "stop"
        self.usage = True

    def respond(self, body: dict[str, Any], headers: dict[str, str]) -> bytes:
        self.bodies.append(body)
        self.headers.append(headers)
        content = self.answer(body)
        reply = {
            "object": "chat.completion",
            "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": content} | self.message,
                    "finish_reason": self.finish_reason,
                }
            ],
        }
        if self.usage:
            prompt = len(body["messages"][-1]["content"].split())
            reply["usage"] = {"prompt_tokens": prompt, "completion_tokens": len(content.split())}
        return json.dumps(reply).encode()


class FaultProxy:
    """Passes requests on; before some of them, and instead of some answers, something goes wrong.

    `faults` says what happens to the n-th request at the proxy: a status, a name of `KINDS`, or "" for nothing.
    """

    KINDS = ("500", "429", "503", "hang", "truncated", "cut", "slow", "drop", "empty", "error")
    """Faults that pass: statuses, no answer in time, half the JSON, half the bytes, drops of bytes, no connection."""

    def __init__(self, upstream: ChatServer, faults: Callable[[int], str]) -> None:
        self.upstream, self.faults = upstream, faults
        self.seen: Counter[str] = Counter()
        self.lock = threading.Lock()
        self.times: list[float] = []
        self.retry_after = "0.05"
        self.url = ""
        self.most_at_a_time = self.now = 0

    def next_fault(self) -> str:
        with self.lock:
            fault = self.faults(self.seen.total())
            self.seen[fault] += 1
            self.times.append(time.monotonic())
            self.now += 1
            self.most_at_a_time = max(self.most_at_a_time, self.now)
        return fault

    def forward(self, content: bytes, headers: dict[str, str]) -> bytes:
        host = self.upstream.url.removeprefix("http://").removesuffix("/v1")
        connection = http.client.HTTPConnection(host, timeout=30)
        connection.request("POST", "/v1/chat/completions", content, headers)
        answer = connection.getresponse().read()
        connection.close()
        return answer


class Handler(BaseHTTPRequestHandler):
    """HTTP for both."""

    protocol_version = "HTTP/1.1"
    role: Any = None

    def log_message(self, *arguments: Any) -> None:
        """Stay silent."""

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        headers = dict(self.headers.items())
        if isinstance(self.role, ChatServer):
            self.send(200, self.role.respond(json.loads(content), headers))
            return
        fault = self.role.next_fault()
        try:
            self.fail(fault, content, headers)
        except OSError:
            pass  # the client has given up
        finally:
            with self.role.lock:
                self.role.now -= 1

    def fail(self, fault: str, content: bytes, headers: dict[str, str]) -> None:
        if fault.isdigit():
            error = json.dumps({"error": {"message": f"trouble {self.headers.get('Authorization', '')}"}}).encode()
            self.send(int(fault), error, {"Retry-After": self.role.retry_after} if fault == "429" else {})
        elif fault == "hang":
            time.sleep(2.5)
            self.close_connection = True
        elif fault == "drop":
            self.close_connection = True
            self.connection.close()
        else:
            self.pass_on(fault, self.role.forward(content, headers))

    def pass_on(self, fault: str, answer: bytes) -> None:
        if fault == "truncated":
            self.send(200, answer[: len(answer) // 2])
        elif fault == "empty":
            self.send(200, b"{}")
        elif fault == "error":
            self.send(200, b'{"error": {"message": "overloaded"}}')
        elif fault == "cut":
            self.send(200, answer[: len(answer) // 2], {"Content-Length": str(len(answer))})
            self.close_connection = True
        elif fault == "slow":
            self.head(200, {"Content-Length": str(len(answer))})
            step = len(answer) // 6 + 1
            for start in range(0, len(answer), step):
                self.wfile.write(answer[start : start + step])
                self.wfile.flush()
                time.sleep(0.03)
        else:
            self.send(200, answer)

    def send(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
        self.head(status, {"Content-Length": str(len(content))} | (headers or {}))
        self.wfile.write(content)

    def head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in ({"Content-Type": "application/json"} | headers).items():
            self.send_header(name, value)
        self.end_headers()


@contextmanager
def serving(role: Any) -> Iterator[Any]:
    """Serve a `ChatServer` or a `FaultProxy` on a free port of this machine."""
    handler = type("Bound", (Handler,), {"role": role})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.block_on_close = False
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    role.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield role
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with serving(ChatServer()) as role:
        yield role


@pytest.fixture
def proxy(server: ChatServer) -> Iterator[Callable[[Callable[[int], str]], FaultProxy]]:
    """Return a maker of proxies before the server."""
    open_proxies = []

    def make(faults: Callable[[int], str]) -> FaultProxy:
        context = serving(FaultProxy(server, faults))
        open_proxies.append(context)
        return context.__enter__()

    yield make
    for context in open_proxies:
        context.__exit__(None, None, None)
