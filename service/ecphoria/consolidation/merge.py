"""Merges: names that are likely two spellings of one thing are proposed, and somebody decides.

Source: SYNAPSE merges concepts of cosine .92. Here names must agree as well, and nothing is
moved: a merge is an edge, which recall walks at full weight once it is accepted.
"""

from collections.abc import Sequence

import numpy as np

from ecphoria.consolidation.step import TOLD, Cycle
from ecphoria.errors import InvalidInput, NotFound
from ecphoria.facts.timelines import renew
from ecphoria.graph.facts import FactStore
from ecphoria.graph.merges import AlikeNames, Compared, MergeStore
from ecphoria.model.consolidation import Change, Outcome
from ecphoria.model.ids import TenantId, concept_id
from ecphoria.model.merge import Merge, MergeStatus
from ecphoria.ports.world import Embedder

__all__ = ["MergeReview", "ProposeMerges", "compatible"]

SAME = 0.92
_CHUNK = 64
_ROUNDED = 4


class ProposeMerges:
    """Proposes to merge two concepts of a kind whose names differ in at most one word.

    Either they have the same words in another order, or the cosine of the names' vectors is
    .92; and no word with a digit may differ. A pair is compared once, for names never change.
    """

    name = "merge"

    def __init__(self, store: MergeStore, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    async def run(self, cycle: Cycle) -> Outcome:
        """Compare the pairs that are new."""
        pairs = await self._store.alike(cycle.tenant)
        changes: list[Change] = []
        async for chunk in cycle.chunks(pairs, _CHUNK, "merge: names"):
            compared = await self._compared(chunk)
            changes += [
                Change(
                    kind="propose",
                    # By id: a name in a report would outlive the episodes that have it.
                    id=concept_id(cycle.tenant, found.names.one),
                    detail=f"the same as {concept_id(cycle.tenant, found.names.other)}:"
                    f" {found.reason}",
                )
                for found in compared
                if found.reason
            ]
            if not cycle.dry_run:
                await self._store.propose(cycle.tenant, cycle.lease, compared)
        return Outcome(
            counts={"compared": len(pairs), "proposed": len(changes)},
            changes=tuple(changes[:TOLD]),
        )

    async def _compared(self, pairs: Sequence[AlikeNames]) -> list[Compared]:
        names = sorted({name for pair in pairs for name in (pair.one, pair.other)})
        vectors = await self._embedder.embed(names)
        rows = dict(zip(names, vectors.astype(np.float64), strict=True))
        found = []
        for pair in pairs:
            exact = float(rows[pair.one] @ rows[pair.other])
            cosine = round(min(1.0, max(0.0, exact)), _ROUNDED)
            found.append(Compared(names=pair, cosine=cosine, reason=_reason(pair, cosine)))
        return found


class MergeReview:
    """Lists what is proposed, and decides it."""

    def __init__(self, store: MergeStore, facts: FactStore) -> None:
        self._store = store
        self._facts = facts

    async def list(
        self, tenant: TenantId, *, status: MergeStatus | None, after: str | None, limit: int
    ) -> Sequence[Merge]:
        """List merges by their names, from after the pair that `cursor_of` named.

        Raises:
            InvalidInput: The cursor is none.
        """
        one, tab, other = (after or "\t").partition("\t")
        if not tab:
            raise InvalidInput("the cursor is not one that a page gave", field="cursor")
        return await self._store.merges(tenant, status=status, after=(one, other), limit=limit)

    async def decide(self, tenant: TenantId, one: str, other: str, status: MergeStatus) -> Merge:
        """Accept or reject a merge; `proposed` undoes either.

        What is told of names that are one takes its places in time together.

        Raises:
            NotFound: It is not proposed to merge these.
        """
        merge = await self._store.decide(tenant, one, other, status)
        if merge is None:
            raise NotFound(
                "it is not proposed to merge these concepts; list the merges for their names"
            )
        await renew(self._facts, tenant)
        return merge


def compatible(one: str, other: str) -> bool:
    """Tell whether names may be of one thing: no word with a digit in one of them only.

    >>> compatible("boeing 747", "boeing 747 jet"), compatible("boeing 747", "boeing 737")
    (True, False)
    """
    differing = set(one.split()) ^ set(other.split())
    return not any(letter.isdigit() for word in differing for letter in word)


def _reason(pair: AlikeNames, cosine: float) -> str:
    if pair.kind != pair.other_kind or not compatible(pair.one, pair.other):
        return ""
    if set(pair.one.split()) == set(pair.other.split()):
        return "the same words"
    return f"names at cosine {cosine:.2f}" if cosine >= SAME else ""
