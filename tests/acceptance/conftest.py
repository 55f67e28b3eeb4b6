"""The real service on the real Neo4j, reached over HTTP as a user would."""

import secrets
import ssl
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from ecphoria import runtime
from ecphoria.http.app import Started, serve
from ecphoria.settings import (
    AuthSettings,
    ConsolidationSettings,
    JobsSettings,
    Neo4jSettings,
    ServerSettings,
    Settings,
)
from ecphoria.telemetry import configure_logging
from tests.conftest import CACHE, Server, drop_queued_jobs

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Trusts nobody; to read the authorities anew takes each client 30 ms."""
PROBLEM_JSON = "application/problem+json"
CHAT = (
    "I keep bees behind the mill.", "The honey of the bees is dark this year.",
    "My sister paints the mill in oil.", "A storm took the roof of the barn.",
    "We ate honey cake at the fair.", "The miller sold his boat.",
)  # fmt: skip
"""A short talk of two."""


@dataclass(frozen=True)
class RunningService:
    """A service that answers, and an operator's key for it."""

    url: str
    key: str
    started: Started

    def operator(self) -> httpx.Client:
        """Connect an operator, who names the tenant in each request."""
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=120, verify=NO_TLS)


Run = Callable[[Settings], AbstractContextManager[RunningService]]


@contextmanager
def running(settings: Settings) -> Iterator[RunningService]:
    """Serve in a thread of its own until the block ends."""
    configure_logging("warning", "json")
    up: Future[Started] = Future()

    def work() -> None:
        try:
            runtime.run(serve(settings, started=up.set_result))
        except BaseException as error:
            if up.done():
                raise
            up.set_exception(error)

    # A start that takes too long must not keep the process of the tests from its end.
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        started = up.result(timeout=240)
        key = settings.auth.bootstrap_key
        yield RunningService(
            url=started.url, key=key.get_secret_value() if key else "", started=started
        )
    finally:
        if up.done() and up.exception() is None:
            up.result().stop()
        thread.join(timeout=30)
        assert not thread.is_alive()


def settings_for(store: Server, home: Path, **changes: Any) -> Settings:
    """Settings of a service of its own on this Neo4j; it leaves jobs to those that test them.

    No cycle runs by itself, because the tenants of all modules are in this Neo4j.
    """
    return Settings(
        **{
            "home": home,
            "cache": CACHE,
            "neo4j": Neo4jSettings(uri=store.uri, user=store.user, password=store.password),
            "auth": AuthSettings(bootstrap_key=f"test-{secrets.token_urlsafe(32)}"),
            "server": ServerSettings(port=0),
            "jobs": JobsSettings(workers=0),
            "consolidation": ConsolidationSettings(light_episodes=0),
            **changes,
        }
    )


@pytest.fixture(scope="session")
def server(
    neo4j_server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """A running service that all tests share; each works in tenants of its own."""
    with running(settings_for(neo4j_server, tmp_path_factory.mktemp("home"))) as service:
        yield service


@pytest.fixture(scope="module", autouse=True)
def no_job_waits_for_others(neo4j_server: Server) -> Iterator[None]:
    """Drop the jobs that a module leaves."""
    yield
    drop_queued_jobs(neo4j_server)


@pytest.fixture(scope="session")
def operator(server: RunningService) -> Iterator[httpx.Client]:
    """An operator, who names the tenant in each request."""
    with server.operator() as client:
        yield client


class Owner(httpx.Client):
    """A caller with a key of one tenant."""

    def __init__(self, url: str, name: str, key: str) -> None:
        headers = {"Authorization": f"Bearer {key}"}
        super().__init__(base_url=url, headers=headers, timeout=60, verify=NO_TLS)
        self.name = name
        self.key = key

    def remember(self, text: str, **fields: object) -> str:
        answer = self.post("/v1/episodes", json={"text": text, **fields})
        assert answer.status_code in {200, 201}, answer.text
        return str(answer.json()["id"])

    def texts(self, **query: str | int) -> list[str]:
        answer = self.get("/v1/episodes", params=query)
        assert answer.status_code == 200, answer.text
        return [episode["text"] for episode in answer.json()["items"]]

    def recalled(self, cue: str, **body: object) -> list[str]:
        answer = self.post("/v1/recall", json={"cue": cue, **body})
        assert answer.status_code == 200, answer.text
        return [hit["episode"]["text"] for hit in answer.json()["hits"]]


@contextmanager
def new_owner(operator: httpx.Client, *scopes: str, erase: bool = True) -> Iterator[Owner]:
    """A tenant of its own with one key, erased afterwards unless its service ends before."""
    name = f"t-{secrets.token_hex(8)}"
    assert operator.post("/v1/tenants", json={"name": name}).status_code == 201
    issued = operator.post(
        "/v1/keys",
        json={"name": "test", "scopes": scopes or ("read", "write", "admin")},
        headers={"Ecphoria-Tenant": name},
    )
    assert issued.status_code == 201, issued.text
    with Owner(str(operator.base_url), name, issued.json()["secret"]) as owner:
        yield owner
    if erase:
        assert operator.delete(f"/v1/tenants/{name}").status_code in {200, 404}


@pytest.fixture
def owner(operator: httpx.Client) -> Iterator[Owner]:
    """The owner of a fresh tenant."""
    with new_owner(operator) as made:
        yield made


@pytest.fixture
def chat(owner: Owner) -> Owner:
    """An owner with a short conversation."""
    for place, text in enumerate(CHAT):
        owner.remember(text, speaker=("Ada", "Bo")[place % 2], session="s", position=place)
    return owner


@pytest.fixture(scope="module")
def reader(operator: httpx.Client) -> Iterator[Owner]:
    """The owner of a tenant whose memories a module stores once, and only reads."""
    with new_owner(operator) as made:
        yield made


@pytest.fixture
def stranger(operator: httpx.Client) -> Iterator[Owner]:
    """The owner of another tenant."""
    with new_owner(operator) as made:
        yield made


def with_a_worker(
    neo4j_server: Server, home: Path, jobs: JobsSettings
) -> Iterator[RunningService]:
    """A service with a worker, which consolidates."""
    with running(settings_for(neo4j_server, home, jobs=jobs)) as service:
        yield service


@pytest.fixture(scope="module")
def working(
    neo4j_server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """A service with a worker, for the tests of a module."""
    yield from with_a_worker(
        neo4j_server, tmp_path_factory.mktemp("home"), JobsSettings(workers=1)
    )


@pytest.fixture
def owners(working: RunningService) -> Iterator[tuple[Owner, Owner]]:
    """The owners of two tenants of that service."""
    with working.operator() as operator, new_owner(operator) as one, new_owner(operator) as other:
        yield one, other


def problem(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """Check that an answer is the problem expected, whole and helpful."""
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == PROBLEM_JSON
    document: dict[str, Any] = answer.json()
    assert document["type"] == f"/errors/{code}"
    assert document["status"] == status
    assert document["title"]
    assert document["detail"]
    assert document["instance"] == answer.request.url.path
    assert document["request_id"] == answer.headers["X-Request-Id"]
    assert "Traceback" not in answer.text
    return document


def pointers(document: dict[str, Any]) -> list[str]:
    """Which fields a problem names."""
    return [fault["pointer"] for fault in document.get("errors", [])]
