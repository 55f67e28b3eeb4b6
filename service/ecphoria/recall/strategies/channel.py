"""The concept channel, half a step at a time: the server lists edges, the kernel moves energy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ecphoria.kernels.channel import ChannelState, start, wake_concepts, wake_items
from ecphoria.kernels.channel_options import ChannelOptions
from ecphoria.kernels.channel_read import path as hops_to
from ecphoria.model.ids import EpisodeId, TenantId
from ecphoria.model.recall import PathStep, Stream, Wave, WaveArc
from ecphoria.ports.recall import ConceptEdges, FoundConcept, RecallStore

__all__ = ["Woken", "walk"]


@dataclass(slots=True, kw_only=True)
class _Numbering:
    """Ids in the order they were met; indices are local to one walk."""

    ids: list[str] = field(default_factory=list)
    index: dict[str, int] = field(default_factory=dict)

    def number(self, ids: Sequence[str]) -> NDArray[np.int64]:
        for one in ids:
            if one not in self.index:
                self.index[one] = len(self.ids)
                self.ids.append(one)
        return np.array([self.index[one] for one in ids], dtype=np.int64)


@dataclass(slots=True, kw_only=True)
class _Graph:
    """The part of the concept graph a walk has seen."""

    items: _Numbering = field(default_factory=_Numbering)
    concepts: _Numbering = field(default_factory=_Numbering)
    labels: dict[str, str] = field(default_factory=dict)
    degrees: dict[str, tuple[int, int]] = field(default_factory=dict)

    def see(self, edges: ConceptEdges) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        rows = zip(edges.concept, edges.label, edges.mentions, edges.abouts, strict=True)
        for concept, label, mentions, abouts in rows:
            self.labels[concept] = label
            self.degrees[concept] = (int(mentions), int(abouts))
        return self.items.number(edges.episode), self.concepts.number(edges.concept)

    def mentions(self) -> NDArray[np.float64]:
        return np.array([self.degrees[one][0] for one in self.concepts.ids], dtype=np.float64)

    def abouts(self) -> NDArray[np.float64]:
        return np.array([self.degrees[one][1] for one in self.concepts.ids], dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Woken:
    """What the channel woke.

    Attributes:
        received: Energy by episode; a seed's own energy is not in it.
        gate: Share of the channel's term that counts, 0 where nothing is about anything.
        waves: Steps for the trace.
    """

    received: Mapping[EpisodeId, float]
    gate: float
    waves: tuple[Wave, ...]
    state: ChannelState
    graph: _Graph

    def path(self, episode: EpisodeId) -> tuple[PathStep, ...]:
        """Name the concepts and episodes energy came through; empty if it did not reach."""
        at = self.graph.items.index.get(episode)
        hops = () if at is None else hops_to(self.state.waves, at)
        steps: list[PathStep] = []
        for hop in hops:
            concept = self.graph.concepts.ids[hop.concept]
            if not steps and hop.source >= 0:
                steps.append(self._episode(hop.source, Stream.RANK, 1.0))
            edge = "MENTIONS" if hop.source >= 0 else str(Stream.NAME)
            label = self.graph.labels[concept]
            steps.append(
                PathStep(node=concept, kind="concept", edge=edge, label=label, energy=hop.amount)
            )
            steps.append(self._episode(hop.item, "ABOUT", hop.amount))
        return tuple(steps)

    def _episode(self, item: int, edge: str, energy: float) -> PathStep:
        node = self.graph.items.ids[item]
        return PathStep(node=node, kind="episode", edge=edge, label="", energy=energy)


async def walk(
    store: RecallStore,
    tenant: TenantId,
    seeds: Mapping[EpisodeId, float],
    named: Sequence[FoundConcept],
    options: ChannelOptions,
) -> Woken:
    """Walk from the best memories and the named concepts.

    Args:
        store: Lists the edges of each half-step's senders, hubs left out.
        tenant: Whose graph.
        seeds: Energy of the first memories, sum 1.
        named: Concepts the cue names; they share one unit of energy in the first step.
        options: Steps, caps and shares.
    """
    graph = _Graph()
    graph.items.number(list(seeds))
    graph.concepts.number([concept.id for concept in named])
    for concept in named:
        graph.labels[concept.id] = concept.name
        graph.degrees[concept.id] = (concept.mentions, concept.abouts)
    shares = np.full(len(named), 1.0 / max(1, len(named)))
    state = start(list(seeds.values()), shares, options=options)
    for _ in range(options.steps):
        senders = [EpisodeId(graph.items.ids[row]) for row in state.sending_items()]
        state = _wake_concepts(state, graph, await store.concepts_of(tenant, senders, options.hub))
        concepts = [graph.concepts.ids[row] for row in state.sending_concepts()]
        state = _wake_items(state, graph, await store.episodes_of(tenant, concepts, options.hub))
    received = dict(zip(graph.items.ids, state.act().tolist(), strict=True))
    return Woken(
        received={EpisodeId(one): energy for one, energy in received.items() if energy > 0.0},
        gate=state.gate(),
        waves=_waves(state, graph),
        state=state,
        graph=graph,
    )


def _wake_concepts(state: ChannelState, graph: _Graph, edges: ConceptEdges) -> ChannelState:
    item, concept = graph.see(edges)
    size = len(graph.items.ids)
    mentioned = np.bincount(item[~edges.is_about], minlength=size).astype(np.float64)
    titles = np.bincount(item[edges.is_about], minlength=size).astype(np.float64)
    return wake_concepts(
        state,
        item=item,
        concept=concept,
        is_title=edges.is_about,
        item_mentions=mentioned,
        item_titles=titles,
        concept_mentions=graph.mentions(),
    )


def _wake_items(state: ChannelState, graph: _Graph, edges: ConceptEdges) -> ChannelState:
    item, concept = graph.see(edges)
    return wake_items(
        state,
        concept=concept,
        item=item,
        is_about=edges.is_about,
        concept_about=graph.abouts(),
        concept_mentions=graph.mentions(),
        size=len(graph.items.ids),
    )


def _waves(state: ChannelState, graph: _Graph) -> tuple[Wave, ...]:
    """Tell, for each step, the strongest arc into every episode it woke."""
    waves: list[Wave] = []
    for number, wave in enumerate(state.waves, 1):
        woken = np.flatnonzero(wave.by_concept >= 0)
        arcs = [
            WaveArc(
                tail=graph.concepts.ids[int(wave.by_concept[row])],
                head=graph.items.ids[int(row)],
                edge="ABOUT",
                weight=1.0,
                energy=float(wave.share[row]),
            )
            for row in woken[np.argsort(-wave.share[woken], kind="stable")][:30]
        ]
        waves.append(
            Wave(
                number=number,
                active=int((wave.received > 0.0).sum()),
                energy=float(wave.received.sum()),
                arcs=tuple(arcs),
                arcs_left_out=woken.size - len(arcs),
            )
        )
    return tuple(waves)
