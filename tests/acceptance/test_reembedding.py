"""A store changes its embedding model in use: old vectors before the switch, new ones after it."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import httpx
import neo4j
import pytest

from ecphoria.engine import Engine, EngineSettings
from ecphoria.errors import EmbedderMismatch
from ecphoria.settings import EmbedderSettings, JobsSettings, Neo4jSettings, Settings
from tests.acceptance.answers import ended
from tests.acceptance.conftest import Owner, new_owner, running, settings_for
from tests.conftest import CACHE, Server
from tests.embedding_endpoint import EmbeddingEndpoint, embedding_endpoint

pytestmark = pytest.mark.engine

OLD, NEW = "all-MiniLM-L6-v2", "projected"
CUES = (
    "What illness did Mara catch outdoors?",
    "What was Tobias's dog called?",
    "Who lives in Trieste?",
    "Which lamp burns in the tower?",
)
STRATEGIES = ("ecphoria", "vector", "synapse")
JOBS = JobsSettings(workers=1, poll_s=0.05, schedule_s=60, pause_s=0.1, lease_s=2)
LABELS = ("Episode", "Passage", "Concept", "Fact", "Item")

Ask = Callable[..., list[dict[str, Any]]]
Ranks = dict[str, list[str]]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Neo4j of its own: its model changes."""

    home = tmp_path_factory.mktemp("engine")
    with Engine(
        EngineSettings(home=home, cache=CACHE, heap_mb=768, page_cache_mb=128)
    ).running() as up:
        yield Server(uri=up.bolt_uri, user=up.user, password=up.password, kind="managed")


@pytest.fixture
def ask(store: Server) -> Iterator[Ask]:
    """Ask the store past the product; it is empty at first."""
    with neo4j.GraphDatabase.driver(store.uri, auth=(store.user, store.password)) as driver:

        def ask(query: str, **params: object) -> list[dict[str, Any]]:
            return [row.data() for row in driver.execute_query(query, params).records]

        ask("MATCH (n) DETACH DELETE n")
        for row in ask("SHOW VECTOR INDEXES YIELD name RETURN name"):
            ask("DROP INDEX $name", name=row["name"])
        yield ask


@pytest.fixture
def endpoint() -> Iterator[EmbeddingEndpoint]:
    with embedding_endpoint() as made:
        yield made


@contextmanager
def operating(settings: Settings) -> Iterator[httpx.Client]:
    """Serve, and give an operator."""
    with running(settings) as service:
        headers = {"Authorization": f"Bearer {service.key}"}
        with httpx.Client(base_url=service.url, headers=headers, timeout=300) as client:
            yield client


def old_settings(store: Server, home: Path, **changes: Any) -> Settings:
    return settings_for(store, home, **{"jobs": JOBS, "neo4j": patient(store), **changes})


def patient(store: Server) -> Neo4jSettings:
    """Wait longer for a query: the first ones of a new server are slow on a busy machine."""
    return Neo4jSettings(
        uri=store.uri, user=store.user, password=store.password, query_timeout_s=120
    )


def new_settings(store: Server, home: Path, endpoint: EmbeddingEndpoint) -> Settings:
    return settings_for(
        store,
        home,
        jobs=JOBS,
        neo4j=patient(store),
        embedder=EmbedderSettings(
            provider="openai", model=NEW, dimension=endpoint.dimension, base_url=endpoint.url
        ),
    )


def wanted(endpoint: EmbeddingEndpoint, **changes: object) -> dict[str, object]:
    return {
        "model": NEW, "dimension": endpoint.dimension, "base_url": endpoint.url, **changes,
    }  # fmt: skip


def turns(count: int) -> list[dict[str, Any]]:
    """Take turns from the sample conversation, two of them with facts."""
    text = resources.files("ecphoria.demo").joinpath("data/conversation.jsonl").read_text()
    lines = [json.loads(line) for line in text.splitlines()[:count]]
    said = [
        {name: line[name] for name in ("text", "speaker", "session", "occurred_at", "position")}
        for line in lines
    ]
    for place, city in ((1, "Trieste"), (3, "Bergen")):
        said[place]["extraction"] = {
            "names": ["Marek Novak", city],
            "facts": [{"subject": "Marek Novak", "predicate": "lives in", "object": city}],
        }
    return said


DOCUMENT = {
    "title": "The lighthouse",
    "text": "\n\n".join(
        f"Chapter {number}. " + f"The keeper of floor {number} counts steps and lamps. " * 12
        for number in range(8)
    ),
}


def live(owner: Owner, count: int = 40) -> None:
    """Fill a tenant with all that has a vector."""
    owner.timeout = httpx.Timeout(300)
    answer = owner.post("/v1/episodes/batch", json={"episodes": [*turns(count), DOCUMENT]})
    assert answer.status_code == 200, answer.text
    items = [
        {"namespace": ["users", "mara"], "key": "pet", "value": {"likes": "dogs and hedgehogs"}},
        {"namespace": ["users", "mara"], "key": "car", "value": {"n": 1}, "text": "a red van"},
    ]
    assert owner.put("/v1/items", json={"items": items}).status_code in {200, 204}
    consolidated(owner)


def consolidated(owner: Owner, **body: object) -> None:
    job = owner.post("/v1/consolidation", json=body)
    assert job.status_code == 202, job.text
    assert ended(owner, job.headers["Location"])["state"] == "done"


def ranks(owner: Owner) -> Ranks:
    """Rank for every cue and strategy."""
    found = {
        f"{strategy}: {cue}": owner.recalled(cue, strategy=strategy)
        for strategy in STRATEGIES
        for cue in CUES
    }
    search = {"prefix": ["users"], "query": "a van", "limit": 5}
    items = owner.post("/v1/items/search", json=search).json()["items"]
    return found | {"items": [item["key"] for item in items]}


def until(operator: httpx.Client, *states: str) -> dict[str, Any]:
    deadline = time.monotonic() + 300
    while (found := operator.get("/v1/embedding").json())["state"] not in states:
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
    return dict(found)


def changed(operator: httpx.Client, endpoint: EmbeddingEndpoint) -> dict[str, Any]:
    begun = operator.post("/v1/embedding", json=wanted(endpoint))
    assert begun.status_code == 202, begun.text
    return until(operator, "done", "failed")


def require_one_space(ask: Ask, dimension: int, generation: int) -> None:
    """Check that each node that has a vector has one, of the length and under the name wanted."""
    name = f"embedding_{generation}" if generation else "embedding"
    rows = ask(
        "MATCH (n) UNWIND [key IN keys(n) WHERE key STARTS WITH 'embedding'] AS key "
        "RETURN DISTINCT key, size(n[key]) AS size"
    )
    assert rows == [{"key": name, "size": dimension}]
    indexes = ask("SHOW VECTOR INDEXES YIELD name, properties RETURN name, properties")
    assert {row["properties"][0] for row in indexes} == {name}
    assert len(indexes) == 5
    for label in LABELS:
        (row,) = ask(f"MATCH (n:{label}) RETURN count(n[$name]) AS vectors", name=name)
        assert row["vectors"], label


def fresh_ranks(store: Server, home: Path, endpoint: EmbeddingEndpoint, ask: Ask) -> Ranks:
    """Rank in a store that had the new model from the start."""
    with operating(new_settings(store, home, endpoint)) as operator, new_owner(operator) as owner:
        live(owner)
        found = ranks(owner)
    ask("MATCH (n) DETACH DELETE n")
    for row in ask("SHOW VECTOR INDEXES YIELD name RETURN name"):
        ask("DROP INDEX $name", name=row["name"])
    return found


def test_recall_is_that_of_the_old_model_before_the_switch_and_of_the_new_one_after_it(
    store: Server, ask: Ask, endpoint: EmbeddingEndpoint, tmp_path: Path
) -> None:
    expected = fresh_ranks(store, tmp_path / "fresh", endpoint, ask)
    settings = old_settings(store, tmp_path / "home")
    with (
        operating(settings) as operator,
        new_owner(operator, erase=False) as owner,
        new_owner(operator, erase=False) as other,
    ):
        live(owner)
        live(other, 10)
        before = ranks(owner)
        assert before != expected
        endpoint.pause_s = 0.4
        assert operator.post("/v1/embedding", json=wanted(endpoint)).status_code == 202
        looks = 0
        while operator.get("/v1/embedding").json()["state"] == "filling":
            found = ranks(owner)
            if operator.get("/v1/embedding").json()["state"] == "filling":
                assert found == before
                looks += 1
        assert looks
        late = "The lamp in the tower is a paraffin lamp."
        assert other.remember(late)
        told = until(operator, "done")
        assert (told["model"], told["dimension"], told["done"]) == (NEW, 256, told["total"])
        consolidated(owner)
        assert ranks(owner) == expected
        assert other.recalled("Which lamp burns in the tower?")[0] == late
        require_one_space(ask, 256, 1)
        assert operator.get("/readyz").json()["model"] == NEW
        assert owner.get("/v1/doctor").json()["violations"] == []
    with pytest.raises(EmbedderMismatch, match=NEW), running(settings):
        pass
    with operating(new_settings(store, tmp_path / "home", endpoint)) as operator:
        headers = {"Ecphoria-Tenant": owner.name}
        answer = operator.post("/v1/recall", json={"cue": CUES[0]}, headers=headers)
        texts = [hit["episode"]["text"] for hit in answer.json()["hits"]]
        assert texts == expected[f"ecphoria: {CUES[0]}"]
