"""Turns in any order end in the same session, with the same links, as all at once."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.ingest.changes import Changes, TurnPlace
from ecphoria.ingest.order import MARGIN, reorder
from ecphoria.records.ids import EpisodeId

START = datetime(2025, 3, 1, 12, tzinfo=UTC)


def arrival(number: int, minute: int, position: int | None = None) -> TurnPlace:
    return TurnPlace(
        session="s",
        id=EpisodeId(f"e{number}"),
        occurred_at=START + timedelta(minutes=minute),
        position=position,
        sequence=number,
    )


@dataclass
class Session:
    """A session as a store keeps it: it applies what `reorder` says and nothing else."""

    turns: dict[EpisodeId, TurnPlace] = field(default_factory=dict)
    links: set[tuple[EpisodeId, EpisodeId]] = field(default_factory=set)

    def ordered(self) -> list[TurnPlace]:
        return sorted(self.turns.values(), key=lambda turn: turn.ordinal or 0)

    def segment(self, key: tuple[datetime, int]) -> list[TurnPlace]:
        turns = self.ordered()
        first = sum((turn.occurred_at, turn.position or 0) <= key for turn in turns)
        return turns[max(0, first - MARGIN) :]

    def add(self, *arrivals: TurnPlace) -> Changes:
        before = self.segment(min((one.occurred_at, one.position or 0) for one in arrivals))
        changes = Changes()
        ordinals = reorder(before, changes, arrivals=arrivals)
        self._apply(changes)
        for one in arrivals:
            self.turns[one.id] = replace(one, ordinal=ordinals[one.id])
        return changes

    def remove(self, turn: EpisodeId) -> None:
        gone = self.turns[turn]
        before = self.segment((gone.occurred_at - timedelta(microseconds=1), 0))
        changes = Changes()
        assert reorder(before, changes, removed=frozenset([turn])) == {}
        self._apply(changes)
        del self.turns[turn]

    def _apply(self, changes: Changes) -> None:
        for turn, ordinal in changes.moved.items():
            assert self.turns[turn].ordinal != ordinal
            self.turns[turn] = replace(self.turns[turn], ordinal=ordinal)
        assert set(changes.next_removed) <= self.links
        self.links -= set(changes.next_removed)
        self.links |= {(row.tail, row.head) for row in changes.next_added}


def expected(arrivals: Sequence[TurnPlace]) -> Session:
    """Work a session out the slow way, from the definitions."""
    turns = sorted(arrivals, key=lambda one: (one.occurred_at, one.position or 0, one.sequence))
    return Session(
        turns={turn.id: replace(turn, ordinal=place) for place, turn in enumerate(turns)},
        links={(one.id, two.id) for one, two in pairwise(turns)},
    )


turns_in_any_order = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 2)), min_size=1, max_size=14
)


@given(turns_in_any_order, st.integers(1, 4))
def test_any_order_and_any_batches_give_the_same_session(
    rows: list[tuple[int, int]], size: int
) -> None:
    arrivals = [
        arrival(number, minute, position) for number, (minute, position) in enumerate(rows, 1)
    ]
    session = Session()
    for start in range(0, len(arrivals), size):
        session.add(*arrivals[start : start + size])
    assert session == expected(arrivals)


@given(turns_in_any_order, st.data())
def test_a_removed_turn_leaves_the_session_as_if_it_had_never_been(
    rows: list[tuple[int, int]], data: st.DataObject
) -> None:
    arrivals = [arrival(number, minute) for number, (minute, _) in enumerate(rows, 1)]
    session = Session()
    session.add(*arrivals)
    gone = data.draw(st.sampled_from(arrivals))
    session.remove(gone.id)
    assert session == expected([one for one in arrivals if one.id != gone.id])


def test_an_append_moves_nothing() -> None:
    session = Session()
    session.add(*(arrival(turn, turn) for turn in range(1, 40)))
    changes = session.add(arrival(40, 40))
    assert (changes.moved, changes.next_removed) == ({}, [])
    assert [(row.tail, row.head) for row in changes.next_added] == [("e39", "e40")]


def test_next_weighs_less_after_a_longer_gap() -> None:
    session = Session()
    first = arrival(1, 0)
    changes = session.add(first, arrival(2, 30 * 24 * 60))
    (link,) = changes.next_added
    assert link.gap_days == 30.0
    np.testing.assert_allclose(link.weight, 0.740818, atol=5e-7)
