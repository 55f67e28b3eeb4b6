"""The scale of a tenant's evidence: what it takes from recalls, and what the gate makes of it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.records.tenant import (
    EVIDENCE,
    LEAST_RECALLS,
    SCALED,
    SCALED_NAMED,
    SCALED_OPEN,
    SCALED_UNREAD,
    SHIPPED,
    Scale,
    scale_of,
    shipped_confidence,
    shipped_gate,
    sums_of,
)

NOTHING = dict.fromkeys((*EVIDENCE, "names_one", "asks_when", "unread"), 0.0)
Figures = dict[str, float]


def figures(joint: float, top: float, gap: float) -> Figures:
    return {"joint": joint, "top_similarity": top, "gap": gap}


def told(found: Figures, without: Figures, spread: float = 0.1) -> Scale:
    """A scale of twenty recalls, half of them above their means and half below."""
    rows = [
        (
            {name: value + sign * spread for name, value in found.items()},
            {name: value + sign * spread for name, value in without.items()},
        )
        for sign in (-1, 1) * 10
    ]
    scale = scale_of(sums_of(rows))
    assert scale is not None
    return scale


CLEAR = told(figures(0.5, 0.7, 0.4), figures(0.2, 0.4, 0.1))
BLIND = told(figures(0.5, 0.7, 0.4), figures(0.5, 0.7, 0.4))


def test_a_scale_has_the_means_and_the_spread_of_both_kinds() -> None:
    assert CLEAR.recalls == 20
    assert CLEAR.found == pytest.approx(figures(0.5, 0.7, 0.4))
    assert CLEAR.without == pytest.approx(figures(0.2, 0.4, 0.1))
    assert CLEAR.spread == pytest.approx(dict.fromkeys(SCALED, 0.1))


@pytest.mark.parametrize("count", [0, 1, LEAST_RECALLS - 1])
def test_too_few_recalls_give_no_scale(count: int) -> None:
    row = (figures(0.5, 0.5, 0.5), figures(0.1, 0.1, 0.1))
    assert scale_of(sums_of([row] * count)) is None
    assert scale_of(sums_of([row] * LEAST_RECALLS)) is not None
    assert scale_of([]) is None


def test_the_same_figures_mean_more_in_a_store_where_they_tell_both_kinds_apart() -> None:
    good, poor = NOTHING | figures(0.5, 0.7, 0.4), NOTHING | figures(0.2, 0.4, 0.1)
    assert shipped_confidence(good, CLEAR) > 0.8
    assert shipped_confidence(poor, CLEAR) < SCALED_OPEN.threshold
    # Where the first hit is like any other, nobody can know.
    assert 0.4 < shipped_confidence(good, BLIND) < 0.55


def test_a_figure_that_says_nothing_in_this_store_hardly_counts() -> None:
    blind = told(figures(0.5, 0.7, 0.4), figures(0.2, 0.7, 0.1))
    near, far = (NOTHING | figures(0.35, top, 0.25) for top in (0.9, 0.5))
    gain = shipped_confidence(near, CLEAR) - shipped_confidence(far, CLEAR)
    assert shipped_confidence(near, blind) - shipped_confidence(far, blind) < gain / 3


SHARE = st.floats(0, 1)
FIGURES = st.builds(figures, SHARE, SHARE, SHARE)


@given(st.lists(st.tuples(FIGURES, FIGURES), min_size=LEAST_RECALLS, max_size=30), FIGURES, SHARE)
def test_any_recalls_give_a_bounded_confidence(
    rows: list[tuple[Figures, Figures]], asked: Figures, share: float
) -> None:
    """Ten equal cues, ten of which none has an answer, and every other history."""
    scale = scale_of(sums_of(rows))
    assert scale is not None
    evidence = NOTHING | asked | {"share": share - 0.5}
    for kind in ({}, {"unread": 1.0}, {"names_one": 1.0}):
        sure = shipped_confidence(evidence | kind, scale)
        assert math.isfinite(sure)
        assert 0 < sure < 1


@given(FIGURES, SHARE)
def test_more_evidence_is_never_less_sure(asked: Figures, more: float) -> None:
    for name in SCALED:
        better = asked | {name: min(1.0, asked[name] + more)}
        for kind in ({}, {"unread": 1.0}, {"names_one": 1.0}):
            low, high = (NOTHING | one | kind for one in (asked, better))
            assert shipped_confidence(low, CLEAR) <= shipped_confidence(high, CLEAR)


def test_a_store_asked_only_what_it_does_not_hold_still_accepts_an_answer() -> None:
    """Of a hundred such cues the first hit hardly stands out, so the gate stays near one half."""
    poor = told(figures(0.15, 0.4, 0.2), figures(0.11, 0.36, 0.14))
    assert shipped_confidence(NOTHING | figures(0.6, 0.7, 0.4), poor) > 0.5
    assert shipped_confidence(NOTHING | figures(0.15, 0.4, 0.2), poor) < 0.55


def test_a_name_is_judged_by_who_said_it_and_by_what_was_found() -> None:
    found = NOTHING | figures(0.5, 0.7, 0.4) | {"names_one": 1.0}
    right, wrong = found | {"share": 0.5}, found | {"share": -0.4, "unsaid": 0.7}
    nothing = NOTHING | {"share": 0.5, "names_one": 1.0}
    assert shipped_confidence(right, CLEAR) > 0.8
    assert shipped_confidence(wrong, CLEAR) < SCALED_NAMED.threshold
    assert shipped_confidence(nothing, CLEAR) < SHIPPED.sure(nothing)


def test_the_gate_follows_the_cue() -> None:
    assert shipped_gate(NOTHING, CLEAR) is SCALED_OPEN
    assert shipped_gate(NOTHING | {"unread": 1.0}, CLEAR) is SCALED_UNREAD
    assert shipped_gate(NOTHING | {"names_one": 1.0}, CLEAR) is SCALED_NAMED
