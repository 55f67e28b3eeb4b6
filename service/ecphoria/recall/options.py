"""Options of strategies: declared once with bounds, unit and source, and checked."""

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, TypeVar

from ecphoria.errors import InvalidInput
from ecphoria.records.recall import OptionValue

Options = TypeVar("Options")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One option of a strategy, as documented to users.

    Attributes:
        low, high: Inclusive bounds of a number.
        choices: Allowed words.
        unit: What the number counts.
        source: Where the default comes from.
    """

    name: str
    default: OptionValue
    doc: str
    unit: str
    source: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()


def parameter(
    default: OptionValue,
    doc: str,
    *,
    unit: str = "",
    source: str = "",
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """Declare an option as a dataclass field."""
    return field(
        default=default,
        metadata={
            "doc": doc,
            "unit": unit,
            "source": source,
            "low": low,
            "high": high,
            "choices": choices,
        },
    )


def parameters(options: type[Any]) -> tuple[Parameter, ...]:
    """List the options a strategy takes."""
    return tuple(_described(declared) for declared in fields(options))


def resolve(
    options: type[Options],
    presets: Mapping[str, Options],
    given: Mapping[str, OptionValue],
) -> Options:
    """Start from a preset, apply the given values, check all of them.

    Raises:
        InvalidInput: An unknown preset or option, a wrong type, or a value out of bounds.
    """
    given = dict(given)
    preset = given.pop("preset", "default")
    if preset not in presets:
        known = ", ".join(sorted(presets))
        raise InvalidInput(f"there is no preset `{preset}`; choose from: {known}", field="options")
    declared = {one.name: one for one in parameters(options)}
    for name, value in given.items():
        if name not in declared:
            known = ", ".join(["preset", *declared])
            raise InvalidInput(
                f"this strategy has no option `{name}`; it takes: {known}", field="options"
            )
        _check(declared[name], value)
    base = presets[str(preset)]
    values = {name: given.get(name, getattr(base, name)) for name in declared}
    return options(**values)


def _described(declared: Field[Any]) -> Parameter:
    assert declared.default is not MISSING, "every option has a default"
    return Parameter(name=declared.name, default=declared.default, **declared.metadata)


def _check(option: Parameter, value: OptionValue) -> None:
    expected = type(option.default)
    fits = type(value) is expected or (expected is float and type(value) is int)
    if not fits:
        raise InvalidInput(f"`options.{option.name}` must be {expected.__name__}", field="options")
    if option.choices and value not in option.choices:
        raise InvalidInput(
            f"`options.{option.name}` must be one of: {', '.join(option.choices)}", field="options"
        )
    if isinstance(value, str | bool):
        return
    low, high = option.low, option.high
    if (low is not None and not value >= low) or (high is not None and not value <= high):
        raise InvalidInput(
            f"`options.{option.name}` must lie between {low} and {high}", field="options"
        )
