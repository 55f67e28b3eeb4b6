"""What is known of the past uses of memories; today that is when each was made.

Recalls leave no marks on memories yet. An append counts as the first use, so a memory that was
never recalled has a history of one: its instant for the base level, its turn for the spike train.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from ecphoria.kernels.fire import REST, Rest

__all__ = ["Trains", "Uses"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Uses:
    """Uses of n memories, as columns; q in all.

    Attributes:
        age_s: [q], seconds since each; a future instant has age 0.
        owner: int [q], whose it was.
    """

    age_s: FloatArray
    owner: IntArray

    @classmethod
    def of(cls, occurred_ms: IntArray, now: datetime) -> "Uses":
        """Count the moment each memory is of as its first use."""
        age = now.timestamp() - occurred_ms / 1e3
        return cls(age_s=np.maximum(0.0, age), owner=np.arange(occurred_ms.size, dtype=np.int64))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trains:
    """Spike trains and charges of n memories.

    Attributes:
        turns: int [n, s], padded behind with -1.
        tau: [n], time constants in turns.
        potential, current: [n], V and I as they were left.
        charged_at: int [n], the turn of that.
    """

    turns: IntArray
    tau: FloatArray
    potential: FloatArray
    current: FloatArray
    charged_at: IntArray

    @classmethod
    def of(cls, turn: Sequence[int], tau: float, rest: Rest = REST) -> "Trains":
        """Count each memory's own turn as its first spike; nothing has charged it since."""
        own = np.array(turn, dtype=np.int64)
        return cls(
            turns=own.reshape(own.size, 1),
            tau=np.full(own.size, tau),
            potential=np.full(own.size, rest.potential),
            current=np.full(own.size, rest.current),
            charged_at=own,
        )
