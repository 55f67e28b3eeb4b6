"""Turns in any order end in the same session, with the same links, as all at once."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.ingest.rows import StoredTurn
from ecphoria.ingest.sequence import MARGIN, Arrival, Resequenced, resequence
from ecphoria.records.ids import EpisodeId

START = datetime(2025, 3, 1, 12, tzinfo=UTC)


def arrival(turn: int, minute: int, position: int | None = None) -> Arrival:
    return Arrival(
        id=EpisodeId(f"e{turn}"),
        occurred_at=START + timedelta(minutes=minute),
        position=position,
        turn=turn,
    )


def stored(turn: Arrival, ordinal: int) -> StoredTurn:
    return StoredTurn(
        session="s",
        id=turn.id,
        ordinal=ordinal,
        occurred_at=turn.occurred_at,
        position=turn.position,
        turn=turn.turn,
    )


@dataclass
class Session:
    """A session as a store keeps it: it applies what `resequence` says and nothing else."""

    turns: dict[EpisodeId, StoredTurn] = field(default_factory=dict)
    links: set[tuple[EpisodeId, EpisodeId]] = field(default_factory=set)

    def ordered(self) -> list[StoredTurn]:
        return sorted(self.turns.values(), key=lambda turn: turn.ordinal)

    def segment(self, key: tuple[datetime, int]) -> list[StoredTurn]:
        turns = self.ordered()
        first = sum((turn.occurred_at, turn.position or 0) <= key for turn in turns)
        return turns[max(0, first - MARGIN) :]

    def add(self, *arrivals: Arrival) -> Resequenced:
        before = self.segment(min((one.occurred_at, one.position or 0) for one in arrivals))
        change = self._change(before, arrivals, frozenset())
        for one in arrivals:
            self.turns[one.id] = stored(one, change.places[one.id])
        return change

    def remove(self, turn: EpisodeId) -> None:
        gone = self.turns[turn]
        before = self.segment((gone.occurred_at - timedelta(microseconds=1), 0))
        self._change(before, (), frozenset([turn]))
        del self.turns[turn]

    def _change(
        self, before: list[StoredTurn], arrivals: Sequence[Arrival], removed: frozenset[EpisodeId]
    ) -> Resequenced:
        change = resequence(before, arrivals, removed)
        for row in change.moved:
            assert self.turns[row.id].ordinal != row.ordinal
            self.turns[row.id] = replace(self.turns[row.id], ordinal=row.ordinal)
        assert set(change.next_removed) <= self.links
        self.links -= set(change.next_removed)
        self.links |= {(row.tail, row.head) for row in change.next_added}
        return change


def expected(arrivals: Sequence[Arrival]) -> Session:
    """Work a session out the slow way, from the definitions."""
    turns = sorted(arrivals, key=lambda one: (one.occurred_at, one.position or 0, one.turn))
    return Session(
        turns={turn.id: stored(turn, place) for place, turn in enumerate(turns)},
        links={(one.id, two.id) for one, two in pairwise(turns)},
    )


turns_in_any_order = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 2)), min_size=1, max_size=14
)


@given(turns_in_any_order, st.integers(1, 4))
def test_any_order_and_any_batches_give_the_same_session(
    rows: list[tuple[int, int]], size: int
) -> None:
    arrivals = [arrival(turn, minute, position) for turn, (minute, position) in enumerate(rows, 1)]
    session = Session()
    for start in range(0, len(arrivals), size):
        session.add(*arrivals[start : start + size])
    assert session == expected(arrivals)


@given(turns_in_any_order, st.data())
def test_a_removed_turn_leaves_the_session_as_if_it_had_never_been(
    rows: list[tuple[int, int]], data: st.DataObject
) -> None:
    arrivals = [arrival(turn, minute) for turn, (minute, _) in enumerate(rows, 1)]
    session = Session()
    session.add(*arrivals)
    gone = data.draw(st.sampled_from(arrivals))
    session.remove(gone.id)
    assert session == expected([one for one in arrivals if one.id != gone.id])


def test_an_append_moves_nothing() -> None:
    session = Session()
    session.add(*(arrival(turn, turn) for turn in range(1, 40)))
    change = session.add(arrival(40, 40))
    assert (change.moved, change.next_removed) == ((), ())
    assert [(row.tail, row.head) for row in change.next_added] == [("e39", "e40")]


def test_next_weighs_less_after_a_longer_gap() -> None:
    session = Session()
    first = arrival(1, 0)
    change = session.add(first, arrival(2, 30 * 24 * 60))
    (link,) = change.next_added
    assert link.gap_days == 30.0
    np.testing.assert_allclose(link.weight, 0.740818, atol=5e-7)
