"""What recalls leave on memories, where a tenant lets them learn."""

from dataclasses import dataclass

__all__ = ["FIRST_STABILITY", "RECENT", "Learning", "Use"]

FIRST_STABILITY = 30.0
"""S_0, days until a memory that was never recalled can be called back with 1/e."""
RECENT = 8
"""Uses whose instants are kept; older ones count as spread evenly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """Whether a tenant learns from its recalls.

    Attributes:
        recalls: Recalls it learned from.
        pending: Recalls whose effects are still to come.
    """

    on: bool
    recalls: int
    pending: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """How a memory was used; instants are epoch milliseconds.

    Being made is the first use, at the instant the memory is of.

    Attributes:
        recent_ms: The latest instants, ascending, at most `RECENT`.
        count: All uses.
        stability: S in days, as it was at `stability_ms`, the latest use.
        working, lasting: r1 and r2 of the memory chain, as they were at `chain_ms`.
        recalls: Recalls it took part in.
    """

    recent_ms: tuple[int, ...]
    count: int
    first_ms: int
    stability: float
    stability_ms: int
    working: float
    lasting: float
    chain_ms: int
    recalls: int

    @classmethod
    def fresh(cls, occurred_ms: int) -> "Use":
        """Begin the history of a memory that was never recalled."""
        return cls(
            recent_ms=(occurred_ms,),
            count=1,
            first_ms=occurred_ms,
            stability=FIRST_STABILITY,
            stability_ms=occurred_ms,
            working=1.0,
            lasting=0.0,
            chain_ms=occurred_ms,
            recalls=0,
        )
