"""What one recall changes: those it returned first count as used."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from ecphoria.kernels.arrays import FloatArray
from ecphoria.kernels.chain import advance, grow, refresh, retrievability
from ecphoria.model.ids import EpisodeId
from ecphoria.model.learning import RECENT, Use
from ecphoria.model.recall import Trace
from ecphoria.ports.learning import Effects, LearningTransaction

__all__ = ["effects_of", "used"]

_USED = 5
"""Hits that count as used: the first ones."""
_DAY_MS = 86_400_000.0


async def effects_of(trace: Trace, transaction: LearningTransaction) -> Effects:
    """Tell what a recall changes, from the state it finds.

    An instant that lies before a state's own counts as that one: no time passed.
    """
    first = sorted(trace.hits, key=lambda hit: hit.rank)[:_USED]
    known = await transaction.uses([hit.episode for hit in first])
    taking_part: list[EpisodeId] = [hit.episode for hit in first if hit.episode in known]
    if not taking_part:
        return Effects()
    before = [known[one] for one in taking_part]
    after = used(before, _ms(trace.created_at))
    return Effects(
        recalls=1,
        uses={
            one: replace(use, recalls=use.recalls + 1)
            for one, use in zip(taking_part, after, strict=True)
        },
    )


def used(before: Sequence[Use], at_ms: int) -> list[Use]:
    """Use memories once more: base level, stability and chain, each from its own instant."""
    stability = np.array([one.stability for one in before])
    longer = grow(stability, recallable(before, at_ms))
    working, lasting = advance(
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
    """Tell how well memories could be called back at an instant."""
    return retrievability(
        [(at_ms - one.stability_ms) / _DAY_MS for one in uses], [one.stability for one in uses]
    )


def _ms(instant: datetime) -> int:
    return round(instant.timestamp() * 1e3)
