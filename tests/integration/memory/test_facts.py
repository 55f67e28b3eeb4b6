"""What came with an episode, and names alike, lead recall where no word of the cue does."""

from dataclasses import replace

import pytest

from ecphoria.facts.service import FactService
from ecphoria.facts.store import FactQuery, FactStore
from ecphoria.ingest.service import IngestService
from ecphoria.neo4j_store.session import Graph
from ecphoria.recall.service import RecallService
from ecphoria.records.episode import Extracted, NewEpisode, Receipt, Statement
from ecphoria.records.fact import NewDecision
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import Cue, RecallOptions, RecallResult
from tests.conftest import Cypher, WallClock

FILLER = [
    NewEpisode(title=title, text=text)
    for title, text in (
        ("Harrow Bay", "A bay with seals and a ferry."),
        ("Copper", "A metal used in wires."),
        ("Pell Moor", "Wide heath, home of the curlew."),
    )
]
LAMP = NewEpisode(title="Veldrin Lighthouse", text="Its lamp came from the Brask Glass Works.")
GLASS = NewEpisode(
    title="Brask Glass", text="Bottles, and later lenses, were made here by twelve men."
)
TAMSIN = NewEpisode(title="Orla Tamsin", text="She kept bees.")


def stating(one: NewEpisode, *facts: tuple[str, str, str]) -> NewEpisode:
    stated = (Statement(subject=a, predicate=says, object=b) for a, says, b in facts)
    return NewEpisode(title=one.title, text=one.text, extraction=Extracted(facts=tuple(stated)))


async def told(
    ingest: IngestService, recalls: RecallService, tenant: TenantId, cue: str, *items: NewEpisode
) -> RecallResult:
    receipts = await ingest.append_batch(tenant, [*items, *FILLER])
    assert all(isinstance(one, Receipt) for one in receipts), receipts
    result = await recalls.recall(tenant, Cue(text=cue), RecallOptions(k=3, explain=True))
    for hit in result.hits:
        assert sum(hit.parts.values()) == pytest.approx(hit.score, abs=1e-9)
        assert hit.path[-1].node == hit.episode.id
        assert all(step.label for step in hit.path)
    return result


def way(result: RecallResult, title: str) -> list[tuple[str, str]]:
    (hit,) = (hit for hit in result.hits if hit.episode.title == title)
    return [(step.edge, step.label) for step in hit.path]


async def test_a_name_leads_on_to_one_with_nearly_the_same_words(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    result = await told(ingest, recalls, tenant, "Who made the lamp at Veldrin?", LAMP, GLASS)
    assert result.hits[1].episode.title == "Brask Glass"
    assert way(result, "Brask Glass") == [
        ("rank", "Veldrin Lighthouse"),
        ("MENTIONS", "Brask Glass Works"),
        ("SYNONYM", "Brask Glass"),
        ("ABOUT", "Brask Glass"),
    ]


async def test_a_fact_leads_from_its_subject_to_its_object(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    ledger = NewEpisode(title="Ledger", text="Sums, and who owed them to whom.")
    known = stating(ledger, ("Brask Glass Works", "belonged to", "Orla Tamsin"))
    cue = "Veldrin Lighthouse lamp maker?"
    result = await told(ingest, recalls, tenant, cue, LAMP, known, TAMSIN)
    assert way(result, "Orla Tamsin")[-3:] == [
        ("MENTIONS", "Brask Glass Works"), ("RELATED", "Orla Tamsin"), ("ABOUT", "Orla Tamsin"),
    ]  # fmt: skip


async def test_the_nearest_fact_starts_the_walk_where_the_cue_names_nothing(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    known = stating(LAMP, ("Orla Tamsin", "designed the tower of", "Veldrin Lighthouse"))
    cue = "who was the architect that drew the tall building on the coast"
    result = await told(ingest, recalls, tenant, cue, known, TAMSIN)
    trace = await recalls.trace(tenant, result.trace_id)
    statement = "orla tamsin designed the tower of veldrin lighthouse"
    facts = [seed for seed in trace.seeds if seed.kind == "fact"]
    assert [(seed.stream, seed.label) for seed in facts] == [("fact", statement)]
    assert facts[0].energy == pytest.approx(1.0)
    assert way(result, "Orla Tamsin")[0] == ("fact", statement)
    assert way(result, "Orla Tamsin")[1][0] in {"SUBJECT", "OBJECT"}


async def test_a_deleted_fact_leads_nowhere(
    ingest: IngestService, recalls: RecallService, tenant: TenantId, cypher: Cypher
) -> None:
    known = stating(GLASS, ("Brask Glass Works", "belonged to", "Orla Tamsin"))
    (receipt,) = await ingest.append_batch(tenant, [known])
    assert isinstance(receipt, Receipt)
    await ingest.delete(tenant, receipt.id)
    result = await told(ingest, recalls, tenant, "Veldrin Lighthouse lamp owner?", LAMP, TAMSIN)
    edges = {step.edge for hit in result.hits for step in hit.path}
    assert edges.isdisjoint({"RELATED", "fact", "SUBJECT", "OBJECT"})
    (left,) = await cypher("MATCH (f:Fact {tenant: $t}) RETURN count(f) AS n", t=tenant)
    assert left["n"] == 0


async def test_switched_off_the_channel_walks_over_mentions_alone(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await told(ingest, recalls, tenant, "Who made the lamp at Veldrin?", LAMP, GLASS)
    result = await recalls.recall(
        tenant,
        Cue(text="Who made the lamp at Veldrin?"),
        RecallOptions(k=3, options={"w_related": 0.0}),
    )
    assert "SYNONYM" not in {step.edge for hit in result.hits for step in hit.path}


async def test_a_retracted_fact_leads_nowhere_until_that_is_undone(
    ingest: IngestService, recalls: RecallService, graph: Graph, tenant: TenantId
) -> None:
    ledger = NewEpisode(title="Ledger", text="Sums, and who owed them to whom.")
    known = stating(ledger, ("Brask Glass Works", "belonged to", "Orla Tamsin"))
    facts = FactService(store=FactStore(graph), clock=WallClock())
    cue = "Veldrin Lighthouse lamp maker?"
    before = await told(ingest, recalls, tenant, cue, LAMP, known, TAMSIN)
    asked = RecallOptions(k=3, explain=True)
    early = WallClock().now()

    async def edges(options: RecallOptions = asked) -> set[str]:
        result = await recalls.recall(tenant, Cue(text=cue), options)
        return {step.edge for hit in result.hits for step in hit.path}

    assert ("RELATED", "Orla Tamsin") in way(before, "Orla Tamsin")
    (fact,) = await facts.facts(tenant, FactQuery())
    wrong = await facts.decide(tenant, fact.id, NewDecision(ruling="retract"))
    assert "RELATED" not in await edges()
    assert "RELATED" not in await edges(replace(asked, as_of=WallClock().now()))
    assert "RELATED" in await edges(replace(asked, known_at=early))
    await facts.undo(tenant, wrong.id)
    after = await recalls.recall(tenant, Cue(text=cue), asked)
    assert [(hit.score, hit.path) for hit in after.hits] == [
        (hit.score, hit.path) for hit in before.hits
    ]
