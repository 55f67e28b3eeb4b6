"""Memories around a few topics, names that some mention, and the edges between them."""

from collections.abc import Mapping
from datetime import UTC, datetime

import numpy as np

from ecphoria.neo4j_store.session import Graph
from ecphoria.ports import Vector
from ecphoria.records.ids import TenantId
from tests.conftest import Cypher
from tests.contract.memories import DIMENSION, appended, mention, named, turn, write
from tests.vectors import as_stored

NOW = datetime(2026, 1, 1, tzinfo=UTC)
COUNT = 120
TOPICS = 4


def clustered(count: int = COUNT) -> list[Vector]:
    """Unit vectors around a few topics, with some alone; within a topic cosines vary about .7.

    They are as the store keeps them.
    """
    rng = np.random.default_rng(11)
    centres = rng.normal(size=(TOPICS, DIMENSION))
    rows = centres[rng.integers(TOPICS, size=count)] + 0.65 * rng.normal(size=(count, DIMENSION))
    rows[::9] = rng.normal(size=rows[::9].shape)
    return list(as_stored(rows))


VECTORS = clustered()


async def edges(cypher: Cypher, tenant: TenantId, part: str) -> dict[tuple[str, str], float]:
    rows = await cypher(
        "MATCH (a)-[r:SIMILAR|ASSOCIATED]->(b) WHERE a.tenant = $tenant AND r[$part] > 0"
        " RETURN a.id AS a, b.id AS b, r[$part] AS part",
        tenant=tenant, part=part,
    )  # fmt: skip
    return {(row["a"], row["b"]): row["part"] for row in rows}


MENTIONED: Mapping[str, range] = {
    "rome": range(1, 9), "tiber": range(3, 9), "po": range(8, 12), "hub": range(1, 31),
    "rare": range(1, 3),
}  # fmt: skip


async def some_mentions(graph: Graph, tenant: TenantId, count: int) -> None:
    """Thirty turns apart from each other, of which some name rivers."""
    rows = tuple(
        mention(tenant, number, name)
        for name, numbers in MENTIONED.items()
        for number in numbers
        if number <= count
    )
    await write(
        graph,
        tenant,
        appended(
            *(turn(tenant, number) for number in range(1, count + 1)),
            names=tuple(named(name, candidates=3) for name in MENTIONED),
            concepts_made=list(MENTIONED),
            mentions_added=rows,
        ),
    )


class Killed(Exception):
    """The process ends here."""
