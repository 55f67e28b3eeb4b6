"""The default strategy: text score with words spread over NEXT, then a walk over concepts.

Its weights and constants were measured (see the docs' page on recall); a part that a store does
not support (no sessions, no speakers, no titles) is 0 there by itself.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ecphoria.maths.concept_channel import (
    ChannelOptions,
    ChannelState,
    boost,
    fact_cue,
    start,
    wake_concepts,
    wake_items,
    wake_related,
)
from ecphoria.maths.concept_channel import path as hops_to
from ecphoria.maths.fusion import PARTS, TextSignals, TextWeights, bounds_of, rank, recipe_score
from ecphoria.recall.candidates import Candidates
from ecphoria.recall.explain import next_wave, seed_records, text_path
from ecphoria.recall.pipeline import Path, Pool, Ranked, Search, TextScore, parameter
from ecphoria.recall.ports import ConceptArcs, ConceptEdges, FoundConcept, NearFacts, RecallStore
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import PathStep, SeedRecord, Stream, Wave, WaveArc
from ecphoria.records.strategy import Mechanisms


@dataclass(slots=True, kw_only=True)
class _Numbering:
    """Ids in the order they were met; indices are local to one walk."""

    ids: list[str] = field(default_factory=list)
    index: dict[str, int] = field(default_factory=dict)

    def number(self, ids: Sequence[str]) -> NDArray[np.int64]:
        for concept in ids:
            if concept not in self.index:
                self.index[concept] = len(self.ids)
                self.ids.append(concept)
        return np.array([self.index[concept] for concept in ids], dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fact:
    """The nearest fact that has a concept at an end."""

    id: str
    statement: str
    cosine: float
    edge: str


@dataclass(slots=True, kw_only=True)
class _Graph:
    """The part of the concept graph a walk has seen.

    Attributes:
        joins: The edge from one concept to another.
        facts: By the concept the cue reached over them.
    """

    items: _Numbering = field(default_factory=_Numbering)
    concepts: _Numbering = field(default_factory=_Numbering)
    labels: dict[str, str] = field(default_factory=dict)
    degrees: dict[str, tuple[int, int]] = field(default_factory=dict)
    joins: dict[tuple[int, int], str] = field(default_factory=dict)
    facts: dict[int, _Fact] = field(default_factory=dict)

    def see(self, edges: ConceptEdges) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        concepts = self.meet(edges.concept, edges.label, edges.mentions, edges.abouts)
        return self.items.number(edges.episode), concepts

    def meet(
        self,
        concepts: Sequence[str],
        labels: Sequence[str],
        mentions: Iterable[int],
        abouts: Iterable[int],
    ) -> NDArray[np.int64]:
        """Number concepts and learn about them."""
        for concept, label, *degree in zip(concepts, labels, mentions, abouts, strict=True):
            self.labels[concept] = label
            self.degrees[concept] = (int(degree[0]), int(degree[1]))
        return self.concepts.number(concepts)

    def mentions(self) -> NDArray[np.float64]:
        return np.array(
            [self.degrees[concept][0] for concept in self.concepts.ids], dtype=np.float64
        )

    def abouts(self) -> NDArray[np.float64]:
        return np.array(
            [self.degrees[concept][1] for concept in self.concepts.ids], dtype=np.float64
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptWalk:
    """The result of a walk over concepts.

    Attributes:
        received: Energy by episode; a seed's own energy is not in it.
        gate: Share of the channel's term that counts, 0 where nothing is about anything.
        waves: Steps for the trace.
        cue: Energy the cue gave to the first concepts.
    """

    received: Mapping[EpisodeId, float]
    gate: float
    waves: tuple[Wave, ...]
    state: ChannelState
    graph: _Graph
    cue: NDArray[np.float64]

    def path(self, episode: EpisodeId) -> tuple[PathStep, ...]:
        """Name the concepts and episodes energy came through; empty if it did not reach."""
        at = self.graph.items.index.get(episode)
        hops = () if at is None else hops_to(self.state.waves, at)
        steps: list[PathStep] = []
        for hop in hops:
            first = hop.concept if hop.through < 0 else hop.through
            edge = "MENTIONS"
            if hop.source < 0:
                edge = str(Stream.NAME)
                if (fact := self.graph.facts.get(first)) is not None:
                    steps.append(_fact_step(fact))
                    edge = fact.edge
            elif not steps:
                steps.append(self._episode(hop.source, Stream.RANK, 1.0))
            steps.append(self._concept(first, edge, hop.amount))
            if hop.through >= 0:
                join = self.graph.joins[hop.through, hop.concept]
                steps.append(self._concept(hop.concept, join, hop.amount))
            steps.append(self._episode(hop.item, "ABOUT", hop.amount))
        return tuple(steps)

    def fact_seeds(self) -> tuple[SeedRecord, ...]:
        """List the facts through which energy entered, with the energy of their concepts."""
        statements: dict[str, str] = {}
        energy: dict[str, float] = {}
        for concept, fact in self.graph.facts.items():
            statements[fact.id] = fact.statement
            energy[fact.id] = energy.get(fact.id, 0.0) + float(self.cue[concept])
        return tuple(
            SeedRecord(
                node=ident, kind="fact", stream=Stream.FACT, label=label, energy=energy[ident]
            )
            for ident, label in statements.items()
        )

    def _concept(self, concept: int, edge: str, energy: float) -> PathStep:
        node = self.graph.concepts.ids[concept]
        label = self.graph.labels[node]
        return PathStep(node=node, kind="concept", edge=edge, label=label, energy=energy)

    def _episode(self, item: int, edge: str, energy: float) -> PathStep:
        node = self.graph.items.ids[item]
        return PathStep(node=node, kind="episode", edge=edge, label="", energy=energy)


async def walk(
    store: RecallStore,
    tenant: TenantId,
    seeds: Mapping[EpisodeId, float],
    *,
    named: Sequence[FoundConcept],
    facts: NearFacts | None,
    options: ChannelOptions,
) -> ConceptWalk:
    """Walk from the best memories, the named concepts and the ends of the nearest facts.

    Args:
        store: Lists the edges of each half-step's senders, hubs left out.
        tenant: Whose graph.
        seeds: Energy of the first memories, sum 1.
        named: Concepts the cue names; they share one unit of energy in the first step.
        facts: Facts nearest to the cue; their ends share another unit.
        options: Steps, caps and shares.
    """
    graph = _Graph()
    graph.items.number(list(seeds))
    cue = _cue(graph, named, facts)
    # The first passage names the subject of the next, so the walk finds passages without a word of
    # the cue (docs/explanation/recall.md).
    state = start(list(seeds.values()), cue, options=options)
    for _ in range(options.steps):
        senders = [EpisodeId(graph.items.ids[row]) for row in state.sending_items()]
        state = _wake_concepts(state, graph, await store.concepts_of(tenant, senders, options.hub))
        if options.related > 0.0:
            concepts = [graph.concepts.ids[row] for row in state.sending_concepts()]
            arcs = await store.related(tenant, concepts, options.hub)
            state = _wake_related(state, graph, arcs)
        concepts = [graph.concepts.ids[row] for row in state.sending_concepts()]
        state = _wake_items(state, graph, await store.episodes_of(tenant, concepts, options.hub))
    received = dict(zip(graph.items.ids, state.act().tolist(), strict=True))
    return ConceptWalk(
        received={
            EpisodeId(episode): energy for episode, energy in received.items() if energy > 0.0
        },
        gate=state.gate(),
        waves=_waves(state, graph),
        state=state,
        graph=graph,
        cue=cue,
    )


def _cue(
    graph: _Graph, named: Sequence[FoundConcept], facts: NearFacts | None
) -> NDArray[np.float64]:
    """Number the concepts the cue leads to, and share its energy out."""
    at = graph.meet(
        [concept.id for concept in named],
        [concept.name for concept in named],
        [concept.mentions for concept in named],
        [concept.abouts for concept in named],
    )
    if facts is None or not facts.concept:
        return np.full(at.size, 1.0 / max(1, at.size))
    ends = graph.meet(facts.concept, facts.label, facts.mentions, facts.abouts)
    for row, end in enumerate(ends.tolist()):
        fact = _Fact(
            id=facts.fact[row],
            statement=facts.statement[row],
            cosine=float(facts.cosine[row]),
            edge=facts.edge[row],
        )
        if end >= at.size:
            graph.facts.setdefault(end, fact)
    energy = fact_cue(ends, facts.cosine, graph.mentions() + graph.abouts())
    energy[at] += 1.0 / max(1, at.size)
    return energy


def _fact_step(fact: _Fact) -> PathStep:
    return PathStep(
        node=fact.id, kind="fact", edge=str(Stream.FACT), label=fact.statement, energy=fact.cosine
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


def _wake_related(state: ChannelState, graph: _Graph, arcs: ConceptArcs) -> ChannelState:
    tail = graph.concepts.number(arcs.tail)
    head = graph.meet(arcs.head, arcs.label, arcs.mentions, arcs.abouts)
    for one, other, edge in zip(tail.tolist(), head.tolist(), arcs.edge, strict=True):
        graph.joins.setdefault((one, other), edge)
    return wake_related(
        state, tail=tail, head=head, weight=arcs.weight, size=len(graph.concepts.ids)
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
        rows = np.flatnonzero(wave.by_concept >= 0)
        arcs = [
            WaveArc(
                tail=graph.concepts.ids[int(wave.by_concept[row])],
                head=graph.items.ids[int(row)],
                edge="ABOUT",
                weight=1.0,
                energy=float(wave.share[row]),
            )
            for row in rows[np.argsort(-wave.share[rows], kind="stable")][:30]
        ]
        waves.append(
            Wave(
                number=number,
                active=int((wave.received > 0.0).sum()),
                energy=float(wave.received.sum()),
                arcs=tuple(arcs),
                arcs_left_out=rows.size - len(arcs),
            )
        )
    return tuple(waves)


FloatArray = NDArray[np.float64]
_TRACED_HITS = 10
_TINY = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class EcphoriaOptions:
    """Weights of the recipe; setting one to 0 switches its signal off."""

    w_lex: float = parameter(0.25, "Words, spread over NEXT.", low=0, high=2, source="fit")
    w_sem: float = parameter(
        0.18, "Cosine of the memory and its passages.", low=0, high=2, source="fit"
    )
    w_ctx: float = parameter(0.16, "Cosine with its neighbours.", low=0, high=2, source="fit")
    w_speaker: float = parameter(
        0.22, "Spoken by the one whom the cue is about.", low=0, high=2, source="fit"
    )
    w_length: float = parameter(
        0.05, "Turns of about 30 stems say most.", low=0, high=2, source="fit"
    )
    w_question: float = parameter(
        0.05, "Taken from questions, a user's to an assistant aside.", low=0, high=2, source="fit"
    )
    w_when: float = parameter(
        0.12, "Names a time where the cue asks for one.", low=0, high=2, source="fit"
    )
    w_date: float = parameter(0.20, "Close to a date in the cue.", low=0, high=2, source="fit")
    next_spreading: bool = parameter(
        default=True, doc="Let each stem spread along NEXT before it saturates."
    )
    w_concepts: float = parameter(
        1.2, "Weight of the concept channel.", low=0, high=5, source="measured on titled passages"
    )
    concept_seeds: int = parameter(
        2, "Best memories that start the channel.", unit="memories", low=1, high=20
    )
    seed_contrast: float = parameter(
        4.0,
        "Power of a seed's score: a much better one starts the channel nearly alone.",
        low=1,
        high=50,
        source="measured on titled passages",
    )
    # An accepted merge is walked at full weight; before, the two names are joined by the cosine of
    # their words (decision 0021).
    w_related: float = parameter(
        0.4,
        "Share of energy that goes from a concept to its synonyms and to what facts join it to.",
        low=0,
        high=1,
        source="measured on titled passages",
    )
    # If episodes came with facts, the walk also starts at the ends of the nearest ones
    # (docs/explanation/recall.md).
    near_facts: int = parameter(
        5,
        "Facts nearest to the cue whose ends start the channel too.",
        unit="facts",
        low=0,
        high=50,
    )
    concept_steps: int = parameter(3, "Steps of the channel.", unit="steps", low=1, high=6)
    hub: int = parameter(
        50, "Mentions above which a concept carries nothing.", unit="mentions", low=1, high=1000
    )


class Ecphoria:
    """Spread words over NEXT, match speakers and dates, then walk over concepts."""

    name: ClassVar[str] = "ecphoria"
    seeds: ClassVar[int] = 50
    options: ClassVar[type[Any]] = EcphoriaOptions
    presets: ClassVar[Mapping[str, Any]] = {"default": EcphoriaOptions()}
    mechanisms: ClassVar[Mechanisms] = {
        "lex": {"w_lex": 0.0},
        "sem": {"w_sem": 0.0},
        "ctx": {"w_ctx": 0.0},
        "speaker": {"w_speaker": 0.0},
        "length": {"w_length": 0.0},
        "question": {"w_question": 0.0},
        "when": {"w_when": 0.0},
        "date": {"w_date": 0.0},
        "spreading": {"next_spreading": False},
        "concepts": {"w_concepts": 0.0},
        "related": {"w_related": 0.0},
        "near facts": {"near_facts": 0},
        "next edges": {"next_spreading": False, "w_ctx": 0.0},
        "meaning": {"w_sem": 0.0, "w_ctx": 0.0},
        "turn priors": {"w_length": 0.0, "w_question": 0.0, "w_when": 0.0},
    }

    async def rank(self, search: Search, options: EcphoriaOptions) -> Ranked:
        """Score the text of every candidate, then add the activation of the concept channel."""
        candidates = search.candidates
        pool = Pool.of(candidates, text_parts(candidates, options))
        concept_walk = await self._wake(search, pool, options)
        if concept_walk is not None and concept_walk.gate > 0.0:
            missing = [
                episode for episode in concept_walk.received if not candidates.holds(episode)
            ]
            pool = await pool.extended(search, missing)
        received = (
            np.zeros(len(pool.ids)) if concept_walk is None else pool.read(concept_walk.received)
        )
        concepts = boost(
            received, concept_walk.gate if concept_walk else 0.0, weight=options.w_concepts
        )
        parts = {**dict(zip(PARTS, pool.parts.T, strict=True)), "concepts": concepts}
        ranked = pool.ranked(
            parts,
            seeds=(
                *seed_records(search.seeding),
                *(concept_walk.fact_seeds() if concept_walk else ()),
            ),
            waves=(),
            path=_path(pool, concepts, concept_walk),
        )
        hits = [episode for episode in ranked.ids[:_TRACED_HITS] if candidates.holds(episode)]
        waves = (next_wave(candidates, hits), *(concept_walk.waves if concept_walk else ()))
        return replace(ranked, waves=waves)

    async def _wake(
        self, search: Search, pool: Pool, options: EcphoriaOptions
    ) -> ConceptWalk | None:
        if not search.seeding.profile.titles or options.w_concepts == 0.0:
            return None
        best = rank(pool.parts, pool.turn, options.concept_seeds).index
        energy = np.maximum(0.0, pool.parts[best].sum(axis=1))
        energy = (energy / max(float(energy.max(initial=0.0)), _TINY)) ** options.seed_contrast
        total = float(energy.sum())
        if total <= 0.0 and not search.seeding.concepts:
            return None
        shares = energy / total if total > 0.0 else energy
        return await walk(
            search.store,
            search.tenant,
            {pool.ids[row]: float(share) for row, share in zip(best, shares, strict=True)},
            named=search.seeding.concepts,
            facts=await self._facts(search, options),
            options=ChannelOptions(
                steps=options.concept_steps, hub=options.hub, related=options.w_related
            ),
        )

    async def _facts(self, search: Search, options: EcphoriaOptions) -> NearFacts | None:
        vector = search.seeding.vector
        if not search.seeding.profile.stated or vector is None or not options.near_facts:
            return None
        return await search.store.nearest_facts(search.tenant, vector, options.near_facts)


def _path(pool: Pool, concepts: FloatArray, concept_walk: ConceptWalk | None) -> Path:
    """Tell the way over concepts if they weigh more than the words, else that of the words."""
    # The first three parts are those of words and meaning.
    by_concepts = concepts > pool.parts[:, :3].sum(axis=1)
    walked = frozenset(pool.ids[row] for row in np.flatnonzero(by_concepts))

    def over_concepts(episode: EpisodeId) -> tuple[PathStep, ...]:
        return concept_walk.path(episode) if concept_walk and episode in walked else ()

    return pool.explain(over_concepts, text_path)


def text_parts(candidates: Candidates, options: EcphoriaOptions) -> TextScore:
    """Score text by the recipe, on the scale of these candidates."""
    weights = text_weights(options)
    bounds = bounds_of(text_signals(candidates, options), candidates.inside)

    def parts(more: Candidates) -> FloatArray:
        return recipe_score(text_signals(more, options), weights=weights, bounds=bounds).parts

    return parts


def text_signals(candidates: Candidates, options: EcphoriaOptions) -> TextSignals:
    """Take the recipe's signals; without spreading, a word counts only where it stands."""
    if options.next_spreading:
        return candidates.signals
    return replace(candidates.signals, lex=candidates.single)


def text_weights(options: EcphoriaOptions) -> TextWeights:
    """Read the recipe's weights from the options."""
    return TextWeights(
        lex=options.w_lex,
        sem=options.w_sem,
        ctx=options.w_ctx,
        spk=options.w_speaker,
        len=options.w_length,
        isq=-options.w_question,
        texp=options.w_when,
        date=options.w_date,
    )
