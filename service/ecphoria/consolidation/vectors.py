"""Give concepts and engrams vectors, so that a cue finds them without their exact words.

Source: SYNAPSE, section 3.2 (dual trigger), and EcphoryRAG, section 3.1 (entities are embedded as
name, type and description).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ecphoria.consolidation.service import Cycle
from ecphoria.models.embedders import embed_all
from ecphoria.neo4j_store.locks import change_under, lock_tenant
from ecphoria.neo4j_store.session import Done, Graph, Statement, Work, packed
from ecphoria.ports import Embedder, Vectors
from ecphoria.records.ids import TenantId
from ecphoria.records.job import Lease, StepOutcome
from ecphoria.text.names import encoded_name
from ecphoria.text.terms import terms

_CHUNK = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Unembedded:
    """A concept without a vector, or an engram: its name is its summary, and it has no kind."""

    id: str
    name: str
    kind: str | None
    cognitive: str | None = None
    description: str | None = None

    @property
    def text(self) -> str:
        """The text to embed: the name, and its type and description if they are known."""
        if self.kind is None:
            return self.name
        return encoded_name(self.name, self.kind, self.cognitive, self.description)


_LIST_UNEMBEDDED = Statement("consolidation.list_unembedded", Unembedded)
_SAVE_VECTORS = Statement("consolidation.save_vectors", Done)


class NodeVectors:
    """Vectors of concepts, or of engrams."""

    def __init__(self, graph: Graph, *, concepts: bool) -> None:
        self._graph = graph
        self._concepts = concepts

    async def unembedded(self, tenant: TenantId, after: str, limit: int) -> Sequence[Unembedded]:
        """List nodes without a vector by id, from after `after` on."""
        return await self._graph.run(
            _LIST_UNEMBEDDED, tenant=tenant, concepts=self._concepts, after=after, limit=limit
        )

    async def save(
        self, tenant: TenantId, lease: Lease | None, nodes: Sequence[Unembedded], vectors: Vectors
    ) -> None:
        """Store vectors, in the order of the nodes, and the stems of engrams.

        Raises:
            LeaseLost: Another worker has the job; nothing was written.
        """
        rows = [
            {
                "id": node.id,
                "vector": packed(vector),
                "terms": None if self._concepts else terms(node.name).joined,
            }
            for node, vector in zip(nodes, vectors, strict=True)
        ]

        async def write(work: Work) -> None:
            await lock_tenant(work, tenant)  # the store may be changing its model (decision 0037)
            await work.run(_SAVE_VECTORS, tenant=tenant, concepts=self._concepts, rows=rows)

        await change_under(self._graph, lease, "consolidation.save_vectors", write)


async def embed_new(store: NodeVectors, embedder: Embedder, cycle: Cycle, place: str) -> int:
    """Give nodes without a vector one, in chunks; return their number.

    Args:
        store: The vectors of these nodes.
        embedder: Makes the vectors.
        cycle: The cycle; a dry run only counts.
        place: The name of the checkpoint before each chunk.
    """
    embedded, after = 0, ""
    while nodes := await store.unembedded(cycle.tenant, after, _CHUNK):
        await cycle.reached(place)
        after = nodes[-1].id
        embedded += len(nodes)
        if not cycle.dry_run:
            vectors = await embed_all(embedder, [node.text for node in nodes])
            await store.save(cycle.tenant, cycle.lease, nodes, vectors)
    return embedded


class EmbedConcepts:
    """Embeds new concepts, and those whose descriptions changed, which have no vector since."""

    name = "embed"

    def __init__(self, store: NodeVectors, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    async def run(self, cycle: Cycle) -> StepOutcome:
        """Embed concepts without a vector."""
        embedded = await embed_new(self._store, self._embedder, cycle, "embed: concepts")
        return StepOutcome(counts={"embedded": embedded})
