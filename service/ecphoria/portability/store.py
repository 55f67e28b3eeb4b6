"""Read all nodes and edges of a tenant, and create them again."""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from ecphoria.neo4j_store.locks import lock_tenant
from ecphoria.neo4j_store.queries import Mode
from ecphoria.neo4j_store.rows import from_driver, to_driver
from ecphoria.neo4j_store.schema import migrate
from ecphoria.neo4j_store.session import Done, Graph, Statement, Work
from ecphoria.records.ids import TenantId
from ecphoria.records.upkeep import CopiedEdge, CopiedNode, Value

T = TypeVar("T")

_PAGE: Final = 500
"""Nodes of one read; with vectors about 2 MB."""
_HELD_S: Final = 3_600.0
"""Longest a tenant's lock is held for a copy."""
_BATCH: Final = 5_000
"""Nodes that lose their mark, or are deleted, in one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreMark:
    """The embedding model, its generation and the latest schema file of a store."""

    model: str
    dimension: int
    generation: int = 0
    migration: str


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
class _Listed:
    node: str
    late: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Key:
    node: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    node: str
    labels: list[str]
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edge:
    tail: str
    head: str
    type: str
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Created:
    created: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Changed:
    changed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Imported:
    number: int
    node: str


_FIND_STORE = Statement("portability.find_store", StoreMark)
_LIST_NODES = Statement("portability.list_nodes", _Listed)
_LIST_KEYS = Statement("portability.list_operators_keys", _Key)
_LOAD_NODES = Statement("portability.load_nodes", _Node)
_LOAD_EDGES = Statement("portability.load_edges", _Edge)
_FIND_IMPORT = Statement("portability.find_import", UnderWay)
_SAVE_IMPORT = Statement("portability.save_import", Done)
_CREATE_NODES = Statement("portability.create_nodes", _Created)
_LIST_IMPORTED = Statement("portability.list_imported", _Imported)
_CREATE_EDGES = Statement("portability.create_edges", _Created)
_RELEASE = Statement("portability.release_imported", _Changed)
_DELETE = Statement("portability.delete_imported", _Changed)
_DROP_IMPORT = Statement("portability.drop_import", Done)


class Snapshot:
    """A tenant under a write lock; only valid inside of `Copies.snapshot`."""

    def __init__(self, graph: Graph, work: Work, listed: Sequence[_Listed]) -> None:
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

        Traces and jobs come and go without the lock; one that has gone since it was listed is
        left out.
        """
        for page in _pages(self._listed):
            names = [entry.node for entry in page]
            rows = {row.node: row for row in await self._work.run(_LOAD_NODES, nodes=names)}
            for entry in page:
                row = rows.get(entry.node)
                if row is not None:
                    number = self._number[entry.node] = len(self._number)
                    yield CopiedNode(
                        number=number,
                        labels=tuple(sorted(row.labels)),
                        properties=_read(self._graph.canonical(row.properties)),
                        late=entry.late,
                    )

    async def edges(self) -> AsyncIterator[CopiedEdge]:
        """Read every edge between the nodes that were read."""
        for names in _pages(list(self._number)):
            for row in await self._work.run(_LOAD_EDGES, nodes=names):
                if row.head in self._number:
                    yield CopiedEdge(
                        tail=self._number[row.tail],
                        head=self._number[row.head],
                        type=row.type,
                        properties=_read(row.properties),
                    )


class Copies:
    """Copies of tenants in a store."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def mark(self) -> StoreMark | None:
        """Read the model that the store is bound to; None if it is empty."""
        return await self._graph.run_one(_FIND_STORE)

    async def _named(self) -> Graph:
        """Give the graph with the names of the vectors that the store uses."""
        mark = await self.mark()
        return self._graph.at(mark.generation if mark else 0)

    def latest_migration(self) -> str:
        """Name the latest schema file of this release."""
        return max(
            query.name for query in self._graph.queries.values() if query.mode is Mode.SCHEMA
        )

    async def prepare(self, mark: StoreMark) -> StoreMark:
        """Bind an empty store as another was bound, with the schema it had."""
        await migrate(self._graph, mark.model, mark.dimension, up_to=mark.migration)
        return mark

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
            if tenant is None:
                keys = await work.run(_LIST_KEYS)
                yield Snapshot(graph, work, [_Listed(node=key.node, late=True) for key in keys])
            else:
                await lock_tenant(work, tenant)
                yield Snapshot(graph, work, await work.run(_LIST_NODES, tenant=tenant))

    async def under_way(self, tenant: str) -> UnderWay | None:
        """Read the progress of a tenant's import; None where none began."""
        return await self._graph.run_one(_FIND_IMPORT, tenant=tenant)

    async def imported(self, tenant: str) -> dict[int, str]:
        """Map the numbers of an import's nodes to the store's names of them."""
        rows = await self._graph.run(_LIST_IMPORTED, tenant=tenant)
        return {row.number: row.node for row in rows}

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
        """Store records of an import, and how many are stored then, in one transaction.

        Args:
            tenant: Whose import.
            digest: Of its file.
            done: Records stored when this is.
            nodes: To create.
            edges: To create between nodes that are `known`, or are created now.
            known: The store's name of each imported node, by number.

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
                    listed = await work.run(_LIST_IMPORTED, tenant=tenant)
                    found = {row.number: row.node for row in listed}
            if edges:
                await work.run(_CREATE_EDGES, rows=list(_joined(edges, found)))
            await work.run(_SAVE_IMPORT, tenant=tenant, digest=digest, done=done)

        await self._graph.change("portability.add", write)

    async def finish(self, tenant: str) -> None:
        """Take off the marks of an import that is whole; that it was made stays known."""
        await self._in_batches(_RELEASE, tenant)

    async def forget(self, tenant: str) -> None:
        """Forget that an import was made."""
        await self._graph.run(_DROP_IMPORT, tenant=tenant)

    async def discard(self, tenant: str) -> None:
        """Delete the nodes that an import has stored."""
        await self._in_batches(_DELETE, tenant)
        await self._graph.run(_DROP_IMPORT, tenant=tenant)

    async def _in_batches(self, statement: Statement[_Changed], tenant: str) -> None:
        while True:
            (batch,) = await self._graph.run(statement, tenant=tenant, batch=_BATCH)
            if batch.changed < _BATCH:
                return


def _pages(whole: Sequence[T]) -> Iterator[Sequence[T]]:
    return (whole[start : start + _PAGE] for start in range(0, len(whole), _PAGE))


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
