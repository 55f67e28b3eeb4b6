"""Links by recall: the worked numbers, the rule against hubs, the budget."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.learning.effects import Participation, participation, update_links, used
from ecphoria.records.history import Link, Use
from ecphoria.records.ids import EpisodeId

DAY = 86_400_000
A, B, C = EpisodeId("a"), EpisodeId("b"), EpisodeId("c")


def part(share: float, recalls: int = 4) -> Participation:
    return Participation(share=share, recalls=recalls)


def link(**changed: object) -> Link:
    return Link(**{"one": A, "other": B, **changed})  # type: ignore[arg-type]  # named in each test


def test_a_pair_below_the_rule_is_counted_only() -> None:
    parts = {A: part(1.0, 2), B: part(1.0, 2)}
    (after,) = update_links([link(coactivations=1, used_ms=0)], parts, total=50, at_ms=DAY)
    assert after == link(coactivations=2, used_ms=DAY)


@pytest.mark.parametrize(
    ("counts", "grows"), [((10, 8, 4, 50), True), ((50, 8, 8, 50), False), ((4, 4, 2, 50), False)]
)
def test_a_pair_grows_when_it_is_together_more_than_by_chance(
    counts: tuple[int, int, int, int], *, grows: bool
) -> None:
    one, other, joint, total = counts
    parts = {A: part(1.0, one), B: part(1.0, other)}
    (after,) = update_links([link(coactivations=joint - 1)], parts, total=total, at_ms=0)
    assert (after.learned > 0) is grows
    assert after.coactivations == joint


def test_the_worked_increments() -> None:
    before = [link(learned=0.2, coactivations=9, used_ms=0)]
    fresh, stale = (
        update_links(before, {A: part(one, 10), B: part(other, 10)}, total=50, at_ms=0)[0]
        for one, other in ((0.9, 0.8 * 0.8), (0.05, 0.8 * 0.04))
    )
    assert fresh.learned == pytest.approx(0.24608, abs=1e-9)
    assert stale.learned == pytest.approx(0.2 + 0.000128, abs=1e-9)


def test_a_part_is_the_relative_score_times_retrievability() -> None:
    recalled = np.array([0.9, 0.8, 0.7])
    assert participation([2.0, 1.6, -1.0], recalled).tolist() == pytest.approx([0.9, 0.64, 0.0])
    assert participation([0.0, -1.0, 0.0], recalled).tolist() == [0.0, 0.0, 0.0]


def test_a_link_fades_to_now_also_where_it_does_not_grow() -> None:
    before = [link(learned=0.8, coactivations=1, used_ms=0)]
    (after,) = update_links(before, {A: part(1.0), B: part(1.0)}, total=4, at_ms=30 * DAY)
    assert after.learned == pytest.approx(0.8 * 0.503185, abs=5e-7)
    assert after.used_ms == 30 * DAY


def test_a_late_recall_neither_fades_nor_turns_back() -> None:
    before = [link(learned=0.8, coactivations=1, used_ms=9 * DAY)]
    (after,) = update_links(before, {A: part(1.0), B: part(1.0)}, total=4, at_ms=DAY)
    assert (after.learned, after.used_ms, after.coactivations) == (0.8, 9 * DAY, 2)


def test_one_memory_alone_has_no_pair() -> None:
    assert update_links([link(learned=0.5)], {A: part(1.0)}, total=9, at_ms=0) == ()


def test_what_a_memory_holds_stays_within_its_budget() -> None:
    far = [
        Link(one=A, other=EpisodeId(f"x{n}"), learned=0.9, coactivations=5, used_ms=0)
        for n in range(6)
    ]
    changed = update_links(far, {A: part(1.0), B: part(1.0)}, total=9, at_ms=0)
    after = {(one.one, one.other): one for one in far} | {
        (one.one, one.other): one for one in changed
    }
    held = sum(one.learned for one in after.values())
    assert held == pytest.approx(5.0)
    again = update_links(list(after.values()), {A: part(0.0), C: part(0.0)}, total=9, at_ms=0)
    assert [one for one in again if one.learned] == [], "a second pass scales nothing"


@given(st.lists(st.floats(0, 1), min_size=2, max_size=2), st.integers(1, 400))
def test_a_link_never_reaches_1(shares: list[float], times: int) -> None:
    now = link(coactivations=3)
    for _ in range(times):
        parts = {A: part(shares[0], 500), B: part(shares[1], 500)}
        (now,) = update_links([now], parts, total=10**6, at_ms=0)
    assert 0 <= now.learned < 1
    assert now.coactivations == 3 + times


@given(st.floats(0, 1), st.floats(0, 1))
def test_it_does_not_matter_who_is_named_first(one: float, other: float) -> None:
    before = [link(learned=0.1, coactivations=5, used_ms=0)]
    first, second = (
        update_links(before, {A: part(a, 6), B: part(b, 6)}, total=20, at_ms=0)
        for a, b in ((one, other), (other, one))
    )
    assert first[0].learned == pytest.approx(second[0].learned, abs=1e-15)


def test_a_hub_among_topics_is_linked_to_nothing() -> None:
    """Each recall wakes a hub and four memories of one of five topics."""
    hub = EpisodeId("hub")
    links: dict[tuple[str, str], Link] = {}
    recalls: dict[EpisodeId, int] = {}
    for number in range(1, 101):
        topic = [EpisodeId(f"{number % 5}.{place}") for place in range(5)]
        woken = [hub, *topic[: number // 5 % 5], *topic[number // 5 % 5 + 1 :]]
        recalls |= {one: recalls.get(one, 0) + 1 for one in woken}
        for one in update_links(
            list(links.values()),
            {one: part(1.0, recalls[one]) for one in woken},
            total=number,
            at_ms=number,
        ):
            links[one.one, one.other] = one
    learned = {pair for pair, one in links.items() if one.learned > 0}
    inside = {
        pair
        for topic in range(5)
        for pair in combinations(sorted(f"{topic}.{place}" for place in range(5)), 2)
    }
    assert learned == inside


def test_a_use_after_an_hour_is_worth_less_than_one_after_a_week() -> None:
    week, hour = (used([Use.fresh(0)], at)[0].stability for at in (7 * DAY, DAY // 24))
    assert week == pytest.approx(39.364970, abs=5e-6)
    assert hour < 30.1
