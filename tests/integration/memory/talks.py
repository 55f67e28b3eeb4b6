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
