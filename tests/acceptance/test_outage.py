"""Neo4j goes away in the middle and comes back: nothing is lost, nothing is half written."""

import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from ecphoria.settings import AuthSettings, Neo4jSettings
from tests.acceptance.conftest import RunningService, new_owner, problem, running, settings_for
from tests.cable import Cable
from tests.conftest import Server


@pytest.fixture
def cable(neo4j_server: Server) -> Iterator[Cable]:
    """A cable to the real Neo4j."""
    address = urlsplit(neo4j_server.uri)
    made = Cable(address.hostname or "127.0.0.1", address.port or 7687)
    yield made
    made.close()


@pytest.fixture
def service(
    neo4j_server: Server, cable: Cable, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """A service of its own on that cable; it trusts no key without asking."""
    settings = settings_for(
        neo4j_server,
        tmp_path_factory.mktemp("home"),
        neo4j=Neo4jSettings(
            uri=f"bolt://127.0.0.1:{cable.port}",
            user=neo4j_server.user,
            password=neo4j_server.password,
            retry_s=2,
            connect_timeout_s=3,
        ),
        auth=AuthSettings(bootstrap_key="outage-" + "0123456789" * 4, cache_s=0),
    )
    with running(settings) as made:
        yield made


def wait_ready(operator: httpx.Client) -> None:
    deadline = time.monotonic() + 30
    while operator.get("/readyz").status_code != 200:
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_an_outage_is_told_and_overcome(service: RunningService, cable: Cable) -> None:
    with service.operator() as operator, new_owner(operator) as owner:
        owner.remember("before", session="s", idempotency_key="1")
        cable.pull()
        for answer in (
            owner.post("/v1/episodes", json={"text": "during", "idempotency_key": "2"}),
            owner.post("/v1/episodes/batch", json={"episodes": [{"text": "during"}]}),
            owner.post("/v1/recall", json={"cue": "before"}),
            owner.get("/v1/stats"),
            operator.get("/readyz"),
        ):
            problem(answer, 503, "store-unavailable")
            assert int(answer.headers["Retry-After"]) >= 1
        assert operator.get("/healthz").status_code == 200

        cable.plug()
        wait_ready(operator)
        assert owner.texts() == ["before"]
        again = owner.post("/v1/episodes", json={"text": "during", "idempotency_key": "2"})
        assert again.json()["outcome"] == "created"
        assert owner.texts() == ["before", "during"]
        assert "during" in owner.recalled("during")


@pytest.mark.parametrize("size", [2_000, 40_000, 80_000])
def test_neo4j_gone_in_the_middle_of_a_batch_leaves_all_or_nothing_of_it(
    service: RunningService, cable: Cable, size: int
) -> None:
    items = [
        {"text": f"Turn {n} of the log of Ana and Ben.", "session": "s", "idempotency_key": str(n)}
        for n in range(100)
    ]
    with service.operator() as operator, new_owner(operator) as owner:
        owner.remember("before")
        cable.pull_after(size)
        told = problem(
            owner.post("/v1/episodes/batch", json={"episodes": items}), 503, "store-unavailable"
        )
        assert "retry" in told["detail"] or "again" in told["detail"]
        cable.plug()
        wait_ready(operator)
        assert owner.texts() == ["before"]
        stats = owner.get("/v1/stats").json()
        assert (stats["episodes"], stats["sessions"], stats["next_edges"]) == (1, 0, 0)
        again = owner.post("/v1/episodes/batch", json={"episodes": items}).json()
        assert (again["created"], again["existed"], again["refused"]) == (100, 0, 0)


def test_neo4j_gone_in_the_middle_of_a_recall_is_told(
    service: RunningService, cable: Cable
) -> None:
    with service.operator() as operator, new_owner(operator) as owner:
        owner.remember("The kettle is green.")
        cable.pull_after(1_500)
        problem(owner.post("/v1/recall", json={"cue": "kettle"}), 503, "store-unavailable")
        cable.plug()
        wait_ready(operator)
        assert owner.recalled("kettle") == ["The kettle is green."]
