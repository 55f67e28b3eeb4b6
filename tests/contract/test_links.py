"""Decay and pruning on the real server, against second methods."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from ecphoria.consolidation.links import BUDGET, Decay, LinkStore, Prune
from ecphoria.consolidation.service import Cycle
from ecphoria.neo4j_store.session import Graph
from ecphoria.records.ids import TenantId, fresh_id
from tests.conftest import Cypher
from tests.contract.memories import (
    appended,
    concept_id,
    episode_id,
    everything,
    named,
    turn,
    write,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
KEEP = 15
SIZE = 30

Edge = tuple[str, str, float]


def a_cycle(tenant: TenantId, **how: Any) -> Cycle:
    return Cycle(id=fresh_id(), tenant=tenant, now=NOW, **how)


@pytest.fixture
def prune(graph: Graph) -> Prune:
    return Prune(LinkStore(graph))


@pytest.fixture
def decay(graph: Graph) -> Decay:
    return Decay(LinkStore(graph))


async def joined(
    graph: Graph, cypher: Cypher, tenant: TenantId, edges: list[Edge], **more: object
) -> None:
    """Thirty turns, joined as told."""
    rows = (turn(tenant, number) for number in range(1, SIZE + 1))
    await write(graph, tenant, appended(*rows))
    await cypher(
        "UNWIND $edges AS edge MATCH (a:Episode {id: edge[0]}) MATCH (b:Episode {id: edge[1]})"
        " CREATE (a)-[r:SIMILAR {family: 'association', created_at: $now, weight: edge[2],"
        " w_sim: edge[2]}]->(b) SET r += $more",
        edges=edges, now=NOW, more=more,
    )  # fmt: skip


async def weights(cypher: Cypher, tenant: TenantId) -> dict[tuple[str, str], float]:
    rows = await cypher(
        "MATCH (a)-[r:SIMILAR|ASSOCIATED]->(b) WHERE a.tenant = $tenant"
        " RETURN a.id AS a, b.id AS b, r.weight AS weight",
        tenant=tenant,
    )
    return {(row["a"], row["b"]): row["weight"] for row in rows}


def crowded(tenant: TenantId, seed: int = 5) -> list[Edge]:
    """Nearly everybody joined to everybody, many with equal weights, in random order."""
    rng = np.random.default_rng(seed)
    ids = sorted(episode_id(tenant, str(number)) for number in range(1, SIZE + 1))
    edges = [
        (one, other, round(float(rng.uniform(0.1, 0.9)), 1))
        for place, one in enumerate(ids)
        for other in ids[place + 1 :]
        if rng.random() < 0.9
    ]
    return [edges[row] for row in rng.permutation(len(edges))]


def kept(edges: list[Edge]) -> set[tuple[str, str]]:
    """Rank every node's edges by weight, then ids."""
    best: dict[str, list[Edge]] = {}
    for edge in edges:
        for end in edge[:2]:
            best.setdefault(end, []).append(edge)
    top = {
        end: {edge[:2] for edge in sorted(of, key=lambda e: (-e[2], e[0], e[1]))[:KEEP]}
        for end, of in best.items()
    }
    return {edge[:2] for edge in edges if edge[:2] in top[edge[0]] and edge[:2] in top[edge[1]]}


async def test_a_node_keeps_its_strongest_and_the_rest_is_a_fixed_point(
    graph: Graph, prune: Prune, tenant: TenantId, cypher: Cypher
) -> None:
    edges = crowded(tenant)
    await joined(graph, cypher, tenant, edges)
    dry = await prune.run(a_cycle(tenant, dry_run=True))
    assert len(await weights(cypher, tenant)) == len(edges)
    wet = await prune.run(a_cycle(tenant))
    assert (dry.counts, dry.changes) == (wet.counts, wet.changes)
    left = set(await weights(cypher, tenant))
    assert left == kept(edges)
    assert wet.counts == {"similar": len(edges) - len(left), "associated": 0}
    assert max(Counter(end for pair in left for end in pair).values()) == KEEP
    assert (await prune.run(a_cycle(tenant))).counts == {"similar": 0, "associated": 0}


async def test_a_step_cut_short_and_run_again_removes_the_same(
    graph: Graph, prune: Prune, tenant: TenantId, cypher: Cypher, monkeypatch: pytest.MonkeyPatch
) -> None:
    edges = crowded(tenant)
    await joined(graph, cypher, tenant, edges)
    monkeypatch.setattr("ecphoria.consolidation.links._CHUNK", 20)
    places: list[str] = []

    async def reached(place: str) -> None:
        places.append(place)
        if len(places) == 5:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        await prune.run(a_cycle(tenant, reached=reached))
    assert len(await weights(cypher, tenant)) == len(edges) - 80
    await prune.run(a_cycle(tenant))
    assert set(await weights(cypher, tenant)) == kept(edges)


async def test_what_is_no_association_stays_whatever_its_number(
    graph: Graph, prune: Prune, tenant: TenantId, other_tenant: TenantId, cypher: Cypher
) -> None:
    await joined(graph, cypher, other_tenant, crowded(other_tenant))
    await write(graph, tenant, everything(tenant))
    names = [f"name{number}" for number in range(40)]
    await write(
        graph,
        tenant,
        appended(
            names=tuple(named(name, candidates=2) for name in names), concepts_made=list(names)
        ),
    )
    await cypher(
        "MATCH (hub:Concept {id: $hub}) MATCH (c:Concept) WHERE c.tenant = $tenant AND c <> hub"
        " CREATE (c)-[:SYNONYM {weight: .5}]->(hub), (c)-[:RELATED {weight: .5}]->(hub),"
        " (hub)-[:ASSOCIATED {weight: .5, created_at: datetime()}]->(c)",
        hub=concept_id(tenant, "rome"), tenant=tenant,
    )  # fmt: skip
    before = await count_by_type(cypher, tenant)
    counts = (await prune.run(a_cycle(tenant))).counts
    after = await count_by_type(cypher, tenant)
    assert counts == {"similar": 0, "associated": before["ASSOCIATED"] - KEEP}
    assert after == {**before, "ASSOCIATED": KEEP}
    assert len(await weights(cypher, other_tenant)) == len(crowded(other_tenant))


async def count_by_type(cypher: Cypher, tenant: TenantId) -> dict[str, int]:
    rows = await cypher(
        "MATCH (a)-[r]->() WHERE a.tenant = $tenant RETURN type(r) AS type, count(r) AS count",
        tenant=tenant,
    )
    return {row["type"]: row["count"] for row in rows}


@pytest.mark.parametrize("days", [91, 89])
async def test_an_edge_that_only_counts_takes_no_place_and_expires(
    graph: Graph, prune: Prune, tenant: TenantId, cypher: Cypher, days: int
) -> None:
    used = NOW - timedelta(days=days)
    edges = star(tenant, 1, 0.0)
    await joined(graph, cypher, tenant, edges, coactivations=2, last_used=used)
    await prune.run(a_cycle(tenant))
    assert len(await weights(cypher, tenant)) == (days < 90)


async def learn(cypher: Cypher, edges: list[Edge], age_days: float, similar: float = 0.0) -> None:
    await cypher(
        "UNWIND $edges AS edge MATCH ({id: edge[0]})-[r:SIMILAR]->({id: edge[1]})"
        " SET r.w_learned = edge[2], r.w_sim = $similar, r.last_used = $used",
        edges=edges, similar=similar, used=NOW - timedelta(days=age_days),
    )  # fmt: skip


def star(tenant: TenantId, leaves: int, weight: float) -> list[Edge]:
    ids = sorted(episode_id(tenant, str(number)) for number in range(1, leaves + 2))
    return [(ids[0], other, weight) for other in ids[1:]]


async def test_a_node_holds_no_more_than_its_budget_and_once_is_enough(
    graph: Graph, decay: Decay, tenant: TenantId, cypher: Cypher
) -> None:
    edges = star(tenant, 10, 0.8)
    await joined(graph, cypher, tenant, edges)
    await learn(cypher, edges, age_days=0)
    dry = await decay.run(a_cycle(tenant, dry_run=True))
    assert set((await weights(cypher, tenant)).values()) == {0.8}
    wet = await decay.run(a_cycle(tenant))
    assert (dry.counts, dry.changes) == (wet.counts, wet.changes)
    assert wet.counts == {"learned": 10, "scaled": 10, "rewritten": 10}
    after = await weights(cypher, tenant)
    assert list(after.values()) == pytest.approx([0.5] * 10)
    assert sum(after.values()) == pytest.approx(BUDGET)
    again = await decay.run(a_cycle(tenant))
    assert again.counts == {"learned": 10, "scaled": 0, "rewritten": 0}
    assert await weights(cypher, tenant) == after


async def test_a_stored_weight_follows_what_is_left_and_nothing_is_multiplied(
    graph: Graph, decay: Decay, tenant: TenantId, cypher: Cypher
) -> None:
    edges = star(tenant, 2, 0.4)
    await joined(graph, cypher, tenant, edges)
    await learn(cypher, edges, age_days=30, similar=0.5)
    await decay.run(a_cycle(tenant))
    expected = 1 - (1 - 0.5) * (1 - 0.4 * 0.503185)
    assert list((await weights(cypher, tenant)).values()) == pytest.approx(
        [expected] * 2, abs=1e-6
    )
    assert (await decay.run(a_cycle(tenant))).counts["rewritten"] == 0
    rows = await cypher(
        "MATCH (a)-[r:SIMILAR]->() WHERE a.tenant = $tenant RETURN r.w_learned AS w", tenant=tenant
    )
    assert [row["w"] for row in rows] == [0.4, 0.4]


async def test_the_budget_is_for_what_is_left(
    graph: Graph, decay: Decay, tenant: TenantId, cypher: Cypher
) -> None:
    edges = star(tenant, 10, 0.8)
    await joined(graph, cypher, tenant, edges)
    await learn(cypher, edges, age_days=30)
    counts = (await decay.run(a_cycle(tenant))).counts
    assert (counts["scaled"], counts["rewritten"]) == (0, 10), "8 by then, 4.03 now"
