"""Traces of recalls on memories: uses, links, spikes and charges."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from ecphoria.records.answered import answered
from ecphoria.records.ids import EpisodeId

USED_HITS = 5
"""First hits of a recall that count as used: they are learned from, and woken if dormant."""
# S grows by each use, more if the memory had nearly been forgotten: spaced use counts more
# (docs/howto/learning.md).
FIRST_STABILITY = 30.0
"""S_0, days until a memory that was never recalled can be called back with 1/e."""
DAY_MS = 86_400_000.0
"""Milliseconds of a day; the times of uses are milliseconds since 1970."""
RECENT = 8
"""Uses whose instants are kept; older ones count as spread evenly."""


class TauRule(StrEnum):
    """Change of a memory's time constant by a spike."""

    SPACED = "spaced"
    """It grows with the gap since the last spike, up to a bound."""
    PRINTED = "printed"
    """SynapticRAG, Eq. 18: by nearly 1 at every spike."""
    FROZEN = "frozen"
    """Every memory keeps that of a new one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stimulation:
    """The stimuli that a recall gave to memories, and the parameters of charging and firing.

    Attributes:
        turn: The cue's: one after the tenant's latest.
        stimuli: Above 0, by memory.
        threshold: Potential at which one fires.
        tau: Time constant of one never stimulated, in turns.
        tau_scale, turn_scale: Factors on time constants and on turns passed.
        potential, current: What one is reset to.
        rest_drives: Whether that also drives a memory that is left alone.
        over_tau: Whether a stimulus raises the current by itself / tau, as printed.
        tau_rule: How a spike changes the time constant.
    """

    turn: int
    stimuli: Mapping[EpisodeId, float]
    threshold: float
    tau: float
    tau_scale: float
    turn_scale: float
    potential: float
    current: float
    rest_drives: bool = False
    over_tau: bool = False
    tau_rule: str = TauRule.SPACED


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """The usage of a memory; instants are epoch milliseconds.

    Being made is the first use, at the instant the memory is of.

    Attributes:
        recent_ms: The latest instants, ascending, at most `RECENT`.
        count: All uses.
        stability: S in days, as it was at `stability_ms`, the latest use.
        working, lasting: r1 and r2 of the memory chain, as they were at `chain_ms`.
        recalls: Recalls it took part in.
        salience: Importance as feedback moved it; None for as its author gave it.
        trust_change: What feedback added to its reliability, or took away.
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
    trust_change: float = 0.0

    @classmethod
    def fresh(
        cls, occurred_ms: int, *, salience: float | None = None, trust_change: float = 0.0
    ) -> "Use":
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
            trust_change=trust_change,
        )


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackResult:
    """The state of a memory after feedback."""

    episode: EpisodeId
    """Its id."""
    useful: bool
    """The judgement in this recall."""
    reliability: float
    """Reliability, 0 to 1: by the role of its speaker and by feedback."""
    salience: float
    """Salience, 0 to 1: its importance, moved by feedback."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A learned association between two memories that were recalled together.

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
    def fresh(cls, own: int, *, tau: float) -> "Charge":
        """Begin the train of a memory that was never stimulated, at its own turn."""
        return cls(turns=(own,), strengths=(1.0,), tau=tau, potential=0.0, current=0.0, turn=own)
