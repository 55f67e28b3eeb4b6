"""A tenant's choice of strategy, and a second one that is tried beside it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ecphoria.model.recall import OptionValue

__all__ = ["Choice", "Comparison", "Policy", "Shadow", "ShadowReport"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A strategy with its options; `preset` is one of them."""

    strategy: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shadow:
    """What runs beside the live strategy.

    Attributes:
        share: Of the cues, 0 to 1; a cue is always in it or never.
    """

    choice: Choice
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How a tenant's recalls run that name no strategy.

    Attributes:
        promoted: Strategies that were promoted, the latest last and in force; the service's
            default if there is none.
    """

    shadow: Shadow | None = None
    promoted: tuple[Choice, ...] = ()

    @property
    def live(self) -> Choice | None:
        """What was promoted last; None means the service's default."""
        return self.promoted[-1] if self.promoted else None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowReport:
    """What a shadow's comparisons add up to; means are over the newest, None without any.

    Attributes:
        compared: Recalls compared since the shadow was set or the report was reset.
        dropped: Recalls in the sample that found the queue full.
        failed: Recalls in the sample on which the shadow failed or took too long.
        window: Comparisons behind the figures below.
        overlap, rank_overlap, rank_difference: Means.
        same_first, same_verdict: Shares.
    """

    compared: int = 0
    dropped: int = 0
    failed: int = 0
    window: int = 0
    overlap: float | None = None
    rank_overlap: float | None = None
    rank_difference: float | None = None
    same_first: float | None = None
    same_verdict: float | None = None
    live_p50_ms: float | None = None
    live_p95_ms: float | None = None
    shadow_p50_ms: float | None = None
    shadow_p95_ms: float | None = None
    live_tokens: float | None = None
    shadow_tokens: float | None = None
