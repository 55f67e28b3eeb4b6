"""A Neo4j without plugins is enough for all but PageRank; killed, it loses nothing it was told."""

import dataclasses
import os
import signal
import time
from collections.abc import Iterator

import httpx
import pytest

from ecphoria.engine import Endpoint, Engine
from ecphoria.engine.home import packaged_lock
from ecphoria.settings import Neo4jSettings
from scripts.archive_classes import with_schema
from tests.acceptance.conftest import RunningService, new_owner, running, settings_for
from tests.acceptance.writers import Writers, body_of, require_once
from tests.conftest import COMPARATORS, Server, quick_engine

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A server assembled without its plugins."""
    whole = packaged_lock()
    bare = dataclasses.replace(
        whole,
        jars=tuple(jar for jar in whole.jars if jar.folder == "lib"),
        digest=f"{whole.digest} without plugins",
    )
    home = with_schema(tmp_path_factory.mktemp("bare"))
    made = Engine(quick_engine(home, heap_mb=512, page_cache_mb=64), lock=bare)
    yield made
    made.down()


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
        deadline = time.monotonic() + 30
        while operator.get("/readyz").status_code != 200 and time.monotonic() < deadline:
            time.sleep(0.1)

        require_once(owner, writers)
        key, episode = next(iter(writers.acknowledged.items()))
        answer = owner.post("/v1/recall", json={"cue": body_of(key)["text"], "k": 50}).json()
        assert episode in [hit["episode"]["id"] for hit in answer["hits"]]
