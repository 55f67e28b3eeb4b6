"""The doctor finds every planted fault, and nothing in a graph that only the service wrote."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
import pytest

from ecphoria.consolidation.doctor import Doctor, IntegrityStore
from ecphoria.errors import NotFound
from ecphoria.ingest.service import IngestService
from ecphoria.neo4j_store.session import Graph
from ecphoria.records.episode import Extracted, NewEpisode, Statement
from ecphoria.records.ids import EpisodeId, TenantId, fresh_id
from ecphoria.records.upkeep import IntegrityReport, Rule
from ecphoria.tenancy.store import Tenants
from tests.conftest import Cypher, new_tenant
from tests.integration.memory.talks import START, TEXTS, remember, turns


@pytest.fixture(scope="module")
def doctor(graph: Graph) -> Doctor:
    ticks = iter(range(1_000_000))
    return Doctor(IntegrityStore(graph), lambda: float(next(ticks)))


def told(found: IntegrityReport) -> list[tuple[str, str]]:
    return [
        (finding.rule.value, f"{symptom.id}: {symptom.detail}")
        for finding in found.findings
        for symptom in finding.symptoms
    ]


async def a_memory(ingest: IngestService, tenant: TenantId) -> list[EpisodeId]:
    """Two sessions of six turns, a document with a fact, a note."""
    page = NewEpisode(
        text="A city on the river Aura in Finland.",
        title="Turku",
        extraction=Extracted(
            names=("Finland",),
            facts=(Statement(subject="Turku", predicate="lies in", object="Finland"),),
        ),
    )
    note = NewEpisode(text="Buy paint for the boat of Bruno.")
    return await remember(ingest, tenant, [*turns("one"), *turns("two"), page, note])


async def test_a_graph_that_only_the_service_wrote_is_healthy(
    doctor: Doctor, ingest: IngestService, tenant: TenantId, other_tenant: TenantId
) -> None:
    rng = np.random.default_rng(5)
    assert (await doctor.examine(tenant)).is_healthy
    stored = await a_memory(ingest, tenant)
    await a_memory(ingest, other_tenant)
    for number in range(12):
        if rng.random() < 0.5:
            await ingest.delete(tenant, stored.pop(int(rng.integers(len(stored)))))
        else:
            late = NewEpisode(
                text=str(rng.choice(TEXTS)),
                speaker=str(rng.choice(("Ana", "Cleo"))),
                session=str(rng.choice(("one", "two", "three"))),
                occurred_at=START + timedelta(seconds=int(rng.integers(600))),
                idempotency_key=str(number),
            )
            stored.append((await ingest.append(tenant, late)).id)
    found = await doctor.examine(tenant)
    assert told(found) == []
    assert (found.is_healthy, found.settled, found.episodes) == (True, True, len(stored))


FAULTS = {
    "a wrong total": (
        Rule.COUNTS,
        "items",
        "MATCH (t:Tenant {id: $tenant}) SET t.items = t.items + 1",
    ),
    "a drifted length": (
        Rule.COUNTS,
        "length",
        "MATCH (t:Tenant {id: $tenant}) SET t.length = t.length + 1",
    ),
    "a stem counted twice": (
        Rule.COUNTS,
        "river: items",
        "MATCH (t:Term {tenant: $tenant, stem: 'river'}) SET t.items = t.items + 1",
    ),
    "a stem that is missing": (
        Rule.COUNTS,
        "boat: items",
        "MATCH (t:Term {tenant: $tenant, stem: 'boat'}) DELETE t",
    ),
    "a speaker counted twice": (
        Rule.COUNTS,
        "episodes: 7 stored, 6 found",
        "MATCH (p:Speaker {tenant: $tenant, name: 'Ana'}) SET p.episodes = p.episodes + 1",
    ),
    "a lost mention": (
        Rule.COUNTS,
        "mentions: ",
        (
            "MATCH (e:Episode {tenant: $tenant})-[r:MENTIONS]->(:Concept {normalised: 'ana'})"
            " WITH r LIMIT 1 DELETE r"
        ),
    ),
    "two turns after one": (
        Rule.CHAINS,
        "has several next turns",
        (
            "MATCH (a:Episode {tenant: $tenant, session: 'one', ordinal: 0}),"
            " (b:Episode {tenant: $tenant, session: 'one', ordinal: 2})"
            " CREATE (a)-[:NEXT {family: 'temporal', weight: 1.0, created_at: datetime()}]->(b)"
        ),
    ),
    "a broken chain": (
        Rule.CHAINS,
        "has no NEXT to the turn that follows it",
        "MATCH (:Episode {tenant: $tenant, session: 'two', ordinal: 3})-[r:NEXT]->() DELETE r",
    ),
    "a place taken twice": (
        Rule.CHAINS,
        "the places of its session",
        "MATCH (e:Episode {tenant: $tenant, session: 'two', ordinal: 1}) SET e.ordinal = 2",
    ),
    "an edge of no family": (
        Rule.EDGES,
        "NEXT has no family",
        (
            "MATCH (:Episode {tenant: $tenant, session: 'one', ordinal: 3})-[r:NEXT]->()"
            " REMOVE r.family"
        ),
    ),
    "a weight over one": (
        Rule.EDGES,
        "MENTIONS has a weight outside 0 to 1",
        "MATCH (:Episode {tenant: $tenant})-[r:MENTIONS]->() WITH r LIMIT 1 SET r.weight = 1.01",
    ),
    "a weight that is no number": (
        Rule.EDGES,
        "ABOUT has a weight outside 0 to 1",
        "MATCH (:Episode {tenant: $tenant})<-[r:ABOUT]-() SET r.weight = 0.0 / 0.0",
    ),
    "an edge to a stranger": (
        Rule.EDGES,
        "SIMILAR leads to another tenant",
        (
            "MATCH (a:Episode {tenant: $tenant, session: 'one', ordinal: 0}),"
            " (b:Episode {tenant: $other}) WITH a, b LIMIT 1 CREATE"
            " (a)-[:SIMILAR {family: 'association', weight: 1.0, created_at: datetime()}]->(b)"
        ),
    ),
    "an erased episode that is there": (
        Rule.ORPHANS,
        "an episode that was erased and is stored",
        (
            "MATCH (e:Episode {tenant: $tenant, session: 'one', ordinal: 0})"
            " CREATE (:Tombstone {id: e.id, tenant: $tenant, erased_at: datetime()})"
        ),
    ),
    "an episode outside its session": (
        Rule.ORPHANS,
        "not in its session",
        (
            "MATCH (:Episode {tenant: $tenant, session: 'one', ordinal: 0})-[r:IN_SESSION]->()"
            " DELETE r"
        ),
    ),
    "a session without episodes": (
        Rule.ORPHANS,
        "a session without episodes",
        "CREATE (:Session {tenant: $tenant, name: 'empty', id: 'e'})",
    ),
    "a concept that nothing mentions": (
        Rule.ORPHANS,
        "a concept that nothing mentions",
        "MATCH (c:Concept {tenant: $tenant, normalised: 'bruno'})-[r:MENTIONS]-() DELETE r",
    ),
    "an edge of a retracted fact": (
        Rule.PROVENANCE,
        "a fact that is retracted, and its RELATED weighs 0.7",
        "MATCH (f:Fact {tenant: $tenant}) SET f.standing = 'retracted'",
    ),
    "a fact without evidence": (
        Rule.PROVENANCE,
        "a fact without evidence",
        "MATCH (f:Fact {tenant: $tenant})-[r:EVIDENCE]->() DELETE r",
    ),
    "an edge of a fact that is gone": (
        Rule.PROVENANCE,
        "RELATED by a fact that is gone",
        "MATCH (f:Fact {tenant: $tenant}) DETACH DELETE f",
    ),
    "a word counted twice": (
        Rule.COUNTS,
        "river: items: ",
        "MATCH (w:Word {tenant: $tenant, word: 'river'}) SET w.items = w.items + 1",
    ),
    "a word that is missing": (
        Rule.COUNTS,
        "boat: items: 0 stored, ",
        "MATCH (w:Word {tenant: $tenant, word: 'boat'}) DELETE w",
    ),
    "a name counted twice": (
        Rule.COUNTS,
        "bruno: candidates: ",
        (
            "MATCH (n:Name {tenant: $tenant, normalised: 'bruno'})"
            " SET n.candidates = n.candidates - 1"
        ),
    ),
    "a title that nothing has": (
        Rule.COUNTS,
        "turku: titles: 2 stored, 1 found",
        "MATCH (n:Name {tenant: $tenant, normalised: 'turku'}) SET n.titles = 2",
    ),
    "an engram without evidence": (
        Rule.PROVENANCE,
        "e: an engram without evidence",
        (
            "MATCH (s:Session {tenant: $tenant, name: 'one'}) CREATE (:Engram {id: 'e',"
            " tenant: $tenant, kind: 'session', recorded_at: datetime()})-[:SUMMARISES"
            " {family: 'abstraction', weight: 1.0, created_at: datetime()}]->(s)"
        ),
    ),
    "an engram of no session": (
        Rule.PROVENANCE,
        "e2: an engram of no session",
        (
            "MATCH (e:Episode {tenant: $tenant, session: 'one', ordinal: 0}) CREATE (:Engram"
            " {id: 'e2', tenant: $tenant, kind: 'session', recorded_at: datetime()})-[:EVIDENCE"
            " {family: 'provenance', weight: 1.0, created_at: datetime()}]->(e)"
        ),
    ),
    "an engram with evidence outside its session": (
        Rule.PROVENANCE,
        "e3: an engram with evidence outside its session",
        (
            "MATCH (e:Episode {tenant: $tenant, session: 'one', ordinal: 0}),"
            " (s:Session {tenant: $tenant, name: 'two'})"
            " CREATE (g:Engram {id: 'e3', tenant: $tenant, kind: 'session', recorded_at:"
            " datetime()}), (g)-[:EVIDENCE {family: 'provenance', weight: 1.0, created_at:"
            " datetime()}]->(e), (g)-[:SUMMARISES {family: 'abstraction', weight: 1.0,"
            " created_at: datetime()}]->(s)"
        ),
    ),
    "an episode near too many": (
        Rule.EDGES,
        "SIMILAR to 16 by nearness",
        (
            "MATCH (t:Tenant {id: $tenant}) SET t.associated_turn = t.turn WITH t"
            " MATCH (e:Episode {tenant: $tenant, title: 'Turku'}) UNWIND range(1, 16) AS _"
            " MATCH (o:Episode {tenant: $tenant, session: 'one', ordinal: 0}) CREATE"
            " (e)-[:SIMILAR {family: 'association', weight: .8, w_sim: .8,"
            " created_at: datetime()}]->(o)"
        ),
    ),
    "a live episode without vector": (
        Rule.INDEXES,
        "a live episode without a vector",
        "MATCH (e:Episode {tenant: $tenant, title: 'Turku'}) REMOVE e.embedding",
    ),
    "an episode in no state": (
        Rule.STATES,
        "in 0 states",
        "MATCH (e:Episode {tenant: $tenant, session: 'one', ordinal: 4}) REMOVE e:LiveEpisode",
    ),
    "a live episode without stems": (
        Rule.INDEXES,
        "a live episode without stems",
        "MATCH (e:Episode {tenant: $tenant, session: 'one', ordinal: 5}) REMOVE e.terms",
    ),
}


@dataclass
class Sick:
    """A memory that gets one fault after the other, and what was said of it so far."""

    tenant: TenantId
    other: TenantId
    said: set[tuple[str, str]]


@pytest.fixture(scope="module")
async def sick(graph: Graph, ingest: IngestService) -> AsyncIterator[Sick]:
    made = Sick(tenant=await new_tenant(graph), other=await new_tenant(graph), said=set())
    await a_memory(ingest, made.tenant)
    await ingest.append(made.other, NewEpisode(text="Something else."))
    yield made
    for tenant in (made.tenant, made.other):
        await Tenants(graph).erase(tenant)


@pytest.mark.parametrize("fault", FAULTS)
async def test_the_doctor_finds_what_is_wrong(
    fault: str, doctor: Doctor, sick: Sick, cypher: Cypher
) -> None:
    rule, said, plant = FAULTS[fault]
    await cypher(plant, tenant=sick.tenant, other=sick.other)
    now = set(told(await doctor.examine(sick.tenant)))
    assert any(kind == rule and said in what for kind, what in now - sick.said), now
    sick.said |= now


async def test_words_by_the_rules_of_another_version_are_told(
    doctor: Doctor, ingest: IngestService, tenant: TenantId, cypher: Cypher
) -> None:
    for text in ("The café of Zoë is in Łódź.", "The boat is red.", "Das Café hat zu."):
        await ingest.append(tenant, NewEpisode(text=text, title="Note"))
    assert (await doctor.examine(tenant)).is_healthy
    await cypher(
        "MATCH (e:Episode {tenant: $tenant}) WHERE e.terms CONTAINS 'cafe'"
        " SET e.terms = replace(e.terms, 'cafe', 'caf') RETURN count(e)",
        tenant=tenant,
    )
    (words,) = [what for _, what in told(await doctor.examine(tenant)) if "words" in what]
    assert words.startswith("words: 2 of the episodes have those of another version; send")


async def test_the_text_index_itself_is_looked_at(
    graph: Graph, ingest: IngestService, tenant: TenantId
) -> None:
    class Lossy(IntegrityStore):
        async def indexed(self, tenant: TenantId) -> frozenset[str]:
            return frozenset(sorted(await super().indexed(tenant))[1:])

    first = min([(await ingest.append(tenant, NewEpisode(text=text))).id for text in TEXTS[:3]])
    found = await Doctor(Lossy(graph), lambda: 0.0).examine(tenant)
    assert told(found) == [("indexes", f"{first}: live and not in the text index")]


async def test_nobody_is_examined_who_is_not_there(doctor: Doctor) -> None:
    with pytest.raises(NotFound):
        await doctor.examine(TenantId(fresh_id()))


async def test_the_examination_says_when_somebody_wrote_meanwhile(
    graph: Graph, ingest: IngestService, tenant: TenantId
) -> None:
    class Busy(IntegrityStore):
        async def indexed(self, of: TenantId) -> frozenset[str]:
            await ingest.append(of, NewEpisode(text="One more."))
            return await super().indexed(of)

    found = await Doctor(Busy(graph), lambda: 0.0).examine(tenant)
    assert not found.settled
