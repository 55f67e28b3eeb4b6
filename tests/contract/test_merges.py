"""Merges on the real server: proposed by names, decided, undone exactly."""

from datetime import UTC, datetime
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from ecphoria.consolidation.merge import SAME, MergeReview, MergeStore, ProposeMerges
from ecphoria.consolidation.service import Cycle
from ecphoria.errors import InvalidInput, NotFound
from ecphoria.facts.store import FactStore
from ecphoria.ingest.rows import SynonymRow
from ecphoria.neo4j_store.session import Graph
from ecphoria.ports import Embedder
from ecphoria.recall.store import EpisodeReader
from ecphoria.records.fact import MergeStatus
from ecphoria.records.ids import TenantId, fresh_id
from ecphoria.records.job import Lease, LeaseLost
from tests.conftest import Cypher
from tests.contract.memories import appended, concept_id, made, mention, named, turn, write

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


@pytest.fixture
def step(graph: Graph, embedder: Embedder) -> ProposeMerges:
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
            concepts_made=tuple(made(tenant, name) for name in NAMES),
            mentions_added=tuple(
                mention(tenant, number, name) for number, name in enumerate(NAMES, 1)
            ),
            synonyms_added=tuple(
                SynonymRow(one=one, other=other, weight=0.7) for one, other in PAIRS
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
    assert again.counts == {"compared": 0, "proposed": 0}


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
    await review.decide(tenant, one, other, MergeStatus.PROPOSED)
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
