"""A trace holds what a replay shows: every hit is reached, and every node has a name."""

from collections.abc import Mapping

import pytest

from ecphoria.app import STRATEGIES
from ecphoria.errors import NotFound
from ecphoria.ingest.service import IngestService
from ecphoria.neo4j_store.session import Graph
from ecphoria.recall.listing import EpisodeArchive
from ecphoria.recall.replay import MOST_ARCS
from ecphoria.recall.service import RecallService
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import Cue, Filters, RecallOptions, RecallResult, Trace
from ecphoria.records.traced import Node, NodeKind
from tests.integration.memory.chats import ask, chat, fill, passages

CUES = ("Who takes the pottery class?", "Which river flows through the town of the founder?")


def nodes_of(trace: Trace) -> set[str]:
    """List the nodes that a replay draws."""
    arcs = [arc for wave in trace.waves for arc in wave.arcs]
    return {
        *(seed.node for seed in trace.seeds),
        *(end for arc in arcs for end in (arc.tail, arc.head)),
        *(mark.node for wave in trace.waves for mark in wave.marks),
        *(step.node for hit in trace.hits for step in hit.path),
        *(hit.episode for hit in trace.hits),
    }


@pytest.mark.parametrize("explain", [True, False])
@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
async def test_every_hit_is_a_seed_or_reached_by_a_listed_arc(
    strategy: str, explain: bool, ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant, chat() + passages())
    for cue in CUES:
        told = await ask(recalls, tenant, cue, strategy=strategy, k=10, explain=explain)
        trace = await recalls.trace(tenant, told.trace_id)
        reached = {seed.node for seed in trace.seeds}
        reached |= {arc.head for wave in trace.waves for arc in wave.arcs}
        assert {hit.episode for hit in trace.hits} <= reached
        for hit in trace.hits:
            assert hit.path[0].node in {seed.node for seed in trace.seeds}
        named = {node.id: node for node in trace.nodes}
        assert named.keys() == nodes_of(trace)
        assert all(node.label for node in trace.nodes)
        check_memories(named, told)
        assert sum(len(wave.arcs) for wave in trace.waves) <= MOST_ARCS + 100


def check_memories(named: Mapping[str, Node], told: RecallResult) -> None:
    """Compare the nodes of the hits with the hits."""
    for memory in (hit.episode for hit in told.hits):
        node = named[memory.id]
        assert node.kind is NodeKind.EPISODE
        assert node.label.startswith(memory.title or memory.speaker or memory.text[:10])
        assert (node.speaker, node.session, node.ordinal, node.occurred_at, node.state) == (
            memory.speaker, memory.session, memory.ordinal, memory.occurred_at, memory.state,
        )  # fmt: skip


async def test_the_trace_comes_with_an_explained_answer_and_is_stored_only_if_recorded(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant, chat() + passages())
    quiet = await ask(recalls, tenant, CUES[0])
    assert quiet.trace is None
    told = await ask(recalls, tenant, CUES[0], strategy="synapse", explain=True)
    assert told.trace == await recalls.trace(tenant, told.trace_id)
    options = RecallOptions(strategy="synapse", explain=True)
    looked = await recalls.recall(tenant, Cue(text=CUES[0]), options, record=False)
    assert looked.trace is not None
    assert looked.trace.cypher == ""
    assert [hit.path for hit in looked.trace.hits] == [hit.path for hit in told.trace.hits]
    assert (looked.trace.waves, looked.trace.nodes) == (told.trace.waves, told.trace.nodes)
    with pytest.raises(NotFound):
        await recalls.trace(tenant, looked.trace_id)


async def test_a_trace_keeps_the_verdict_and_what_was_asked_for(
    ingest: IngestService, recalls: RecallService, graph: Graph, tenant: TenantId
) -> None:
    await fill(ingest, tenant, chat() + passages())
    (first,) = await EpisodeArchive(graph).list_episodes(tenant, limit=1)
    filters = Filters(
        speaker=first.speaker.upper() if first.speaker else None, exclude=frozenset((first.id,))
    )
    told = await ask(
        recalls, tenant, CUES[0], filters=filters, k=3, as_of=first.occurred_at, explain=True
    )
    trace = await recalls.trace(tenant, told.trace_id)
    for field in ("verdict", "confidence", "judged_by", "evidence", "reasons"):
        assert getattr(trace, field) == getattr(told, field), field
    assert (trace.k, trace.as_of, trace.known_at) == (3, first.occurred_at, None)
    assert (trace.filters.speaker, trace.filters.exclude) == (filters.speaker, (first.id,))
    lost = await ask(recalls, tenant, CUES[0], filters=Filters(session="none"))
    assert lost.reasons[0] == "unknown session: none; known: s0, s1"
    kept = await recalls.trace(tenant, lost.trace_id)
    assert kept.reasons == ("unknown session: none", *lost.reasons[1:])
