"""Place turns in their session, and compute the columns that depend on neighbours.

A session is ordered by (occurred_at, position, turn). A turn that arrives late takes its place
between older ones; what its neighbours store about each other (ordinal, spread length, context
norm, reach of stems) is recomputed for the few it touches.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, pairwise
from math import exp

import numpy as np

from ecphoria.ingest.rows import MovedRow, NextRow, StoredTurn
from ecphoria.maths.lexical import REACH_AHEAD, REACH_BACK, context_norms, spread_lengths
from ecphoria.ports import Vector
from ecphoria.records.ids import EpisodeId

MARGIN = REACH_BACK + REACH_AHEAD
"""Turns before the first change that must be known: two are touched, each looks three back."""

_DAY_S = 86_400.0
_TEMPORAL_DECAY = 0.01
"""rho of SYNAPSE, per day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A turn about to enter a session."""

    id: EpisodeId
    occurred_at: datetime
    position: int | None
    turn: int
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The columns that a new turn gets from its neighbours."""

    ordinal: int
    near_length: float
    context_norm: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Resequenced:
    """The changes one session's arrivals and removals cause."""

    places: Mapping[EpisodeId, Place]
    moved: tuple[MovedRow, ...]
    next_removed: tuple[tuple[EpisodeId, EpisodeId], ...]
    next_added: tuple[NextRow, ...]
    near_length: float
    near: Mapping[str, int]


Turn = StoredTurn | Arrival
Neighbours = tuple[EpisodeId | None, ...]


def vectors_needed(
    before: Sequence[StoredTurn], arrivals: Iterable[Arrival], removed: frozenset[EpisodeId]
) -> list[EpisodeId]:
    """List stored turns whose vectors `resequence` needs."""
    after = _merge(before, arrivals, removed)
    touched = _touched(_around(before, 1, 1), _around(after, 1, 1))
    stored = {turn.id for turn in before}
    wanted = {
        neighbour
        for turn, around in zip(after, _around(after, 1, 1).values(), strict=True)
        if turn.id in touched
        for neighbour in (*around, turn.id)
        if neighbour in stored
    }
    return sorted(wanted)


def archived(
    before: Sequence[StoredTurn], arrivals: Iterable[Arrival], removed: frozenset[EpisodeId]
) -> list[EpisodeId]:
    """List archived turns whose words or vectors `resequence` needs."""
    if all(turn.terms is not None for turn in before):
        return []
    after = _merge(before, arrivals, removed)
    reach_before, reach_after = (
        _around(before, REACH_BACK, REACH_AHEAD),
        _around(after, REACH_BACK, REACH_AHEAD),
    )
    changed = _touched(reach_before, reach_after) | removed
    near = {
        one
        for reach in (reach_before, reach_after)
        for turn in changed & reach.keys()
        for one in reach[turn]
    }
    return [turn.id for turn in before if turn.terms is None and turn.id in near]


def resequence(
    before: Sequence[StoredTurn],
    arrivals: Iterable[Arrival],
    removed: frozenset[EpisodeId],
    vectors: Mapping[EpisodeId, Vector],
) -> Resequenced:
    """Merge arrivals into a session's segment and take removals out.

    Args:
        before: The segment as stored: everything from the first change on, and up to `MARGIN`
            turns before it, in order.
        arrivals: New turns of the session.
        removed: Turns of the segment to take out.
        vectors: Unit vectors of the arrivals and of `vectors_needed`.
    """
    after = _merge(before, arrivals, removed)
    first = before[0].ordinal if before else 0
    reach_before, reach_after = (
        _around(before, REACH_BACK, REACH_AHEAD),
        _around(after, REACH_BACK, REACH_AHEAD),
    )
    touched = _touched(reach_before, reach_after)
    turned = _touched(_around(before, 1, 1), _around(after, 1, 1))
    lengths = spread_lengths(np.array([len(turn.terms or ()) for turn in after], dtype=np.float64))
    norms = _norms(after, turned, vectors)
    places: dict[EpisodeId, Place] = {}
    moved: list[MovedRow] = []
    near_length = -sum(turn.near_length for turn in before if turn.id in removed)
    for index, turn in enumerate(after):
        place = Place(
            ordinal=first + index,
            near_length=float(lengths[index]) if turn.id in touched else _stored(turn)[0],
            context_norm=norms[turn.id] if turn.id in turned else _stored(turn)[1],
        )
        if isinstance(turn, Arrival):
            places[turn.id] = place
            near_length += place.near_length
        elif turn.id in touched or turn.ordinal != place.ordinal:
            near_length += place.near_length - turn.near_length
            moved.append(_moved(turn.id, place))
    next_removed, next_added = _links(before, after)
    return Resequenced(
        places=places,
        moved=tuple(moved),
        next_removed=next_removed,
        next_added=next_added,
        near_length=near_length,
        near=_reach_change(before, after, reach_before, reach_after, touched | removed),
    )


def _key(turn: Turn) -> tuple[datetime, int, int]:
    return turn.occurred_at, turn.position or 0, turn.turn


def _merge(
    before: Sequence[StoredTurn], arrivals: Iterable[Arrival], removed: frozenset[EpisodeId]
) -> list[Turn]:
    stay: list[Turn] = [turn for turn in before if turn.id not in removed]
    return sorted([*stay, *arrivals], key=_key)


def _around(turns: Sequence[Turn], back: int, ahead: int) -> dict[EpisodeId, Neighbours]:
    """Map each turn to its neighbours by distance; None beyond the ends."""
    ids: list[EpisodeId | None] = [None] * back
    ids += [turn.id for turn in turns]
    ids += [None] * ahead
    width = back + 1 + ahead
    return {turn.id: tuple(ids[index : index + width]) for index, turn in enumerate(turns)}


def _touched(
    before: Mapping[EpisodeId, Neighbours], after: Mapping[EpisodeId, Neighbours]
) -> frozenset[EpisodeId]:
    """Find remaining and new turns with changed neighbours."""
    return frozenset(turn for turn, around in after.items() if before.get(turn) != around)


def _stored(turn: Turn) -> tuple[float, float]:
    assert isinstance(turn, StoredTurn), "an arrival is always touched"
    return turn.near_length, turn.context_norm


def _moved(turn: EpisodeId, place: Place) -> MovedRow:
    return MovedRow(
        id=turn,
        ordinal=place.ordinal,
        near_length=place.near_length,
        context_norm=place.context_norm,
    )


def _norms(
    after: Sequence[Turn], turned: frozenset[EpisodeId], vectors: Mapping[EpisodeId, Vector]
) -> dict[EpisodeId, float]:
    if not turned:
        return {}
    width = next(iter(vectors.values())).shape[0]
    nothing = np.zeros(width, dtype=np.float32)
    norms = context_norms(np.stack([vectors.get(turn.id, nothing) for turn in after]))
    return {
        turn.id: float(norm) for turn, norm in zip(after, norms, strict=True) if turn.id in turned
    }


def _links(
    before: Sequence[Turn], after: Sequence[Turn]
) -> tuple[tuple[tuple[EpisodeId, EpisodeId], ...], tuple[NextRow, ...]]:
    old = {(tail.id, head.id) for tail, head in pairwise(before)}
    new = {
        (tail.id, head.id): abs((head.occurred_at - tail.occurred_at).total_seconds()) / _DAY_S
        for tail, head in pairwise(after)
    }
    added = (
        NextRow(tail=pair[0], head=pair[1], gap_days=gap, weight=exp(-_TEMPORAL_DECAY * gap))
        for pair, gap in new.items()
        if pair not in old
    )
    return tuple(sorted(old - new.keys())), tuple(added)


def _reach_change(
    before: Sequence[Turn],
    after: Sequence[Turn],
    reach_before: Mapping[EpisodeId, Neighbours],
    reach_after: Mapping[EpisodeId, Neighbours],
    changed: frozenset[EpisodeId],
) -> dict[str, int]:
    """Count, per stem, how many more turns it reaches over NEXT than before."""
    terms = {turn.id: frozenset(turn.terms or ()) for turn in (*before, *after)}

    def reached(reach: Mapping[EpisodeId, Neighbours]) -> Counter[str]:
        around = (reach[turn] for turn in changed & reach.keys())
        return Counter(
            chain.from_iterable(
                frozenset().union(*(terms[near] for near in turns if near)) for turns in around
            )
        )

    change = reached(reach_after)
    change.subtract(reached(reach_before))
    return {stem: count for stem, count in change.items() if count}
