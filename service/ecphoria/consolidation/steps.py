"""Small steps of a cycle: embed concepts, rank nodes, and renew the timelines of facts.

Sources: vectors of concepts are SYNAPSE's (3.2, dual trigger) and EcphoryRAG's (3.1, entities are
    embedded as name, type and description). The prior is SYNAPSE's structural term, with ranks in
    place of raw values, which shrink as the graph grows and vanish beside the other terms
    (decision 0009).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecphoria.consolidation.service import TOLD, Cycle, Skipped
from ecphoria.facts.store import FactStore, FactTransaction
from ecphoria.facts.timelines import KEYS_A_WRITE, KEYS_AT_ONCE, LaidOut, laid_out, rows_of, settle
from ecphoria.maths.fusion import midrank
from ecphoria.models.embedders import embed_all
from ecphoria.neo4j_store.encoding import stored
from ecphoria.neo4j_store.gds import PageRanks, PriorStore
from ecphoria.neo4j_store.locks import change_under, lock_tenant
from ecphoria.neo4j_store.session import Done, Graph, Statement, Work
from ecphoria.ports import Embedder, Vectors
from ecphoria.records.fact import UNENDING, FactKey, Standing
from ecphoria.records.ids import TenantId
from ecphoria.records.job import Change, Lease, StepOutcome
from ecphoria.text.names import encoded_name
from ecphoria.text.terms import terms

_CHUNK = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Unembedded:
    """A concept without a vector, or an engram: its name is its summary, and it has no kind.

    Attributes:
        cursor: Its place in the order of a list.
    """

    cursor: str
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
        """List nodes without a vector, from after the cursor `after` on."""
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
                "vector": stored(vector),
                "terms": None if self._concepts else terms(node.name).joined,
            }
            for node, vector in zip(nodes, vectors, strict=True)
        ]

        async def write(work: Work) -> None:
            await lock_tenant(work, tenant)  # the store may be changing its model (decision 0037)
            await work.run(_SAVE_VECTORS, tenant=tenant, concepts=self._concepts, rows=rows)

        await change_under(self._graph, lease, "consolidation.save_vectors", write)


async def embed_new(store: NodeVectors, embedder: Embedder, cycle: Cycle, place: str) -> int:
    """Embed the nodes without a vector, in chunks; return their number. A dry run only counts."""
    embedded, after = 0, ""
    while nodes := await store.unembedded(cycle.tenant, after, _CHUNK):
        await cycle.reached(place)
        after = nodes[-1].cursor
        embedded += len(nodes)
        if not cycle.dry_run:
            vectors = await embed_all(embedder, [node.text for node in nodes])
            await store.save(cycle.tenant, cycle.lease, nodes, vectors)
    return embedded


class EmbedConcepts:
    """Embeds new concepts, and concepts that lost their vector with a changed description."""

    name = "embed"

    def __init__(self, store: NodeVectors, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    async def run(self, cycle: Cycle) -> StepOutcome:
        """Embed concepts without a vector."""
        embedded = await embed_new(self._store, self._embedder, cycle, "embed: concepts")
        return StepOutcome(counts={"embedded": embedded})


_PRIORS = 5_000
_NEAR = 0.01
"""Largest error of a stored prior; without it, one new memory would change all (decision 0026)."""

_NO_LIBRARY = (
    "Neo4j lacks Graph Data Science, so nodes have no prior: install the plugin, or unset "
    "ECPHORIA_NEO4J__URI to use the local server, which has it."
)


class Prior:
    """Ranks every node with an edge by PageRank, episodes and concepts apart.

    A prior is written if it is off by more than a hundredth, so a second cycle writes none. An
    interrupted step leaves old priors beside new ones; all are usable, and the next cycle renews
    them.
    """

    name = "prior"

    def __init__(self, store: PriorStore) -> None:
        self._store = store

    async def run(self, cycle: Cycle) -> StepOutcome:
        """Renew the priors of a tenant; Skipped if the server has no graph library."""
        ranks = await self._store.page_rank(cycle.tenant, cycle.id)
        if ranks is None:
            raise Skipped(_NO_LIBRARY)
        counts = {"arcs": ranks.arcs, "iterations": ranks.iterations,
                  "converged": int(ranks.converged), "written": 0}  # fmt: skip
        for kind, among in (("episodes", ~ranks.is_concept), ("concepts", ranks.is_concept)):
            rows = np.flatnonzero(among)
            off = _off(ranks, rows)
            counts[kind] = rows.size
            counts["written"] += len(off)
            if not cycle.dry_run:
                await self._save(cycle, kind, off)
        if not cycle.dry_run:
            await cycle.reached("prior: drop old")
            counts["dropped"] = await self._store.drop_priors(cycle.tenant, cycle.lease)
        return StepOutcome(counts=counts)

    async def _save(self, cycle: Cycle, kind: str, priors: Sequence[tuple[str, float]]) -> None:
        async for chunk in cycle.chunks(priors, _PRIORS, f"prior: save {kind}"):
            await self._store.save_priors(
                cycle.tenant, cycle.lease, concepts=kind == "concepts", priors=dict(chunk)
            )


def _off(ranks: PageRanks, rows: NDArray[np.intp]) -> list[tuple[str, float]]:
    """Find nodes with a wrong stored prior; return the right prior by id."""
    priors = midrank(ranks.value[rows])
    off = np.abs(priors - ranks.stored[rows]) > _NEAR
    ids = [ranks.id[row] for row in rows[off]]
    return sorted(zip(ids, priors[off].tolist(), strict=True))


class Supersede:
    """Computes and stores the timelines of touched facts, by subject and predicate.

    Appends and decisions update the timelines that they change at once. This step updates facts
    from before timelines existed, and completes interrupted changes of a class (decision 0020). It
    is a pure function of claims and decisions: the same facts give the same times in any order,
    and a second run finds no touched facts.
    """

    name = "supersede"

    def __init__(self, store: FactStore) -> None:
        self._store = store

    async def run(self, cycle: Cycle) -> StepOutcome:
        """Update the timelines of all touched facts."""
        keys = await self._store.touched(cycle.tenant, KEYS_AT_ONCE)
        counts = Counter(keys=len(keys), superseded=0, contested=0, reopened=0)
        changes: list[Change] = []
        async for some in cycle.chunks(keys, KEYS_A_WRITE, "supersede: lay out"):
            for change in await self._lay_out(cycle, some):
                counts[_COUNTED[change.kind]] += 1
                changes.append(change)
        return StepOutcome(counts=counts, changes=tuple(changes[:TOLD]))

    async def _lay_out(self, cycle: Cycle, keys: Sequence[FactKey]) -> list[Change]:
        if cycle.dry_run:
            own, records = await self._store.read(cycle.tenant, keys)
            return _changes(laid_out(records, own))

        async def work(transaction: FactTransaction) -> list[Change]:
            laid = await settle(transaction, keys)
            await transaction.changed()
            return _changes(laid)

        return await self._store.change(cycle.tenant, work, cycle.lease)


_COUNTED = {"supersede": "superseded", "contest": "contested", "reopen": "reopened"}


def _changes(laid: Sequence[LaidOut]) -> list[Change]:
    """List the changed facts by ids and dates, without words, which are memory text."""
    changes: list[Change] = []
    pairs = (
        pair
        for timed_fact in laid
        for pair in zip(timed_fact.record.facts, rows_of(timed_fact), strict=True)
    )
    for fact, row in pairs:
        end = row.held_until[-1] if row.held_until else UNENDING
        if end < UNENDING and fact.valid_to != end:
            by = f" by fact {row.superseded_by}" if row.superseded_by else " as it was stated"
            changes.append(
                Change(kind="supersede", id=fact.id, detail=f"ended {end:%Y-%m-%d}{by}")
            )
        elif end == UNENDING and fact.valid_to is not None:
            detail = f"had ended {fact.valid_to:%Y-%m-%d}"
            changes.append(Change(kind="reopen", id=fact.id, detail=detail))
        if row.standing is Standing.CONTESTED and fact.contested_by != row.contested_by:
            detail = f"fact {row.contested_by} has better evidence for the same time"
            changes.append(Change(kind="contest", id=fact.id, detail=detail))
    return changes
