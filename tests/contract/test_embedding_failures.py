"""Texts at which an embedding endpoint fails, appended to the real server."""

import os
from collections.abc import AsyncIterator, Iterator
from random import Random

import pytest

from ecphoria.errors import EcphoriaError, EncoderUnavailable, InvalidInput
from ecphoria.ingest.service import IngestService
from ecphoria.ingest.store import IngestStore
from ecphoria.models.openai import OpenAIEmbedder
from ecphoria.neo4j_store.session import Graph
from ecphoria.ports import Embedder
from ecphoria.records.episode import Extracted, NewEpisode, Receipt, Statement
from ecphoria.records.ids import TenantId
from tests.conftest import Cypher, WallClock
from tests.embedding_endpoint import EmbeddingEndpoint, embedding_endpoint

SEED = os.environ.get("ECPHORIA_TEST_SEED", "1")  # noqa: TID251
STATUSES = (400, 413, 422, 500, 503)


@pytest.fixture
def endpoint(embedder: Embedder) -> Iterator[EmbeddingEndpoint]:
    with embedding_endpoint(embedder.dimension) as endpoint:
        yield endpoint


@pytest.fixture
async def ingest(graph: Graph, endpoint: EmbeddingEndpoint) -> AsyncIterator[IngestService]:
    made = OpenAIEmbedder(
        "m", dimension=endpoint.dimension, base_url=endpoint.url, batch_size=4, retries=0
    )
    yield IngestService(store=IngestStore(graph), embedder=made, clock=WallClock())
    await made.close()


@pytest.mark.parametrize("seed", range(4))
async def test_a_batch_refuses_only_the_texts_that_have_no_vector(
    tenant: TenantId, ingest: IngestService, endpoint: EmbeddingEndpoint, cypher: Cypher, seed: int
) -> None:
    random = Random(f"{SEED} {seed}")  # noqa: S311 (the same order each time)
    texts = [f"Note {number} of the garden." for number in range(9)]
    bad = {text: random.choice(STATUSES) for text in texts if random.random() < 0.4}
    endpoint.fails = bad.get
    for _ in range(2):
        results = await ingest.append_batch(
            tenant, [NewEpisode(text=text, idempotency_key=text) for text in texts]
        )
        for text, result in zip(texts, results, strict=True):
            assert isinstance(result, InvalidInput if text in bad else Receipt), (text, result)
    rows = await cypher(
        "MATCH (e:Episode {tenant: $tenant}) RETURN e.text AS text ORDER BY text", tenant=tenant
    )
    assert [row["text"] for row in rows] == [text for text in texts if text not in bad]
    assert len(endpoint.texts) < 200


async def test_a_single_text_is_refused_and_an_outage_is_told_as_one(
    tenant: TenantId, ingest: IngestService, endpoint: EmbeddingEndpoint
) -> None:
    endpoint.fails = lambda text: 500 if "bad" in text else None
    with pytest.raises(InvalidInput, match="fails at this text"):
        await ingest.append(tenant, NewEpisode(text="A bad text."))
    endpoint.fails = lambda _: 503
    with pytest.raises(EncoderUnavailable, match="503"):
        await ingest.append(tenant, NewEpisode(text="Any text."))
    endpoint.fails = lambda _: None
    assert not isinstance(await ingest.append(tenant, NewEpisode(text="A.")), EcphoriaError)


async def test_a_fact_that_has_no_vector_is_stored_with_its_episode(
    tenant: TenantId, ingest: IngestService, endpoint: EmbeddingEndpoint, cypher: Cypher
) -> None:
    fact = Statement(subject="Ann Ode", predicate="lives in", object="Bergen")
    endpoint.fails = lambda text: 400 if text.lower().startswith("ann ode lives") else None
    new = NewEpisode(text="She lives there.", extraction=Extracted(facts=(fact,)))
    await ingest.append(tenant, new)
    rows = await cypher("MATCH (f:Fact {tenant: $tenant}) RETURN f.object AS o", tenant=tenant)
    assert [row["o"] for row in rows] == ["bergen"]
