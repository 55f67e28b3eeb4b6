"""What holds is lifted to what held, and nothing else moves."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.recall.outdated import CURRENT, NEWEST, lifted, raised, superseded_by
from ecphoria.recall.pipeline import Ranked
from ecphoria.recall.ports import FactStanding, Superseded
from ecphoria.recall.walk import Walk
from ecphoria.records.fact import FactKey
from ecphoria.records.ids import EpisodeId, FactId

AT = datetime(2024, 1, 1, tzinfo=UTC)
HOME, JOB = (
    FactKey(subject="ana", relation="lives in"),
    FactKey(subject="ana", relation="works at"),
)


def ranked(size: int) -> Ranked:
    parts = np.column_stack((np.linspace(1.0, 0.1, size), np.full(size, 0.05)))
    return Ranked(
        ids=tuple(EpisodeId(str(row)) for row in range(size)),
        parts=parts, part_names=("words", "concepts"), walk=Walk(), path=lambda _: (),
    )  # fmt: skip


def late(*keys: FactKey) -> Superseded:
    return Superseded(at=AT, by=(FactId("f"),), keys=frozenset(keys))


def holding(rows: Mapping[FactKey, Sequence[int]]) -> dict[FactKey, set[EpisodeId]]:
    return {key: {EpisodeId(str(row)) for row in some} for key, some in rows.items()}


def order(found: Ranked) -> str:
    return "".join(found.ids)


def test_the_best_holder_stands_right_above_what_is_over() -> None:
    found = lifted(ranked(6), {EpisodeId("1"): late(HOME)}, holding({HOME: [4, 5]}))
    assert order(found) == "041235"
    assert found.part_names[-1] == CURRENT
    assert found.parts.sum(axis=1) == pytest.approx(found.score, abs=1e-12)
    assert found.score[1] == pytest.approx(found.score[2], abs=1e-12)


def test_what_stands_above_already_stays() -> None:
    before = ranked(6)
    assert lifted(before, {EpisodeId("4"): late(HOME)}, holding({HOME: [2]})) is before
    assert lifted(before, {EpisodeId("4"): late(HOME)}, holding({JOB: [5]})) is before


def test_a_memory_behind_in_two_ways_has_both_above_it() -> None:
    found = lifted(ranked(5), {EpisodeId("0"): late(HOME, JOB)}, holding({HOME: [2], JOB: [4]}))
    assert sorted(order(found)[:2]) == ["2", "4"]
    assert order(found)[2:] == "013"


@given(
    st.integers(1, 12),
    st.sets(st.integers(0, 11)),
    st.lists(st.tuples(st.sampled_from([HOME, JOB]), st.integers(0, 11)), max_size=6),
)
def test_scores_fall_and_nobody_is_lost(
    size: int, behind: set[int], pairs: list[tuple[FactKey, int]]
) -> None:
    holders: dict[FactKey, list[int]] = {}
    for key, row in pairs:
        if row not in behind:
            holders.setdefault(key, []).append(row)
    marks = {EpisodeId(str(row)): late(HOME) for row in behind}
    before = ranked(size)
    found = lifted(before, marks, holding(holders))
    assert set(found.ids) == set(before.ids)
    assert (np.diff(found.score) <= 1e-12).all()
    place = {one: at for at, one in enumerate(found.ids)}
    there = [place[EpisodeId(str(row))] for row in holders.get(HOME, ()) if row < size]
    for one in marks.keys() & place.keys():
        assert not there or min(there) < place[one]


def test_a_memory_above_a_raised_one_has_its_new_score() -> None:
    """The memory of Bonn is outdated by that of Ulm, and this by that of Kiel."""
    chain = [(EpisodeId("0"), {EpisodeId("1")}), (EpisodeId("1"), {EpisodeId("2")})]
    found = raised(ranked(4), chain, NEWEST)
    assert order(found) == "2103"
    assert found.score[:3] == pytest.approx(ranked(4).score[0], abs=1e-12)


def standing(episode: str, *, ended: bool, holds: bool = False) -> FactStanding:
    return FactStanding(
        episode=EpisodeId(episode), fact=FactId("x"), key=HOME, holds=holds, ended=ended,
        ended_at=AT if ended else None, current=(FactId("y"),) if ended else (),
    )  # fmt: skip


def test_only_a_memory_all_of_whose_facts_are_over_is_behind() -> None:
    found = superseded_by(
        [
            standing("a", ended=True),
            standing("b", ended=True),
            standing("b", ended=False, holds=True),
            standing("c", ended=False),
        ]
    )
    assert found == {EpisodeId("a"): Superseded(at=AT, by=(FactId("y"),), keys=frozenset({HOME}))}
