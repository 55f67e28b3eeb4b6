"""The facts that a turn states give it words and meaning, as far as they are known and true."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from ecphoria.facts.service import FactService
from ecphoria.facts.store import FactQuery, FactStore
from ecphoria.ingest.service import IngestService
from ecphoria.neo4j_store.session import Graph, Statement
from ecphoria.recall.service import RecallService
from ecphoria.records.episode import Extracted, NewEpisode
from ecphoria.records.episode import Statement as Claim
from ecphoria.records.fact import NewDecision
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import Cue, Filters, RecallOptions, RecallResult
from tests.conftest import Cypher, WallClock
from tests.integration.memory.talks import remember, turns

CUE = Cue(text="What marzipan did Bruno buy?")
OPTIONS = RecallOptions(k=3, explain=True)
BOUGHT = Claim(subject="Bruno", predicate="bought", object="marzipan from Lübeck")
QUERIES = {"recall.seeds_by_statement", "recall.list_statements"}


def vague(*facts: Claim, session: str = "shop") -> NewEpisode:
    """Say something that shares no word with the cue, and state facts about it."""
    return NewEpisode(
        text="Got some sweet stuff there yesterday.",
        speaker="Bruno",
        session=session,
        occurred_at=datetime(2025, 5, 3, 9, tzinfo=UTC),
        extraction=Extracted(facts=facts) if facts else None,
    )


async def first(
    recalls: RecallService, tenant: TenantId, options: RecallOptions = OPTIONS
) -> tuple[EpisodeId, list[tuple[str, str]]]:
    """Give the first hit, and the kinds and edges of the way to it."""
    hit = (await recalls.recall(tenant, CUE, options)).hits[0]
    return hit.episode.id, [(step.kind, step.edge) for step in hit.path]


WAY = [("fact", "fact"), ("episode", "EVIDENCE")]


async def test_a_turn_is_found_by_its_fact_and_the_trace_replays_the_way(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    ids = await remember(ingest, tenant, [*turns(), vague(BOUGHT)])
    result = await recalls.recall(tenant, CUE, OPTIONS)
    assert result.hits[0].episode.id == ids[-1]
    fact, turn = result.hits[0].path
    assert [(fact.kind, fact.edge), (turn.kind, turn.edge)] == WAY
    assert fact.label == "bruno bought marzipan from lübeck"
    trace = await recalls.trace(tenant, result.trace_id)
    assert {fact.node, turn.node} <= {node.id for node in trace.nodes}
    arcs = [arc for wave in trace.waves for arc in wave.arcs if arc.edge == "EVIDENCE"]
    assert [(arc.tail, arc.head) for arc in arcs] == [(fact.node, turn.node)]
    assert result.evidence["fact_contrast"] > 0.0


async def test_without_weights_and_without_facts_the_ranking_is_that_of_the_text(
    ingest: IngestService, recalls: RecallService, tenant: TenantId, other_tenant: TenantId
) -> None:
    def ranking(result: RecallResult) -> list[tuple[str, float]]:
        return [(hit.episode.text, round(hit.score, 9)) for hit in result.hits]

    await remember(ingest, tenant, [*turns(), vague(BOUGHT)])
    await remember(ingest, other_tenant, [*turns(), vague()])
    off = replace(OPTIONS, k=10, options={"fact_words": 0.0, "fact_meaning": 0.0})
    plain = await recalls.recall(other_tenant, CUE, replace(OPTIONS, k=10))
    assert ranking(await recalls.recall(tenant, CUE, off)) == ranking(plain)
    assert ranking(await recalls.recall(tenant, CUE, replace(OPTIONS, k=10))) != ranking(plain)
    assert plain.evidence["fact_contrast"] == 0.0


async def test_a_retracted_fact_helps_only_as_it_was_known_before(
    ingest: IngestService, recalls: RecallService, graph: Graph, tenant: TenantId
) -> None:
    facts = FactService(store=FactStore(graph), clock=WallClock())
    ids = await remember(ingest, tenant, [*turns(), vague(BOUGHT)])
    early = WallClock().now()
    (found,) = await facts.facts(tenant, FactQuery())
    await facts.decide(tenant, found.id, NewDecision(ruling="retract"))
    assert (await first(recalls, tenant))[1] != WAY
    assert await first(recalls, tenant, replace(OPTIONS, known_at=early)) == (ids[-1], WAY)


async def test_a_fact_that_a_model_reads_later_is_not_known_before(
    ingest: IngestService, recalls: RecallService, cypher: Cypher, tenant: TenantId
) -> None:
    ids = await remember(ingest, tenant, [*turns(), vague(BOUGHT)])
    now = WallClock().now()
    asked = replace(OPTIONS, known_at=now)
    assert await first(recalls, tenant, asked) == (ids[-1], WAY)
    await cypher(
        "MATCH (:Fact {tenant: $t})-[r:EVIDENCE]->() SET r.by = 'model', r.created_at = $later",
        t=tenant,
        later=now + timedelta(hours=1),
    )
    assert (await first(recalls, tenant, asked))[1] != WAY
    assert await first(recalls, tenant) == (ids[-1], WAY)


async def test_facts_of_an_excluded_or_erased_turn_do_not_help(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    ids = await remember(ingest, tenant, [*turns(), vague(BOUGHT)])
    without = replace(OPTIONS, filters=Filters(exclude=frozenset({ids[-1]})))
    result = await recalls.recall(tenant, CUE, without)
    assert "marzipan" not in repr(result.hits)
    await ingest.delete(tenant, ids[-1])
    result = await recalls.recall(tenant, CUE, OPTIONS)
    assert "marzipan" not in repr(result.hits)
    assert result.evidence["fact_contrast"] == 0.0


async def test_a_store_without_facts_reads_none_and_one_with_facts_a_bounded_number(
    ingest: IngestService,
    recalls: RecallService,
    tenant: TenantId,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    rows: list[int] = []
    run = Graph.run

    async def counted(self: Graph, statement: Statement[object], **params: object) -> object:
        found = await run(self, statement, **params)
        if statement.name in QUERIES:
            asked.append(statement.name)
        if statement.name == "recall.list_statements":
            rows.append(len(found[0].fact))  # type: ignore[attr-defined] # its own row
        return found

    monkeypatch.setattr(Graph, "run", counted)
    await remember(ingest, tenant, [*turns(), vague()])
    await recalls.recall(tenant, CUE, RecallOptions())
    assert not asked
    many = [replace(BOUGHT, object=f"marzipan number {n}") for n in range(30)]
    await remember(ingest, tenant, [vague(*many, session="later")])
    await recalls.recall(tenant, CUE, RecallOptions())  # learns that there are facts
    asked.clear()
    rows.clear()
    await recalls.recall(tenant, CUE, RecallOptions())
    # An echo of the cue is left out, and the frame is read again without it.
    assert sorted(asked) == ["recall.list_statements"] * 2 + ["recall.seeds_by_statement"]
    assert set(rows) == {20}


async def test_a_turn_of_another_session_without_words_joins_the_candidates(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    filler = [
        NewEpisode(
            text=f"Bruno will buy bread number {n}, he said.",
            speaker=("Ana", "Bruno")[n % 2],
            session=f"day {n}",
            occurred_at=datetime(2025, 6, 1, 9, tzinfo=UTC) + timedelta(days=n),
        )
        for n in range(70)
    ]
    ids = await remember(ingest, tenant, [*filler, vague(BOUGHT)])
    assert await first(recalls, tenant) == (ids[-1], WAY)
