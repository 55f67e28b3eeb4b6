"""What the driver alone does with the same turns: the yardsticks that ingest is measured with.

Two of them, both batched and with everything given beforehand: rows with their vectors under a
vector index, which is the least any store of vectors does; and the same conversation graph (turns
under the indexes of an episode, their sessions, speakers and NEXT edges), in one transaction.
Neither looks for repeats, places late turns, extracts names or counts words.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, LiteralString

import neo4j

from ecphoria.neo4j_store.encoding import stored
from ecphoria_eval.load_data import Turn

__all__ = ["BareStore", "Rows"]

Rows = list[dict[str, Any]]

_SCHEMA: tuple[LiteralString, ...] = (
    """CYPHER 25
CREATE VECTOR INDEX lean_embedding FOR (n:Lean) ON n.embedding WITH [n.tenant]
OPTIONS {indexConfig: {`vector.dimensions`: 384, `vector.similarity_function`: 'cosine'}}""",
    "CREATE CONSTRAINT bare_id FOR (n:Bare) REQUIRE n.id IS UNIQUE",
    "CREATE CONSTRAINT bare_session FOR (n:BareSession) REQUIRE (n.tenant, n.name) IS UNIQUE",
    "CREATE CONSTRAINT bare_speaker FOR (n:BareSpeaker) REQUIRE (n.tenant, n.name) IS UNIQUE",
    "CREATE INDEX bare_turn FOR (n:Bare) ON (n.tenant, n.turn)",
    "CREATE INDEX bare_time FOR (n:Bare) ON (n.tenant, n.session, n.occurred_at)",
    """CYPHER 25
CREATE FULLTEXT INDEX bare_text FOR (n:Bare) ON EACH [n.tenant, n.text]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}""",
    """CYPHER 25
CREATE VECTOR INDEX bare_embedding FOR (n:Bare) ON n.embedding
WITH [n.tenant, n.session, n.speaker, n.occurred_at]
OPTIONS {indexConfig: {`vector.dimensions`: 384, `vector.similarity_function`: 'cosine'}}""",
)
_LEAN: LiteralString = """CYPHER 25
UNWIND $rows AS row
CREATE (:Lean {
  id: row.id, tenant: $tenant, text: row.text, speaker: row.speaker, embedding: row.vector
})"""
_SESSIONS: LiteralString = """CYPHER 25
UNWIND $names AS name
MERGE (:BareSession {tenant: $tenant, name: name})"""
_SPEAKERS: LiteralString = """CYPHER 25
UNWIND $names AS name
MERGE (:BareSpeaker {tenant: $tenant, name: name})"""
_TURNS: LiteralString = """CYPHER 25
UNWIND $rows AS row
MATCH (s:BareSession {tenant: $tenant, name: row.session})
MATCH (p:BareSpeaker {tenant: $tenant, name: row.speaker})
CREATE (n:Bare {
  id: row.id, tenant: $tenant, turn: row.turn, text: row.text, speaker: row.speaker,
  session: row.session, occurred_at: datetime({epochSeconds: row.at}),
  embedding: row.vector
})
CREATE (n)-[:IN_SESSION {family: 'abstraction', weight: 1.0, created_at: datetime()}]->(s)
CREATE (n)-[:SPOKEN_BY {family: 'provenance', weight: 1.0, created_at: datetime()}]->(p)"""
_NEXT: LiteralString = """CYPHER 25
UNWIND $pairs AS pair
MATCH (tail:Bare {id: pair[0]})
MATCH (head:Bare {id: pair[1]})
CREATE (tail)-[:NEXT {family: 'temporal', weight: 1.0, created_at: datetime()}]->(head)"""


class BareStore:
    """The same turns, written past the product."""

    def __init__(self, driver: neo4j.AsyncDriver, tenant: str) -> None:
        self._driver = driver
        self._tenant = tenant

    async def make_schema(self) -> None:
        """Create the indexes."""
        for statement in _SCHEMA:
            await self._driver.execute_query(statement)

    @staticmethod
    def rows(first: int, turns: Sequence[Turn]) -> Rows:
        """Say turns as rows: what a caller gives, nothing derived."""
        return [
            {
                "id": str(number),
                "turn": number,
                "text": turn.text,
                "speaker": turn.speaker,
                "session": turn.session,
                "at": int(turn.occurred_at.timestamp()),
                "vector": stored(turn.vector),
            }
            for number, turn in enumerate(turns, first)
        ]

    async def insert_rows(self, rows: Rows) -> None:
        """Insert nodes with vectors."""
        await self._driver.execute_query(_LEAN, rows=rows, tenant=self._tenant)

    async def insert_graph(self, rows: Rows) -> None:
        """Insert turns joined to their sessions, their speakers and each other."""
        tenant = self._tenant
        pairs = [
            [tail["id"], head["id"]]
            for tail, head in pairwise(rows)
            if tail["session"] == head["session"]
        ]

        async def work(transaction: neo4j.AsyncManagedTransaction) -> None:
            for insert, kind in ((_SESSIONS, "session"), (_SPEAKERS, "speaker")):
                names = sorted({row[kind] for row in rows})
                await transaction.run(insert, names=names, tenant=tenant)
            await transaction.run(_TURNS, rows=rows, tenant=tenant)
            await transaction.run(_NEXT, pairs=pairs)

        async with self._driver.session() as session:
            await session.execute_write(work)
