"""The concept channel with the whole graph at hand: a second way to the same energies."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.maths.arrays import BoolArray, FloatArray, IntArray, ints
from ecphoria.maths.concept_channel import (
    ChannelOptions,
    ChannelState,
    start,
    wake_concepts,
    wake_items,
)


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
    """
    speaker, named = ints(mention_item), ints(mention_concept)
    titled, title = ints(about_item), ints(about_concept)
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
    """
    state = start(seeds, cue_concepts, options=options)
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
            size=graph.item_mentions.size,
        )
    return state
