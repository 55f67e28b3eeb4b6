"""The description of a strategy."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ecphoria.records.answered import answered
from ecphoria.records.recall import OptionValue

Mechanisms = Mapping[str, Mapping[str, OptionValue]]
"""Parts of a strategy by name, each with the options that switch it off."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of a strategy."""

    name: str
    """Its key in `options`."""
    default: OptionValue
    """Its value if not sent; also tells its type."""
    doc: str
    """Effect of the option."""
    unit: str
    """Unit of a number."""
    source: str
    """Source of the default."""
    low: float | None = None
    """Least value allowed."""
    high: float | None = None
    """Greatest value allowed."""
    choices: tuple[str, ...] = ()
    """The words allowed."""


@answered("mechanisms")
@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyInfo:
    """A recall mechanism."""

    name: str
    """The name to send as `strategy`."""
    doc: str
    """Description, with the source."""
    presets: tuple[str, ...]
    """Values of the option `preset`, each a set of defaults."""
    parameters: tuple[Parameter, ...]
    """The options it takes."""
    mechanisms: Mechanisms = field(default_factory=dict)
    """Its parts by name, each with the options that switch it off."""
