"""Place turns in their session, and link neighbours.

A session is ordered by (occurred_at, position, turn). A turn that arrives late takes its place
between older ones, which move up.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from math import exp

from ecphoria.ingest.rows import MovedRow, NextRow, StoredTurn
from ecphoria.records.ids import EpisodeId

# Only the ordinal of a turn depends on its neighbours, so no older turn is read or written for
# anything else (decision 0005).
MARGIN = 1
"""Number of turns to read before the first change: one, because its next neighbour changes."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Resequenced:
    """The changes to one session by its added and removed turns.

    Attributes:
        places: Ordinals of the added turns.
        moved: New ordinals of stored turns.
    """

    places: Mapping[EpisodeId, int]
    moved: tuple[MovedRow, ...]
    next_removed: tuple[tuple[EpisodeId, EpisodeId], ...]
    next_added: tuple[NextRow, ...]


Turn = StoredTurn | Arrival


def resequence(
    before: Sequence[StoredTurn], arrivals: Iterable[Arrival], removed: frozenset[EpisodeId]
) -> Resequenced:
    """Merge arrivals into a session's segment and take removals out.

    Args:
        before: The segment as stored: everything from the first change on, and up to `MARGIN`
            turns before it, in order.
        arrivals: New turns of the session.
        removed: Turns of the segment to take out.
    """
    after = _merge(before, arrivals, removed)
    first = before[0].ordinal if before else 0
    next_removed, next_added = _links(before, after)
    return Resequenced(
        places={
            turn.id: place for place, turn in enumerate(after, first) if isinstance(turn, Arrival)
        },
        moved=tuple(
            MovedRow(id=turn.id, ordinal=place)
            for place, turn in enumerate(after, first)
            if isinstance(turn, StoredTurn) and turn.ordinal != place
        ),
        next_removed=next_removed,
        next_added=next_added,
    )


def _key(turn: Turn) -> tuple[datetime, int, int]:
    return turn.occurred_at, turn.position or 0, turn.turn


def _merge(
    before: Sequence[StoredTurn], arrivals: Iterable[Arrival], removed: frozenset[EpisodeId]
) -> list[Turn]:
    stay: list[Turn] = [turn for turn in before if turn.id not in removed]
    return sorted([*stay, *arrivals], key=_key)


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
