"""What a stimulus leaves: one spike more, a slower memory, and the potential not yet fired."""

from dataclasses import replace

import numpy as np

from ecphoria.graph.learning import LearningTransaction
from ecphoria.kernels.fire import Rest, leak, next_tau, stimulate
from ecphoria.kernels.spikes import join
from ecphoria.model.ids import EpisodeId
from ecphoria.model.learning import Charge
from ecphoria.model.recall import Stimulation

__all__ = ["charged"]

_SLOWEST = 4.0
"""Largest tau over that of a new memory, which may have been set otherwise before."""


async def charged(
    stimulation: Stimulation, transaction: LearningTransaction
) -> dict[EpisodeId, Charge]:
    """Charge every memory that was stimulated; what fires is reset."""
    rest = Rest(potential=stimulation.potential, current=stimulation.current)
    found = await transaction.charges(
        sorted(stimulation.stimuli),
        lambda own: Charge.fresh(
            own, tau=stimulation.tau, potential=rest.potential, current=rest.current
        ),
    )
    if not found:
        return {}
    ids, before = list(found), list(found.values())
    tau = np.minimum(_SLOWEST * stimulation.tau, [one.tau for one in before])
    passed = np.maximum(0, stimulation.turn - np.array([one.turn for one in before]))
    level, drive = leak(
        [one.potential for one in before],
        [one.current for one in before],
        stimulation.turn_scale * passed,
        stimulation.tau_scale * tau,
        rest=rest,
    )
    stimuli = [stimulation.stimuli[one] for one in ids]
    potential, current = stimulate(
        level, drive, stimuli, threshold=stimulation.threshold, rest=rest
    ).after(rest)
    gap = np.maximum(0, stimulation.turn - np.array([one.turns[-1] for one in before]))
    slower = next_tau(tau, gap, start=stimulation.tau)
    after = {}
    for place, one in enumerate(ids):
        turns, strengths = join(
            before[place].turns,
            before[place].strengths,
            turn=stimulation.turn,
            strength=stimuli[place],
        )
        after[one] = replace(
            before[place],
            turns=tuple(turns.tolist()),
            strengths=tuple(strengths.tolist()),
            tau=float(slower[place]),
            potential=float(potential[place]),
            current=float(current[place]),
            turn=max(stimulation.turn, before[place].turn),
        )
    return after
