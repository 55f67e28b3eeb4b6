"""What one recall changes, from the state it finds.

Its first hits count as used, and as used together; what it stimulated keeps the charge. An instant
or a turn that lies before a state's own counts as that one: no time passed.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ecphoria.graph.learning import Effects, LearningTransaction
from ecphoria.kernels.arrays import FloatArray
from ecphoria.kernels.chain import decay, grow, refresh, retrievability
from ecphoria.learning.charges import charged
from ecphoria.learning.links import Part, rewired
from ecphoria.model.learning import RECENT, Use
from ecphoria.model.recall import Trace

__all__ = ["COUNTED", "effects_of", "participation", "used"]

COUNTED = 5
"""Hits that count as used: the first ones."""
_DAY_MS = 86_400_000.0


async def effects_of(trace: Trace, transaction: LearningTransaction) -> Effects:
    """Tell what a recall changes."""
    effects = Effects()
    if trace.stimulation is not None:
        effects = replace(effects, charges=await charged(trace.stimulation, transaction))
    first = sorted(trace.hits, key=lambda hit: hit.rank)[:COUNTED]
    before = await transaction.uses([hit.episode for hit in first])
    scores = {hit.episode: hit.score for hit in first if hit.episode in before}
    if not scores:
        return effects
    at_ms = round(trace.created_at.timestamp() * 1e3)
    ids = list(scores)
    states = [before[one] for one in ids]
    after = {
        one: replace(use, recalls=use.recalls + 1)
        for one, use in zip(ids, used(states, at_ms), strict=True)
    }
    share = participation(list(scores.values()), recallable(states, at_ms))
    links = rewired(
        await transaction.links(ids),
        {
            one: Part(share=float(share[place]), recalls=after[one].recalls)
            for place, one in enumerate(ids)
        },
        total=transaction.recalls + 1,
        at_ms=at_ms,
    )
    return replace(effects, recalls=1, uses=after, links=links)


def used(before: Sequence[Use], at_ms: int) -> list[Use]:
    """Use memories once more: base level, stability and chain, each from its own instant."""
    longer = grow([one.stability for one in before], recallable(before, at_ms))
    working, lasting = decay(
        [one.working for one in before],
        [one.lasting for one in before],
        [(at_ms - one.chain_ms) / _DAY_MS for one in before],
    )
    working = refresh(working)
    return [
        replace(
            one,
            recent_ms=tuple(sorted((*one.recent_ms, at_ms))[-RECENT:]),
            count=one.count + 1,
            first_ms=min(one.first_ms, at_ms),
            stability=float(longer[place]),
            stability_ms=max(one.stability_ms, at_ms),
            working=float(working[place]),
            lasting=float(lasting[place]),
            chain_ms=max(one.chain_ms, at_ms),
        )
        for place, one in enumerate(before)
    ]


def recallable(uses: Sequence[Use], at_ms: int) -> FloatArray:
    """Tell how well memories could be called back at an instant: R."""
    return retrievability(
        [(at_ms - one.stability_ms) / _DAY_MS for one in uses], [one.stability for one in uses]
    )


def participation(scores: Sequence[float], recalled: FloatArray) -> FloatArray:
    """Tell what part each had: `x = score / best score * R`, in [0, 1]; 0 if the best is 0."""
    level = np.maximum(0.0, scores)
    best = float(level.max())
    return level / best * recalled if best > 0.0 else np.zeros_like(recalled)
