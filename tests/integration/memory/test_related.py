"""RELATED weighs what its evidence is worth, and walks follow it only with a gain."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from ecphoria.consolidation.merge import Compared, MergeStore, NearNames
from ecphoria.ingest.service import IngestService
from ecphoria.neo4j_store.session import Graph
from ecphoria.recall.service import RecallService
from ecphoria.records.episode import Extracted, NewEpisode, Receipt, Statement
from ecphoria.records.fact import MergeStatus
from ecphoria.records.ids import EpisodeId, TenantId, concept_id
from ecphoria.records.recall import Cue, RecallOptions
from tests.conftest import Cypher

THEN = datetime(2024, 6, 1, tzinfo=UTC)
WALKS = ("synapse", "cls", "ppr")


async def state(
    ingest: IngestService, tenant: TenantId, text: str, *facts: Statement, **more: object
) -> EpisodeId:
    new = NewEpisode(text=text, extraction=Extracted(facts=facts), **more)  # type: ignore[arg-type]  # fields
    (receipt,) = await ingest.append_batch(tenant, [new])
    assert isinstance(receipt, Receipt), receipt
    return receipt.id


async def weights(cypher: Cypher, tenant: TenantId) -> Sequence[float]:
    rows = await cypher(
        "MATCH (:Concept {tenant: $tenant})-[r:RELATED]->(:Concept) RETURN r.weight AS weight",
        tenant=tenant,
    )
    return [row["weight"] for row in rows]


FERRY = Statement(subject="Mira Holm", predicate="owns", object="Ferry Anna", reliability=0.5)


async def test_the_weight_follows_the_evidence(
    ingest: IngestService, tenant: TenantId, cypher: Cypher, graph: Graph
) -> None:
    weak = Statement(subject="Mira Holm", predicate="owns", object="Ferry Anna", weight=0.4,
                     reliability=0.5)  # fmt: skip
    first = await state(ingest, tenant, "One says so.", FERRY)
    assert await weights(cypher, tenant) == pytest.approx([0.5])
    second = await state(ingest, tenant, "Another says so.", weak)
    assert await weights(cypher, tenant) == pytest.approx([1 - 0.5 * 0.8])
    await ingest.delete(tenant, first)
    assert await weights(cypher, tenant) == pytest.approx([0.2])
    await ingest.attach(tenant, second, Extracted(facts=(FERRY,)))
    assert await weights(cypher, tenant) == pytest.approx([0.5])


async def tale(ingest: IngestService, tenant: TenantId) -> tuple[EpisodeId, EpisodeId]:
    """Store a fact, and a memory that only its other end leads to; return both."""
    told = await state(ingest, tenant, "It was bought in spring.", FERRY, occurred_at=THEN)
    far = await ingest.append(
        tenant,
        NewEpisode(
            text="New planks were laid in dry dock.", extraction=Extracted(names=("Ferry Anna",)),
            occurred_at=THEN + timedelta(days=1),
        ),
    )  # fmt: skip
    return told, far.id


async def edges(
    recalls: RecallService, tenant: TenantId, strategy: str, **options: float
) -> set[str]:
    """Recall by a person's name, and list the types of the arcs between concepts."""
    wanted = RecallOptions(
        strategy=strategy, options={"w_activation": 1.0, **options}, explain=True, k=10
    )
    found = await recalls.recall(tenant, Cue(text="What about Mira Holm?"), wanted)
    assert found.trace is not None
    return {arc.edge for wave in found.trace.waves for arc in wave.arcs}


@pytest.mark.parametrize("strategy", WALKS)
async def test_a_walk_follows_facts_and_merges_only_with_a_gain(
    ingest: IngestService, recalls: RecallService, tenant: TenantId, graph: Graph, strategy: str
) -> None:
    await tale(ingest, tenant)
    await ingest.append(tenant, NewEpisode(text="x y.", extraction=Extracted(names=("Old Anna",))))
    pair = NearNames(
        one="mira holm", other="old anna", kind="topic", other_kind="topic", cosine=0.9
    )
    merges = MergeStore(graph)
    near = Compared(names=pair, cosine=0.9, reason="alike")
    await merges.propose_near(tenant, None, [concept_id(tenant, "mira holm")], [near])
    met = {"RELATED", "SAME_AS"}
    assert not met & await edges(recalls, tenant, strategy)
    both = {"related": 1.0, "merged": 1.0}
    assert met & await edges(recalls, tenant, strategy, **both) == {"RELATED"}
    await merges.decide(tenant, "mira holm", "old anna", MergeStatus.ACCEPTED)
    assert met & await edges(recalls, tenant, strategy, **both) == met


JUDO = Statement(subject="Judo", predicate="Is_a kind of", object="Martial Art")


@pytest.mark.parametrize("strategy", WALKS)
async def test_a_walk_follows_kinds_alone_while_a_memory_states_them(
    ingest: IngestService,
    recalls: RecallService,
    tenant: TenantId,
    other_tenant: TenantId,
    strategy: str,
) -> None:
    club = Statement(subject="Martial Art", predicate="is taught at", object="Dojo North")
    for owner in (tenant, other_tenant):
        names = Extracted(names=("Mira Holm", "Martial Art"))
        await ingest.append(owner, NewEpisode(text="x y.", extraction=names))
        await state(ingest, owner, "It is taught there.", club)
    told = await state(ingest, tenant, "It is one.", JUDO)
    met = {"RELATED", "KIND_OF"}
    assert not met & await edges(recalls, tenant, strategy)
    assert met & await edges(recalls, tenant, strategy, kinds=1.0) == {"KIND_OF"}
    assert met & await edges(recalls, tenant, strategy, related=1.0) == {"RELATED"}
    assert met & await edges(recalls, tenant, strategy, related=1.0, kinds=1.0) == met
    assert not met & await edges(recalls, other_tenant, strategy, kinds=1.0)
    await ingest.delete(tenant, told)
    assert not met & await edges(recalls, tenant, strategy, kinds=1.0)
