"""What recalls leave on memories, where a tenant lets them learn."""

from dataclasses import dataclass

from ecphoria.model.ids import EpisodeId

__all__ = ["FIRST_STABILITY", "RECENT", "Charge", "Learning", "Link", "Regard", "Use"]

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
        salience: Importance as feedback moved it; None for as its author gave it.
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
    salience: float | None = None

    @classmethod
    def fresh(cls, occurred_ms: int, *, salience: float | None = None) -> "Use":
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
            salience=salience,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Regard:
    """What feedback made of a memory.

    Attributes:
        useful: How the hit was judged.
        reliability: Whether to believe it, 0 to 1: its source, and how it proved.
        salience: Whether it matters, 0 to 1: its importance, moved by every judgement.
    """

    episode: EpisodeId
    useful: bool
    reliability: float
    salience: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """What two memories have learned of each other by being recalled together.

    Attributes:
        one, other: The smaller id first.
        learned: The learned part of the edge's weight, as it was at `used_ms`.
        coactivations: Recalls both took part in.
        used_ms: The latest of those, in epoch milliseconds; None if there was none.
    """

    one: EpisodeId
    other: EpisodeId
    learned: float = 0.0
    coactivations: int = 0
    used_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """A memory's spike train, and the potential left in it; time is counted in turns.

    Attributes:
        turns, strengths: The latest spikes, ascending, at most 16; its own turn is the first.
        tau: Time constant.
        potential, current: V and I as they were at `turn`.
    """

    turns: tuple[int, ...]
    strengths: tuple[float, ...]
    tau: float
    potential: float
    current: float
    turn: int

    @classmethod
    def fresh(cls, own: int, *, tau: float, potential: float, current: float) -> "Charge":
        """Begin the train of a memory that was never stimulated, at its own turn."""
        return cls(
            turns=(own,),
            strengths=(1.0,),
            tau=tau,
            potential=potential,
            current=current,
            turn=own,
        )
