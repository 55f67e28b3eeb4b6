"""The objective of the tuner, and the ranges it looks in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.mechanisms.synaptic import Synaptic
from ecphoria.recall.pipeline import parameters, resolve
from ecphoria_eval.tuning import EXCESS, RANGES, objective

NAMES = st.sets(st.sampled_from("abcdefgh"))


@given(NAMES, NAMES.filter(bool))
def test_the_objective_is_the_paper_s(fired: set[str], gold: set[str]) -> None:
    """Appendix B.2, term by term."""
    lacking = 0.0
    if len(gold) > len(fired & gold):
        lacking = (len(gold) - len(fired & gold)) / len(gold)
    assert objective(fired, gold) == pytest.approx(-(lacking + 0.15 * len(fired) / len(gold)))
    assert objective(fired, gold) <= objective(gold, gold) == pytest.approx(-EXCESS)


@given(st.lists(st.floats(0, 1), min_size=9, max_size=9))
def test_every_setting_is_one_that_the_strategy_takes(shares: list[float]) -> None:
    values = {name: RANGES[name].at(share) for name, share in zip(RANGES, shares, strict=True)}
    options = resolve(Synaptic.options, Synaptic.presets, values)
    assert {name: getattr(options, name) for name in RANGES} == values


def test_there_are_nine_and_each_is_an_option() -> None:
    assert len(RANGES) == 9
    assert RANGES.keys() <= {one.name for one in parameters(Synaptic.options)}
