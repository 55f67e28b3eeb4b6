"""Usage histories and spike trains of memories.

The append counts as the first use. A memory without recalls, or of a tenant that does not learn,
has one use: its time for the base level, its turn for the spike train.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from ecphoria.maths.actr import older_uses
from ecphoria.maths.arrays import FloatArray, IntArray
from ecphoria.maths.retention import grow_evenly, retrievability
from ecphoria.records.history import FIRST_STABILITY, Charge, Use

DAY_S = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Uses:
    """Uses of n memories, as columns; q in all.

    Attributes:
        age_s: [q], seconds since each stored use; a future instant has age 0.
        owner: int [q], the memory of each use.
        beyond: [n], the contribution of uses without a stored instant; None for none.
        recalled: [n], R: the retrievability of each now.
        salience: [n], importance changed by feedback, NaN without feedback; None if there is none.
        trust_change: [n], the change of its reliability by feedback; None if there is none.
    """

    age_s: FloatArray
    owner: IntArray
    recalled: FloatArray
    beyond: FloatArray | None = None
    salience: FloatArray | None = None
    trust_change: FloatArray | None = None

    @classmethod
    def of(cls, occurred_ms: IntArray, now: datetime) -> "Uses":
        """Count the time of each memory as its first use."""
        age = np.maximum(0.0, now.timestamp() - occurred_ms / 1e3)
        return cls(
            age_s=age,
            owner=np.arange(occurred_ms.size, dtype=np.int64),
            recalled=retrievability(age / DAY_S, np.full(age.size, FIRST_STABILITY)),
        )

    @classmethod
    def told(
        cls, uses: Sequence[Use], now: datetime, decay: float, *, evenly: bool = False
    ) -> "Uses":
        """Convert stored histories to columns; uses without an instant are spread by `decay`.

        With `evenly`, stability grows by a tenth with each use, whatever the pause.
        """
        stability = np.array([use.stability for use in uses])
        if evenly:
            stability = grow_evenly(
                np.full(len(uses), FIRST_STABILITY), [use.count - 1 for use in uses]
            )
        at = now.timestamp()
        count = [len(use.recent_ms) for use in uses]
        recent = np.array([ms for use in uses for ms in use.recent_ms], dtype=np.int64)
        oldest = _age(at, [use.recent_ms[0] for use in uses])
        return cls(
            age_s=np.maximum(0.0, at - recent / 1e3),
            owner=np.repeat(np.arange(len(uses), dtype=np.int64), count),
            recalled=retrievability(
                _age(at, [use.stability_ms for use in uses]) / DAY_S, stability
            ),
            beyond=older_uses(
                [use.count - kept for use, kept in zip(uses, count, strict=True)],
                np.maximum(oldest, _age(at, [use.first_ms for use in uses])),
                oldest,
                decay=decay,
            ),
            salience=np.array([np.nan if use.salience is None else use.salience for use in uses]),
            trust_change=np.array([use.trust_change for use in uses]),
        )

    def important(self, given: FloatArray) -> FloatArray:
        """Return the importance of each: as given, unless feedback changed it."""
        if self.salience is None:
            return given
        return np.where(np.isnan(self.salience), given, self.salience)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SpikeTrains:
    """Spike trains and charges of n memories.

    Attributes:
        turns: int [n, s], padded behind with -1.
        tau: [n], time constants in turns.
        potential, current: [n], the stored V and I.
        charged_at: int [n], the turn of these values.
    """

    turns: IntArray
    tau: FloatArray
    potential: FloatArray
    current: FloatArray
    charged_at: IntArray

    @classmethod
    def of(
        cls, turn: Sequence[int], tau: float, known: Mapping[int, Charge] | None = None
    ) -> "SpikeTrains":
        """Count each memory's own turn as its first spike, unless a stored charge exists."""
        charges = known or {}
        own = np.array(turn, dtype=np.int64)
        longest = max((len(charge.turns) for charge in charges.values()), default=1)
        trains = cls(
            turns=np.full((own.size, longest), -1, dtype=np.int64),
            tau=np.full(own.size, tau),
            potential=np.zeros(own.size),
            current=np.zeros(own.size),
            charged_at=own.copy(),
        )
        trains.turns[:, 0] = own
        for row, charge in charges.items():
            trains.turns[row, : len(charge.turns)] = charge.turns
            trains.tau[row] = charge.tau
            trains.potential[row], trains.current[row] = charge.potential, charge.current
            trains.charged_at[row] = charge.turn
        return trains


def _age(at_s: float, instants_ms: Sequence[int]) -> FloatArray:
    """Compute the seconds since some instants; 0 for future ones."""
    return np.maximum(0.0, at_s - np.array(instants_ms, dtype=np.float64) / 1e3)
