"""A service on loopback that answers with what a test tells it to."""

import io
import json
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ecphoria.cli.main import run

PERIOD: dict[str, object] = {"first_occurred_at": "2025-01-12T09:04:00Z", "last_occurred_at": None}
COUNTS: dict[str, object] = {
    "episodes": 1234,
    "dormant": 0,
    "archived": 0,
    "passages": 0,
    "sessions": 28,
    "speakers": 3,
    "concepts": 7,
    "mentions": 8,
    "abouts": 9,
    "next_edges": 10,
    "terms": 11,
    "traces": 12,
    "recalls_learned": 14,
    "recalls_pending": 15,
    "unconsolidated": 16,
    "change": 13,
    "scale": {
        "recalls": 29.0, "found": {"joint": 0.4}, "without": {"joint": 0.2},
        "spread": {"joint": 0.2},
    },
    **PERIOD,
}  # fmt: skip

GATE: dict[str, object] = {
    "weights": {"share": 8.5}, "bias": -0.5, "threshold": 0.2, "verify_below": 0.4,
}  # fmt: skip
SETTINGS: dict[str, Any] = {
    "gate": GATE,
    "dormancy": {
        "mode": "budget", "budget": 10_000, "quiet_days": 7.0, "archive_days": 90.0,
        "second_look": False, "stability": "uniform",
    },
    "expiry": {"days": None},
    "learning": {"on": False},
    "schedule": {},
    "own": [],
}  # fmt: skip

MOMENT = "2026-03-01T09:30:00Z"

Answer = tuple[int, object]
Route = Answer | Callable[[dict[str, object]], Answer]


@dataclass
class StubService:
    """Routes by method and path; every request is kept as (method, path, body, headers)."""

    routes: dict[str, Route] = field(default_factory=dict)
    seen: list[tuple[str, str, dict[str, object]]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""

    def answer(self, method: str, path: str, body: dict[str, object]) -> Answer:
        self.seen.append((method, path, body))
        route = self.routes.get(f"{method} {path.partition('?')[0]}")
        if route is None:
            return 404, {"type": "/errors/not-found", "title": "t", "status": 404, "detail": path}
        return route(body) if callable(route) else route


@pytest.fixture
def service() -> Iterator[StubService]:
    stub = StubService()

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            stub.headers.append(dict(self.headers.items()))
            status, answer = stub.answer(self.command, self.path, json.loads(raw) if raw else {})
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 (names of the base class)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        stub.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield stub
        server.shutdown()
        thread.join()


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


Command = Callable[..., Ended]


@pytest.fixture
def command(
    service: StubService,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Command:
    """Run the command line against the stub, with an empty home."""
    monkeypatch.setenv("ECPHORIA_URL", service.url)
    monkeypatch.setenv("ECPHORIA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "120")
    for name in ("ECPHORIA_API_KEY", "ECPHORIA_TENANT", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str, feed: str | None = None) -> Ended:
        if feed is not None:
            monkeypatch.setattr(sys, "stdin", io.StringIO(feed))
        with pytest.raises(SystemExit) as ended:
            run(arguments)
        said = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Ended(ended.value.code, said.out, said.err)

    return call


def job(**changed: object) -> dict[str, object]:
    return {
        "id": "j1", "kind": "consolidation", "state": "queued", "trigger": "request",
        "steps": [], "attempts": 0, "created_at": MOMENT, "cancelling": False,
        "progress": {"place": "", "done": 0, "total": 0}, **changed,
    }  # fmt: skip
