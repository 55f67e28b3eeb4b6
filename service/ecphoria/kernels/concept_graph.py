"""The concept channel where the whole graph is at hand, and the arcs between concepts."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.kernels.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    floats,
    indices,
    one_size,
    tally,
)
from ecphoria.kernels.channel import (
    ChannelOptions,
    ChannelState,
    start,
    wake_concepts,
    wake_items,
)
from ecphoria.kernels.frontier import grown, only, strongest

__all__ = ["ConceptGraph", "concept_graph", "fact_cue", "wake_related", "walk"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConceptGraph:
    """Items and the concepts they mention or are about, with every degree counted.

    Attributes:
        item: int [e], one end of each edge.
        concept: int [e], the other.
        is_about: bool [e], ABOUT rather than MENTIONS.
        item_mentions: [n], mentioned concepts without hubs.
        item_titles: [n], concepts the item is about.
        concept_mentions: [q], items that mention the concept.
        concept_about: [q], items about the concept.
    """

    item: IntArray
    concept: IntArray
    is_about: BoolArray
    item_mentions: FloatArray
    item_titles: FloatArray
    concept_mentions: FloatArray
    concept_about: FloatArray


def concept_graph(
    *,
    mention_item: ArrayLike,
    mention_concept: ArrayLike,
    about_item: ArrayLike,
    about_concept: ArrayLike,
    items: int,
    concepts: int,
    hub: int = 50,
) -> ConceptGraph:
    """Count the degrees of a whole bipartite graph; O(edges).

    Args:
        mention_item: int [e1], with mention_concept the MENTIONS pairs, each once.
        mention_concept: int [e1].
        about_item: int [e2], with about_concept the ABOUT pairs, each once.
        about_concept: int [e2].
        items: n.
        concepts: q.
        hub: a concept with more mentions does not count among an item's.

    >>> concept_graph(
    ...     mention_item=[0, 0], mention_concept=[0, 1], about_item=[1], about_concept=[1],
    ...     items=2, concepts=2,
    ... ).item_mentions
    array([2., 0.])
    """
    speaker = indices("mention_item", mention_item, size=items)
    named = indices("mention_concept", mention_concept, size=concepts)
    titled = indices("about_item", about_item, size=items)
    title = indices("about_concept", about_concept, size=concepts)
    one_size(mention_item=speaker, mention_concept=named)
    one_size(about_item=titled, about_concept=title)
    popular = np.bincount(named, minlength=concepts).astype(np.float64)
    counted = popular[named] <= hub
    return ConceptGraph(
        item=np.concatenate((speaker, titled)),
        concept=np.concatenate((named, title)),
        is_about=np.arange(speaker.size + titled.size) >= speaker.size,
        item_mentions=np.bincount(speaker[counted], minlength=items).astype(np.float64),
        item_titles=np.bincount(titled, minlength=items).astype(np.float64),
        concept_mentions=popular,
        concept_about=np.bincount(title, minlength=concepts).astype(np.float64),
    )


def walk(
    graph: ConceptGraph,
    seeds: ArrayLike,
    cue_concepts: ArrayLike,
    *,
    options: ChannelOptions | None = None,
) -> ChannelState:
    """Run the whole channel; O(T edges).

    Args:
        graph: every edge and degree.
        seeds: [n] energy of the items.
        cue_concepts: [q] energy of the concepts the cue names.
        options: None for the measured ones.

    >>> graph = concept_graph(
    ...     mention_item=[0], mention_concept=[0], about_item=[1], about_concept=[0],
    ...     items=2, concepts=1,
    ... )
    >>> walk(graph, [1, 0], [0], options=ChannelOptions(steps=1)).act().round(6)
    array([0.047568, 0.8     ])
    """
    state = start(seeds, cue_concepts, options=options)
    sizes = (graph.item_mentions.size, graph.concept_mentions.size)
    if (state.items.size, state.concepts.size) != sizes:
        raise ValueError("seeds and cue_concepts need one value for each item and concept")
    for _ in range(state.options.steps):
        state = wake_concepts(
            state,
            item=graph.item,
            concept=graph.concept,
            is_title=graph.is_about,
            item_mentions=graph.item_mentions,
            item_titles=graph.item_titles,
            concept_mentions=graph.concept_mentions,
        )
        state = wake_items(
            state,
            concept=graph.concept,
            item=graph.item,
            is_about=graph.is_about,
            concept_about=graph.concept_about,
            concept_mentions=graph.concept_mentions,
            size=sizes[0],
        )
    return state


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
