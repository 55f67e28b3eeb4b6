"""Let weights of edges decay and prune the lightest.

Sources: pruning is SYNAPSE's, which keeps 15 edges a node and breaks ties by chance; here 15 of
each type are kept, and ties are broken by id. Decay is CLS-M's (power law from the last use) and
NeuromemoryAI's (homeostasis).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from ecphoria.consolidation.knn import NEIGHBOURS
from ecphoria.consolidation.knn_store import REMOVE_ASSOCIATIONS
from ecphoria.consolidation.service import TOLD, Cycle
from ecphoria.maths.hebbian import combined, homeostasis
from ecphoria.maths.spreading import edge_decay
from ecphoria.neo4j_store.locks import change_under
from ecphoria.neo4j_store.session import Done, Graph, Statement, Work
from ecphoria.records.ids import TenantId
from ecphoria.records.job import Change, Lease, Outcome


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
    """The remaining weight of an edge.

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
        """Store the remaining weights of edges, in one transaction."""
        rows = [asdict(link.link) | {"was": link.was, "learned": link.learned} for link in links]

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


_COUNTS_FOR = timedelta(days=90)
_CHUNK = 1_000


class Prune:
    """Removes SIMILAR and ASSOCIATED edges outside the strongest 15 of either end.

    The server decides, on what is there when the step begins, and lists the weakest first. So a
    step cut short and run again removes the same, and one run to its end nothing more: whatever
    it left is among the strongest of both ends. No other type of edge is looked at. Edges that
    only count joint uses go when they were not used for 90 days.
    """

    name = "prune"

    def __init__(self, store: LinkStore) -> None:
        self._store = store

    async def run(self, cycle: Cycle) -> Outcome:
        """Remove the surplus edges."""
        links = [
            *await self._store.surplus(cycle.tenant, NEIGHBOURS),
            *await self._store.expired(cycle.tenant, cycle.now - _COUNTS_FOR),
        ]
        if not cycle.dry_run:
            async for chunk in cycle.chunks(links, _CHUNK, "prune: edges"):
                await self._store.remove(cycle.tenant, cycle.lease, chunk)
        removed = Counter(link.edge.lower() for link in links)
        return Outcome(
            counts={"similar": removed["similar"], "associated": removed["associated"]},
            changes=tuple(
                Change(
                    kind="prune",
                    id=link.one,
                    detail=f"{link.edge} to {link.other}, weight {link.weight:.3f}",
                )
                for link in links[:TOLD]
            ),
        )


BUDGET = 5.0
_MOVED = 0.01
_ROUNDING = 1e-9


class Decay:
    """Holds the learned weights of a node to a sum of 5, and brings stored weights up to date.

    Readers compute what is left of `w_learned` from its value and its last use, so nothing is
    multiplied because time has passed. Only `weight`, which orders edges when a reader takes the
    strongest, is written again when it is off by more than .01; and `w_learned` is scaled down
    where the present values of a node's edges sum to more than the budget.
    """

    name = "decay"

    def __init__(self, store: LinkStore) -> None:
        self._store = store

    async def run(self, cycle: Cycle) -> Outcome:
        """Let the weights decay."""
        links = await self._store.learned(cycle.tenant, cycle.now)
        weakened = _weakened(links)
        if not cycle.dry_run:
            async for chunk in cycle.chunks(weakened, _CHUNK, "decay: edges"):
                await self._store.weaken(cycle.tenant, cycle.lease, chunk)
        return Outcome(
            counts={
                "learned": len(links),
                "scaled": sum(link.learned < link.was for link in weakened),
                "rewritten": len(weakened),
            },
            changes=tuple(
                Change(
                    kind="weaken",
                    id=link.link.one,
                    detail=f"{link.link.edge} to {link.link.other}: learned {link.was:.3f} to"
                    f" {link.learned:.3f}, weight {link.link.weight:.3f}",
                )
                for link in weakened[:TOLD]
            ),
        )


def _weakened(links: Sequence[LearnedLink]) -> list[Weakened]:
    """List the edges to write, with their remaining weight."""
    if not links:
        return []
    ids = sorted({end for link in links for end in (link.one, link.other)})
    place = {one: row for row, one in enumerate(ids)}
    table = np.array(
        [(link.similar, link.lift, link.learned, link.age_days, link.weight) for link in links]
    )
    fading = edge_decay(table[:, 3])
    present = table[:, 2] * fading
    held = homeostasis(
        [place[link.one] for link in links],
        [place[link.other] for link in links],
        present,
        size=len(ids),
        budget=BUDGET,
    )
    learned = np.where(held < present - _ROUNDING, held / fading, table[:, 2])
    weight = combined(table[:, 0], table[:, 1], held)
    written = (learned < table[:, 2]) | (np.abs(weight - table[:, 4]) > _MOVED)
    return [
        Weakened(
            link=Link(
                edge=links[row].edge,
                one=links[row].one,
                other=links[row].other,
                weight=float(weight[row]),
            ),
            was=links[row].learned,
            learned=float(learned[row]),
        )
        for row in np.flatnonzero(written).tolist()
    ]
