"""Look up nodes of any kind to show them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from ecphoria.neo4j_store.session import Graph, Statement
from ecphoria.records.episode import State, headline
from ecphoria.records.ids import TenantId
from ecphoria.records.traced import Node, NodeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A node, or a speaker."""

    id: str
    kind: str
    title: str | None
    speaker: str | None
    text: str | None
    session: str | None
    ordinal: int | None
    occurred_at: datetime | None
    state: State | None

    def to_node(self) -> Node:
        return Node(
            id=self.id,
            kind=NodeKind(self.kind),
            label=headline(self.title, self.speaker, self.text or ""),
            speaker=self.speaker,
            session=self.session,
            ordinal=self.ordinal,
            occurred_at=self.occurred_at,
            state=self.state,
        )


_LIST_NODES = Statement("graph.list_nodes", _Row)
_SPEAKER = "speaker"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Nodes to show, and the names of speakers by id."""

    nodes: tuple[Node, ...]
    speakers: dict[str, str]


async def load_nodes(
    graph: Graph,
    tenant: TenantId,
    ids: Collection[str],
    speakers: Sequence[str] = (),
    as_of: datetime | None = None,
) -> Shown:
    """Look up memories, concepts, facts and speakers; erased and expired ones are absent.

    With `as_of`, what had not occurred by then is absent too.
    """
    rows = await graph.run(
        _LIST_NODES, tenant=tenant, ids=sorted(ids), speakers=list(speakers), as_of=as_of
    )
    return Shown(
        nodes=tuple(row.to_node() for row in rows if row.kind != _SPEAKER),
        speakers={row.id: row.title or "" for row in rows if row.kind == _SPEAKER},
    )
