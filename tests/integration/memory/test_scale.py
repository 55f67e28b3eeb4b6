"""The scale of the evidence: kept of recorded recalls, used from the tenth on, and erased."""

from ecphoria.ingest.service import IngestService
from ecphoria.neo4j_store.session import Graph
from ecphoria.recall.listing import EpisodeArchive
from ecphoria.recall.service import RecallService
from ecphoria.records.episode import NewEpisode
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import Cue, RecallOptions, RecallResult, Verdict
from ecphoria.records.tenant import LEAST_RECALLS, SCALED, Scale
from ecphoria.records.traced import GateKind
from ecphoria.tenancy.store import Tenants
from tests.conftest import Cypher, new_tenant
from tests.integration.memory.three_people import CHAT, fill

CUES = (
    "Where was the brass telescope repaired?",
    "Who adopted a parrot last week?",
    "Which class is on Tuesdays?",
    "What calms after work?",
    "Is the teacher patient?",
    "When did the new rod arrive?",
    "Who would rather fish?",
    "What is in the attic?",
    "Whose sister has a parrot?",
    "What was finally signed up for?",
)
UNKNOWN = ("Where was the submarine volcano photographed?", "Who painted the violet tractor?")


async def ask(
    recalls: RecallService, tenant: TenantId, cue: str, *, record: bool = True
) -> RecallResult:
    answer = await recalls.recall(tenant, Cue(text=cue), RecallOptions(), record=record)
    await recalls.settle(tenant, answer.trace_id)
    return answer


async def scale(graph: Graph, tenant: TenantId) -> Scale | None:
    return (await EpisodeArchive(graph).stats(tenant)).scale


async def test_the_scale_counts_from_the_tenth_recorded_recall_on(
    graph: Graph, ingest: IngestService, recalls: RecallService, tenant: TenantId,
    other_tenant: TenantId,
) -> None:  # fmt: skip
    assert len(CUES) == LEAST_RECALLS
    for owner in (tenant, other_tenant):
        await fill(ingest, owner)
    for cue in CUES[:-1]:
        assert (await ask(recalls, tenant, cue)).judged_by.gate is GateKind.SHIPPED
        await ask(recalls, other_tenant, cue, record=False)
    assert await scale(graph, tenant) is None
    before = await ask(recalls, tenant, CUES[-1])
    after = await ask(recalls, tenant, CUES[-1], record=False)
    assert (before.judged_by.gate, after.judged_by.gate) == (GateKind.SHIPPED, GateKind.SCALED)
    assert after.evidence == before.evidence
    assert [hit.episode.id for hit in after.hits] == [hit.episode.id for hit in before.hits]
    found = await scale(graph, tenant)
    assert found is not None
    assert found.recalls == LEAST_RECALLS
    assert all(found.found[name] > found.without[name] for name in SCALED)
    assert await scale(graph, other_tenant) is None


async def test_cues_that_say_nothing_do_not_count(
    graph: Graph, ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await ingest.append(tenant, NewEpisode(text="The only memory is about brass."))
    for _ in range(LEAST_RECALLS + 2):
        assert (await ask(recalls, tenant, "What is about brass?")).hits
    await fill(ingest, tenant)
    for _ in range(LEAST_RECALLS + 2):
        await ask(recalls, tenant, "thanks!")
    assert await scale(graph, tenant) is None


async def test_a_store_asked_only_what_it_does_not_hold_keeps_its_ranking_and_its_answers(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant)
    before = await ask(recalls, tenant, CUES[0], record=False)
    for number in range(100):
        await recalls.recall(tenant, Cue(text=UNKNOWN[number % 2]), RecallOptions())
    foreign = await ask(recalls, tenant, UNKNOWN[0])
    after = await ask(recalls, tenant, CUES[0], record=False)
    assert after.judged_by.gate is GateKind.SCALED
    assert [hit.score for hit in after.hits] == [hit.score for hit in before.hits]
    assert after.verdict is Verdict.ANSWER
    assert after.confidence > foreign.confidence


async def test_the_scale_is_erased_with_its_tenant(
    graph: Graph, ingest: IngestService, recalls: RecallService, cypher: Cypher
) -> None:
    made = await new_tenant(graph)
    await fill(ingest, made, CHAT)
    for cue in CUES:
        await ask(recalls, made, cue)
    kept = "MATCH (t:Tenant {id: $t}) WHERE t.scale IS NOT NULL RETURN size(t.scale) AS size"
    assert await cypher(kept, t=made) == [{"size": 1 + 4 * len(SCALED)}]
    await Tenants(graph).erase(made)
    assert await cypher(kept, t=made) == []
    again = await new_tenant(graph)
    await fill(ingest, again, CHAT)
    assert (await ask(recalls, again, CUES[0])).judged_by.gate is GateKind.SHIPPED
    assert await scale(graph, again) is None
    await Tenants(graph).erase(again)
