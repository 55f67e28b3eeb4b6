"""Decay: what was learned on an edge fades with disuse, and no node holds more than its share.

Sources: CLS-M (power law from the last use), NeuromemoryAI (homeostasis).
"""

from collections.abc import Sequence

import numpy as np

from ecphoria.consolidation.step import TOLD, Cycle
from ecphoria.graph.links import LearnedLink, Link, LinkStore, Weakened
from ecphoria.kernels.hebbian import homeostasis
from ecphoria.kernels.hops import edge_decay
from ecphoria.kernels.neighbours import combined
from ecphoria.model.consolidation import Change, Outcome

__all__ = ["Decay"]

BUDGET = 5.0
_MOVED = 0.01
_CHUNK = 1_000
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
        """Weaken what is too strong by now."""
        links = await self._store.learned(cycle.tenant, cycle.now)
        weakened = _weakened(links)
        if not cycle.dry_run:
            async for chunk in cycle.chunks(weakened, _CHUNK, "decay: edges"):
                await self._store.weaken(cycle.tenant, cycle.lease, chunk)
        return Outcome(
            counts={
                "learned": len(links),
                "scaled": sum(one.learned < one.was for one in weakened),
                "rewritten": len(weakened),
            },
            changes=tuple(
                Change(
                    kind="weaken",
                    id=one.link.one,
                    detail=f"{one.link.edge} to {one.link.other}: learned {one.was:.3f} to"
                    f" {one.learned:.3f}, weight {one.link.weight:.3f}",
                )
                for one in weakened[:TOLD]
            ),
        )


def _weakened(links: Sequence[LearnedLink]) -> list[Weakened]:
    """Tell which edges to write, with what they have left."""
    if not links:
        return []
    ids = sorted({end for link in links for end in (link.one, link.other)})
    place = {one: row for row, one in enumerate(ids)}
    table = np.array(
        [(one.similar, one.lift, one.learned, one.age_days, one.weight) for one in links]
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
