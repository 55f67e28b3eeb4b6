"""A Neo4j without plugins is enough for all but PageRank; a kill or a lock of it loses nothing."""

import dataclasses
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ecphoria import Client
from ecphoria.engine import Endpoint, Engine, EngineSettings
from ecphoria.engine.home import JarLock, packaged_lock
from ecphoria.settings import AuthSettings, Neo4jSettings
from scripts.archive_classes import with_schema
from tests.acceptance.conftest import RunningService, new_owner, running, settings_for
from tests.acceptance.writers import Writers, body_of, require_once
from tests.conftest import COMPARATORS, PLANS, Server, quick_engine

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A server assembled without its plugins."""
    home = with_schema(tmp_path_factory.mktemp("bare"))
    made = Engine(small_engine(home), lock=without_plugins())
    yield made
    made.down()


def small_engine(home: Path) -> EngineSettings:
    return quick_engine(home, heap_mb=512, page_cache_mb=64)


def without_plugins() -> JarLock:
    """The list of its jars."""
    whole = packaged_lock()
    return dataclasses.replace(
        whole,
        jars=tuple(jar for jar in whole.jars if jar.folder == "lib"),
        digest=f"{whole.digest} without plugins",
    )


@pytest.fixture(scope="module")
def endpoint(engine: Engine) -> Endpoint:
    """That server, up until it is killed or the module ends."""
    return engine.up()


@pytest.fixture(scope="module")
def service(
    endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """A service on that server as on any other."""
    given = Neo4jSettings(
        uri=endpoint.bolt_uri, password=endpoint.password, retry_s=2, connect_timeout_s=3
    )
    store = Server(
        uri=endpoint.bolt_uri, user=endpoint.user, password=endpoint.password, kind="bare"
    )
    with running(settings_for(store, tmp_path_factory.mktemp("home"), neo4j=given)) as made:
        yield made


@pytest.fixture(scope="module")
def operator(service: RunningService) -> Iterator[httpx.Client]:
    """Its operator."""
    with service.operator() as client:
        yield client


def require_ready(operator: httpx.Client) -> None:
    deadline = time.monotonic() + 30
    while operator.get("/readyz").status_code != 200:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_without_gds_all_but_pagerank_works_and_health_says_so(operator: httpx.Client) -> None:
    ready = operator.get("/readyz")
    assert ready.status_code == 200
    told = ready.json()
    assert (told["status"], told.get("gds")) == ("degraded", None)
    (missing,) = told["degraded"]
    for part in ("Graph Data Science", "PageRank", "install the plugin"):
        assert part in missing

    with new_owner(operator) as owner:
        kept = owner.remember("The lighthouse visit is on Sunday.", speaker="Ana", session="s")
        gone = owner.remember("The ferry leaves at nine.", speaker="Ben", session="s")
        for strategy in owner.get("/v1/strategies").json()["items"]:
            answer = owner.post(
                "/v1/recall",
                json={"cue": "When is the lighthouse visit?", "strategy": strategy["name"]},
            )
            assert answer.status_code == 200, (strategy["name"], answer.text)
            first = answer.json()["hits"][0]["episode"]["id"]
            assert first == kept or strategy["name"] in COMPARATORS, strategy["name"]
        assert owner.delete(f"/v1/episodes/{gone}").status_code == 204
        assert owner.texts(session="s") == ["The lighthouse visit is on Sunday."]
        assert owner.get("/v1/stats").json()["episodes"] == 1


def test_services_of_a_cluster_pass_on_what_a_caller_must_see(
    endpoint: Endpoint, service: RunningService, operator: httpx.Client, tmp_path: Path
) -> None:
    uri = endpoint.bolt_uri.replace("bolt:", "neo4j:")
    routed = Neo4jSettings(uri=uri, password=endpoint.password)
    store = Server(uri=uri, user=endpoint.user, password=endpoint.password, kind="routed")
    auth = AuthSettings(bootstrap_key=service.key)
    name = "Ecphoria-Bookmarks"
    with (
        running(settings_for(store, tmp_path, neo4j=routed, auth=auth)) as other,
        new_owner(operator) as owner,
        Client(other.url, owner.key) as client,
    ):
        body = {"text": "The ferry leaves at nine."}
        alone = owner.post("/v1/episodes", json=body)
        assert name not in alone.headers, "a single server shows each write at once"

        headers = {"Authorization": f"Bearer {owner.key}"}
        stored = httpx.post(f"{other.url}/v1/episodes", json=body, headers=headers)
        assert stored.status_code == 201
        told = stored.headers[name]
        read = owner.get(f"/v1/episodes/{stored.json()['id']}", headers={name: told})
        assert read.status_code == 200
        for wrong in ("nonsense", "FB:\u00e9"):
            sent = httpx.Headers([(name.encode(), wrong.encode("latin-1"))])
            for refused in (
                owner.get("/v1/stats", headers=sent),
                owner.post("/v1/recall", json={"cue": "?"}, headers=sent),
            ):
                assert refused.status_code == 422, refused.text
                assert "bookmark" in refused.json()["detail"]

        kept = client.remember("The lighthouse visit is on Sunday.", session="s")
        assert client.recall("When is the lighthouse visit?").hits[0].episode.id == kept.id
        client.delete(kept.id)
        assert owner.get(f"/v1/episodes/{kept.id}").status_code == 404


def test_what_was_acknowledged_outlives_a_kill_of_neo4j(
    engine: Engine, endpoint: Endpoint, operator: httpx.Client
) -> None:
    with new_owner(operator) as owner:
        writers = Writers(owner, 2)
        try:
            writers.wait_for(30)
            os.kill(endpoint.pid, signal.SIGKILL)
            writers.wait_for_a_refusal()
        finally:
            writers.stop()
        again = engine.up()
        assert again.pid != endpoint.pid
        assert again.bolt_uri == endpoint.bolt_uri
        require_ready(operator)
        require_once(owner, writers)
        key, episode = next(iter(writers.acknowledged.items()))
        answer = owner.post("/v1/recall", json={"cue": body_of(key)["text"], "k": 50}).json()
        assert episode in [hit["episode"]["id"] for hit in answer["hits"]]


def test_a_store_that_is_read_only_answers_and_refuses_writes(
    engine: Engine, endpoint: Endpoint, operator: httpx.Client
) -> None:
    with new_owner(operator, erase=False) as owner:
        kept = owner.remember("The lighthouse visit is on Sunday.")
        engine.down()
        conf = {**PLANS, "server.databases.read_only": "neo4j"}
        frozen = dataclasses.replace(small_engine(engine.status().home), conf=conf)
        assert Engine(frozen, lock=without_plugins()).up().bolt_uri == endpoint.bolt_uri
        require_ready(operator)
        found = owner.recalled("When is the lighthouse visit?")
        assert found == ["The lighthouse visit is on Sunday."]
        assert "Sunday" in owner.get("/v1/context").json()["context"]
        for refused in (
            owner.post("/v1/episodes", json={"text": "The ferry leaves at nine."}),
            owner.delete(f"/v1/episodes/{kept}"),
            owner.post("/v1/consolidation"),
            owner.patch("/v1/settings", json={"gate": None}),
        ):
            assert refused.status_code == 503, refused.text
            told = refused.json()
            assert told["type"] == "/errors/store-unavailable"
            assert "read-only" in told["detail"]
            assert refused.headers["retry-after"]
        assert owner.texts() == found
