"""Rank current facts above superseded ones.

A memory is superseded if all facts it claims have ended. It keeps its score. The best memory that
claims the current facts is raised to this score if it had less. Other memories do not move.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from ecphoria.recall.pipeline import Ranked, Search
from ecphoria.recall.ports import FactStanding
from ecphoria.records.fact import FactKey
from ecphoria.records.ids import EpisodeId, FactId

PART = "current"
"""The part of a score that raises a current fact above a superseded one."""

_LOOKED_AT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseded:
    """When the last fact of a memory ended, and the current facts.

    Attributes:
        holders: Other ranked memories that claim a current fact of its keys.
    """

    at: datetime
    by: tuple[FactId, ...]
    keys: frozenset[FactKey]
    holders: frozenset[EpisodeId] = frozenset()


async def promote_current_facts(
    search: Search, ranked: Ranked, *, lift: bool = True
) -> tuple[Ranked, Mapping[EpisodeId, Superseded]]:
    """Mark superseded memories, and rank memories with the current facts above them.

    It takes one query about the best 200 memories, and none if no fact has a timeline. Without
    `lift` the order stays.
    """
    standings = await standings_of(search, ranked.ids[:_LOOKED_AT])
    behind = superseded_by(standings)
    if not behind:
        return ranked, {}
    holders: dict[FactKey, set[EpisodeId]] = {}
    for standing in standings:
        if standing.holds:
            holders.setdefault(standing.key, set()).add(standing.episode)
    behind = {
        episode: replace(
            late, holders=frozenset().union(*(holders.get(key, ()) for key in late.keys))
        )
        for episode, late in behind.items()
    }
    return lifted(ranked, behind, holders) if lift else ranked, behind


async def standings_of(search: Search, episodes: Sequence[EpisodeId]) -> Sequence[FactStanding]:
    """Read the standings of memories' facts; no query if no fact has a timeline."""
    # A store without timelines pays nothing (decision 0024).
    if not search.seeding.profile.timed:
        return []
    return await search.store.standings(search.tenant, episodes, search.now)


def superseded_by(standings: Sequence[FactStanding]) -> dict[EpisodeId, Superseded]:
    """Find the memories whose facts have all ended."""
    by_episode: dict[EpisodeId, list[FactStanding]] = {}
    for standing in standings:
        by_episode.setdefault(standing.episode, []).append(standing)
    return {
        episode: Superseded(
            at=max(standing.ended_at for standing in facts if standing.ended_at is not None),
            by=tuple(sorted({fact for standing in facts for fact in standing.current})),
            keys=frozenset(standing.key for standing in facts),
        )
        for episode, facts in by_episode.items()
        if all(standing.ended and standing.ended_at is not None for standing in facts)
    }


def lifted(
    ranked: Ranked,
    behind: Mapping[EpisodeId, Superseded],
    holders: Mapping[FactKey, set[EpisodeId]],
) -> Ranked:
    """Move the best memory with a key's current fact right above the first superseded one."""
    pairs = [
        (episode, holders.get(key, set()))
        for episode in ranked.ids
        if episode in behind
        for key in sorted(behind[episode].keys)
    ]
    return raised(ranked, pairs, PART)


def raised(
    ranked: Ranked, pairs: Sequence[tuple[EpisodeId, Collection[EpisodeId]]], part: str
) -> Ranked:
    """Move the best of some memories right above another one, where all of them stand below it.

    Args:
        ranked: The ranking.
        pairs: A ranked memory, and those of which one is to stand above it.
        part: Name of the part of the score that tells by how much a memory was raised.
    """
    place = {episode: row for row, episode in enumerate(ranked.ids)}
    order = list(range(len(ranked.ids)))
    lift = np.zeros(len(ranked.ids))
    for episode, above in pairs:
        row = place[episode]
        there = [order.index(place[one]) for one in above if one in place]
        at = order.index(row)
        if there and min(there) > at:
            # The current memory moves up. An outdated one that moved down below rank 50 would
            # take both with it (decision 0020).
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
        part_names=(*ranked.part_names, part),
    )
