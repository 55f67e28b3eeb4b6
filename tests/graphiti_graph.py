"""A small memory as Graphiti writes it, in a Neo4j that may hold other things, too."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import neo4j

from tests.conftest import Server

BEGUN = datetime(2024, 3, 1, 9, tzinfo=UTC)

_SAVE_EPISODES = """
UNWIND $episodes AS episode
CREATE (e:Episodic) SET e = episode
"""
_SAVE_ENTITIES = """
UNWIND $entities AS entity
CREATE (n:Entity:Person) SET n = entity
"""
_SAVE_MENTIONS = """
UNWIND $mentions AS mention
MATCH (e:Episodic {uuid: mention.episode})
MATCH (n:Entity {uuid: mention.entity})
CREATE (e)-[:MENTIONS {uuid: randomUUID(), group_id: e.group_id}]->(n)
"""
_SAVE_FACTS = """
UNWIND $facts AS fact
MATCH (s:Entity {uuid: fact.subject})
MATCH (o:Entity {uuid: fact.object})
CREATE (s)-[r:RELATES_TO]->(o) SET r = fact.properties
"""
_DELETE = """
MATCH (n:Episodic|Entity WHERE n.group_id STARTS WITH $group)
DETACH DELETE n
"""


class GraphitiGraph:
    """Writes episodes, entities and facts of one group."""

    def __init__(self, run: Callable[..., object], group: str) -> None:
        self._run, self.group = run, group

    def entities(self, *names: str) -> dict[str, str]:
        """Save entities; return their ids by name."""
        made = {name: uuid4().hex for name in names}
        rows = [
            {"uuid": uuid, "name": name, "group_id": self.group, "summary": ""}
            for name, uuid in made.items()
        ]
        self._run(_SAVE_ENTITIES, entities=rows)
        return made

    def episode(self, content: str, mentions: Sequence[str] = (), **changes: Any) -> str:
        """Save an episode that mentions entities by id; return its own."""
        row = {
            "uuid": uuid4().hex, "name": "message", "group_id": self.group, "content": content,
            "source": "message", "source_description": "chat", "valid_at": BEGUN,
            "created_at": BEGUN + timedelta(days=1), "entity_edges": [],
        } | changes  # fmt: skip
        self._run(_SAVE_EPISODES, episodes=[row])
        mentioned = [{"episode": row["uuid"], "entity": entity} for entity in mentions]
        self._run(_SAVE_MENTIONS, mentions=mentioned)
        return str(row["uuid"])

    def fact(self, subject: str, name: str, object_: str, **properties: Any) -> None:
        """Save a fact between two entities by id."""
        given = {
            "uuid": uuid4().hex, "group_id": self.group, "name": name, "episodes": [],
            "fact": "", "created_at": BEGUN, "valid_at": None, "invalid_at": None,
            "expired_at": None,
        } | properties  # fmt: skip
        row: Mapping[str, Any] = {"subject": subject, "object": object_, "properties": given}
        self._run(_SAVE_FACTS, facts=[row])


@contextmanager
def graphiti_graph(server: Server) -> Iterator[GraphitiGraph]:
    """Open a group that is removed afterwards."""
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:

        def run(query: str, **params: object) -> None:
            driver.execute_query(query, params)

        group = f"g{uuid4().hex[:8]}"
        try:
            yield GraphitiGraph(run, group)
        finally:
            run(_DELETE, group=group)
