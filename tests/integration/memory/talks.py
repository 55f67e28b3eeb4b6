"""A short talk, and everything that is stored of a tenant."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from ecphoria.ingest.service import IngestService
from ecphoria.records.episode import NewEpisode, Receipt
from ecphoria.records.ids import EpisodeId, TenantId
from tests.conftest import Cypher

START = datetime(2025, 5, 1, 9, tzinfo=UTC)
TEXTS = (
    "Ana moved to Turku in spring.",
    "I saw Ana in Turku, near the river.",
    "The river was high after the rain!",
    "Did Bruno paint the boat?",
    "Bruno painted the boat, said Ana.",
    "Turku has a cathedral by the river.",
)


def turns(session: str = "one") -> list[NewEpisode]:
    """The talk as one session, a minute a turn."""
    return [
        NewEpisode(
            text=text,
            speaker=("Ana", "Bruno")[number % 2],
            session=session,
            occurred_at=START + timedelta(minutes=number),
            metadata={"mood": "glad", "number": number, "share": 0.1},
        )
        for number, text in enumerate(TEXTS)
    ]


async def remember(
    ingest: IngestService, tenant: TenantId, items: Sequence[NewEpisode]
) -> list[EpisodeId]:
    """Append items, and see that each is taken."""
    results = await ingest.append_batch(tenant, items)
    ids = [one.id for one in results if isinstance(one, Receipt)]
    assert len(ids) == len(items)
    return ids


async def a_talk(ingest: IngestService, tenant: TenantId) -> list[EpisodeId]:
    return await remember(ingest, tenant, turns())


async def graph_of(cypher: Cypher, tenant: TenantId) -> tuple[object, object]:
    """Everything a tenant has, but for its own node, which counts changes, and marks for later."""
    nodes = await cypher(
        "MATCH (n {tenant: $t}) RETURN labels(n) AS labels, properties(n) AS p"
        " ORDER BY labels, coalesce(n.id, n.stem, n.word, n.normalised)",
        t=tenant,
    )
    edges = await cypher(
        "MATCH (a {tenant: $t})-[r]->(b) RETURN a.id AS a, type(r) AS type,"
        " coalesce(b.id, b.name) AS b, properties(r) AS p ORDER BY a, type, b",
        t=tenant,
    )
    for one in nodes:
        if "Episode" in one["labels"]:
            one["p"].pop("touched", None)
    return [(sorted(one["labels"]), one["p"]) for one in nodes], edges


async def without_ids(cypher: Cypher, tenant: TenantId) -> dict[str, list[tuple[object, ...]]]:
    """Write a tenant's graph down without ids and clocks, so that those of two tenants compare."""
    queries = {
        "episodes": """MATCH (e:Episode {tenant: $t}) RETURN e.text, e.session, e.ordinal, e.terms,
            e.length, e.title, e.speaker""",
        "next": """MATCH (a:Episode {tenant: $t})-[r:NEXT]->(b)
            RETURN a.text, b.text, round(r.weight, 9)""",
        "mentions": """MATCH (e:Episode {tenant: $t})-[r:MENTIONS]->(c)
            RETURN e.text, c.normalised, r.weight, r.stated""",
        "about": "MATCH (c {tenant: $t})-[:ABOUT]->(e) RETURN c.normalised, e.text",
        "names": """MATCH (n:Name {tenant: $t}) RETURN n.normalised, n.titles, n.candidates,
            n:LiveConcept, coalesce(n.mentions, 0), coalesce(n.abouts, 0), n.stated""",
        "synonyms": """MATCH (a:Name {tenant: $t})-[r:SYNONYM]->(b)
            RETURN a.normalised, b.normalised, round(r.weight, 9)""",
        "related": """MATCH (a:Name {tenant: $t})-[r:RELATED]->(b)
            RETURN a.normalised, r.predicate, b.normalised, r.weight""",
        "facts": """MATCH (f:Fact {tenant: $t}) RETURN f.statement, f:LiveFact, f.id <> '',
            COLLECT { MATCH (f)-[r:SUBJECT|OBJECT]->(c:LiveConcept)
                WITH c, r ORDER BY type(r) RETURN type(r) + c.normalised },
            COLLECT { MATCH (f)-[:EVIDENCE]->(e) WITH e ORDER BY e.text RETURN e.text },
            [x IN f.embedding[..3] | round(x, 5)]""",
        "terms": "MATCH (n:Term {tenant: $t}) RETURN n.stem, n.items",
        "words": "MATCH (n:Word {tenant: $t}) RETURN n.word, n.items",
        "speakers": "MATCH (n:Speaker {tenant: $t}) RETURN n.name, n.episodes",
        "tenant": """MATCH (n:Tenant {id: $t})
            RETURN n.items, n.length, n.titles, n.stated""",
    }
    return {
        name: sorted((tuple(row.values()) for row in await cypher(query, t=tenant)), key=repr)
        for name, query in queries.items()
    }
