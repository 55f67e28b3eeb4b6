"""Energy between concepts: to related ones, and from the facts nearest to the cue."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.kernels.arrays import (
    FloatArray,
    floats,
    indices,
    one_size,
    tally,
)
from ecphoria.kernels.channel import (
    ChannelState,
)
from ecphoria.kernels.frontier import grown, only, strongest

__all__ = ["fact_cue", "wake_related"]


def wake_related(
    state: ChannelState, *, tail: ArrayLike, head: ArrayLike, weight: ArrayLike, size: int
) -> ChannelState:
    """Send the strongest concepts' energy to related ones: `c += .4 c w / degree^.5`; O(edges).

    All of them send at once what they had before; degree = number of a sender's edges listed
    here. Goes between the two half-steps.

    Args:
        state: after `wake_concepts`.
        tail: int [e], sender; edges of concepts that do not send now carry nothing.
        head: int [e].
        weight: [e] in [0, 1].
        size: number of concepts q from now on.
    """
    if size < state.concepts.size:
        raise ValueError("concepts never become fewer")
    sender = indices("tail", tail, size=state.concepts.size)
    target = indices("head", head, size=size)
    value = floats("weight", weight, low=0.0, high=1.0)
    one_size(tail=sender, head=target, weight=value)
    energy = only(state.concepts, state.sending_concepts())
    degree = np.maximum(1.0, np.bincount(sender, minlength=energy.size))
    sent = state.options.related * energy[sender] * value / np.sqrt(degree)[sender]
    origin, share = strongest(sender, target, sent, size=size)
    known = grown(state.by_item_share, size)
    better = share > known
    return replace(
        state,
        concepts=grown(state.concepts, size) + tally(target, sent, size=size),
        by_item=grown(state.by_item, size, fill=-1),
        by_item_share=np.maximum(share, known),
        by_related=np.where(better, origin, grown(state.by_related, size, fill=-1)),
    )


def fact_cue(concept: ArrayLike, cosine: ArrayLike, items: ArrayLike) -> FloatArray:
    """Share one unit of the cue's energy among the ends of the nearest facts; O(e).

    Each end gets `cosine / items`, a rare name more than one that is everywhere; scaled to sum 1.

    Args:
        concept: int [e], an end of a fact; a concept may be the end of several.
        cosine: [e] of the fact to the cue; below 0 counts as 0.
        items: [q], items that mention the concept or are about it.

    >>> fact_cue([0, 1], [0.5, 0.5], [1, 4])
    array([0.8, 0.2])
    """
    degree = np.maximum(1.0, floats("items", items, low=0.0))
    end = indices("concept", concept, size=degree.size)
    near = np.maximum(0.0, floats("cosine", cosine))
    one_size(concept=end, cosine=near)
    energy = tally(end, near, size=degree.size) / degree
    total = float(energy.sum())
    return energy / total if total > 0.0 else energy
