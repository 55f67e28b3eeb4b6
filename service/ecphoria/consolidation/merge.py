"""Propose and review merges of concepts.

Source: SYNAPSE, appendix A.1, merges concepts of cosine .92. Here kind and numbers must agree too,
    and nothing is moved: a merge is an edge, which recall walks at full weight after it was
    accepted (decision 0021).
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from ecphoria.consolidation.knn_store import LIST_TOUCHED
from ecphoria.consolidation.service import TOLD, Cycle
from ecphoria.consolidation.vector_table import VectorTable
from ecphoria.errors import InvalidInput, NotFound
from ecphoria.facts.store import FactStore
from ecphoria.facts.timelines import renew
from ecphoria.models.embedders import embed_all
from ecphoria.neo4j_store.locks import change_under, count_change_beside_names, lock_tenant
from ecphoria.neo4j_store.passages import LIST_CONCEPT_VECTORS
from ecphoria.neo4j_store.session import Done, Statement, Store, Work
from ecphoria.ports import Embedder, Vector
from ecphoria.records.fact import Merge, MergeStatus, MergeView
from ecphoria.records.ids import TenantId, concept_id
from ecphoria.records.job import Change, Lease, StepOutcome
from ecphoria.text.names import normalise


@dataclass(frozen=True, slots=True, kw_only=True)
class AlikeNames:
    """Two concepts with nearly the same words that were not compared yet, by normalised name."""

    one: str
    other: str
    kind: str
    other_kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The result of a comparison of two names; `reason` is empty if they differ."""

    names: AlikeNames
    cosine: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NearNames(AlikeNames):
    """Two concepts with near vectors whose names were not compared."""

    cosine: float


_LIST_ALIKE = Statement("consolidation.list_alike", AlikeNames)
_LIST_UNSEARCHED = Statement("consolidation.list_unsearched", str)
_LIST_NEAR_NAMES = Statement("consolidation.list_near_names", NearNames)
_LIST_GIVEN_NAMES = Statement("consolidation.list_given_names", NearNames)
_CREATE_MERGES = Statement("consolidation.create_merges", Done)
_LIST_MERGES = Statement("merges.list_merges", MergeView)
_UPDATE_MERGE = Statement("merges.update_merge", Merge)


class MergeStore(Store):
    """Merges of concepts."""

    async def alike(self, tenant: TenantId) -> Sequence[AlikeNames]:
        """List the pairs not compared yet, in order."""
        return await self._graph.run(_LIST_ALIKE, tenant=tenant)

    async def propose(
        self, tenant: TenantId, lease: Lease | None, compared: Sequence[Compared]
    ) -> None:
        """Record comparisons and propose the merges among them, in one transaction."""
        rows = _rows(compared)

        async def save(work: Work) -> None:
            await work.run(_CREATE_MERGES, tenant=tenant, rows=rows, searched=[], generation=None)

        await change_under(self._graph, lease, "consolidation.propose_merges", save)

    async def unsearched(self, tenant: TenantId) -> Sequence[str]:
        """List by id the concepts around whose vector was not searched yet."""
        return await self._graph.run(
            _LIST_UNSEARCHED, tenant=tenant, generation=self._graph.generation
        )

    async def concepts(self, tenant: TenantId) -> Sequence[str]:
        """List all concepts by id."""
        every = await self._graph.run(LIST_TOUCHED, tenant=tenant, after=None, every=True)
        return [concept.id for concept in every]

    async def read_vectors(
        self, tenant: TenantId, concepts: Sequence[str]
    ) -> Sequence[tuple[str, Vector]]:
        """Read the vectors of live concepts, each with its id."""
        return await self._graph.run(LIST_CONCEPT_VECTORS, tenant=tenant, ids=list(concepts))

    async def near(
        self, tenant: TenantId, concepts: Sequence[str], *, fetch: int, above: float
    ) -> Sequence[NearNames]:
        """List pairs of one of these with each of its `fetch` nearest concepts, each pair once.

        Pairs below the cosine `above` are left out, pairs with nearly the same names (which ingest
        finds), and pairs with a proposed or decided merge.
        """
        return await self._graph.run(
            _LIST_NEAR_NAMES, tenant=tenant, concepts=list(concepts), fetch=fetch, above=above
        )

    async def near_given(
        self,
        tenant: TenantId,
        concepts: Sequence[str],
        near: Sequence[Sequence[str]],
        *,
        above: float,
    ) -> Sequence[NearNames]:
        """List such pairs of each concept with the given other concepts."""
        return await self._graph.run(
            _LIST_GIVEN_NAMES, tenant=tenant, concepts=list(concepts), near=list(near), above=above
        )

    async def propose_near(
        self,
        tenant: TenantId,
        lease: Lease | None,
        searched: Sequence[str],
        found: Sequence[Compared],
    ) -> None:
        """Propose merges, and record the searched concepts, in one transaction."""

        async def save(work: Work) -> None:
            await lock_tenant(work, tenant)  # the store may be changing its model (decision 0037)
            await work.run(
                _CREATE_MERGES,
                tenant=tenant,
                rows=_rows(found),
                searched=list(searched),
                generation=work.generation,
            )

        await change_under(self._graph, lease, "consolidation.propose_near", save)

    async def merges(
        self, tenant: TenantId, *, status: MergeStatus | None, after: tuple[str, str], limit: int
    ) -> Sequence[MergeView]:
        """List merges by their names, from after a pair on."""
        return await self._graph.run(
            _LIST_MERGES,
            tenant=tenant,
            status=None if status is None else status.value,
            after_one=after[0],
            after_other=after[1],
            limit=limit,
        )

    async def decide(
        self, tenant: TenantId, one: str, other: str, status: MergeStatus
    ) -> Merge | None:
        """Accept or reject a merge, or undo the decision; mark the facts of both concepts.

        Return None if there is no such proposal.
        """

        async def save(work: Work) -> Merge | None:
            await lock_tenant(work, tenant)
            merge = await work.run_one(
                _UPDATE_MERGE, tenant=tenant, one=one, other=other, status=status.value
            )
            if merge is not None:
                await count_change_beside_names(work, tenant)
            return merge

        return await self._graph.change("merges.decide", save)


def _rows(compared: Sequence[Compared]) -> list[dict[str, object]]:
    return [
        {
            "one": found.names.one,
            "other": found.names.other,
            "cosine": found.cosine,
            "reason": found.reason,
        }
        for found in compared
    ]


# SYNAPSE's threshold. Between .92 and .94 half of the proposals by vectors are wrong, so a merge
# is a question for a person (docs/evaluation/consolidation.md).
SAME = 0.92
"""Least cosine of two names, and of the vectors of two concepts."""
_NEAREST = 16
"""Concepts that a search of the vector index returns, including the concept itself."""
# Without `c`, `d`, `l` and `m`, which are more often initials.
_NUMBER = re.compile(r"\d|^(?=[ivxl])(?:xl|l?x{1,3})?(?:ix|iv|v?i{0,3})$")
# Concepts around which the index is searched at once; pairs or concepts compared in memory.
_SEARCHED, _COMPARED = 64, 256
# Listing all concepts takes longer than fewer searches.
_FEW = 256
# Vectors of names to keep: 30 MB of 384 numbers each.
_KEPT = 20_000
_ROUNDED = 4


class ProposeMerges:
    """Proposes to merge two concepts of a kind.

    First rule: the names differ in at most one word, and have the same words in another order or
    vectors of cosine .92. Second rule: the names differ more, and the vectors of the concepts have
    that cosine. No number may differ. Names never change, so a pair of names is compared once, and
    the vector index is searched once around a concept for each embedding model.
    """

    name = "merge"

    def __init__(self, store: MergeStore, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    async def run(self, cycle: Cycle) -> StepOutcome:
        """Compare new names, then search around new vectors."""
        # Ingest has joined names that differ in at most one word by SYNONYM, so only these pairs
        # are compared (decision 0021).
        pairs = await self._store.alike(cycle.tenant)
        known: dict[str, Vector] = {}
        proposed: dict[tuple[str, str], Compared] = {}
        async for chunk in cycle.chunks(pairs, _COMPARED, "merge: names"):
            compared = await self._compared(chunk, known)
            proposed |= _proposals(compared)
            if not cycle.dry_run:
                await self._store.propose(cycle.tenant, cycle.lease, compared)
        concepts = await self._store.unsearched(cycle.tenant)
        table = await self._table(cycle, len(concepts))
        size = _SEARCHED if table is None else _COMPARED
        async for ids in cycle.chunks(concepts, size, "merge: vectors"):
            found = _proposals([judged(pair) for pair in await self._near(cycle, ids, table)])
            proposed |= found
            if not cycle.dry_run:
                await self._store.propose_near(
                    cycle.tenant, cycle.lease, ids, list(found.values())
                )
        return StepOutcome(
            counts={
                "compared": len(pairs), "searched": len(concepts), "proposed": len(proposed),
            },
            changes=tuple(
                _change(cycle.tenant, found) for found in islice(proposed.values(), TOLD)
            ),
        )  # fmt: skip

    async def _near(
        self, cycle: Cycle, ids: Sequence[str], table: VectorTable | None
    ) -> Sequence[NearNames]:
        if table is None:
            return await self._store.near(cycle.tenant, ids, fetch=_NEAREST, above=SAME)
        near = await asyncio.to_thread(table.near, ids, above=SAME, most=_NEAREST - 1)
        return await self._store.near_given(cycle.tenant, ids, near, above=SAME)

    async def _table(self, cycle: Cycle, searches: int) -> VectorTable | None:
        if searches < _FEW:
            return None
        ids = await self._store.concepts(cycle.tenant)
        if not VectorTable.pays(searches, len(ids)):
            return None
        return await VectorTable.load(cycle, "merge: read vectors", ids, self._store.read_vectors)

    async def _compared(
        self, pairs: Sequence[AlikeNames], known: dict[str, Vector]
    ) -> list[Compared]:
        """Compare names by their vectors; `known` caches them, as most names are in many pairs."""
        names = {name for pair in pairs for name in (pair.one, pair.other)}
        if len(known) > _KEPT:
            known.clear()
        lacking = sorted(names - known.keys())
        if lacking:
            known |= zip(lacking, await embed_all(self._embedder, lacking), strict=True)
        found = []
        for pair in pairs:
            exact = float(known[pair.one].astype(np.float64) @ known[pair.other])
            cosine = round(min(1.0, max(0.0, exact)), _ROUNDED)
            found.append(Compared(names=pair, cosine=cosine, reason=_reason(pair, cosine)))
        return found


class MergeReview:
    """Lists proposed merges, and records decisions."""

    def __init__(self, store: MergeStore, facts: FactStore) -> None:
        self._store = store
        self._facts = facts

    async def list(
        self, tenant: TenantId, *, status: MergeStatus | None, after: str | None, limit: int
    ) -> Sequence[MergeView]:
        """List merges by their names, from after the pair that `cursor_of` named.

        Raises:
            InvalidInput: The cursor is invalid.
        """
        one, tab, other = (after or "\t").partition("\t")
        if not tab:
            raise InvalidInput("the cursor is not one that a page gave", field="cursor")
        return await self._store.merges(tenant, status=status, after=(one, other), limit=limit)

    async def decide(self, tenant: TenantId, one: str, other: str, status: MergeStatus) -> Merge:
        """Accept or reject a merge of two names in any spelling; `proposed` undoes either.

        Facts of merged names share one timeline.

        Raises:
            NotFound: No merge of these was proposed.
        """
        merge = await self._store.decide(tenant, normalise(one), normalise(other), status)
        if merge is None:
            raise NotFound(
                "it is not proposed to merge these concepts; list the merges for their names"
            )
        await renew(self._facts, tenant)
        return merge


def compatible(one: str, other: str) -> bool:
    """Tell whether two names may mean the same: no number is in only one of them.

    A number is a word with a digit, or a Roman one below 90.

    >>> compatible("boeing 747", "boeing 747 jet"), compatible("boeing 747", "boeing 737")
    (True, False)
    >>> compatible("henry iv", "henry viii")
    False
    """
    differing = set(one.split()) ^ set(other.split())
    return not any(_NUMBER.search(word) for word in differing)


def _may_be_one(pair: AlikeNames) -> bool:
    return pair.kind == pair.other_kind and compatible(pair.one, pair.other)


def _reason(pair: AlikeNames, cosine: float) -> str:
    if not _may_be_one(pair):
        return ""
    if set(pair.one.split()) == set(pair.other.split()):
        return "the same words"
    return f"names at cosine {cosine:.2f}" if cosine >= SAME else ""


def judged(pair: NearNames) -> Compared:
    """Compare two concepts with near vectors."""
    cosine = round(min(1.0, pair.cosine), _ROUNDED)
    reason = f"their vectors have a cosine of {cosine:.2f}" if _may_be_one(pair) else ""
    return Compared(names=pair, cosine=cosine, reason=reason)


def _proposals(compared: Sequence[Compared]) -> dict[tuple[str, str], Compared]:
    return {(found.names.one, found.names.other): found for found in compared if found.reason}


def _change(tenant: TenantId, found: Compared) -> Change:
    # Report ids: a stored name would stay in the report after its episodes are erased.
    other = concept_id(tenant, found.names.other)
    return Change(
        kind="propose",
        id=concept_id(tenant, found.names.one),
        detail=f"the same as {other}: {found.reason}",
    )
