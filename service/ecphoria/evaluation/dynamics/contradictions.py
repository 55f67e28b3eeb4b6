"""Whether what is over stands above what holds; `ecphoria eval facts` tells more of the same."""

from dataclasses import dataclass
from typing import ClassVar

from ecphoria.evaluation.dynamics.ground import Ground
from ecphoria.evaluation.facts import measure_facts

__all__ = ["Contradictions", "contradictions"]

_KEYS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradictions:
    """What a stream of changing facts gave.

    Attributes:
        facts: Facts stored, with those that never change.
        stale_hit_rate: Share of questions where a value that was over stood above the present one.
        unrelated_retired: Facts that hold and are said not to.
    """

    facts: int
    stale_hit_rate: float
    unrelated_retired: int

    bound: ClassVar[str] = "at most 2 % stale; nothing unrelated retired"

    @property
    def holds(self) -> bool:
        """Whether the present outranks the past and nothing else is touched."""
        return self.stale_hit_rate <= 0.02 and self.unrelated_retired == 0


async def contradictions(ground: Ground) -> Contradictions:
    """Send a stream of facts that change, among distractors, and ask what holds."""
    found = await measure_facts(
        ground.connect, _unwatched, name=f"{ground.name}-facts", keys=_KEYS, seed=ground.seed
    )
    return Contradictions(
        facts=found.facts,
        stale_hit_rate=found.stated.stale,
        unrelated_retired=found.unrelated_retired,
    )


def _unwatched(_stage: str, _done: int, _total: int) -> None:
    """Tell nobody; the tasks are what is counted."""
