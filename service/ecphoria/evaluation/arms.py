"""What is measured: strategies by name, and the default with one mechanism off at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ecphoria.errors import InvalidInput, UnknownStrategy
from ecphoria.model.recall import OptionValue
from ecphoria.wire.administration import OptionAnswer, StrategyAnswer

__all__ = ["NAMES", "UNCONSOLIDATED", "WITHOUT", "Arm", "ablations", "chosen", "unconsolidated"]

NAMES = (
    "dense", "lexical", "fusion", "ppr", "ecphoria", "synapse", "cls", "actr", "synaptic",
    "ecphory",
)  # fmt: skip
"""Strategies measured if none is named, as far as the service has them."""

WITHOUT = "without:"
UNCONSOLIDATED = WITHOUT + "consolidation"
_PREFIXES = ("w_", "next_")
_TOGETHER: Mapping[str, tuple[str, ...]] = {
    "next edges": ("next_spreading", "w_ctx"),
    "meaning": ("w_sem", "w_ctx"),
    "turn priors": ("w_length", "w_question", "w_when"),
}
"""Mechanisms of the default that serve one purpose, also switched off at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """A strategy with options, under the name it has in the report."""

    name: str
    strategy: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)


def chosen(known: Sequence[StrategyAnswer], wanted: Sequence[str]) -> list[Arm]:
    """Take the strategies wanted, or all that the service has of `NAMES`.

    Args:
        known: What the service has.
        wanted: Each a strategy's name, perhaps with options: `cls:preset=paper,base=fusion`.

    Raises:
        UnknownStrategy: The service has none of this name.
        InvalidInput: What follows the name are no options.
    """
    there = {one.name: one for one in known}
    names = list(dict.fromkeys(wanted)) or [name for name in NAMES if name in there]
    return [_arm(there, name) for name in names]


def _arm(there: Mapping[str, StrategyAnswer], wanted: str) -> Arm:
    name, _, given = wanted.partition(":")
    if name not in there:
        raise UnknownStrategy(
            f"The service has no strategy `{name}`; it has: {', '.join(sorted(there))}."
        )
    types = {option.name: type(option.default) for option in there[name].parameters}
    options: dict[str, OptionValue] = {}
    for part in given.split(",") if given else ():
        option, equals, value = part.partition("=")
        if not equals:
            raise InvalidInput(
                f"`{part}` is no option; write {name}:OPTION=VALUE,OPTION=VALUE.", field="strategy"
            )
        options[option] = _read(value, types.get(option, str))
    return Arm(name=wanted, strategy=name, options=options)


def _read(value: str, wanted: type[str | int | float | bool]) -> OptionValue:
    """Read a value as its option's type; the service refuses what does not fit."""
    if wanted is bool:
        return {"true": True, "false": False}.get(value.lower(), value)
    try:
        return wanted(value)
    except ValueError:
        return value


def ablations(known: Sequence[StrategyAnswer]) -> list[Arm]:
    """Switch off each mechanism of the default, one at a time and some together; add fusion.

    A mechanism is an option that is on by default and can be off: a share, or a switch.
    """
    default = known[0]
    off: dict[str, OptionValue] = {
        option.name: False if isinstance(option.default, bool) else 0.0
        for option in default.parameters
        if _is_mechanism(option)
    }
    groups = {_spoken(name): (name,) for name in off} | {
        spoken: names for spoken, names in _TOGETHER.items() if off.keys() >= set(names)
    }
    arms = [
        Arm(
            name=WITHOUT + spoken,
            strategy=default.name,
            options={name: off[name] for name in names},
        )
        for spoken, names in groups.items()
    ]
    if any(one.name == "fusion" for one in known):
        arms.append(Arm(name="fusion", strategy="fusion"))
    return arms


def unconsolidated(default: str) -> Arm:
    """Name the default as it is before the memory was consolidated."""
    return Arm(name=UNCONSOLIDATED, strategy=default)


def _is_mechanism(option: OptionAnswer) -> bool:
    if isinstance(option.default, bool):
        return option.default
    return isinstance(option.default, float) and option.low == 0.0 and option.default > 0.0


def _spoken(option: str) -> str:
    for prefix in _PREFIXES:
        option = option.removeprefix(prefix)
    return option
