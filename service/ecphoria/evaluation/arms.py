"""What is measured: strategies by name, and the default with one mechanism off at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ecphoria.errors import UnknownStrategy
from ecphoria.model.recall import OptionValue
from ecphoria.wire.administration import OptionAnswer, StrategyAnswer

__all__ = ["NAMES", "WITHOUT", "Arm", "ablations", "chosen"]

NAMES = (
    "dense", "lexical", "fusion", "ppr", "ecphoria", "synapse", "cls", "actr", "synaptic",
    "ecphory",
)  # fmt: skip
"""Strategies measured if none is named, as far as the service has them."""

WITHOUT = "without:"
_PREFIXES = ("w_", "next_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """A strategy with options, under the name it has in the report."""

    name: str
    strategy: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)


def chosen(known: Sequence[StrategyAnswer], wanted: Sequence[str]) -> list[Arm]:
    """Take the strategies wanted, or all that the service has of `NAMES`.

    Raises:
        UnknownStrategy: The service has none of this name.
    """
    there = {one.name for one in known}
    for name in wanted:
        if name not in there:
            raise UnknownStrategy(
                f"The service has no strategy `{name}`; it has: {', '.join(sorted(there))}."
            )
    names = list(dict.fromkeys(wanted)) or [name for name in NAMES if name in there]
    return [Arm(name=name, strategy=name) for name in names]


def ablations(known: Sequence[StrategyAnswer]) -> list[Arm]:
    """Switch off each mechanism of the default, one at a time; and add plain fusion.

    A mechanism is an option that is on by default and can be off: a weight, or a switch.
    """
    default = known[0]
    arms = [
        Arm(
            name=WITHOUT + _spoken(option.name),
            strategy=default.name,
            options={option.name: False if isinstance(option.default, bool) else 0.0},
        )
        for option in default.parameters
        if _is_mechanism(option)
    ]
    if any(one.name == "fusion" for one in known):
        arms.append(Arm(name="fusion", strategy="fusion"))
    return arms


def _is_mechanism(option: OptionAnswer) -> bool:
    if isinstance(option.default, bool):
        return option.default
    return option.name.startswith("w_") and option.low == 0.0 and bool(option.default)


def _spoken(option: str) -> str:
    for prefix in _PREFIXES:
        option = option.removeprefix(prefix)
    return option
