"""PageRank by GDS on the real server, against the worked example and a second method."""

from collections.abc import Sequence

import numpy as np
import pytest

from ecphoria.consolidation.service import Skipped
from ecphoria.consolidation.steps import Prior
from ecphoria.errors import EcphoriaError
from ecphoria.ingest.changes import Changes
from ecphoria.maths.adjacency import Adjacency
from ecphoria.maths.fusion import midrank
from ecphoria.maths.spreading import push
from ecphoria.neo4j_store.gds import PREFIX, PriorStore
from ecphoria.neo4j_store.session import Graph, GraphOptions
from ecphoria.recall.store import EpisodeReader
from ecphoria.records.ids import EpisodeId, TenantId, fresh_id
from ecphoria.records.job import Lease, LeaseLost
from tests.conftest import Cypher
from tests.contract.memories import (
    about,
    appended,
    concept_id,
    document,
    episode_id,
    everything,
    follows,
    mention,
    named,
    turn,
    write,
)
from tests.contract.priors import a_cycle, the_worked_example


@pytest.fixture(scope="module")
def store(graph: Graph, options: GraphOptions) -> PriorStore:
    return PriorStore(graph, options)


def a_web(tenant: TenantId) -> Changes:
    """Forty turns in four sessions, eight documents, ten concepts: no two nodes look alike."""
    rng = np.random.default_rng(3)
    names = [f"name{number}" for number in range(10)]
    pairs = {(int(rng.integers(1, 49)), int(rng.integers(0, 10))) for _ in range(90)}
    return appended(
        *(turn(tenant, n, session=f"s{n // 10}", ordinal=n % 10) for n in range(1, 41)),
        *(document(tenant, n, f"Title {n}") for n in range(41, 49)),
        next_added=tuple(
            follows(tenant, n, n + 1, float(rng.uniform(0.1, 1)))
            for n in range(1, 40)
            if n % 10 != 9
        ),
        names=tuple(named(name, candidates=9) for name in names),
        concepts_made=list(names),
        mentions_added=tuple(
            mention(tenant, episode, names[name], float(rng.uniform(0.1, 1)))
            for episode, name in sorted(pairs)
        ),
        abouts_added=tuple(about(tenant, 41 + n, names[n]) for n in range(8)),
    )


async def priors_in(cypher: Cypher, tenant: TenantId) -> dict[str, float]:
    rows = await cypher(
        "MATCH (n) WHERE n.tenant = $tenant AND n.prior IS NOT NULL"
        " RETURN n.id AS id, n.prior AS prior",
        tenant=tenant,
    )
    return {row["id"]: row["prior"] for row in rows}


async def associate(
    cypher: Cypher, tenant: TenantId, edges: Sequence[tuple[str, str, float]]
) -> None:
    """Join concepts by ASSOCIATED: two names and a weight each."""
    rows = [
        {"one": concept_id(tenant, one), "other": concept_id(tenant, other), "weight": weight}
        for one, other, weight in edges
    ]
    await cypher(
        "UNWIND $rows AS row MATCH (a:Concept {id: row.one}), (b:Concept {id: row.other})"
        " CREATE (a)-[:ASSOCIATED {weight: row.weight}]->(b)",
        rows=rows,
    )


async def projections(cypher: Cypher) -> list[str]:
    rows = await cypher("CALL gds.graph.list() YIELD graphName RETURN graphName")
    return [row["graphName"] for row in rows if row["graphName"].startswith(PREFIX)]


async def test_the_worked_example(graph: Graph, store: PriorStore, tenant: TenantId) -> None:
    await write(graph, tenant, the_worked_example(tenant))
    ranks = await store.page_rank(tenant, fresh_id())
    assert ranks is not None
    found = dict(zip(ranks.id, ranks.value / 4.15, strict=True))
    assert found == pytest.approx(
        {
            episode_id(tenant, "1"): 0.265776,
            episode_id(tenant, "2"): 0.23764,
            episode_id(tenant, "3"): 0.12982,
            concept_id(tenant, "bridge"): 0.330619,
        },
        abs=5e-6,
    )
    assert ranks.arcs == 8


async def test_the_figures_equal_a_second_method(
    graph: Graph, store: PriorStore, tenant: TenantId, cypher: Cypher
) -> None:
    await write(graph, tenant, a_web(tenant))
    await associate(cypher, tenant, (("name0", "name1", 0.5), ("name1", "name7", 0.9)))
    await Prior(store).run(a_cycle(tenant))
    edges = await cypher(
        "MATCH (a)-[r:NEXT|MENTIONS|ABOUT|ASSOCIATED]->(b) WHERE a.tenant = $tenant"
        " RETURN a.id AS a, b.id AS b, r.weight AS w",
        tenant=tenant,
    )
    ids = sorted({edge[end] for edge in edges for end in "ab"})
    place = {one: row for row, one in enumerate(ids)}
    tail = [place[edge["a"]] for edge in edges]
    head = [place[edge["b"]] for edge in edges]
    weight = [edge["w"] for edge in edges]
    both = Adjacency.from_arcs(tail + head, head + tail, weight + weight, size=len(ids))
    value = push(both, np.ones(len(ids)), damping=0.85, epsilon=1e-13) * len(ids)
    concepts = {concept_id(tenant, f"name{number}") for number in range(10)}
    expected: dict[str, float] = {}
    for kind in (concepts, set(ids) - concepts):
        rows = [place[one] for one in ids if one in kind]
        expected |= zip((ids[row] for row in rows), midrank(value[rows]).tolist(), strict=True)

    ranks = await store.page_rank(tenant, fresh_id())
    assert ranks is not None
    assert ranks.converged
    np.testing.assert_allclose(
        ranks.value, [value[place[one]] for one in ranks.id], rtol=0, atol=1e-6
    )
    assert await priors_in(cypher, tenant) == pytest.approx(expected, abs=1e-9)


async def test_a_prior_is_written_only_where_it_is_off_by_a_hundredth(
    graph: Graph, store: PriorStore, tenant: TenantId, cypher: Cypher
) -> None:
    await write(graph, tenant, a_web(tenant))
    first = (await Prior(store).run(a_cycle(tenant))).counts
    assert first["written"] == first["episodes"] + first["concepts"]
    assert (await Prior(store).run(a_cycle(tenant))).counts["written"] == 0
    ranks = await priors_in(cypher, tenant)
    near, far, *_ = sorted(ranks)
    off = {near: ranks[near] + 0.009, far: ranks[far] - 0.011}
    await cypher("UNWIND keys($off) AS id MATCH (n {id: id}) SET n.prior = $off[id]", off=off)
    assert (await Prior(store).run(a_cycle(tenant, dry_run=True))).counts["written"] == 1
    assert (await Prior(store).run(a_cycle(tenant))).counts["written"] == 1
    assert await priors_in(cypher, tenant) == ranks | {near: off[near]}


async def test_nodes_without_edges_change_nothing_and_repeating_changes_nothing(
    graph: Graph, store: PriorStore, tenant: TenantId, cypher: Cypher
) -> None:
    await write(graph, tenant, a_web(tenant))
    await Prior(store).run(a_cycle(tenant))
    before = await priors_in(cypher, tenant)
    await Prior(store).run(a_cycle(tenant))
    assert await priors_in(cypher, tenant) == before
    alone = (turn(tenant, number, session=f"x{number}", ordinal=0) for number in range(100, 160))
    await write(graph, tenant, appended(*alone))
    await Prior(store).run(a_cycle(tenant))
    assert await priors_in(cypher, tenant) == before


async def test_a_tenant_ranks_its_own_graph_and_loses_what_is_gone(
    graph: Graph, store: PriorStore, tenant: TenantId, other_tenant: TenantId, cypher: Cypher
) -> None:
    await write(graph, tenant, the_worked_example(tenant))
    await write(graph, other_tenant, everything(other_tenant))
    counts = (await Prior(store).run(a_cycle(tenant))).counts
    assert (counts["episodes"], counts["concepts"], counts["dropped"]) == (3, 1, 0)
    assert await priors_in(cypher, other_tenant) == {}
    first, last = episode_id(tenant, "1"), episode_id(tenant, "4")
    reader = EpisodeReader(graph)
    assert await reader.priors(tenant, [first, last]) == {first: 1.0}
    assert await reader.priors(other_tenant, [first]) == {}

    await cypher(
        "MATCH (e:Episode {id: $id})-[r:MENTIONS]->() DELETE r", id=episode_id(tenant, "3")
    )
    counts = (await Prior(store).run(a_cycle(tenant))).counts
    assert (counts["episodes"], counts["dropped"]) == (2, 1)
    assert EpisodeId(episode_id(tenant, "3")) not in await priors_in(cypher, tenant)


async def test_an_empty_memory_is_nothing_to_rank(store: PriorStore, tenant: TenantId) -> None:
    counts = (await Prior(store).run(a_cycle(tenant))).counts
    assert (counts["episodes"], counts["concepts"], counts["arcs"]) == (0, 0, 0)


async def test_a_dry_run_tells_the_counts_and_writes_nothing(
    graph: Graph, store: PriorStore, tenant: TenantId, cypher: Cypher
) -> None:
    await write(graph, tenant, the_worked_example(tenant))
    outcome = await Prior(store).run(a_cycle(tenant, dry_run=True))
    assert (outcome.counts["episodes"], outcome.counts["concepts"]) == (3, 1)
    assert await priors_in(cypher, tenant) == {}


@pytest.mark.parametrize("held", [{"token": 2, "seconds": -1}, {"token": 3, "seconds": 60}])
async def test_without_its_lease_a_step_writes_nothing(
    graph: Graph, store: PriorStore, tenant: TenantId, cypher: Cypher, held: dict[str, int]
) -> None:
    await write(graph, tenant, the_worked_example(tenant))
    job = fresh_id()
    await cypher(
        "CREATE (:Job {id: $job, tenant: $tenant, state: 'done', token: $token,"
        " lease_until: datetime() + duration({seconds: $seconds})})",
        job=job, tenant=tenant, **held,
    )  # fmt: skip
    with pytest.raises(LeaseLost):
        await Prior(store).run(a_cycle(tenant, lease=Lease(job=job, token=2)))
    assert await priors_in(cypher, tenant) == {}
    await cypher(
        "MATCH (j:Job {id: $job}) SET j.lease_until = datetime() + duration('PT1M'), j.token = 2",
        job=job,
    )
    await Prior(store).run(a_cycle(tenant, lease=Lease(job=job, token=2)))
    assert len(await priors_in(cypher, tenant)) == 4


async def test_the_projection_is_dropped_also_after_a_failure(
    graph: Graph,
    store: PriorStore,
    tenant: TenantId,
    cypher: Cypher,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await write(graph, tenant, the_worked_example(tenant))
    await store.page_rank(tenant, fresh_id())
    assert await projections(cypher) == []
    monkeypatch.setattr("ecphoria.neo4j_store.gds._DAMPING", 7.0)  # the library refuses it
    with pytest.raises(EcphoriaError):
        await store.page_rank(tenant, fresh_id())
    assert await projections(cypher) == []


async def test_an_orphan_of_a_killed_process_goes_after_its_hour(
    graph: Graph,
    store: PriorStore,
    tenant: TenantId,
    cypher: Cypher,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await write(graph, tenant, the_worked_example(tenant))
    await cypher(
        "UNWIND [[1, 2]] AS arc WITH gds.graph.project($name, arc[0], arc[1]) AS made"
        " RETURN made.graphName",
        name=f"{PREFIX}orphan",
    )
    await store.page_rank(tenant, fresh_id())
    assert await projections(cypher) == [f"{PREFIX}orphan"]
    monkeypatch.setattr("ecphoria.neo4j_store.gds._ORPHANED_S", -60)
    await store.page_rank(tenant, fresh_id())
    assert await projections(cypher) == []


async def test_without_the_library_the_step_is_skipped_with_the_remedy(
    store: PriorStore, tenant: TenantId, monkeypatch: pytest.MonkeyPatch
) -> None:
    from graphdatascience.error.gds_not_installed import GdsNotFound  # noqa: PLC0415
    from graphdatascience.query_runner.neo4j_query_runner import Neo4jQueryRunner  # noqa: PLC0415

    def unknown(self: object) -> None:
        raise GdsNotFound("the server does not know gds.version")

    monkeypatch.setattr(Neo4jQueryRunner, "server_version", unknown)
    with pytest.raises(Skipped, match="install the plugin"):
        await Prior(store).run(a_cycle(tenant))
