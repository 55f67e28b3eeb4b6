"""The description of a strategy, and its comparison with another one."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One answer beside that of the shadow.

    Attributes:
        overlap: Share of the k hits that both have.
        rank_overlap: Rank-biased overlap of the hits, p = .9.
        rank_difference: Mean absolute difference in rank of shared hits; None without any.
        live_ms, shadow_ms: Time of each without the encoder.
        live_tokens, shadow_tokens: Size of each context.
    """

    overlap: float
    rank_overlap: float
    same_first: bool
    same_verdict: bool
    rank_difference: float | None
    live_ms: float
    shadow_ms: float
    live_tokens: int
    shadow_tokens: int


@answered("compared", "dropped", "failed", "window")
@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowReport:
    """Statistics of a shadow's comparisons; means are over the newest ones, None without any."""

    compared: int = 0
    """Recalls compared since the trial began or the service started."""
    dropped: int = 0
    """Recalls of the sample left out, because too many waited."""
    failed: int = 0
    """Recalls of the sample on which the shadow failed or took longer than 10 s."""
    window: int = 0
    """Comparisons behind the figures, at most 1,000."""
    overlap: float | None = None
    """Mean share of the k hits that both have; absent, as all that follow, without any."""
    rank_overlap: float | None = None
    """Mean rank-biased overlap at p = .9: agreement that counts the first ranks most."""
    rank_difference: float | None = None
    """Mean number of places between the ranks of a shared hit."""
    same_first: float | None = None
    """Share of recalls with the same first hit."""
    same_verdict: float | None = None
    """Share of recalls with the same verdict."""
    live_p50_ms: float | None = None
    """Median time of the live strategy, without the encoder."""
    live_p95_ms: float | None = None
    """Its 95th percentile."""
    shadow_p50_ms: float | None = None
    """Median time of the shadow, without the encoder."""
    shadow_p95_ms: float | None = None
    """Its 95th percentile."""
    live_tokens: float | None = None
    """Mean size of the live context."""
    shadow_tokens: float | None = None
    """Mean size of the shadow's context."""
