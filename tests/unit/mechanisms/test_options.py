"""A wrong option is refused with the right ones named; a preset is a starting point."""

from dataclasses import fields

import pytest

from ecphoria.app import STRATEGIES
from ecphoria.errors import InvalidInput
from ecphoria.maths.spreading import SpreadOptions
from ecphoria.mechanisms.actr import ActrOptions
from ecphoria.mechanisms.base import WalkOptions, part_of
from ecphoria.mechanisms.synapse import Synapse, SynapseOptions
from ecphoria.recall.pipeline import parameters, resolve


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_every_option_is_documented_and_its_default_is_allowed(name: str) -> None:
    strategy = STRATEGIES[name]
    for option in parameters(strategy.options):
        assert option.doc.endswith("."), option.name
        given = resolve(strategy.options, strategy.presets, {option.name: option.default})
        assert getattr(given, option.name) == option.default
        if isinstance(option.default, float):
            assert option.low is not None
            assert option.high is not None


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_every_preset_is_within_bounds(name: str) -> None:
    strategy = STRATEGIES[name]
    for preset, values in strategy.presets.items():
        again = {field.name: getattr(values, field.name) for field in fields(values)}
        chosen = resolve(strategy.options, strategy.presets, {"preset": preset, **again})
        assert chosen == values


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_every_mechanism_can_be_off_and_is_on_somewhere(name: str) -> None:
    strategy = STRATEGIES[name]
    presets = [values for other in STRATEGIES.values() for values in other.presets.values()]
    for mechanism, off in strategy.mechanisms.items():
        without = resolve(strategy.options, strategy.presets, off)
        assert {option: getattr(without, option) for option in off} == off
        assert any(
            getattr(values, option, value) != value
            for values in presets
            for option, value in off.items()
        ), mechanism


def test_a_preset_is_changed_by_what_is_given() -> None:
    paper = resolve(Synapse.options, Synapse.presets, {"preset": "paper", "steps": 2})
    assert paper.firing == "literal"
    assert paper.steps == 2


def test_a_whole_number_serves_as_a_float_but_not_the_other_way() -> None:
    assert resolve(SynapseOptions, Synapse.presets, {"spread": 1}).spread == 1
    with pytest.raises(InvalidInput, match="int"):
        resolve(SynapseOptions, Synapse.presets, {"steps": 2.0})
    with pytest.raises(InvalidInput, match="int"):
        resolve(SynapseOptions, Synapse.presets, {"steps": True})


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"stepz": 1}, "it takes: preset, seeds, concept_seeds"),
        ({"preset": "best"}, "default, paper"),
        ({"firing": "loud"}, "linear, rebased, literal"),
        ({"steps": 7}, "between 1 and 6"),
        ({"spread": -0.1}, "between 0 and 1"),
        ({"spread": float("nan")}, "between 0 and 1"),
    ],
)
def test_what_is_wrong_is_named_with_what_is_right(
    given: dict[str, str | float], says: str
) -> None:
    with pytest.raises(InvalidInput, match=says):
        resolve(SynapseOptions, Synapse.presets, given)


def test_a_kernel_gets_the_options_of_its_names_and_what_is_added() -> None:
    options = SynapseOptions(spread=0.3, firing="rebased", seeds=7)
    kernel = part_of(SpreadOptions, options, scaled=False)
    assert kernel == SpreadOptions(spread=0.3, firing="rebased", scaled=False)


def test_the_kernel_spreads_by_itself_as_the_strategy_does() -> None:
    assert part_of(SpreadOptions, SynapseOptions(), scaled=True) == SpreadOptions()


def test_an_option_of_two_mechanisms_is_declared_once() -> None:
    (first,) = (each for each in parameters(WalkOptions) if each.name == "similar")
    for options in (SynapseOptions, ActrOptions):
        assert first in parameters(options)
