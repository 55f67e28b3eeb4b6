"""What holds now stands above what held before, and what held before says so.

A memory is behind the times if it claims facts and every one of them has ended. It keeps its
score; the best memory that claims what holds instead is lifted to it, if it stood below. Nothing
else moves, and where no fact has ended nothing moves at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from ecphoria.recall.pipeline import Ranked, Search
from ecphoria.recall.ports import FactStanding
from ecphoria.records.fact import FactKey
from ecphoria.records.ids import EpisodeId, FactId

PART = "current"
"""The part of a score that lifts what holds to the place of what held."""

_LOOKED_AT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseded:
    """When the last of a memory's facts ended, and the facts that hold instead."""

    at: datetime
    by: tuple[FactId, ...]
    keys: frozenset[FactKey]


async def bring_up_to_date(
    search: Search, ranked: Ranked
) -> tuple[Ranked, Mapping[EpisodeId, Superseded]]:
    """Mark what is behind the times, and lift what holds instead.

    One query about the best 200 memories, and none where no fact has a place in time.
    """
    if not search.seeding.profile.timed:
        return ranked, {}
    standings = await search.store.standings(search.tenant, ranked.ids[:_LOOKED_AT], search.now)
    behind = superseded_by(standings)
    if not behind:
        return ranked, {}
    holders: dict[FactKey, set[EpisodeId]] = {}
    for one in standings:
        if one.holds:
            holders.setdefault(one.key, set()).add(one.episode)
    return lifted(ranked, behind, holders), behind


def superseded_by(standings: Sequence[FactStanding]) -> dict[EpisodeId, Superseded]:
    """Find the memories all of whose facts have ended."""
    by_episode: dict[EpisodeId, list[FactStanding]] = {}
    for one in standings:
        by_episode.setdefault(one.episode, []).append(one)
    return {
        episode: Superseded(
            at=max(one.ended_at for one in facts if one.ended_at is not None),
            by=tuple(sorted({fact for one in facts for fact in one.current})),
            keys=frozenset(one.key for one in facts),
        )
        for episode, facts in by_episode.items()
        if all(one.ended and one.ended_at is not None for one in facts)
    }


def lifted(
    ranked: Ranked,
    behind: Mapping[EpisodeId, Superseded],
    holders: Mapping[FactKey, set[EpisodeId]],
) -> Ranked:
    """Put the best holder of each key right above the first memory that is behind it."""
    order = list(range(len(ranked.ids)))
    lift = np.zeros(len(ranked.ids))
    for row, episode in enumerate(ranked.ids):
        late = behind.get(episode)
        for key in sorted(late.keys) if late else ():
            there = [order.index(row) for row in order if ranked.ids[row] in holders.get(key, ())]
            at = order.index(row)
            if there and min(there) > at:
                holder = order.pop(min(there))
                order.insert(at, holder)
                lift[holder] = ranked.score[row] - ranked.score[holder]
    if not lift.any():
        return ranked
    parts = np.column_stack((ranked.parts, lift))[order]
    return replace(
        ranked,
        ids=tuple(ranked.ids[row] for row in order),
        score=parts.sum(axis=1),
        parts=parts,
        part_names=(*ranked.part_names, PART),
    )
