"""Generated tasks: forgetting curves and contradictions.

One memory a day is appended with its own date; the cycle then puts to sleep what can hardly be
called back. By `R = exp(-age / S)` a memory that was never recalled is below .01 after S ln 100
days, so the share asleep is known beforehand. Source: Ebbinghaus, by NeuromemoryAI.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import log
from typing import ClassVar

import numpy as np

from ecphoria.maths.retention import grow, retrievability
from ecphoria.records.episode import NewEpisode
from ecphoria_eval.dynamics.ground import Ground, axis, remember
from ecphoria_eval.facts import measure_facts

_DAYS, _STABILITY, _THRESHOLD = 200, 30.0, 0.01
_USES, _MINUTE = 4, 1 / 1_440


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """The measured figures.

    Attributes:
        asleep: Share of the memories that fell asleep.
        max_abs_error: Its distance from the analytic share.
        oldest_first: Whether it was the oldest, and no other, that did.
        spaced_beats_massed: Whether uses far apart make a memory more stable than as many at once.
    """

    asleep: float
    max_abs_error: float
    oldest_first: bool
    spaced_beats_massed: bool

    bound: ClassVar[str] = "asleep as the curve says, to a memory; spaced use counts more"

    @property
    def holds(self) -> bool:
        """Tell whether memories fade as the curve says."""
        return self.max_abs_error < 1 / _DAYS and self.oldest_first and self.spaced_beats_massed


async def forgetting(ground: Ground) -> Forgetting:
    """Append a memory for each of many days, and let the faded ones sleep."""
    noon = datetime.now(UTC) - timedelta(hours=12)
    async with ground.tenant("forgetting") as client:
        await client.settings.change(dormancy={"mode": "threshold", "quiet_days": 0.0})
        ids = await remember(
            client,
            [
                NewEpisode(
                    text=f"What happened {age} days ago.",
                    occurred_at=noon - timedelta(days=age),
                    vector=tuple(axis(age, ground.dimension)),
                )
                for age in range(_DAYS)
            ],
        )
        await client.consolidate(steps=["dormancy"])
        asleep = [sleeper.id async for sleeper in client.archive.dormant()]
    # A memory of `age` days is half a day older than that.
    analytic = sum(age + 0.5 > -_STABILITY * log(_THRESHOLD) for age in range(_DAYS)) / _DAYS
    return Forgetting(
        asleep=len(asleep) / _DAYS,
        max_abs_error=abs(len(asleep) / _DAYS - analytic),
        oldest_first=set(asleep) == set(ids[_DAYS - len(asleep) :]),
        spaced_beats_massed=spaced_beats_massed(),
    )


def spaced_beats_massed() -> bool:
    """Compare the stability after uses a stability apart with that after uses a minute apart."""
    stability = np.ones(2)
    for _ in range(_USES):
        since = np.array([stability[0], _MINUTE])
        stability = grow(stability, retrievability(since, stability))
    return bool(stability[0] > stability[1])


_KEYS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradictions:
    """The figures of a stream of changing facts.

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
        """Tell whether current facts outrank outdated ones and nothing else changed."""
        return self.stale_hit_rate <= 0.02 and self.unrelated_retired == 0


async def contradictions(ground: Ground) -> Contradictions:
    """Send a stream of changing facts among distractors, and ask for the current ones."""
    found = await measure_facts(
        ground.connect, _unwatched, name=f"{ground.name}-facts", keys=_KEYS, seed=ground.seed
    )
    return Contradictions(
        facts=found.facts,
        stale_hit_rate=found.stated.stale,
        unrelated_retired=found.unrelated_retired,
    )


def _unwatched(_stage: str, _done: int, _total: int) -> None:
    """Ignore the progress; only tasks are counted."""
