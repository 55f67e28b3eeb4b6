"""Store of learned association edges: reads, weakens and prunes them."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from ecphoria.graph.associations import REMOVE_ASSOCIATIONS
from ecphoria.graph.executor import Done, Graph, Statement, Work
from ecphoria.graph.lease import change_under
from ecphoria.model.consolidation import Lease
from ecphoria.model.ids import TenantId

__all__ = ["LearnedLink", "Link", "LinkStore", "Weakened"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """An association edge: `edge` is its type, the smaller id stands first."""

    edge: str
    one: str
    other: str
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedLink:
    """An association edge on which something was learned.

    Attributes:
        similar: Its part by nearness.
        lift: Its part by mentions together.
        learned: What was learned, as it was when last used.
        age_days: Since it was last used.
        weight: As it was last written.
    """

    edge: str
    one: str
    other: str
    similar: float
    lift: float
    learned: float
    age_days: float
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Weakened:
    """What an edge has left.

    Attributes:
        link: The edge, with its new weight.
        was: What was learned when it was read; if that has changed, it is left alone.
        learned: What is left of it, as of the last use.
    """

    link: Link
    was: float
    learned: float


_LIST_LEARNED = Statement("consolidation.list_learned", LearnedLink)
_LIST_SURPLUS = Statement("consolidation.list_surplus", Link)
_LIST_EXPIRED = Statement("consolidation.list_expired", Link)
_SAVE_LEARNED = Statement("consolidation.save_learned", Done)


class LinkStore:
    """Association edges."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def learned(self, tenant: TenantId, now: datetime) -> Sequence[LearnedLink]:
        """List the edges on which something was learned, by type and ends."""
        return await self._graph.run(_LIST_LEARNED, tenant=tenant, now=now)

    async def weaken(
        self, tenant: TenantId, lease: Lease | None, links: Sequence[Weakened]
    ) -> None:
        """Store what edges have left, in one transaction."""
        rows = [asdict(one.link) | {"was": one.was, "learned": one.learned} for one in links]

        async def save(work: Work) -> None:
            await work.run(_SAVE_LEARNED, tenant=tenant, rows=_episodes_first(rows))

        await change_under(self._graph, lease, "consolidation.save_learned", save)

    async def surplus(self, tenant: TenantId, keep: int) -> Sequence[Link]:
        """List the edges outside the `keep` strongest of either end, weakest first."""
        return await self._graph.run(_LIST_SURPLUS, tenant=tenant, keep=keep)

    async def expired(self, tenant: TenantId, before: datetime) -> Sequence[Link]:
        """List the edges of weight 0, which only count, not used since an instant."""
        return await self._graph.run(_LIST_EXPIRED, tenant=tenant, before=before)

    async def remove(self, tenant: TenantId, lease: Lease | None, links: Sequence[Link]) -> None:
        """Remove edges, in one transaction."""

        async def remove(work: Work) -> None:
            rows = _episodes_first(asdict(link) for link in links)
            await work.run(REMOVE_ASSOCIATIONS, tenant=tenant, rows=rows, only_empty=False)

        await change_under(self._graph, lease, "consolidation.remove", remove)


def _episodes_first(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep the order of locks: the edges of episodes come before those of concepts."""
    return sorted(rows, key=lambda row: row["edge"] != "SIMILAR")
