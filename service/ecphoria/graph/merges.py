"""Store of merges: concepts with similar names, and decisions about them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ecphoria.graph.executor import Done, Graph, Statement, Work
from ecphoria.graph.lease import change_under
from ecphoria.graph.tenant_lock import count_change, lock_tenant
from ecphoria.model.consolidation import Lease
from ecphoria.model.ids import TenantId
from ecphoria.model.merge import Merge, MergeStatus

__all__ = ["AlikeNames", "Compared", "MergeStore"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlikeNames:
    """Two concepts with nearly the same words, not compared yet, by their normalised names."""

    one: str
    other: str
    kind: str
    other_kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What came of comparing two names; `reason` is empty if they are two."""

    names: AlikeNames
    cosine: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _MergeRow:
    one: str
    other: str
    kind: str
    cosine: float
    reason: str
    status: str
    decided_at: datetime | None


_LIST_ALIKE = Statement("consolidation.list_alike", AlikeNames)
_SAVE_COMPARED = Statement("consolidation.save_compared", Done)
_CREATE_MERGES = Statement("consolidation.create_merges", Done)
_LIST_MERGES = Statement("merges.list_merges", _MergeRow)
_UPDATE_MERGE = Statement("merges.update_merge", _MergeRow)
_MARK_FACTS = Statement("merges.mark_facts", Done)


class MergeStore:
    """Merges of concepts."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def alike(self, tenant: TenantId) -> Sequence[AlikeNames]:
        """List the pairs not compared yet, in order."""
        return await self._graph.run(_LIST_ALIKE, tenant=tenant)

    async def propose(
        self, tenant: TenantId, lease: Lease | None, compared: Sequence[Compared]
    ) -> None:
        """Record comparisons and propose the merges among them, in one transaction."""
        rows = [
            {
                "one": found.names.one,
                "other": found.names.other,
                "cosine": found.cosine,
                "reason": found.reason,
            }
            for found in compared
        ]

        async def save(work: Work) -> None:
            await work.run(_SAVE_COMPARED, tenant=tenant, rows=rows)
            merges = [row for row in rows if row["reason"]]
            if merges:
                await work.run(_CREATE_MERGES, tenant=tenant, rows=merges)

        await change_under(self._graph, lease, "consolidation.propose_merges", save)

    async def merges(
        self,
        tenant: TenantId,
        *,
        status: MergeStatus | None,
        after: tuple[str, str],
        limit: int,
    ) -> Sequence[Merge]:
        """List merges by their names, from after a pair on."""
        rows = await self._graph.run(
            _LIST_MERGES,
            tenant=tenant,
            status=None if status is None else status.value,
            after_one=after[0],
            after_other=after[1],
            limit=limit,
        )
        return [_merge(row) for row in rows]

    async def decide(
        self, tenant: TenantId, one: str, other: str, status: MergeStatus
    ) -> Merge | None:
        """Accept or reject a merge, or undo that, and mark the facts told of either.

        None if there is no such proposal.
        """

        async def save(work: Work) -> Merge | None:
            await lock_tenant(work, tenant)
            row = await work.run_one(
                _UPDATE_MERGE, tenant=tenant, one=one, other=other, status=status.value
            )
            if row is None:
                return None
            await work.run(_MARK_FACTS, tenant=tenant, names=[row.one, row.other])
            await count_change(work, tenant)
            return _merge(row)

        return await self._graph.change("merges.decide", save)


def _merge(row: _MergeRow) -> Merge:
    return Merge(
        one=row.one,
        other=row.other,
        kind=row.kind,
        cosine=row.cosine,
        reason=row.reason,
        status=MergeStatus(row.status),
        decided_at=row.decided_at,
    )
