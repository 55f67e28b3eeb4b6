"""Give concepts vectors, so that a cue finds a concept without its exact name.

Source: SYNAPSE, section 3.2 (dual trigger), and EcphoryRAG, section 3.1 (entities are embedded as
name, type and description). A concept here has a name and a kind.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ecphoria.consolidation.service import Cycle
from ecphoria.models.embedders import embed_all
from ecphoria.neo4j_store.locks import change_under, lock_tenant
from ecphoria.neo4j_store.session import Done, Graph, Statement, Work, packed
from ecphoria.ports import Embedder, Vectors
from ecphoria.records.ids import TenantId
from ecphoria.records.job import Lease, Outcome
from ecphoria.text.names import encoded_name

_CHUNK = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class UnembeddedConcept:
    """A concept without a vector."""

    id: str
    name: str
    kind: str

    @property
    def text(self) -> str:
        """The text to embed: the name, and the kind if it is known."""
        return encoded_name(self.name, self.kind)


_LIST_UNEMBEDDED = Statement("consolidation.list_unembedded", UnembeddedConcept)
_SAVE_CONCEPT_VECTORS = Statement("consolidation.save_concept_vectors", Done)


class ConceptVectorStore:
    """Vectors of concepts."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def unembedded(
        self, tenant: TenantId, after: str, limit: int
    ) -> Sequence[UnembeddedConcept]:
        """List concepts without a vector by id, from after `after` on."""
        return await self._graph.run(_LIST_UNEMBEDDED, tenant=tenant, after=after, limit=limit)

    async def save(
        self,
        tenant: TenantId,
        lease: Lease | None,
        concepts: Sequence[UnembeddedConcept],
        vectors: Vectors,
    ) -> None:
        """Store vectors, in the order of the concepts; LeaseLost if another worker has the job."""
        rows = [
            {"id": concept.id, "vector": packed(vector)}
            for concept, vector in zip(concepts, vectors, strict=True)
        ]

        async def write(work: Work) -> None:
            await lock_tenant(work, tenant)  # the store may be changing its model (decision 0037)
            await work.run(_SAVE_CONCEPT_VECTORS, tenant=tenant, rows=rows)

        await change_under(self._graph, lease, "consolidation.save_concept_vectors", write)


class EmbedConcepts:
    """Embeds new concepts; names never change, so a vector stays valid."""

    name = "embed"

    def __init__(self, store: ConceptVectorStore, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    async def run(self, cycle: Cycle) -> Outcome:
        """Embed concepts without a vector, in chunks."""
        embedded, after = 0, ""
        while concepts := await self._store.unembedded(cycle.tenant, after, _CHUNK):
            await cycle.reached("embed: concepts")
            after = concepts[-1].id
            embedded += len(concepts)
            if not cycle.dry_run:
                vectors = await embed_all(self._embedder, [one.text for one in concepts])
                await self._store.save(cycle.tenant, cycle.lease, concepts, vectors)
        return Outcome(counts={"embedded": embedded})
