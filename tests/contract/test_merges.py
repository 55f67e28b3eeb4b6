"""Merges on the real server: proposed by names or vectors, decided, undone exactly."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from ecphoria.consolidation.merge import SAME, MergeReview, MergeStore, ProposeMerges
from ecphoria.consolidation.service import Cycle
from ecphoria.consolidation.steps import NodeVectors, Unembedded
from ecphoria.errors import InvalidInput, NotFound
from ecphoria.facts.store import FactStore
from ecphoria.neo4j_store.session import Graph
from ecphoria.ports import Embedder, Vector
from ecphoria.recall.store import EpisodeReader
from ecphoria.records.fact import MergeStatus
from ecphoria.records.ids import TenantId, fresh_id
from ecphoria.records.job import Lease, LeaseLost
from ecphoria.text.concepts import SynonymPair
from tests.conftest import Cypher
from tests.contract.memories import appended, axis, concept_id, mention, named, turn, write

NAMES = (
    "black sea harbour", "boeing 737", "boeing 747", "harbour black sea", "north harbour school",
    "north harbour schools", "north harbour mill",
)  # fmt: skip
PAIRS = (
    ("black sea harbour", "harbour black sea"),
    ("boeing 737", "boeing 747"),
    ("north harbour mill", "north harbour school"),
    ("north harbour school", "north harbour schools"),
)


def a_cycle(tenant: TenantId, **how: Any) -> Cycle:
    return Cycle(id=fresh_id(), tenant=tenant, now=datetime(2026, 1, 1, tzinfo=UTC), **how)


@pytest.fixture(params=[0, 1_000], ids=["all compared", "searched one by one"])
def step(
    graph: Graph,
    embedder: Embedder,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> ProposeMerges:
    monkeypatch.setattr("ecphoria.consolidation.merge._FEW", request.param)
    return ProposeMerges(MergeStore(graph), embedder)


@pytest.fixture
def review(graph: Graph) -> MergeReview:
    return MergeReview(MergeStore(graph), FactStore(graph))


async def fill(graph: Graph, tenant: TenantId) -> None:
    """Seven concepts, four pairs of them with nearly the same words."""
    await write(
        graph,
        tenant,
        appended(
            *(turn(tenant, number) for number in range(1, len(NAMES) + 1)),
            names=tuple(named(name, candidates=2) for name in NAMES),
            concepts_made=list(NAMES),
            mentions_added=tuple(
                mention(tenant, number, name) for number, name in enumerate(NAMES, 1)
            ),
            synonyms_added=tuple(
                SynonymPair(one=one, other=other, weight=0.7) for one, other in PAIRS
            ),
        ),
    )


async def listed(review: MergeReview, tenant: TenantId, **how: Any) -> list[tuple[str, str]]:
    found = await review.list(tenant, **{"status": None, "after": None, "limit": 10, **how})
    return [(merge.one, merge.other) for merge in found]


async def test_what_is_proposed_follows_from_the_names(
    graph: Graph, step: ProposeMerges, review: MergeReview, tenant: TenantId, embedder: Embedder
) -> None:
    await fill(graph, tenant)
    rows = dict(zip(NAMES, await embedder.embed(NAMES), strict=True))
    cosine = {pair: float(np.dot(rows[pair[0]], rows[pair[1]])) for pair in PAIRS}
    dry = await step.run(a_cycle(tenant, dry_run=True))
    assert await listed(review, tenant) == []
    wet = await step.run(a_cycle(tenant))
    assert (dry.counts, dry.changes) == (wet.counts, wet.changes)
    expected = [pair for pair in PAIRS if cosine[pair] >= SAME and "boeing" not in pair[0]]
    assert await listed(review, tenant) == sorted({PAIRS[0], *expected})
    assert ("north harbour mill", "north harbour school") not in expected
    merges = await review.list(tenant, status=None, after=None, limit=10)
    assert merges[0].reason == "the same words"
    for merge in merges:
        assert merge.cosine == pytest.approx(cosine[merge.one, merge.other], abs=1e-4)
        assert (merge.status, merge.decided_at) == (MergeStatus.PROPOSED, None)
    again = await step.run(a_cycle(tenant))
    assert again.counts == {"compared": 0, "searched": 0, "proposed": 0}


async def related(graph: Graph, tenant: TenantId) -> dict[tuple[str, str, str], float]:
    arcs = await EpisodeReader(graph).related(
        tenant, [concept_id(tenant, name) for name in NAMES], 50
    )
    rows = zip(arcs.tail, arcs.head, arcs.edge, arcs.weight.tolist(), strict=True)
    return {(tail, head, edge): weight for tail, head, edge, weight in rows}


async def edges(cypher: Cypher, tenant: TenantId) -> list[dict[str, Any]]:
    return await cypher(
        "MATCH (a:Name)-[r]->(b) WHERE a.tenant = $tenant"
        " RETURN a.normalised AS a, type(r) AS type, b.id AS b, properties(r) AS properties"
        " ORDER BY a, type, b",
        tenant=tenant,
    )


async def test_an_accepted_merge_is_walked_at_full_weight_and_undone_exactly(
    graph: Graph, step: ProposeMerges, review: MergeReview, tenant: TenantId, cypher: Cypher
) -> None:
    await fill(graph, tenant)
    unproposed = await related(graph, tenant)
    await step.run(a_cycle(tenant))
    before = await edges(cypher, tenant)
    assert await related(graph, tenant) == unproposed
    one, other = PAIRS[0]
    merge = await review.decide(tenant, other, one, MergeStatus.ACCEPTED)
    assert (merge.one, merge.other, merge.status) == (one, other, MergeStatus.ACCEPTED)
    assert merge.decided_at is not None
    ends = concept_id(tenant, one), concept_id(tenant, other)
    changed = dict(unproposed)
    for tail, head in (ends, ends[::-1]):
        assert changed[tail, head, "SYNONYM"] == 0.7
        changed[tail, head, "SYNONYM"] = 1.0
    assert await related(graph, tenant) == changed
    assert await listed(review, tenant, status=MergeStatus.ACCEPTED) == [(one, other)]
    await review.decide(tenant, one.title(), f" {other.upper()} ", MergeStatus.PROPOSED)
    assert await edges(cypher, tenant) == before
    assert await related(graph, tenant) == unproposed
    await review.decide(tenant, one, other, MergeStatus.REJECTED)
    assert await related(graph, tenant) == unproposed
    await step.run(a_cycle(tenant))
    assert (one, other) not in await listed(review, tenant, status=MergeStatus.PROPOSED)


async def test_a_merge_goes_with_a_concept_and_the_other_stays_as_it_was(
    graph: Graph, step: ProposeMerges, review: MergeReview, tenant: TenantId, cypher: Cypher
) -> None:
    await fill(graph, tenant)
    without = [row for row in await edges(cypher, tenant) if PAIRS[0][1] not in row["a"]]
    await step.run(a_cycle(tenant))
    await review.decide(tenant, *PAIRS[0], MergeStatus.ACCEPTED)
    await write(graph, tenant, appended(concepts_unmade=(PAIRS[0][1],)))
    assert PAIRS[0] not in await listed(review, tenant)
    left = {row["a"] for row in await edges(cypher, tenant) if row["type"] == "SYNONYM"}
    assert left == {row["a"] for row in without if row["type"] == "SYNONYM"} - {PAIRS[0][0]}


async def test_pages_follow_each_other_and_tenants_see_their_own(
    graph: Graph,
    step: ProposeMerges,
    review: MergeReview,
    tenant: TenantId,
    other_tenant: TenantId,
) -> None:
    await fill(graph, tenant)
    await step.run(a_cycle(tenant))
    everything = await listed(review, tenant)
    pages = [
        await listed(review, tenant, after="\t".join(pair), limit=1)
        for pair in [("", ""), *everything]
    ]
    assert [pair for page in pages for pair in page] == everything
    assert await listed(review, other_tenant) == []
    with pytest.raises(NotFound):
        await review.decide(other_tenant, *PAIRS[0], MergeStatus.ACCEPTED)
    for one, other in combinations(NAMES, 2):
        if (one, other) not in everything:
            with pytest.raises(NotFound):
                await review.decide(tenant, one, other, MergeStatus.ACCEPTED)
    with pytest.raises(InvalidInput, match="cursor"):
        await listed(review, tenant, after="no cursor")


async def test_without_its_lease_nothing_is_proposed(
    graph: Graph, step: ProposeMerges, review: MergeReview, tenant: TenantId
) -> None:
    await fill(graph, tenant)
    with pytest.raises(LeaseLost):
        await step.run(a_cycle(tenant, lease=Lease(job=fresh_id(), token=1)))
    assert await listed(review, tenant) == []
    assert (await step.run(a_cycle(tenant))).counts["compared"] == len(PAIRS)


NEAR = {
    "vienna": axis(1), "wien": axis(1, towards=2, share=0.1),
    "cello": axis(3), "violoncello": axis(3, towards=4, share=0.1),
    "viola": axis(3, towards=5, share=0.2),  # at a cosine of .89 to one, .85 to the other
    "flight 12": axis(6), "journey": axis(6), "flight 12 west": axis(6, towards=7, share=0.2),
    "mercury": axis(8), "quicksilver": axis(8),
}  # fmt: skip
KINDS = {"mercury": "place"}
FOUND = [("cello", "violoncello"), ("vienna", "wien")]


async def name_all(graph: Graph, tenant: TenantId, first: int, *names: str) -> None:
    """Append a turn for each name, from a number on, that mentions the concept."""
    places = tuple(enumerate(names, first))
    await write(
        graph,
        tenant,
        appended(
            *(turn(tenant, number) for number, _ in places),
            names=tuple(
                replace(named(name, candidates=2), kind=KINDS.get(name, "topic")) for name in names
            ),
            concepts_made=list(names),
            mentions_added=tuple(mention(tenant, number, name) for number, name in places),
        ),
    )


async def embed(graph: Graph, tenant: TenantId, given: Mapping[str, Vector]) -> None:
    concepts = [
        Unembedded(cursor=name, id=concept_id(tenant, name), name=name, kind="topic")
        for name in given
    ]
    vectors = np.array(list(given.values()))
    await NodeVectors(graph, concepts=True).save(tenant, None, concepts, vectors)


async def test_concepts_with_near_vectors_are_proposed_once(
    graph: Graph, step: ProposeMerges, review: MergeReview, tenant: TenantId
) -> None:
    await name_all(graph, tenant, 1, *NEAR)
    assert (await step.run(a_cycle(tenant))).counts["searched"] == 0, "none has a vector"
    await embed(graph, tenant, NEAR)
    dry = await step.run(a_cycle(tenant, dry_run=True))
    assert await listed(review, tenant) == []
    wet = await step.run(a_cycle(tenant))
    assert (dry.counts, dry.changes) == (wet.counts, wet.changes)
    assert wet.counts == {"compared": 0, "searched": len(NEAR), "proposed": 2}
    assert await listed(review, tenant) == FOUND
    merge = (await review.list(tenant, status=None, after=None, limit=1))[0]
    assert merge.cosine == pytest.approx(np.sqrt(0.9), abs=2e-3)
    assert merge.reason == "their vectors have a cosine of 0.95"
    assert (merge.kind, merge.status) == ("topic", MergeStatus.PROPOSED)
    again = await step.run(a_cycle(tenant))
    assert again.counts == {"compared": 0, "searched": 0, "proposed": 0}


async def test_a_new_concept_is_searched_alone_and_a_rejected_pair_is_not_proposed_again(
    graph: Graph, step: ProposeMerges, review: MergeReview, tenant: TenantId, cypher: Cypher
) -> None:
    await name_all(graph, tenant, 1, "vienna", "wien")
    await embed(graph, tenant, {name: NEAR[name] for name in ("vienna", "wien")})
    await step.run(a_cycle(tenant))
    await review.decide(tenant, "vienna", "wien", MergeStatus.REJECTED)
    await name_all(graph, tenant, 3, "vindobona")
    await embed(graph, tenant, {"vindobona": axis(1, towards=9, share=0.1)})
    outcome = await step.run(a_cycle(tenant))
    assert outcome.counts == {"compared": 0, "searched": 1, "proposed": 1}
    assert await listed(review, tenant, status=MergeStatus.PROPOSED) == [("vienna", "vindobona")]
    await cypher("MATCH (c:Concept {tenant: $t}) REMOVE c.searched", t=tenant)
    outcome = await step.run(a_cycle(tenant))
    assert outcome.counts == {"compared": 0, "searched": 3, "proposed": 0}
    assert await listed(review, tenant, status=MergeStatus.REJECTED) == [("vienna", "wien")]


async def test_the_vectors_of_another_tenant_are_never_near(
    graph: Graph,
    step: ProposeMerges,
    review: MergeReview,
    tenant: TenantId,
    other_tenant: TenantId,
) -> None:
    for who, name in ((tenant, "vienna"), (other_tenant, "wien")):
        await name_all(graph, who, 1, name)
        await embed(graph, who, {name: NEAR["vienna"]})
    for who in (tenant, other_tenant):
        outcome = await step.run(a_cycle(who))
        assert outcome.counts == {"compared": 0, "searched": 1, "proposed": 0}
        assert await listed(review, who) == []


async def test_a_concept_made_anew_is_compared_by_its_new_vector_only(
    graph: Graph, step: ProposeMerges, review: MergeReview, tenant: TenantId, cypher: Cypher
) -> None:
    await name_all(graph, tenant, 1, "vienna", "wien")
    await embed(graph, tenant, {name: NEAR[name] for name in ("vienna", "wien")})
    await step.run(a_cycle(tenant))
    await write(graph, tenant, appended(concepts_unmade=("wien",)))
    (left,) = await cypher(
        "MATCH (n:Name {tenant: $t, normalised: 'wien'}) RETURN keys(n) AS keys", t=tenant
    )
    assert {"searched", "embedding"}.isdisjoint(left["keys"])
    await name_all(graph, tenant, 3, "wien")
    # A vector of the next model, while the store still uses the one before.
    await cypher(
        "MATCH (c:Concept {tenant: $t, normalised: 'wien'}) SET c.embedding_1 = $vector",
        t=tenant, vector=NEAR["vienna"].tolist(),
    )  # fmt: skip
    assert (await step.run(a_cycle(tenant))).counts["searched"] == 0
    assert await listed(review, tenant) == []
    await embed(graph, tenant, {"wien": axis(2)})
    outcome = await step.run(a_cycle(tenant))
    assert outcome.counts == {"compared": 0, "searched": 1, "proposed": 0}


async def test_without_its_lease_no_search_is_recorded(
    graph: Graph, step: ProposeMerges, review: MergeReview, tenant: TenantId
) -> None:
    await name_all(graph, tenant, 1, *NEAR)
    await embed(graph, tenant, NEAR)
    with pytest.raises(LeaseLost):
        await step.run(a_cycle(tenant, lease=Lease(job=fresh_id(), token=1)))
    assert await listed(review, tenant) == []
    assert (await step.run(a_cycle(tenant))).counts["searched"] == len(NEAR)
    assert await listed(review, tenant) == FOUND
