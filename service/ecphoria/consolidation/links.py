"""Decay the weights of edges, and prune the lightest edges.

Sources: pruning is SYNAPSE's, which keeps 15 edges a node and breaks ties by chance; here 15 of
each type are kept, and ties are broken by id. Decay is CLS-M's (power law from the last use) and
NeuromemoryAI's (homeostasis).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from ecphoria.consolidation.knn import NEIGHBOURS
from ecphoria.consolidation.knn_store import REMOVE_ASSOCIATIONS
from ecphoria.consolidation.service import TOLD, Cycle
from ecphoria.maths.hebbian import combined, homeostasis
from ecphoria.maths.spreading import edge_decay
from ecphoria.neo4j_store.locks import change_under
from ecphoria.neo4j_store.session import Done, Statement, Store, Work
from ecphoria.records.ids import TenantId
from ecphoria.records.job import Change, Lease, StepOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class AssociationLink:
    """An association edge: `edge` is its type, and the smaller id comes first."""

    edge: str
    one: str
    other: str
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedLink(AssociationLink):
    """An association edge on which something was learned.

    Attributes:
        similar: Its part by nearness.
        lift: Its part by mentions together.
        learned: The learned part, at its last use.
        age_days: Days since its last use.
    """

    similar: float
    lift: float
    learned: float
    age_days: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Weakened:
    """The remaining weight of an edge.

    Attributes:
        link: The edge, with its new weight.
        was: The learned part when it was read. If it has changed since, the edge is not written.
        learned: The remaining learned part, as of the last use.
    """

    link: LearnedLink
    was: float
    learned: float


_LIST_LEARNED = Statement("consolidation.list_learned", LearnedLink)
_LIST_SURPLUS = Statement("consolidation.list_surplus", AssociationLink)
_SAVE_LEARNED = Statement("consolidation.save_learned", Done)


class LinkStore(Store):
    """Association edges."""

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

    async def surplus(
        self, tenant: TenantId, keep: int, before: datetime
    ) -> Sequence[AssociationLink]:
        """List the edges to remove, weakest first.

        These are the edges that are not among the `keep` strongest of both ends, and those of
        weight 0 (which only count joint uses) unused since an instant.
        """
        return await self._graph.run(_LIST_SURPLUS, tenant=tenant, keep=keep, before=before)

    async def remove(
        self, tenant: TenantId, lease: Lease | None, links: Sequence[AssociationLink]
    ) -> None:
        """Remove edges, in one transaction."""

        async def remove(work: Work) -> None:
            rows = _episodes_first(asdict(link) for link in links)
            await work.run(REMOVE_ASSOCIATIONS, tenant=tenant, rows=rows, only_empty=False)

        await change_under(self._graph, lease, "consolidation.remove", remove)


def _episodes_first(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort edges of episodes before edges of concepts, as all writers lock them."""
    return sorted(rows, key=lambda row: row["edge"] != "SIMILAR")


# Edges that only count take no place among the 15 (docs/explanation/consolidation.md).
_COUNTS_FOR = timedelta(days=90)
_CHUNK = 1_000


class Prune:
    """Removes SIMILAR and ASSOCIATED edges that are not among the strongest 15 of both ends.

    The server lists the surplus edges once, when the step begins, weakest first. So an interrupted
    step removes the same edges when it runs again, and a second run of a finished step removes
    none. Other types of edges are not read. Edges that only count joint uses are removed after 90
    days without use.
    """

    name = "prune"

    def __init__(self, store: LinkStore) -> None:
        self._store = store

    async def run(self, cycle: Cycle) -> StepOutcome:
        """Remove the surplus edges."""
        links = await self._store.surplus(cycle.tenant, NEIGHBOURS, cycle.now - _COUNTS_FOR)
        if not cycle.dry_run:
            async for chunk in cycle.chunks(links, _CHUNK, "prune: edges"):
                await self._store.remove(cycle.tenant, cycle.lease, chunk)
        removed = Counter(link.edge.lower() for link in links)
        return StepOutcome(
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
# A stored weight is written only if it is off by more; readers compute the present value (decision
# 0026).
_MOVED = 0.01
# If decay leaves a value as it is, only rounding differs, so the stored value stays.
_ROUNDING = 1e-9


class Decay:
    """Limits the sum of the learned weights of a node to 5, and updates stored weights.

    Readers compute the present value of `w_learned` from the stored value and its last use, so
    time alone changes no stored value. `weight` orders edges when a reader takes the strongest; it
    is written again if it is off by more than .01. `w_learned` is scaled down if the present
    values of a node's edges sum to more than the budget.
    """

    name = "decay"

    def __init__(self, store: LinkStore) -> None:
        self._store = store

    async def run(self, cycle: Cycle) -> StepOutcome:
        """Write the changed weights."""
        links = await self._store.learned(cycle.tenant, cycle.now)
        weakened = _weakened(links)
        if not cycle.dry_run:
            async for chunk in cycle.chunks(weakened, _CHUNK, "decay: edges"):
                await self._store.weaken(cycle.tenant, cycle.lease, chunk)
        return StepOutcome(
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
    """List the edges to write, with their present weight."""
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
            link=replace(links[row], weight=float(weight[row])),
            was=links[row].learned,
            learned=float(learned[row]),
        )
        for row in np.flatnonzero(written).tolist()
    ]
