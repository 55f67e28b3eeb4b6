"""Read all nodes and edges of a tenant, and create them again."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from ecphoria.neo4j_store.locks import lock_tenant
from ecphoria.neo4j_store.queries import Mode
from ecphoria.neo4j_store.rows import from_driver, to_driver
from ecphoria.neo4j_store.schema import FIND_STORE, StoreMark, migrate
from ecphoria.neo4j_store.session import Done, Graph, Statement, Store, Work
from ecphoria.records.ids import TenantId
from ecphoria.records.upkeep import CopiedEdge, CopiedNode, Manifest, Value
from ecphoria.runtime import in_parts

_PAGE: Final = 500
"""Nodes of one read; with vectors about 2 MB."""
# Reads of Neo4j are no snapshot: without the lock, counters and edges could be of different
# moments (decision 0031).
_HELD_S: Final = 3_600.0
"""Longest a tenant's lock is held for a copy."""
# An import marks its nodes and notes its line in one transaction, so it goes on where it stopped
# (decision 0031).
_BATCH: Final = 5_000
"""Number of nodes in one transaction that removes marks or nodes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderWay:
    """An import that began.

    Attributes:
        digest: Of its file.
        done: Records of its section that are stored.
    """

    digest: str
    done: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edge:
    tail: str
    head: str
    type: str
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    node: str
    labels: list[str]
    properties: Mapping[str, Any]


_IDS: Final = (
    ("episodes", "Episode", "id"), ("passages", "Passage", "id"), ("names", "Name", "id"),
    ("facts", "Fact", "id"), ("decisions", "Decision", "id"), ("engrams", "Engram", "id"),
    ("traces", "Trace", "id"), ("tombstones", "Tombstone", "id"), ("jobs", "Job", "id"),
    ("keys", "ApiKey", "id"), ("hashes", "ApiKey", "hash"),
)  # fmt: skip
"""A parameter of the query, a label, and the property that is unique in the store."""

_LIST_NODES = Statement("portability.list_nodes", tuple[str, bool])
_LOAD_NODES = Statement("portability.load_nodes", _Node)
_LOAD_EDGES = Statement("portability.load_edges", _Edge)
_FIND_IMPORT = Statement("portability.find_import", UnderWay)
_SAVE_IMPORT = Statement("portability.save_import", Done)
_CREATE_NODES = Statement("portability.create_nodes", int)
_LIST_IMPORTED = Statement("portability.list_imported", tuple[int, str])
_CREATE_EDGES = Statement("portability.create_edges", int)
_LIST_TAKEN = Statement("portability.list_taken", str)
_RELEASE = Statement("portability.release_imported", int)
_DROP_IMPORT = Statement("portability.drop_import", Done)


class Snapshot:
    """A tenant under a write lock; only valid inside of `Copies.snapshot`."""

    def __init__(self, graph: Graph, work: Work, listed: Sequence[tuple[str, bool]]) -> None:
        self._graph = graph
        self._work = work
        self._listed = listed
        self._number: dict[str, int] = {}

    @property
    def size(self) -> int:
        """Count the nodes."""
        return len(self._listed)

    async def nodes(self) -> AsyncIterator[CopiedNode]:
        """Read every node, in the order of their numbers.

        Traces and jobs change without the lock; one that was deleted since it was listed is
        skipped.
        """
        for page in in_parts(self._listed, _PAGE):
            names = [node for node, _ in page]
            # All labels and properties, not the kinds that the code knows: a new kind is in a copy
            # without a change here (decision 0031).
            rows = {row.node: row for row in await self._work.run(_LOAD_NODES, nodes=names)}
            for node, late in page:
                row = rows.get(node)
                if row is not None:
                    number = self._number[node] = len(self._number)
                    yield CopiedNode(
                        number=number,
                        labels=tuple(sorted(row.labels)),
                        properties=_read(self._graph.canonical(row.properties)),
                        late=late,
                    )

    async def edges(self) -> AsyncIterator[CopiedEdge]:
        """Read every edge between the nodes that were read."""
        for names in in_parts(list(self._number), _PAGE):
            for row in await self._work.run(_LOAD_EDGES, nodes=names):
                if row.head in self._number:
                    yield CopiedEdge(
                        tail=self._number[row.tail],
                        head=self._number[row.head],
                        type=row.type,
                        properties=_read(row.properties),
                    )


class Copies(Store):
    """Copies of tenants in a store."""

    async def mark(self) -> StoreMark | None:
        """Read the model that the store is bound to; None if it is empty."""
        return await self._graph.run_one(FIND_STORE)

    async def _named(self) -> Graph:
        """Copy the graph with the names of the store's generation of vectors."""
        mark = await self.mark()
        return self._graph.at(mark.generation if mark else 0)

    def latest_migration(self) -> str:
        """Name the latest schema file of this release."""
        return max(
            query.name for query in self._graph.queries.values() if query.mode is Mode.SCHEMA
        )

    async def prepare(self, copied: Manifest) -> None:
        """Bind an empty store to the model of a copy, with the schema that the copy has."""
        await migrate(self._graph, copied.model, copied.dimension, up_to=copied.migration)

    async def bring_up_to_date(self) -> None:
        """Apply schema files that are newer than the copy."""
        mark = await self.mark()
        assert mark is not None
        await migrate(self._graph, mark.model, mark.dimension)

    @asynccontextmanager
    async def snapshot(self, tenant: TenantId | None) -> AsyncIterator[Snapshot]:
        """Read a tenant under its lock; without a tenant, the operators' keys.

        Raises:
            NotFound: No such tenant, or it is being erased.
        """
        graph = await self._named()
        async with graph.holding("portability.snapshot", _HELD_S) as work:
            if tenant is not None:
                await lock_tenant(work, tenant)
            yield Snapshot(graph, work, await work.run(_LIST_NODES, tenant=tenant or ""))

    async def are_taken(self, tenant: str, nodes: Sequence[CopiedNode]) -> bool:
        """Tell whether other nodes of the store have an id or a key of these."""
        ids = {
            param: [
                node.properties[name]
                for node in nodes
                if label in node.labels and name in node.properties
            ]
            for param, label, name in _IDS
        }
        return bool(await self._graph.run(_LIST_TAKEN, owner=tenant, **ids))

    async def under_way(self, tenant: str) -> UnderWay | None:
        """Read the progress of a tenant's import; None if none began."""
        return await self._graph.run_one(_FIND_IMPORT, tenant=tenant)

    async def imported(self, tenant: str) -> dict[int, str]:
        """Map the numbers of imported nodes to their ids in the store."""
        return dict(await self._graph.run(_LIST_IMPORTED, tenant=tenant))

    async def add(
        self,
        tenant: str,
        digest: str,
        done: int,
        *,
        nodes: Sequence[CopiedNode] = (),
        edges: Sequence[CopiedEdge] = (),
        known: Mapping[int, str] | None = None,
    ) -> None:
        """Store records and the progress of an import in one transaction.

        `digest` is that of the file, and `done` the number of records that are stored then. Edges
        join nodes that are `known` by their number in the file, or are created now.

        Raises:
            Conflict: A node with one of these ids exists.
        """
        graph = await self._named()
        rows = [
            {
                "number": node.number,
                "labels": list(node.labels),
                "properties": _written(graph.stored(node.properties)),
            }
            for node in nodes
        ]

        async def write(work: Work) -> None:
            found = known or {}
            if rows:
                await work.run(_CREATE_NODES, tenant=tenant, rows=rows)
                if edges:
                    found = dict(await work.run(_LIST_IMPORTED, tenant=tenant))
            if edges:
                await work.run(_CREATE_EDGES, rows=list(_joined(edges, found)))
            # In the same transaction as the nodes, so an interrupted import goes on at this line
            # (decision 0031).
            await work.run(_SAVE_IMPORT, tenant=tenant, digest=digest, done=done)

        await self._graph.change("portability.add", write)

    async def finish(self, tenant: str) -> None:
        """Remove the marks of a complete import; keep the note that it was made."""
        await self._release(tenant, delete=False)

    async def forget(self, tenant: str) -> None:
        """Delete the note of an import."""
        await self._graph.run(_DROP_IMPORT, tenant=tenant)

    async def discard(self, tenant: str) -> None:
        """Delete the nodes that an import has stored."""
        await self._release(tenant, delete=True)
        await self._graph.run(_DROP_IMPORT, tenant=tenant)

    async def _release(self, tenant: str, *, delete: bool) -> None:
        while True:
            (changed,) = await self._graph.run(
                _RELEASE, tenant=tenant, delete=delete, batch=_BATCH
            )
            if changed < _BATCH:
                return


def _joined(edges: Iterable[CopiedEdge], found: Mapping[int, str]) -> Iterable[dict[str, object]]:
    for edge in edges:
        yield {
            "tail": found[edge.tail],
            "head": found[edge.head],
            "type": edge.type,
            "properties": _written(edge.properties),
        }


def _read(properties: Mapping[str, Any]) -> dict[str, Value]:
    return {name: from_driver(value) for name, value in properties.items()}


def _written(properties: Mapping[str, Value]) -> dict[str, Any]:
    return {name: to_driver(value) for name, value in properties.items()}
