"""Store of the job that cuts older episodes into passages, and of its progress."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ecphoria.graph.executor import Done, Graph, Statement, Work
from ecphoria.graph.lease import change_under
from ecphoria.graph.passages import CREATE_PASSAGES, passage_groups
from ecphoria.graph.tenant_lock import count_change, lock_tenant
from ecphoria.language.cutting import WHOLE
from ecphoria.model.consolidation import Lease
from ecphoria.model.ids import EpisodeId, TenantId
from ecphoria.ports.passages import PassageRow

__all__ = ["MARK_UNCUT", "CuttingStore", "Uncut"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncut:
    """An episode that has no passages and may need some."""

    id: EpisodeId
    title: str | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UncutPage:
    """Some episodes in the order of their turns.

    Attributes:
        last_turn: The last turn looked at; None behind the last episode.
        found: Those of them that may need passages.
    """

    last_turn: int | None
    found: Sequence[Uncut]


@dataclass(frozen=True, slots=True, kw_only=True)
class CuttingStart:
    """Where the job that cuts older episodes goes on, and the tenant's turn when it begins."""

    after: int
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _TenantKey:
    tenant: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _UncutLists:
    last_turn: int | None
    id: list[str]
    title: list[str]
    text: list[str]


MARK_UNCUT = Statement("passages.mark_uncut", Done)
_LIST_UNCUT_TENANTS = Statement("passages.list_uncut_tenants", _TenantKey)
_START_CUTTING = Statement("passages.start_cutting", CuttingStart)
_LIST_UNCUT = Statement("passages.list_uncut", _UncutLists)
_SAVE_CUT_AFTER = Statement("passages.save_cut_after", Done)


class CuttingStore:
    """Episodes that wait for their passages."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def tenants(self) -> Sequence[TenantId]:
        """List the tenants whose older episodes are not cut yet."""
        return [TenantId(row.tenant) for row in await self._graph.run(_LIST_UNCUT_TENANTS)]

    async def begin(self, tenant: TenantId, lease: Lease) -> CuttingStart:
        """Find where to go on; NotFound without the tenant, LeaseLost without the job."""

        async def start(work: Work) -> CuttingStart:
            await lock_tenant(work, tenant)
            (found,) = await work.run(_START_CUTTING, tenant=tenant)
            return found

        return await change_under(self._graph, lease, "passages.start", start)

    async def page(self, tenant: TenantId, after_turn: int, limit: int) -> UncutPage:
        """Look at the next `limit` episodes by turn."""
        (lists,) = await self._graph.run(
            _LIST_UNCUT, tenant=tenant, after_turn=after_turn, limit=limit, longer_than=WHOLE
        )
        rows = zip(lists.id, lists.title, lists.text, strict=True)
        return UncutPage(
            last_turn=lists.last_turn,
            found=[
                Uncut(id=EpisodeId(one), title=title or None, text=text)
                for one, title, text in rows
            ],
        )

    async def save(
        self,
        tenant: TenantId,
        lease: Lease,
        passages: Mapping[EpisodeId, Sequence[PassageRow]],
        after: int | None,
    ) -> None:
        """Write passages, and up to which turn all is cut; LeaseLost, and nothing written."""

        async def write(work: Work) -> None:
            await lock_tenant(work, tenant)
            if passages:
                await count_change(work, tenant)
            for groups in passage_groups(passages):
                await work.run(CREATE_PASSAGES, tenant=tenant, groups=groups)
            await work.run(_SAVE_CUT_AFTER, tenant=tenant, after=after, cuts=1 if passages else 0)

        await change_under(self._graph, lease, "passages.save", write)
