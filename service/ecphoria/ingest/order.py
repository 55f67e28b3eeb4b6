"""Place turns in their session, and link neighbours.

A session is ordered by (occurred_at, position, sequence). A turn that arrives late takes its place
between older ones, which move up.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from math import exp

from ecphoria.ingest.changes import Changes, NextRow, TurnPlace
from ecphoria.ingest.prepare import Prepared
from ecphoria.ingest.store import IngestTransaction
from ecphoria.records.episode import TICK, Episode
from ecphoria.records.ids import EpisodeId

# Only the ordinal of a turn depends on its neighbours, so no older turn is read or written for
# anything else (decision 0005).
MARGIN = 1
"""Number of turns to read before the first change: one, because its next neighbour changes."""

_DAY_S = 86_400.0
_TEMPORAL_DECAY = 0.01
"""rho of SYNAPSE, per day."""


async def place(
    transaction: IngestTransaction, new: Sequence[Prepared], changes: Changes
) -> list[Prepared]:
    """Number new episodes, and place the turns among them in their sessions.

    An episode without an end of its own gets that of the tenant's default life.
    """
    sequence = transaction.counters.sequence
    settings = transaction.counters.settings
    days = None if settings is None else settings.expiry.days
    arriving: dict[str, list[TurnPlace]] = {}
    for number, one in enumerate(new, sequence + 1):
        if one.new.session is not None:
            turn = _place_of(one, one.new.session, number)
            arriving.setdefault(turn.session, []).append(turn)
    ordinals = await _ordinals(transaction, sorted(arriving.items()), changes)
    return [
        replace(
            one,
            sequence=number,
            ordinal=ordinals.get(one.id),
            expires_at=one.expires_at or _usual_end(one, days),
        )
        for number, one in enumerate(new, sequence + 1)
    ]


async def _ordinals(
    transaction: IngestTransaction,
    sessions: Sequence[tuple[str, list[TurnPlace]]],
    changes: Changes,
) -> dict[EpisodeId, int]:
    if not sessions:
        return {}
    starts = [min(places, key=_key) for _, places in sessions]
    stored = await transaction.segments(starts, MARGIN)
    ordinals: dict[EpisodeId, int] = {}
    for session, places in sessions:
        ordinals |= reorder(stored.get(session, ()), changes, arrivals=places)
    return ordinals


async def take_out(transaction: IngestTransaction, gone: Episode, changes: Changes) -> None:
    """Take a turn out of its session, which closes the gap."""
    if gone.session is None:
        return
    start = TurnPlace(
        session=gone.session, id=gone.id, occurred_at=gone.occurred_at - TICK, position=0,
        sequence=gone.turn,
    )  # fmt: skip
    before = (await transaction.segments([start], MARGIN))[gone.session]
    reorder(before, changes, removed=frozenset([gone.id]))
    changes.left.append(gone.session)


def reorder(
    before: Sequence[TurnPlace],
    changes: Changes,
    *,
    arrivals: Iterable[TurnPlace] = (),
    removed: frozenset[EpisodeId] = frozenset(),
) -> dict[EpisodeId, int]:
    """Merge arrivals into a session's segment, take removals out, and return the new ordinals.

    The segment `before` is as stored: everything from the first change on, and up to `MARGIN`
    turns before it, in order. `changes` takes new ordinals of stored turns, and NEXT edges to
    remove and to add.
    """
    stay = [place for place in before if place.id not in removed]
    after = sorted([*stay, *arrivals], key=_key)
    first = (before[0].ordinal if before else None) or 0
    ordinals: dict[EpisodeId, int] = {}
    for ordinal, turn in enumerate(after, first):
        if turn.ordinal is None:
            ordinals[turn.id] = ordinal
        elif turn.ordinal != ordinal:
            changes.moved[turn.id] = ordinal
    _link(before, after, changes)
    return ordinals


def _link(before: Sequence[TurnPlace], after: Sequence[TurnPlace], changes: Changes) -> None:
    old = {(tail.id, head.id) for tail, head in pairwise(before)}
    new = {
        (tail.id, head.id): abs((head.occurred_at - tail.occurred_at).total_seconds()) / _DAY_S
        for tail, head in pairwise(after)
    }
    changes.next_removed += old - new.keys()
    changes.next_added += (
        NextRow(tail=pair[0], head=pair[1], gap_days=gap, weight=exp(-_TEMPORAL_DECAY * gap))
        for pair, gap in new.items()
        if pair not in old
    )


def _place_of(turn: Prepared, session: str, sequence: int) -> TurnPlace:
    return TurnPlace(
        session=session,
        id=turn.id,
        occurred_at=turn.occurred_at,
        position=turn.new.position,
        sequence=sequence,
    )


def _usual_end(one: Prepared, days: float | None) -> datetime | None:
    return None if days is None else one.recorded_at + timedelta(days=days)


def _key(place: TurnPlace) -> tuple[datetime, int, int]:
    return place.occurred_at, place.position or 0, place.sequence
