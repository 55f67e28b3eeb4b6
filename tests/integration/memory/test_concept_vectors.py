"""Vectors of concepts on the real server, with the real encoder: made once, and sought."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from ecphoria.consolidation.dormancy_store import DormancyStore
from ecphoria.consolidation.replay import ReplayStore
from ecphoria.consolidation.service import Cycle
from ecphoria.consolidation.steps import EmbedConcepts, NodeVectors
from ecphoria.ingest.service import IngestService
from ecphoria.ingest.store import IngestStore
from ecphoria.neo4j_store.decoding import read_vector
from ecphoria.neo4j_store.session import Graph
from ecphoria.ports import Embedder
from ecphoria.recall.service import RecallService
from ecphoria.recall.store import EpisodeReader
from ecphoria.records.episode import Extracted, NewEpisode, Receipt, StatedName
from ecphoria.records.ids import EpisodeId, TenantId, fresh_id
from tests.conftest import Cypher, WallClock, new_tenant
from tests.contract.canonical import canonical
from tests.integration.memory.chats import ask

NAMES = ("Sailing boats", "Kitchen ovens", "Lisbon")
CUE = "Who goes out on the sea with a yacht?"


def a_cycle(tenant: TenantId, **how: Any) -> Cycle:
    return Cycle(id=fresh_id(), tenant=tenant, now=datetime(2026, 1, 1, tzinfo=UTC), **how)


@pytest.fixture
def ingest(graph: Graph, embedder: Embedder) -> IngestService:
    return IngestService(store=IngestStore(graph), embedder=embedder, clock=WallClock())


@pytest.fixture
def step(graph: Graph, embedder: Embedder) -> EmbedConcepts:
    return EmbedConcepts(NodeVectors(graph, concepts=True), embedder)


async def remember(ingest: IngestService, tenant: TenantId, *texts: str) -> list[EpisodeId]:
    """Append texts; each of the three names is sent along with the text of its place."""
    results = await ingest.append_batch(
        tenant,
        [
            NewEpisode(
                text=text, speaker="Ann", idempotency_key=text,
                extraction=Extracted(names=(NAMES[place % len(NAMES)],)),
            )
            for place, text in enumerate(texts)
        ],
    )  # fmt: skip
    return [one.id for one in results if isinstance(one, Receipt)]


TEXTS = ("Ben told me about his hobby.", "It broke again on Monday.", "We were there in spring.")


async def vectors(cypher: Cypher, tenant: TenantId) -> dict[str, list[float]]:
    rows = await cypher(
        "MATCH (c:Concept {tenant: $tenant}) WHERE c.embedding IS NOT NULL"
        " RETURN c.name AS name, c.embedding AS vector",
        tenant=tenant,
    )
    return {row["name"]: read_vector(row["vector"]).tolist() for row in rows}


async def test_each_concept_gets_its_vector_once(
    tenant: TenantId,
    ingest: IngestService,
    step: EmbedConcepts,
    embedder: Embedder,
    cypher: Cypher,
) -> None:
    await remember(ingest, tenant, *TEXTS)
    before = await canonical(cypher, tenant)
    assert (await step.run(a_cycle(tenant, dry_run=True))).counts == {"embedded": len(NAMES)}
    assert await canonical(cypher, tenant) == before
    assert (await step.run(a_cycle(tenant))).counts == {"embedded": len(NAMES)}
    found = await vectors(cypher, tenant)
    assert set(found) == set(NAMES)
    kinds = await cypher(
        "MATCH (c:Concept {tenant: $tenant}) RETURN c.name AS name, c.kind AS kind", tenant=tenant
    )
    for row in kinds:
        name = row["name"] if row["kind"] == "topic" else f"{row['name']} [{row['kind']}]"
        (wanted,) = await embedder.embed([name])
        np.testing.assert_allclose(found[row["name"]], wanted, atol=2e-3)
    assert (await step.run(a_cycle(tenant))).counts == {"embedded": 0}


async def test_a_vector_goes_with_its_concept(
    tenant: TenantId, ingest: IngestService, step: EmbedConcepts, cypher: Cypher
) -> None:
    episodes = await remember(ingest, tenant, *TEXTS)
    await step.run(a_cycle(tenant))
    await ingest.delete(tenant, episodes[0])
    assert set(await vectors(cypher, tenant)) == set(NAMES[1:])
    assert await cypher(
        "MATCH (n:Name {tenant: $tenant}) WHERE n.embedding IS NOT NULL AND NOT n:Concept"
        " RETURN n.name AS name", tenant=tenant,
    ) == []  # fmt: skip


async def test_only_the_tenants_own_concepts_are_near(
    graph: Graph, tenant: TenantId, ingest: IngestService, step: EmbedConcepts, embedder: Embedder
) -> None:
    other = await new_tenant(graph)
    for who in (tenant, other):
        await remember(ingest, who, *TEXTS)
        await step.run(a_cycle(who))
    (vector,) = await embedder.embed([CUE])
    found = await EpisodeReader(graph).near_concepts(tenant, vector, 10)
    assert found[0].name == "Sailing boats"
    assert len(found) == len(NAMES)
    cosines = [concept.cosine for concept in found]
    assert cosines == sorted(cosines, reverse=True)
    assert [one.name for one in await EpisodeReader(graph).near_concepts(tenant, vector, 1)] == [
        "Sailing boats"
    ]


async def test_hops_search_the_vectors_of_concepts(
    tenant: TenantId, ingest: IngestService, recalls: RecallService, step: EmbedConcepts
) -> None:
    """The memory about Lisbon shares no word with the cue: only its concept is near it."""
    texts = (*TEXTS, *(f"Item {number} was delivered to the office." for number in range(30)))
    await ingest.append_batch(
        tenant,
        [
            NewEpisode(
                text=text, speaker="Ann", idempotency_key=text,
                extraction=Extracted(names=(NAMES[place],) if place < len(NAMES) else ()),
            )
            for place, text in enumerate(texts)
        ],
    )  # fmt: skip
    cue = "A city in Portugal"
    options = {"entities": True, "k_init": 1, "expansion": 1, "hop_seeds": 1, "depth": 1}
    await step.run(a_cycle(tenant))
    answer = await ask(recalls, tenant, cue, strategy="ecphory", k=3, options=options)
    trace = await recalls.trace(tenant, answer.trace_id)
    assert [seed.label for seed in trace.seeds if seed.energy] == ["Lisbon"]
    traces = {"preset": "paper", "direct_hits": 0}
    literal = await ask(recalls, tenant, cue, strategy="ecphory", k=3, options=traces)
    assert literal.hits[0].episode.text == TEXTS[2]


async def test_concepts_that_no_consolidation_embedded_are_found_all_the_same(
    tenant: TenantId, ingest: IngestService, recalls: RecallService, step: EmbedConcepts
) -> None:
    """Without any vector it searches memories; a new concept is compared by its memories."""

    async def labels(*, entities: bool) -> list[str]:
        answer = await ask(
            recalls, tenant, "Lisbon", strategy="ecphory", k=1, options={"entities": entities}
        )
        assert answer.hits[0].episode.text == answer_text
        trace = await recalls.trace(tenant, answer.trace_id)
        return [seed.label for seed in trace.seeds]

    answer_text = TEXTS[0]
    await remember(ingest, tenant, *TEXTS[:2])
    assert await labels(entities=True) == await labels(entities=False) != []
    await step.run(a_cycle(tenant))
    await remember(ingest, tenant, *TEXTS)
    answer_text = TEXTS[2]
    assert "Lisbon" in await labels(entities=True)


@pytest.mark.parametrize("strategy", ["synapse", "cls", "ppr"])
async def test_a_cue_without_a_word_of_the_name_finds_the_concept(
    strategy: str,
    tenant: TenantId,
    ingest: IngestService,
    recalls: RecallService,
    step: EmbedConcepts,
) -> None:
    await remember(ingest, tenant, *TEXTS)
    seeds: dict[tuple[bool, int], set[str]] = {}
    for is_embedded in (False, True):
        if is_embedded:
            await step.run(a_cycle(tenant))
        for count in (0, 1):
            answer = await ask(
                recalls, tenant, CUE, strategy=strategy, k=3, options={"concept_seeds": count}
            )
            trace = await recalls.trace(tenant, answer.trace_id)
            seeds[is_embedded, count] = {
                seed.label for seed in trace.seeds if seed.kind == "concept"
            }
    assert seeds == {
        (False, 0): set(), (False, 1): set(), (True, 0): set(), (True, 1): {"Sailing boats"},
    }  # fmt: skip


DESCRIBED = StatedName(name="Ilse Brandt", kind="person", description="a pilot", importance=4)


async def tell(ingest: IngestService, tenant: TenantId, text: str, named: StatedName) -> EpisodeId:
    new = NewEpisode(text=text, idempotency_key=text, extraction=Extracted(names=(named,)))
    return (await ingest.append(tenant, new)).id


async def test_a_vector_is_made_of_the_name_its_type_and_its_best_description(
    tenant: TenantId,
    ingest: IngestService,
    step: EmbedConcepts,
    embedder: Embedder,
    cypher: Cypher,
) -> None:
    other = replace(DESCRIBED, description="a sister", importance=2)
    first = await tell(ingest, tenant, "She flies Ilse Brandt.", DESCRIBED)
    await tell(ingest, tenant, "Ilse Brandt called.", other)
    for text in ("Ilse Brandt [person] [a pilot]", "Ilse Brandt [person] [a sister]"):
        await step.run(a_cycle(tenant))
        (expected,) = await embedder.embed([text])
        found = (await vectors(cypher, tenant))["Ilse Brandt"]
        assert np.allclose(found, expected, atol=2e-3), text
        if text.endswith("pilot]"):
            await ingest.delete(tenant, first)
            assert "Ilse Brandt" not in await vectors(cypher, tenant), "words that are erased"


async def test_the_importance_of_a_name_keeps_the_memory_that_states_it(
    tenant: TenantId, ingest: IngestService, graph: Graph
) -> None:
    levels = {1: 0.5, 3: 0.5, 4: 0.75, 5: 1.0}
    for level in levels:
        await tell(ingest, tenant, f"Told {level}.", replace(DESCRIBED, importance=level))
    seen = await ReplayStore(graph).memories(tenant, range(1, 5))
    assert [memory.salience for memory in seen] == list(levels.values())
    judged = await DormancyStore(graph).candidates(
        tenant, datetime.now(UTC) + timedelta(days=1), 0, 10
    )
    assert [candidate.importance for candidate in judged] == list(levels.values())
