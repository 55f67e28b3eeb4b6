"""Turns in any order end in the same session, with the same columns, as all at once."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.ingest.rows import StoredTurn
from ecphoria.ingest.sequence import MARGIN, Arrival, Resequenced, resequence, vectors_needed
from ecphoria.ports import Vector
from ecphoria.records.ids import EpisodeId

START = datetime(2025, 3, 1, 12, tzinfo=UTC)
WORDS = ("pottery", "dog", "lake", "bread", "piano")


def vector_of(name: str) -> Vector:
    made = np.random.default_rng(sum(name.encode())).normal(size=4).astype(np.float32)
    return made / np.linalg.norm(made)


def arrival(turn: int, minute: int, terms: Sequence[str], position: int | None = None) -> Arrival:
    return Arrival(
        id=EpisodeId(f"e{turn}"),
        occurred_at=START + timedelta(minutes=minute),
        position=position,
        turn=turn,
        terms=tuple(terms),
    )


@dataclass
class Session:
    """A session as a store keeps it: it applies what `resequence` says and nothing else."""

    turns: dict[EpisodeId, StoredTurn] = field(default_factory=dict)
    near: Counter[str] = field(default_factory=Counter)
    links: set[tuple[EpisodeId, EpisodeId]] = field(default_factory=set)
    near_length: float = 0.0

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
            place = change.places[one.id]
            self.turns[one.id] = StoredTurn(
                id=one.id,
                ordinal=place.ordinal,
                occurred_at=one.occurred_at,
                position=one.position,
                turn=one.turn,
                terms=one.terms,
                near_length=place.near_length,
                context_norm=place.context_norm,
            )
        return change

    def remove(self, turn: EpisodeId) -> None:
        gone = self.turns[turn]
        before = self.segment((gone.occurred_at - timedelta(microseconds=1), 0))
        self._change(before, (), frozenset([turn]))
        del self.turns[turn]

    def _change(
        self, before: list[StoredTurn], arrivals: Sequence[Arrival], removed: frozenset[EpisodeId]
    ) -> Resequenced:
        wanted = [*vectors_needed(before, arrivals, removed), *(one.id for one in arrivals)]
        vectors: Mapping[EpisodeId, Vector] = {one: vector_of(one) for one in wanted}
        change = resequence(before, arrivals, removed, vectors)
        for row in change.moved:
            old = self.turns[row.id]
            self.turns[row.id] = StoredTurn(
                id=old.id,
                ordinal=row.ordinal,
                occurred_at=old.occurred_at,
                position=old.position,
                turn=old.turn,
                terms=old.terms,
                near_length=row.near_length,
                context_norm=row.context_norm,
            )
        self.near.update(change.near)
        self.near_length += change.near_length
        assert set(change.next_removed) <= self.links
        self.links -= set(change.next_removed)
        self.links |= {(row.tail, row.head) for row in change.next_added}
        return change


def expected(arrivals: Sequence[Arrival]) -> Session:
    """Work a session out the slow way, from the definitions."""
    turns = sorted(arrivals, key=lambda one: (one.occurred_at, one.position or 0, one.turn))
    shares = {0: 1.0, -1: 0.7, -2: 0.4, -3: 0.2, 1: 0.4, 2: 0.2}
    session = Session()
    for place, turn in enumerate(turns):
        near = {step: turns[place + step] for step in shares if 0 <= place + step < len(turns)}
        session.near.update({stem for one in near.values() for stem in one.terms})
        smooth = sum(
            {0: 1.0, -1: 0.6, 1: 0.3}[step] * vector_of(one.id).astype(np.float64)
            for step, one in near.items()
            if step in {-1, 0, 1}
        )
        session.turns[turn.id] = StoredTurn(
            id=turn.id,
            ordinal=place,
            occurred_at=turn.occurred_at,
            position=turn.position,
            turn=turn.turn,
            terms=turn.terms,
            near_length=sum(shares[step] * len(one.terms) for step, one in near.items()),
            context_norm=float(np.linalg.norm(smooth)),
        )
    session.links = {(one.id, two.id) for one, two in pairwise(turns)}
    session.near_length = sum(turn.near_length for turn in session.turns.values())
    return session


def assert_same(got: Session, want: Session) -> None:
    assert [turn.id for turn in got.ordered()] == [turn.id for turn in want.ordered()]
    assert [turn.ordinal for turn in got.ordered()] == list(range(len(want.turns)))
    for one in want.turns.values():
        np.testing.assert_allclose(got.turns[one.id].near_length, one.near_length, atol=1e-9)
        np.testing.assert_allclose(got.turns[one.id].context_norm, one.context_norm, atol=1e-6)
    assert +got.near == want.near
    assert got.links == want.links
    np.testing.assert_allclose(got.near_length, want.near_length, atol=1e-9)


turns_in_any_order = st.lists(
    st.tuples(st.integers(0, 12), st.lists(st.sampled_from(WORDS), max_size=4), st.integers(0, 2)),
    min_size=1,
    max_size=14,
)


@given(turns_in_any_order, st.integers(1, 4))
def test_any_order_and_any_batches_give_the_same_session(
    rows: list[tuple[int, list[str], int]], size: int
) -> None:
    arrivals = [
        arrival(turn, minute, terms, position)
        for turn, (minute, terms, position) in enumerate(rows, 1)
    ]
    session = Session()
    for start in range(0, len(arrivals), size):
        session.add(*arrivals[start : start + size])
    assert_same(session, expected(arrivals))


@given(turns_in_any_order, st.data())
def test_a_removed_turn_leaves_the_session_as_if_it_had_never_been(
    rows: list[tuple[int, list[str], int]], data: st.DataObject
) -> None:
    arrivals = [arrival(turn, minute, terms) for turn, (minute, terms, _) in enumerate(rows, 1)]
    session = Session()
    session.add(*arrivals)
    gone = data.draw(st.sampled_from(arrivals))
    session.remove(gone.id)
    assert_same(session, expected([one for one in arrivals if one.id != gone.id]))


def test_an_append_touches_only_the_end() -> None:
    session = Session()
    session.add(*(arrival(turn, turn, ["dog"]) for turn in range(1, 40)))
    change = session.add(arrival(40, 40, ["lake"]))
    assert {row.id for row in change.moved} == {"e38", "e39"}
    assert change.next_removed == ()


def test_next_weighs_less_after_a_longer_gap() -> None:
    session = Session()
    first = arrival(1, 0, ["dog"])
    change = session.add(first, arrival(2, 30 * 24 * 60, ["dog"]))
    (link,) = change.next_added
    assert link.gap_days == 30.0
    np.testing.assert_allclose(link.weight, 0.740818, atol=5e-7)
