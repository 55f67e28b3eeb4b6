"""Spread a cue over concepts and compute the energy that reaches memories.

A walk over a bipartite graph in half-steps, each a pure function from state to state, so the
edges of the next half-step can be fetched between them:

```
state = start(seeds, cue_concepts, options=options)
for _ in range(options.steps):
    rows = state.sending_items()            # fetch the concepts of these
    state = wake_concepts(state, ...)
    rows = state.sending_concepts()         # fetch the items of these
    state = wake_items(state, ...)
state.act(), state.gate()
```

Indices are local; new items and concepts take the next free ones, and arrays grow by themselves.
`wake_related` is a step between concepts, before `wake_items`; `boost` and `path` turn the result
into a part of a score and into the way of the energy.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.maths.adjacency import frontier, mask, pad, strongest
from ecphoria.maths.arrays import FloatArray, IntArray, bools, floats, ints, tally
from ecphoria.maths.fusion import share_of_largest


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelOptions:
    """Set the walk; the defaults are the measured ones.

    Attributes:
        steps: T, items to concepts to items.
        keep: share of its energy an item keeps per step.
        flow: share a concept passes on (lambda).
        title_out: weight from an item to its own title, against 1 to a mention.
        mention_back: weight from a concept to an item that mentions it, against 1 over ABOUT.
        related: share of its energy that a concept passes on to related ones.
        item_fan: exponent of an item's number of concepts.
        concept_fan: exponent of a concept's number of items.
        hub: a concept with more mentions neither receives nor sends over MENTIONS.
        item_frontier: how many items send in a step; ties with the last send too.
        concept_frontier: how many concepts send.
    """

    steps: int = 3
    keep: float = 0.5
    flow: float = 0.8
    title_out: float = 0.1
    mention_back: float = 0.1
    related: float = 0.4
    item_fan: float = 0.5
    concept_fan: float = 0.75
    hub: int = 50
    item_frontier: int = 10
    concept_frontier: int = 30


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChannelWave:
    """The energy that one step delivered, and the strongest path of it.

    Attributes:
        received: [n], energy that reached each item.
        by_concept: int [n], the concept that sent the item most; -1 for none.
        share: [n], how much that concept sent.
        by_item: int [q], the item that sent each concept most; -1 for the cue, or none.
        by_related: int [q], the concept that sent each concept more than any item; or -1.
    """

    received: FloatArray
    by_concept: IntArray
    share: FloatArray
    by_item: IntArray
    by_related: IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChannelState:
    """The state of the walk between two half-steps.

    Attributes:
        options: of the walk.
        items: [n], energy of the items.
        concepts: [q], energy of the concepts in this step; before the first step, the cue's.
        about_mass: mass received over ABOUT so far.
        by_item: int [q], strongest item among the senders to each concept in this step.
        by_item_share: [q], what the strongest sender, of any kind, sent.
        by_related: int [q], that sender if it is a concept, else -1.
        waves: one for each finished step.
    """

    options: ChannelOptions
    items: FloatArray
    concepts: FloatArray
    about_mass: float
    by_item: IntArray
    by_item_share: FloatArray
    by_related: IntArray
    waves: tuple[ChannelWave, ...]

    def sending_items(self) -> IntArray:
        """Name the items that send now, ascending."""
        return frontier(self.items, self.options.item_frontier)

    def sending_concepts(self) -> IntArray:
        """Name the concepts that send now, ascending."""
        return frontier(self.concepts, self.options.concept_frontier)

    def act(self) -> FloatArray:
        """Sum the energy that each item received, without a seed's own, [n]."""
        total = np.zeros_like(self.items)
        for wave in self.waves:
            total[: wave.received.size] += wave.received
        return total

    def gate(self) -> float:
        """Find g = min(1, 2 r), r = share of the received mass that came over ABOUT.

        0 in a store where nothing is about anything (chat), near 1 among titled documents.
        """
        received = sum(float(wave.received.sum()) for wave in self.waves)
        return about_gate(self.about_mass, received)


def about_gate(over_about: float, total: float) -> float:
    """Compute g = min(1, 2 r), r = share of the received energy that came over ABOUT.

    >>> about_gate(1.0, 4.0), about_gate(3.0, 4.0), about_gate(0.0, 0.0)
    (0.5, 1.0, 0.0)
    """
    # Nearly 0 in a chat, where no turn is about a concept, and 1 among titled documents
    # (docs/explanation/recall.md).
    return min(1.0, 2.0 * over_about / total) if total > 0.0 else 0.0


def start(
    seeds: ArrayLike, cue_concepts: ArrayLike, *, options: ChannelOptions | None = None
) -> ChannelState:
    """Set the walk up.

    Args:
        seeds: [n] >= 0, sum 1 or 0: text score of the best items (two by default), scaled.
        cue_concepts: [q] >= 0, energy the cue gives to the concepts it names, once, in the first
            step: 1 / their number each.
        options: None for the measured ones.

    >>> start([0.6, 0.4], []).sending_items()
    array([0, 1])
    """
    concepts = floats(cue_concepts)
    return ChannelState(
        options=ChannelOptions() if options is None else options,
        items=floats(seeds).copy(),
        concepts=concepts.copy(),
        about_mass=0.0,
        by_item=np.full(concepts.size, -1, dtype=np.int64),
        by_item_share=concepts.copy(),
        by_related=np.full(concepts.size, -1, dtype=np.int64),
        waves=(),
    )


def wake_concepts(
    state: ChannelState,
    *,
    item: ArrayLike,
    concept: ArrayLike,
    is_title: ArrayLike,
    item_mentions: ArrayLike,
    item_titles: ArrayLike,
    concept_mentions: ArrayLike,
) -> ChannelState:
    """Send the items' energy to their concepts: `c += a w / (m + .1 t)^.5`; O(edges).

    w is 1 for MENTIONS, .1 for the item's own title. Edges of items that do not send now, and
    MENTIONS of hubs, carry nothing.

    Args:
        state: before the step, or after `wake_items`.
        item: int [e], one end of each edge.
        concept: int [e], the other.
        is_title: bool [e], the concept is what the item is about.
        item_mentions: [n] m, concepts the item mentions; its title and hubs do not count.
        item_titles: [n] t, concepts the item is about, 0 or 1.
        concept_mentions: [q], items that mention the concept; sets the number of concepts.
    """
    options = state.options
    mentions, titles = floats(item_mentions), floats(item_titles)
    hubs = floats(concept_mentions) > options.hub
    tail, head, title = ints(item), ints(concept), bools(is_title)
    fan = mentions + options.title_out * titles
    scale = np.divide(1.0, fan**options.item_fan, out=np.zeros_like(fan), where=fan > 0.0)
    weight = np.where(title, options.title_out, np.where(hubs[head], 0.0, 1.0))
    sent = mask(state.items, state.sending_items())[tail] * scale[tail] * weight
    origin, share = strongest(tail, head, sent, size=hubs.size)
    known = pad(state.by_item_share, hubs.size)
    better = share > known
    return replace(
        state,
        concepts=pad(state.concepts, hubs.size) + tally(head, sent, size=hubs.size),
        by_item=np.where(better, origin, pad(state.by_item, hubs.size, fill=-1)),
        by_item_share=np.maximum(share, known),
        by_related=pad(state.by_related, hubs.size, fill=-1),
    )


def wake_items(
    state: ChannelState,
    *,
    concept: ArrayLike,
    item: ArrayLike,
    is_about: ArrayLike,
    concept_about: ArrayLike,
    concept_mentions: ArrayLike,
    size: int,
) -> ChannelState:
    """Send the concepts' energy to items and finish the step; O(edges).

    `a' += .8 c / about^.75` over ABOUT, `a' += .8 * .1 c / (about + mentions)^.75` over MENTIONS;
    the next step starts from `.5 a + a'`, its concepts from 0. Edges of concepts that do not send
    now, and MENTIONS of hubs, carry nothing.

    Args:
        state: after `wake_concepts`.
        concept: int [e], one end of each edge.
        item: int [e], the other.
        is_about: bool [e], the item is about the concept.
        concept_about: [q], items about the concept.
        concept_mentions: [q], items that mention it.
        size: number of items n from now on.
    """
    options = state.options
    about, mentions = floats(concept_about), floats(concept_mentions)
    tail, head, over_about = ints(concept), ints(item), bools(is_about)
    energy = options.flow * mask(state.concepts, state.sending_concepts())
    direct = energy / np.maximum(1.0, about) ** options.concept_fan
    back = options.mention_back * energy / np.maximum(1.0, about + mentions) ** options.concept_fan
    back[mentions > options.hub] = 0.0
    sent = np.where(over_about, direct[tail], back[tail])
    received = tally(head, sent, size=size)
    sender, share = strongest(tail, head, sent, size=size)
    wave = ChannelWave(
        received=received,
        by_concept=sender,
        share=share,
        by_item=state.by_item,
        by_related=state.by_related,
    )
    quiet = np.zeros_like(state.concepts)
    none = np.full(quiet.size, -1, dtype=np.int64)
    return replace(
        state,
        items=options.keep * pad(state.items, size) + received,
        concepts=quiet,
        about_mass=state.about_mass + float(sent[over_about].sum()),
        by_item=none,
        by_item_share=quiet,
        by_related=none,
        waves=(*state.waves, wave),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One stretch of a path: a concept woke an item.

    Attributes:
        item: index of the item woken.
        concept: index of the concept that sent it most.
        through: index of the concept that woke that one, -1 if an item or the cue did.
        source: index of the item that woke the first of the two, -1 if the cue named it.
        amount: energy the concept sent to the item.
        step: in which step, from 0.
    """

    item: int
    concept: int
    through: int
    source: int
    amount: float
    step: int


def boost(
    act: ArrayLike, gate: float, *, weight: float = 1.2, power: float = 1.0 / 3.0
) -> FloatArray:
    """Turn received energy into a term: `1.2 g n(act)^(1/3)`, n = x / max x, [n]; O(n).

    Args:
        act: [n] >= 0, received energy.
        gate: g in [0, 1]; at 0 the channel changes nothing.
        weight: of the term.
        power: flattens, so that distant items count.

    >>> boost([0.0, 1.0, 8.0], 1.0)
    array([0. , 0.6, 1.2])
    """
    return np.asarray(weight * gate * share_of_largest(act) ** power)


def path(waves: Sequence[ChannelWave], item: int) -> tuple[Hop, ...]:
    """Follow the strongest sender of each stretch back from an item; O(T^2).

    Args:
        waves: of a walk, in order.
        item: index of the item to explain.

    Returns:
        Hops in the order energy went; empty if nothing reached the item. The first hop starts
        at the cue (source -1) or at an item that nothing woke before: a seed.
    """
    hops: list[Hop] = []
    at, before = item, len(waves)
    while at >= 0:
        step = _strongest_step(waves[:before], at)
        if step < 0:
            break
        wave = waves[step]
        concept = int(wave.by_concept[at])
        through = int(wave.by_related[concept])
        source = int(wave.by_item[concept if through < 0 else through])
        hops.append(
            Hop(
                item=at,
                concept=concept,
                through=through,
                source=source,
                amount=float(wave.share[at]),
                step=step,
            )
        )
        at, before = source, step
    return tuple(reversed(hops))


def _strongest_step(waves: Sequence[ChannelWave], item: int) -> int:
    """Find the step with the largest single share for the item; the first of equals; -1."""
    best, amount = -1, 0.0
    for step, wave in enumerate(waves):
        if item < wave.share.size and wave.share[item] > amount:
            best, amount = step, float(wave.share[item])
    return best


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
    sender, target = ints(tail), ints(head)
    energy = mask(state.concepts, state.sending_concepts())
    degree = np.maximum(1.0, np.bincount(sender, minlength=energy.size))
    # Divided by the root of the number of edges, so that a hub passes little to each
    # (docs/explanation/recall.md).
    sent = state.options.related * energy[sender] * floats(weight) / np.sqrt(degree)[sender]
    origin, share = strongest(sender, target, sent, size=size)
    known = pad(state.by_item_share, size)
    better = share > known
    return replace(
        state,
        concepts=pad(state.concepts, size) + tally(target, sent, size=size),
        by_item=pad(state.by_item, size, fill=-1),
        by_item_share=np.maximum(share, known),
        by_related=np.where(better, origin, pad(state.by_related, size, fill=-1)),
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
    degree = np.maximum(1.0, floats(items))
    near = np.maximum(0.0, floats(cosine))
    energy = tally(ints(concept), near, size=degree.size) / degree
    total = float(energy.sum())
    return energy / total if total > 0.0 else energy
