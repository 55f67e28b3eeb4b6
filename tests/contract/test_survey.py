"""The survey on the real server: it counts what a second method counts, one tenant only."""

from collections import Counter
from datetime import timedelta

import pytest

from ecphoria.consolidation.knn_store import Association, AssociationStore
from ecphoria.consolidation.service import GraphSurvey
from ecphoria.jobs.store import JobStore
from ecphoria.neo4j_store.session import Graph
from ecphoria.neo4j_store.traces import TraceStore
from ecphoria.records.ids import TenantId
from ecphoria.records.job import ConsolidationReport, Degrees, JobKind, JobState
from ecphoria.records.recall import Verdict
from tests.conftest import Cypher
from tests.contract.memories import START, appended, episode_id, everything, turn, write
from tests.contract.traces import a_trace


@pytest.fixture
def survey(graph: Graph) -> GraphSurvey:
    return GraphSurvey(graph)


async def test_every_label_and_every_type_is_counted_once(
    graph: Graph, survey: GraphSurvey, tenant: TenantId, other_tenant: TenantId, cypher: Cypher
) -> None:
    for one in (tenant, other_tenant):
        await write(graph, one, everything(one))
    await TraceStore(graph, keep=5).save(tenant, [a_trace(tenant)])
    found = await survey.size(tenant)
    nodes = await cypher(
        "MATCH (n) WHERE n.tenant = $tenant AND NOT n:Trace RETURN labels(n) AS labels",
        tenant=tenant,
    )
    edges = await cypher(
        "MATCH (n)-[r]->() WHERE n.tenant = $tenant AND NOT n:Trace RETURN type(r) AS type",
        tenant=tenant,
    )
    assert found.turn == 4
    assert found.nodes == Counter(label for node in nodes for label in node["labels"])
    assert found.edges == Counter(edge["type"] for edge in edges)
    assert found.faulty_edges == 0
    await cypher(
        "MATCH (n:Episode)-[r:MENTIONS]->() WHERE n.tenant = $tenant REMOVE r.weight",
        tenant=tenant,
    )
    assert (await survey.size(tenant)).faulty_edges == found.edges["MENTIONS"]


async def test_nothing_counts_as_nothing(survey: GraphSurvey, tenant: TenantId) -> None:
    found = await survey.size(tenant)
    assert (found.turn, found.nodes, found.edges, found.faulty_edges) == (0, {}, {}, 0)
    assert await survey.degrees(tenant) == {}
    assert await survey.gaps(tenant, least=1, limit=9) == []


async def test_degrees_are_those_of_live_nodes(
    graph: Graph, survey: GraphSurvey, tenant: TenantId
) -> None:
    await write(graph, tenant, appended(*(turn(tenant, number) for number in range(1, 12))))
    hub, *others = (episode_id(tenant, str(number)) for number in range(1, 12))
    spokes = [Association(one=min(hub, one), other=max(hub, one), part=0.7) for one in others[:4]]
    await AssociationStore(graph).save_similar(tenant, None, now=START, edges=spokes, done=())
    # Sorted: six times 0, four times 1, once 4.
    assert await survey.degrees(tenant) == {"SIMILAR": Degrees(p50=0, p90=1, p99=4, most=4)}


async def test_a_gap_is_a_cue_refused_often_since_the_last_whole_cycle(
    graph: Graph, survey: GraphSurvey, tenant: TenantId
) -> None:
    traces = TraceStore(graph, keep=99)

    async def asked(*cues: str, verdict: Verdict = Verdict.REFUSE) -> list[str]:
        made = [
            a_trace(tenant, cue=cue, verdict=verdict, seeds=(), hits=(),
                    created_at=START + timedelta(minutes=number))
            for number, cue in enumerate(cues)
        ]  # fmt: skip
        await traces.save(tenant, made)
        return [one.id for one in made]

    ids = await asked(
        "Who?", " who? ", "WHO?", "When?", "When?", "When?", "When?", "Twice", "Twice"
    )
    await asked("Known", "Known", "Known", verdict=Verdict.ANSWER)
    whole = await survey.gaps(tenant, least=3, limit=9)
    assert [(gap.refused, gap.traces) for gap in whole] == [
        (4, (ids[6], ids[5], ids[4], ids[3])),
        (3, (ids[2], ids[1], ids[0])),
    ]
    assert await survey.gaps(tenant, least=3, limit=1) == whole[:1]


async def test_what_was_refused_before_the_last_whole_cycle_is_no_gap_any_more(
    graph: Graph, survey: GraphSurvey, tenant: TenantId
) -> None:
    jobs = JobStore(graph, 9)
    old = [
        a_trace(tenant, cue="Who?", verdict=Verdict.REFUSE, seeds=(), hits=()) for _ in range(3)
    ]
    await TraceStore(graph, keep=99).save(tenant, old)
    assert [gap.refused for gap in await survey.gaps(tenant, least=3, limit=9)] == [3]
    report = ConsolidationReport(cycle="c", started_at=START, seconds=0.0, steps=())
    for steps, gaps_after in ((["prior"], 1), ([], 0)):
        job = await jobs.enqueue(tenant, JobKind.CONSOLIDATION, steps=steps)
        claimed = await jobs.claim(job.id, 60.0)
        assert claimed is not None
        assert len(await survey.gaps(tenant, least=3, limit=9)) == 1, "it is not done yet"
        await jobs.finish(claimed.lease, JobState.DONE, report=report)
        assert len(await survey.gaps(tenant, least=3, limit=9)) == gaps_after
