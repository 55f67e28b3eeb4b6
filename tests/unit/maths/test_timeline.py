import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise, permutations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ecphoria.maths.timeline import (
    OPEN,
    Proposition,
    Rulings,
    Spell,
    TimedClaim,
    Timeline,
    evidence,
    in_force,
    timeline,
)

OSLO, BERGEN, TURKU, PARIS, LUND = range(5)
PLACES = [Proposition(object=place) for place in range(5)]
NOTHING = Rulings()


def day(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


EXAMPLE = (
    (OSLO, "2023-01-10", 0.7),
    (BERGEN, "2023-06-01", 0.9),
    (TURKU, "2022-03-01", 0.7),
    (PARIS, "2023-08-01", 0.3),
    (LUND, "2023-06-01", 0.8),
)


def told(order: Sequence[int]) -> list[TimedClaim]:
    return [
        TimedClaim(
            fact=EXAMPLE[one][0],
            episode=one,
            start=day(EXAMPLE[one][1]),
            recorded_at=place,
            reliability=EXAMPLE[one][2],
        )
        for place, one in enumerate(order)
    ]


def functional(claims: Sequence[TimedClaim], rulings: Rulings = NOTHING) -> Timeline:
    return timeline("functional", PLACES, claims, rulings)


def claim(
    fact: int, start: int, reliability: float = 0.9, *, end: int = OPEN, recorded_at: int = 0
) -> TimedClaim:
    return TimedClaim(
        fact=fact, episode=100 * start + fact, start=start, end=end,
        recorded_at=recorded_at, reliability=reliability,
    )  # fmt: skip


def spells(found: Timeline) -> list[tuple[int, int, int]]:
    return [(spell.facts[0], spell.start, spell.end) for spell in found.spells]


AS_TOLD = [
    (TURKU, day("2022-03-01"), day("2023-01-10")),
    (OSLO, day("2023-01-10"), day("2023-06-01")),
    (BERGEN, day("2023-06-01"), OPEN),
]


def test_the_worked_example_for_every_order_of_insertion() -> None:
    for order in permutations(range(5)):
        found = functional(told(order))
        assert spells(found) == AS_TOLD
        assert [spell.ended_by for spell in found.spells] == [OSLO, BERGEN, -1]
        assert found.contested == ((LUND, BERGEN),)
        assert found.candidates == (PARIS,)


def test_what_is_retracted_gives_way_and_comes_back() -> None:
    claims = told(range(5))
    found = functional(claims, Rulings(retracted=frozenset({BERGEN})))
    assert spells(found) == [*AS_TOLD[:2], (LUND, day("2023-06-01"), OPEN)]
    assert found.contested == ()
    assert functional(claims, NOTHING) == functional(told(range(5)))


def test_what_held_is_told_for_any_instant() -> None:
    found = functional(told(range(5)))
    assert found.at(day("2022-02-28")) == ()
    assert found.at(day("2022-03-01")) == (TURKU,)
    assert found.at(day("2023-01-09")) == (TURKU,)
    assert found.at(day("2023-01-10")) == (OSLO,)
    assert found.at(day("2029-01-01")) == (BERGEN,)


@pytest.mark.parametrize(
    ("reliabilities", "expected"), [([0.7, 0.7], 0.91), ([0.7, 0.3], 0.79), ([], 0.0)]
)
def test_evidence_of_distinct_episodes_adds_up(
    reliabilities: Sequence[float], expected: float
) -> None:
    claims = [claim(OSLO, start, one) for start, one in enumerate(reliabilities)]
    assert evidence(claims) == pytest.approx(expected, abs=1e-12)
    again = [*claims, *(replace(one, start=one.start + 5) for one in claims)]
    assert evidence(again) == pytest.approx(expected, abs=1e-12)


def test_the_examples_of_adding_evidence() -> None:
    assert evidence([claim(OSLO, at, r) for at, r in enumerate((0.7, 0.7, 0.3))]) == (
        pytest.approx(0.937, abs=1e-12)
    )


def test_a_candidate_with_more_evidence_wins_from_its_first_word_on() -> None:
    weak = [claim(OSLO, 0), claim(PARIS, 2, 0.3)]
    assert functional(weak).candidates == (PARIS,)
    assert spells(functional(weak)) == [(OSLO, 0, OPEN)]
    assert spells(functional([*weak, claim(PARIS, 4, 0.3)])) == [(OSLO, 0, 2), (PARIS, 2, OPEN)]


def test_a_rumour_does_not_make_what_is_told_later_earlier() -> None:
    found = functional([claim(OSLO, 0, 0.3), claim(BERGEN, 2), claim(OSLO, 4)])
    assert spells(found) == [(BERGEN, 2, 4), (OSLO, 4, OPEN)]


def test_a_value_that_returns_holds_again() -> None:
    found = functional([claim(OSLO, 0), claim(OSLO, 1), claim(BERGEN, 2), claim(OSLO, 5)])
    assert spells(found) == [(OSLO, 0, 2), (BERGEN, 2, 5), (OSLO, 5, OPEN)]
    assert [spell.ended_by for spell in found.spells] == [BERGEN, OSLO, -1]


def test_a_stated_end_leaves_a_gap_and_the_next_still_comes_after() -> None:
    found = functional([claim(OSLO, 0, end=3), claim(BERGEN, 5)])
    assert spells(found) == [(OSLO, 0, 3), (BERGEN, 5, OPEN)]
    assert found.spells[0].ended_by == BERGEN
    assert found.at(4) == ()
    assert spells(functional([claim(OSLO, 0, end=3), claim(OSLO, 5)])) == [
        (OSLO, 0, 3),
        (OSLO, 5, OPEN),
    ]


def test_the_end_told_last_is_believed() -> None:
    assert spells(functional([claim(OSLO, 0, end=9), claim(OSLO, 1, end=4)])) == [(OSLO, 0, 4)]
    assert spells(functional([claim(OSLO, 0, end=9), claim(OSLO, 1)])) == [(OSLO, 0, 9)]


def test_of_ends_told_of_one_beginning_the_most_reliable_counts() -> None:
    ends = [claim(OSLO, 0, end=5, recorded_at=1), claim(OSLO, 0, 0.6, end=9, recorded_at=2)]
    assert spells(functional(ends)) == [(OSLO, 0, 5)]


def test_two_ways_to_write_a_value_hold_together() -> None:
    facts = [Proposition(object=0), Proposition(object=0), Proposition(object=1)]
    claims = [claim(0, 0), claim(1, 3), claim(2, 5)]
    found = timeline("functional", facts, claims, NOTHING)
    assert found.spells == (
        Spell(facts=(0, 1), start=0, end=5, ended_by=2),
        Spell(facts=(2,), start=5, end=OPEN),
    )


def test_values_kept_together_do_not_end_each_other() -> None:
    both = Rulings(together=frozenset({(OSLO, BERGEN)}))
    claims = [claim(OSLO, 0), claim(BERGEN, 2)]
    assert spells(functional(claims, both)) == [(OSLO, 0, OPEN), (BERGEN, 2, OPEN)]
    third = functional([*claims, claim(LUND, 4)], both)
    assert spells(third) == [(OSLO, 0, 4), (BERGEN, 2, 4), (LUND, 4, OPEN)]
    at_once = functional([claim(OSLO, 2), claim(BERGEN, 2, 0.7)], both)
    assert (spells(at_once), at_once.contested) == ([(OSLO, 2, OPEN), (BERGEN, 2, OPEN)], ())


def test_an_interval_that_was_set_replaces_what_was_claimed() -> None:
    claims = [claim(OSLO, 0), claim(BERGEN, 2), claim(BERGEN, 6)]
    moved = functional(claims, Rulings(intervals={BERGEN: (-5, -1)}))
    assert spells(moved) == [(BERGEN, -5, -1), (OSLO, 0, OPEN)]


def test_the_best_evidence_wins_where_nothing_can_change() -> None:
    claims = [claim(OSLO, 5, 0.7), claim(BERGEN, 0, 0.8), claim(OSLO, 7, 0.7)]
    found = timeline("immutable", PLACES, claims, NOTHING)
    assert spells(found) == [(OSLO, 5, OPEN)]
    assert found.contested == ((BERGEN, OSLO),)
    even = [claim(OSLO, 5, recorded_at=1), claim(BERGEN, 0, recorded_at=2)]
    assert spells(timeline("immutable", PLACES, even, NOTHING)) == [(BERGEN, 0, OPEN)]
    denied = [Proposition(object=0), Proposition(object=0, negated=True)]
    found = timeline("immutable", denied, [claim(0, 0), claim(1, 4)], NOTHING)
    assert (spells(found), found.contested) == ([(0, 0, OPEN)], ((1, 0),))


def test_values_of_many_stand_until_denied_and_come_back() -> None:
    likes = [Proposition(object=0), Proposition(object=1), Proposition(object=0, negated=True)]
    claims = [claim(0, 0), claim(1, 2), claim(2, 4), claim(0, 6)]
    found = timeline("multi", likes, claims, NOTHING)
    assert spells(found) == [(0, 0, 4), (1, 2, OPEN), (0, 6, OPEN)]
    assert found.spells[0].ended_by == 2
    assert timeline("multi", likes, claims[:2], NOTHING).at(9) == (0, 1)


def test_a_value_and_its_denial_at_once_are_contested() -> None:
    both = [Proposition(object=0), Proposition(object=0, negated=True)]
    for first, second, held in ((0.9, 0.7, (0,)), (0.7, 0.9, ())):
        found = timeline("multi", both, [claim(0, 3, first), claim(1, 3, second)], NOTHING)
        assert found.at(3) == held
        assert found.contested == (((1, 0),) if held else ((0, 1),))


def test_undoing_an_undo_lets_the_decision_count_again() -> None:
    assert in_force([-1]) == (True,)
    assert in_force([-1, 0]) == (False, True)
    assert in_force([-1, 0, 1]) == (True, False, True)
    assert in_force([-1, -1, 0, 2, 3]) == (False, True, True, False, True)
    assert in_force([]) == ()


SAID = [Proposition(object=fact // 2, negated=bool(fact % 2)) for fact in range(6)]


@st.composite
def some_claims(draw: st.DrawFn, dated: bool | None = None) -> list[TimedClaim]:
    claims = []
    for episode in range(draw(st.integers(0, 12))):
        start = 2 * draw(st.integers(0, 6))
        claims.append(
            TimedClaim(
                fact=draw(st.integers(0, 5)),
                episode=episode,
                start=start,
                end=draw(st.sampled_from([OPEN, OPEN, start + 2, start + 6])),
                dated=draw(st.booleans()) if dated is None else dated,
                recorded_at=draw(st.integers(0, 3)),
                reliability=draw(st.sampled_from([0.2, 0.3, 0.5, 0.7, 0.9])),
            )
        )
    return claims


KINDS = st.sampled_from(["functional", "immutable", "multi"])


@given(KINDS, some_claims(), st.randoms(use_true_random=False))
def test_the_order_of_claims_decides_nothing(
    kind: str, claims: list[TimedClaim], random: object
) -> None:
    shuffled = list(claims)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis hands out random.Random
    assert timeline(kind, SAID, shuffled, NOTHING) == timeline(kind, SAID, claims, NOTHING)


@given(KINDS, some_claims())
@example(
    "functional",
    [
        TimedClaim(fact=0, episode=0, start=0, recorded_at=0, reliability=0.2, end=2, dated=False),
        TimedClaim(fact=0, episode=1, start=2, recorded_at=0, reliability=0.5, dated=False),
    ],
)
def test_spells_are_sound(kind: str, claims: list[TimedClaim]) -> None:
    found = timeline(kind, SAID, claims, NOTHING)
    assert all(spell.start < spell.end for spell in found.spells)
    assert all(not SAID[fact].negated for spell in found.spells for fact in spell.facts)
    if kind == "functional":
        ends = [(spell.start, spell.end) for spell in found.spells]
        assert all(end <= start for (_, end), (start, _) in pairwise(ends))
    if kind == "immutable":
        assert len(found.spells) <= 1


@given(some_claims(), some_claims())
def test_values_of_many_know_nothing_of_each_other(
    claims: list[TimedClaim], others: list[TimedClaim]
) -> None:
    alone = [one for one in claims if SAID[one.fact].object == 0]
    beside = [*alone, *(one for one in others if SAID[one.fact].object)]
    mine = timeline("multi", SAID, alone, NOTHING).spells
    both = timeline("multi", SAID, beside, NOTHING).spells
    assert mine == tuple(spell for spell in both if SAID[spell.facts[0]].object == 0)


def value_at(words: Sequence[TimedClaim], instant: int) -> int | None:
    """Look back from an instant, by the words of the definition: the second way to tell."""
    voices = {at: one for at in range(instant + 1) if (one := voice(words, at))}
    if not voices:
        return None
    last = max(voices)
    value = SAID[voices[last].fact].object
    reign = [voices[last]]
    for at in sorted((at for at in voices if at < last), reverse=True):
        before = [one for one in words if one.start < reign[0].start]
        if SAID[voices[at].fact].object != value or value_at(before, reign[0].start) != value:
            break
        reign.insert(0, voices[at])
    end = reign[0].end
    for one in reign[1:]:
        end = one.end if one.end < OPEN else end
    denials = (
        one
        for one in words
        if SAID[one.fact] == Proposition(object=value, negated=True)
        and last < one.start <= instant
    )
    return None if any(denials) or instant >= end else value


def joined(claims: Sequence[TimedClaim]) -> list[TimedClaim]:
    """Sum up what is dated alike, by brute force, the better first; weak claims are dropped."""
    found = []
    for fact, start in {(one.fact, one.start) for one in claims}:
        group = [one for one in claims if (one.fact, one.start) == (fact, start)]
        doubt = math.prod(sorted(1 - one.reliability for one in group))
        ends = [(one.reliability, one.recorded_at, one.end) for one in group if one.end < OPEN]
        if 1 - doubt >= 0.5 - 1e-12:
            found.append(
                replace(
                    group[0],
                    end=max(ends)[2] if ends else OPEN,
                    reliability=round(1 - doubt, 12),
                    recorded_at=min(one.recorded_at for one in group),
                )
            )
    return sorted(found, key=lambda one: (-one.reliability, one.recorded_at, one.fact))


def voice(words: Sequence[TimedClaim], at: int) -> TimedClaim | None:
    """Name who is believed of those that speak of the same beginning."""
    denied = set()
    for one in words:
        if one.start == at:
            said = SAID[one.fact]
            if not said.negated and said.object not in denied:
                return one
            denied.add(said.object)
    return None


@given(some_claims(dated=True))
def test_a_second_way_to_tell_finds_the_same_values(claims: list[TimedClaim]) -> None:
    found = timeline("functional", SAID, claims, NOTHING)
    words = joined(claims)
    for instant in range(14):
        held = {SAID[fact].object for fact in found.at(instant)}
        assert held == ({value_at(words, instant)} - {None})
