"""EcphoryRAG: find traces for the cue, hop by their centroid, and rank their sources.

A trace is a concept. Its vector is the mean of the vectors of the memories that mention it or are
about it, or with `entities` the vector of its own name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ecphoria.maths.arrays import FloatArray
from ecphoria.maths.clustering import SMALL, Centroid, carried, hop, positive_cosine, relevance
from ecphoria.maths.clustering import sources as woken_sources
from ecphoria.maths.concept_channel import about_gate
from ecphoria.mechanisms.base import (
    BASE_MECHANISM,
    BaseOptions,
    WalkOptions,
    activation_parts,
    same_as,
    text_pool,
)
from ecphoria.ports import Vector
from ecphoria.recall.pipeline import Pool, Ranked, Search, parameter
from ecphoria.recall.ports import ConceptEdges
from ecphoria.recall.walk import STILL, Flow, Walk, concept_seed, marks, shares
from ecphoria.records.ids import EpisodeId
from ecphoria.records.recall import Filters
from ecphoria.records.strategy import Mechanisms
from ecphoria.records.traced import Stream

_POWER = 0.5
"""Flattens activation among documents; measured."""
_ALL = 1_000_000
"""Mentions that no concept has: no concept is a hub."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EcphoryOptions(BaseOptions):
    """Options of the hops between traces and of their weights."""

    w_activation: float = parameter(
        0.02, "Weight of activation.", low=0, high=5, source="measured on conversations"
    )
    w_bridge: float = same_as(WalkOptions, "w_bridge")
    # By default a trace's vector is the mean of its sources' vectors, so nothing more is stored or
    # encoded (docs/explanation/mechanisms/ecphory.md).
    entities: bool = parameter(
        default=False, doc="Search the vectors of concepts in place of memories; concepts have"
        " vectors after a consolidation.", source="EcphoryRAG 3.2; off by default",
    )  # fmt: skip
    # A rule reads names only, so a cue of names leaves out the question itself
    # (docs/explanation/mechanisms/ecphory.md).
    cue_vector: str = parameter(
        "question", "Vector of the cue: that of the question, or the mean of the names in it.",
        choices=("question", "names"), source="EcphoryRAG, Alg. 1",
    )  # fmt: skip
    # By default the base ranks the direct hits (docs/explanation/mechanisms/ecphory.md).
    direct_hits: int = parameter(
        0, "Memories nearest to the cue that come first, beside the sources of traces.",
        unit="memories", low=0, high=50, source="EcphoryRAG, Alg. 1; 5 there",
    )  # fmt: skip
    k_init: int = parameter(
        10, "Memories (or concepts) searched for the first traces.", low=1, high=50,
        source="EcphoryRAG 4.1",
    )  # fmt: skip
    # Sources are taken after the hops; in the paper's code before, so that hops change nothing
    # (docs/explanation/mechanisms/ecphory.md).
    depth: int = parameter(
        2, "Hops by the centre of the best traces.", unit="hops", low=0, high=6,
        source="EcphoryRAG 4.1",
    )  # fmt: skip
    hop_seeds: int = parameter(
        10, "Traces that make up a centre.", unit="traces", low=1, high=50, source="EcphoryRAG"
    )
    centroid: str = parameter(
        "linear", "Weights of a centre: the scores, or their softmax.",
        choices=("linear", "softmax"), source="EcphoryRAG, Alg. 1 and Eq. 2",
    )  # fmt: skip
    expansion: int = parameter(
        3, "Memories (or concepts) searched around a centre, times `k_init`.", low=1, high=10,
        source="EcphoryRAG",
    )  # fmt: skip
    # The paper's score is the cosine with the question alone, which undoes the hops: its depths 0,
    # 1 and 2 score .714, .702 and .722 (docs/explanation/mechanisms/ecphory.md).
    path_weight: float = parameter(
        0.5, "a: share of the cosine with the question; 1 ignores the way.", low=0, high=1,
        source="E2",
    )  # fmt: skip
    hop_decay: float = parameter(
        0.8, "gamma: what a way keeps over a hop.", low=0.01, high=1, source="2.5"
    )
    k_final: int = parameter(
        20, "Traces whose sources are woken.", unit="traces", low=1, high=200, source="E3"
    )
    # A trace divides its score among its sources (docs/explanation/mechanisms/ecphory.md).
    mention_weight: float = parameter(
        0.1, "Weight of a source that mentions a trace; one about it has 1.", low=0, high=1,
        source="as in the concept channel",
    )  # fmt: skip
    hub: int = parameter(
        50, "Mentions above which a concept is no trace.", unit="mentions", low=1, high=_ALL
    )


_PAPER = EcphoryOptions(
    w_base=0.0, w_activation=1.0, w_bridge=0.0, entities=True, path_weight=1.0,
    mention_weight=1.0, direct_hits=5, hub=_ALL,
)  # fmt: skip


class Ecphory:
    """Hop from trace to trace by the centre of the best, then wake their sources (EcphoryRAG)."""

    name: ClassVar[str] = "ecphory"
    seeds: ClassVar[int] = 50
    options: ClassVar[type[Any]] = EcphoryOptions
    presets: ClassVar[Mapping[str, Any]] = {"default": EcphoryOptions(), "paper": _PAPER}
    mechanisms: ClassVar[Mechanisms] = {
        "activation": {"w_activation": 0.0, "w_bridge": 0.0},
        "bridge": {"w_bridge": 0.0},
        "hops": {"depth": 0},
        "hop decay": {"hop_decay": 1.0},
        "way": {"path_weight": 1.0},
        "entities": {"entities": False},
        "mentions": {"mention_weight": 0.0},
        "direct hits": {"direct_hits": 0},
        **BASE_MECHANISM,
    }

    async def rank(self, search: Search, options: EcphoryOptions) -> Ranked:
        """Wake traces by the cue and by each other, then add their sources to the base."""
        base = text_pool(search, options.base)
        walk = _Walk(search, options)
        await walk.begin(base)
        for number in range(1, options.depth + 1):
            if not await walk.hop(number):
                break
        active, gate = walk.wake()
        direct = await walk.direct_hits()
        weight = options.w_activation + options.w_bridge + len(direct)
        pool = await base.reached(search, direct | active, weight=weight)
        activation = activation_parts(
            pool.read(active),
            weight=options.w_activation,
            bridge=options.w_bridge,
            gate=walk.documents * gate,
            power=_POWER,
        )
        parts = {"base": options.w_base * pool.score, **activation}
        if options.direct_hits:
            parts["direct"] = pool.read(direct)
        return pool.ranked(parts, walk.record)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trace:
    """An activated concept.

    Attributes:
        sources: Episodes it was learned from, with the weight of each.
        about: Episodes that are about it.
        hop: 0 if the cue activated it.
        edge: The stream that found it, or `NEAR` if a hop did.
    """

    id: str
    label: str
    sources: Mapping[EpisodeId, float]
    about: frozenset[EpisodeId]
    hop: int
    edge: str


class _Walk:
    """Traces met so far; s of them, with vectors [s, d] of length 1."""

    def __init__(self, search: Search, options: EcphoryOptions) -> None:
        self._search, self._options = search, options
        vector = search.seeding.vector
        self._cue = np.zeros(1) if vector is None else np.asarray(vector, np.float64)
        self._traces: dict[str, _Trace] = {}
        self._vectors = np.empty((0, self._cue.size))
        self._direct, self._path = np.empty(0), np.empty(0)
        self.record = Walk()
        self.documents = 0.0

    async def begin(self, pool: Pool) -> None:
        """Start with the concepts that the cue names, and those of the nearest memories.

        With `entities`, the nearest concepts replace those of the nearest memories.

        The share of those memories' base score that belongs to documents (a concept is about them)
        decides whether traces may lead on from them.
        """
        seeding, options = self._search.seeding, self._options
        near = [row.id for row in seeding.by_vector[: options.k_init]]
        labels, titled = await self._mentioned(near)
        named = {concept.id: concept.name for concept in seeding.concepts}
        own = await self._own(list(named))
        if options.cue_vector == "names":
            self._aim(list(own.values()))
        nearest = await self._nearest(self._cue, options.k_init)
        if nearest:
            # A named concept without a vector cannot be near.
            labels = nearest
            named = {concept: name for concept, name in named.items() if concept not in own}
        await self._meet({**named, **labels}, 0, None)
        score = dict(pool.best(near, len(near)))
        total = sum(score.values())
        told = sum(value for episode, value in score.items() if episode in titled)
        self.documents = told / total if total > 0.0 else 0.0

    async def hop(self, number: int) -> bool:
        """Search around the centre of the best traces; tell whether there was one."""
        best = self._best(self._options.hop_seeds)
        softmax = self._options.centroid == "softmax"
        centre = hop(self._vectors[best], self._score()[best], self._path[best], softmax=softmax)
        if centre is None:
            return False
        count = self._options.expansion * self._options.k_init
        labels = await self._nearest(centre.vector, count)
        if not labels:
            rows = await self._search.store.seeds_by_vector(
                self._search.tenant, centre.vector.astype(np.float32), count, Filters()
            )
            labels, _ = await self._mentioned([row.id for row in rows])
        await self._meet(labels, number, centre)
        return True

    async def direct_hits(self) -> dict[EpisodeId, float]:
        """Search the memories nearest to the cue; give 1 and the cosine of each.

        The paper's set has no order; here these come before memories that only traces activate.
        """
        count = self._options.direct_hits
        if not count or self._search.seeding.vector is None:
            return {}
        store, tenant = self._search.store, self._search.tenant
        vector = self._cue.astype(np.float32)
        rows = await store.seeds_by_vector(tenant, vector, count, self._search.filters)
        return {row.id: 1.0 + max(0.0, row.score) for row in rows}

    async def _own(self, concepts: Sequence[str]) -> Mapping[str, Vector]:
        """Fetch the concepts' own vectors, if the walk uses any."""
        if not (self._options.entities or self._options.cue_vector == "names"):
            return {}
        return await self._search.store.figures.concept_vectors(self._search.tenant, concepts)

    def _aim(self, named: Sequence[Vector]) -> None:
        """Let the cue be the mean of the vectors of the names in it, if there is any."""
        mean = np.sum(named, axis=0, dtype=np.float64)
        length = float(np.linalg.norm(mean))
        if length > SMALL and self._search.seeding.vector is not None:
            self._cue = np.asarray(mean / length)

    def _stream(self, concept: str) -> Stream:
        named = any(concept == one.id for one in self._search.seeding.concepts)
        return Stream.NAME if named else Stream.VECTOR

    def wake(self) -> tuple[dict[EpisodeId, float], float]:
        """Let the best traces wake their sources.

        Returns:
            The energy that each source received, and twice the share that came over ABOUT, at
            most 1.
        """
        walk, score, traces = self.record, self._score(), list(self._traces.values())
        walk.seeds = shares(
            concept_seed(trace.id, trace.label, self._stream(trace.id), direct)
            for trace, direct in zip(traces, self._direct.tolist(), strict=True)
            if trace.hop == 0
        )
        best = self._best(self._options.k_final).tolist()
        walk.entries = {row: (traces[row].edge, float(score[row])) for row in best}
        edges = [
            (row, walk.add(source, "episode"), weight, source in traces[row].about)
            for row in best
            for source, weight in traces[row].sources.items()
        ]
        over = np.array([is_about for *_, is_about in edges], dtype=np.bool_)
        flow = self._flow([edge[:3] for edge in edges], score)
        for tail, head, _, is_about in edges:
            walk.joins[tail, head] = "ABOUT" if is_about else "MENTIONS"
        walk.flows.append(flow)
        walk.wave(flow, active=np.unique(flow.head).size)
        received = np.bincount(flow.head, weights=flow.energy)
        active = {EpisodeId(walk.ids[node]): float(received[node]) for node in flow.head.tolist()}
        return active, about_gate(float(flow.energy[over].sum()), float(flow.energy.sum()))

    def _flow(self, edges: Sequence[tuple[int, int, float]], score: FloatArray) -> Flow:
        """Divide the score of each trace among its sources."""
        tail = np.array([row for row, _, _ in edges], dtype=np.int64)
        weight = np.array([weight for _, _, weight in edges], dtype=np.float64)
        # One target for each edge; the amounts are not added up yet.
        share = woken_sources(tail, np.arange(tail.size), weight, score, size=tail.size)
        head = np.array([source for _, source, _ in edges], dtype=np.int64)
        return Flow(tail=tail, head=head, weight=weight, energy=share)

    def _score(self) -> FloatArray:
        return relevance(self._direct, self._path, weight=self._options.path_weight)

    def _best(self, count: int) -> NDArray[np.int64]:
        return np.argsort(-np.round(self._score(), 12), kind="stable")[:count]

    async def _mentioned(
        self, episodes: Sequence[EpisodeId]
    ) -> tuple[dict[str, str], set[EpisodeId]]:
        """List the concepts of memories with their labels, and the memories about a concept."""
        store, hub = self._search.store, self._options.hub
        edges = await store.concepts_of(self._search.tenant, episodes, hub)
        rows = zip(edges.episode, edges.is_about.tolist(), strict=True)
        titled = {episode for episode, is_about in rows if is_about}
        return dict(zip(edges.concept, edges.label, strict=True)), titled

    async def _nearest(self, around: FloatArray, count: int) -> dict[str, str]:
        """List the concepts nearest by their own vectors, with labels; none without `entities`.

        Before a consolidation no concept has a vector, so memories are searched in their place.
        """
        if not self._options.entities or self._search.seeding.vector is None:
            return {}
        found = await self._search.store.near_concepts(
            self._search.tenant, around.astype(np.float32), count
        )
        return {concept.id: concept.name for concept in found}

    async def _meet(self, labels: Mapping[str, str], number: int, centre: Centroid | None) -> None:
        """Add concepts as traces."""
        store, tenant, hub = self._search.store, self._search.tenant, self._options.hub
        fresh = {
            concept: labels[concept] for concept in sorted(labels) if concept not in self._traces
        }
        back = await store.episodes_of(tenant, list(fresh), hub)
        own = await self._own(list(fresh)) if self._options.entities else {}
        vectors = await store.vectors(tenant, sorted(set(back.episode)))
        met = [
            trace
            for concept, label in fresh.items()
            if (trace := self._trace(concept, label, back, set(vectors), number)).sources
        ]
        self._keep(met, [_vector(trace, own, vectors) for trace in met], centre)
        self._describe(number)

    def _trace(
        self, concept: str, label: str, edges: ConceptEdges, there: set[EpisodeId], number: int
    ) -> _Trace:
        columns = zip(edges.episode, edges.concept, edges.is_about.tolist(), strict=True)
        rows = [
            (episode, is_about)
            for episode, of, is_about in columns
            if of == concept and episode in there
        ]
        about = frozenset(episode for episode, is_about in rows if is_about)
        mention = self._options.mention_weight
        return _Trace(
            id=concept,
            label=label,
            sources={episode: 1.0 if episode in about else mention for episode, _ in rows},
            about=about,
            hop=number,
            edge="NEAR" if number else self._stream(concept),
        )

    def _keep(
        self, met: Sequence[_Trace], vectors: Sequence[Vector], centre: Centroid | None
    ) -> None:
        if not met:
            return
        rows = np.stack(vectors).astype(np.float64)
        rows /= np.maximum(1e-12, np.linalg.norm(rows, axis=1, keepdims=True))
        direct = positive_cosine(rows, self._cue)
        path = direct
        if centre is not None:
            path = carried(rows, centre.vector, path=centre.path, keep=self._options.hop_decay)
        for trace in met:
            self._traces[trace.id] = trace
            self.record.add(trace.id, "concept", trace.label)
        self._vectors = np.vstack((self._vectors, rows))
        self._direct = np.concatenate((self._direct, direct))
        self._path = np.concatenate((self._path, path))

    def _describe(self, number: int) -> None:
        """Name the traces that a hop added."""
        drawn = [
            (trace.id, float(path))
            for trace, path in zip(self._traces.values(), self._path, strict=True)
            if trace.hop == number
        ]
        says = f"drawn in by hop {number}" if number else "woken by the cue"
        energy = sum(path for _, path in drawn)
        self.record.wave(STILL, active=len(self._traces), energy=energy, marks=marks(drawn, says))


def _vector(
    trace: _Trace, own: Mapping[str, Vector], sources: Mapping[EpisodeId, Vector]
) -> Vector:
    """Take a trace's own vector, or the mean of its sources' if it has none yet."""
    if trace.id in own:
        return own[trace.id]
    mean: Vector = np.mean([sources[episode] for episode in trace.sources], axis=0)
    return mean
