"""The systems that SynapticRAG is compared with: MemoryBank and MyAgent.

Both rank memories near the cue by a closed formula of cosine, age and number of recalls; no edge
is walked. They are here for comparison only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ecphoria.errors import InvalidInput
from ecphoria.maths.arrays import BoolArray, FloatArray
from ecphoria.maths.remembering import consolidated, recall_probability, retention
from ecphoria.mechanisms.base import uses_of
from ecphoria.recall.baselines import listed_by
from ecphoria.recall.pipeline import Pool, Ranked, Search, parameter
from ecphoria.recall.walk import Walk, seed_records
from ecphoria.records.history import DAY_MS, Use
from ecphoria.records.strategy import Mechanisms

_SEEDS = 200
# The turn of a recall is not stored, so a recall counts as long after the memory.
_LONG = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class _Clock:
    """The unit of time of both."""

    clock: str = parameter(
        "turns", "Unit of a memory's age.", choices=("turns", "days"),
        source="turns in SynapticRAG's code, days in MemoryBank",
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryBankOptions(_Clock):
    """Options of a forgetting curve."""

    # The paper draws the limit by chance; here the same question gives the same answer.
    theta: float = parameter(
        0.5, "Retention below which a memory is forgotten.", low=0, high=1,
        source="SynapticRAG C.2, where it is random",
    )  # fmt: skip
    t_scale: float = parameter(1.0, "Factor on age.", low=0, high=100, source="SynapticRAG C.2")
    s_scale: float = parameter(
        5.0, "Factor on strength.", low=0.01, high=100, source="SynapticRAG C.2"
    )
    s_init: float = parameter(
        1.0, "Strength of a memory never recalled.", low=0.01, high=100, source="SynapticRAG C.2"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MyAgentOptions(_Clock):
    """Options of a recall probability."""

    cos_th: float = parameter(
        0.3, "Cosine below which a memory is not recalled.", low=0, high=1,
        source="SynapticRAG, table 4",
    )  # fmt: skip
    r_scale: float = parameter(1.0, "Factor on the cosine.", low=0, high=100, source="C.3")
    t_scale: float = parameter(
        1.0, "Factor on age; of the same sign as `g_scale`.", low=-10, high=100, source="C.3"
    )
    g_scale: float = parameter(1.0, "Factor on strength.", low=-10, high=100, source="C.3")


class MemoryBank:
    """Forget by Ebbinghaus' curve, and rank the remaining memories by meaning (MemoryBank)."""

    name: ClassVar[str] = "memorybank"
    seeds: ClassVar[int] = _SEEDS
    options: ClassVar[type[Any]] = MemoryBankOptions
    presets: ClassVar[Mapping[str, Any]] = {
        "default": MemoryBankOptions(),
        "adapted": MemoryBankOptions(theta=0.12, t_scale=13.82, s_scale=9.06, s_init=1.05),
    }
    mechanisms: ClassVar[Mechanisms] = {"forgetting": {"theta": 0.0}}

    async def rank(self, search: Search, options: MemoryBankOptions) -> Ranked:
        """Drop forgotten memories, then order by cosine."""
        pool = _near(search)
        recalls = np.array([use.count - 1 for use in await uses_of(search, pool)], np.float64)
        left = retention(
            _ages(search, pool, options.clock),
            options.s_init + recalls,
            age_scale=options.t_scale,
            strength_scale=options.s_scale,
        )
        return _ranked(search, pool, left >= options.theta, "sem", pool.score)


class MyAgent:
    """Rank by a recall probability of cosine, age and earlier recalls (MyAgent)."""

    name: ClassVar[str] = "myagent"
    seeds: ClassVar[int] = _SEEDS
    options: ClassVar[type[Any]] = MyAgentOptions
    presets: ClassVar[Mapping[str, Any]] = {
        "default": MyAgentOptions(),
        "adapted": MyAgentOptions(cos_th=0.49, r_scale=10.07, t_scale=-1.72, g_scale=-2.05),
    }
    mechanisms: ClassVar[Mechanisms] = {"similarity threshold": {"cos_th": 0.0}}

    async def rank(self, search: Search, options: MyAgentOptions) -> Ranked:
        """Order the memories that are near enough by the probability.

        Raises:
            InvalidInput: The two scales do not have the same sign.
        """
        if options.t_scale * options.g_scale <= 0.0:
            raise InvalidInput(
                "`options.t_scale` and `options.g_scale` must have the same sign", field="options"
            )
        pool = _near(search)
        uses = await uses_of(search, pool)
        strength = [
            consolidated(_recalled(use, options.clock), age_scale=options.t_scale) for use in uses
        ]
        chance = recall_probability(
            np.clip(pool.score, 0.0, 1.0),
            _ages(search, pool, options.clock),
            strength,
            relevance_scale=options.r_scale,
            age_scale=options.t_scale,
            strength_scale=options.g_scale,
        )
        return _ranked(search, pool, pool.score >= options.cos_th, "probability", chance)


def _near(search: Search) -> Pool:
    """Take the memories that the vector index lists, with their cosine."""
    found = listed_by(search, search.seeding.by_vector)
    pool = Pool.of(search.frame, lambda more: more.cosine[:, None], found)
    return pool.kept(np.flatnonzero(pool.found))


def _ages(search: Search, pool: Pool, clock: str) -> FloatArray:
    """Give each memory's age in turns or days, at least 0."""
    if clock == "turns":
        now, at, unit = float(search.seeding.profile.turn + 1), pool.turn, 1.0
    else:
        now, at, unit = search.now.timestamp() * 1e3, pool.occurred_ms, DAY_MS
    age: FloatArray = np.maximum(0.0, (now - at.astype(np.float64)) / unit)
    return age


def _recalled(use: Use, clock: str) -> Sequence[float]:
    """Give the age of a memory at each of its recalls."""
    told = [(ms - use.first_ms) / DAY_MS for ms in use.recent_ms if ms > use.first_ms]
    known = [max(0.0, days) for days in told] if clock == "days" else []
    return [*known, *[_LONG] * (use.count - 1 - len(known))]


def _ranked(search: Search, pool: Pool, kept: BoolArray, name: str, score: FloatArray) -> Ranked:
    """Rank the memories kept by one part."""
    rows = np.flatnonzero(kept)
    return pool.kept(rows).ranked({name: score[rows]}, Walk(seeds=seed_records(search.seeding)))
