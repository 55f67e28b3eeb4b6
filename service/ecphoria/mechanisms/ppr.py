"""Personalised PageRank: a random walk that returns to the seeds."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ecphoria.maths.adjacency import Adjacency
from ecphoria.maths.spreading import push
from ecphoria.mechanisms.base import (
    WALK_MECHANISMS,
    WalkOptions,
    anchors,
    gains_of,
    near_anchors,
    ranked_by_walk,
    text_pool,
    walk_limits,
)
from ecphoria.mechanisms.subgraph import enter
from ecphoria.recall.pipeline import Ranked, Search, parameter
from ecphoria.recall.ports import FoundConcept
from ecphoria.recall.walk import marks
from ecphoria.records.strategy import Mechanisms
from ecphoria.records.traced import SeedRecord

_HOPS = 3
"""Hops fetched around the seeds: at a damping of .5 seven eighths of the mass stay within."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PprOptions(WalkOptions):
    """Options of the random walk and of its start."""

    # .85 finds a little more evidence on MuSiQue, and ranks it lower
    # (docs/explanation/mechanisms/ppr.md).
    damping: float = parameter(
        0.5, "Chance to walk on.", unit="share a step", low=0, high=0.95, source="HippoRAG"
    )
    # Bounds the arcs of a push by 1 / ((1 - damping) epsilon), so a recall costs the same in a
    # large store (docs/explanation/mechanisms/ppr.md).
    epsilon: float = parameter(
        1e-6, "Residual left behind.", unit="mass per arc", low=1e-9, high=1e-2,
        source="Andersen 2006",
    )  # fmt: skip
    # Rare names tell more than common ones, so they get more of the start
    # (docs/explanation/mechanisms/ppr.md).
    specificity: bool = parameter(
        default=True,
        doc="Start more often at concepts that few memories mention.",
        source="HippoRAG 3.3",
    )
    # Named concepts lead; if there are any, the best memories enter with little energy
    # (docs/explanation/mechanisms/ppr.md).
    passage_prior: float = parameter(
        0.05, "Start at a memory beside a concept the cue names.", unit="share", low=0, high=1,
        source="HippoRAG 2",
    )  # fmt: skip


_PAPER = PprOptions(
    received_only=False, seeds=10, mention_back=1.0, w_base=0.0, w_activation=1.0, w_bridge=0.0
)


class Ppr:
    """Rank by the visits of a random walker that returns to the seeds (PageRank)."""

    name: ClassVar[str] = "ppr"
    seeds: ClassVar[int] = 50
    options: ClassVar[type[Any]] = PprOptions
    presets: ClassVar[Mapping[str, Any]] = {"default": PprOptions(), "paper": _PAPER}
    mechanisms: ClassVar[Mechanisms] = {
        **WALK_MECHANISMS,
        "specificity": {"specificity": False},
        "passage prior": {"passage_prior": 0.0},
    }

    async def rank(self, search: Search, options: PprOptions) -> Ranked:
        """Walk from the best seeds, then add the walker's visits to the base."""
        base = text_pool(search, options.base)
        taken = _weighted(
            anchors(search, base, options.seeds, _level(search, options)), options.passage_prior
        )
        taken = (*taken, *await near_anchors(search, options.concept_seeds))
        graph, start = await enter(search, taken, walk_limits(options, _HOPS))
        gain = gains_of(options, about_back=options.mention_back)
        raw = graph.adjacency(gain, 0.0, guard=False)
        found = push(raw, start, damping=options.damping, epsilon=options.epsilon)
        start = start / (start.sum() or 1.0)
        arcs = _walk(raw)
        own = (1.0 - options.damping) * start if options.received_only else np.zeros_like(start)
        graph.begin(start)
        # A path may take any step of the walker: first from a seed, then from anywhere.
        for sent in (start, *([found] * _HOPS)):
            graph.send(arcs, sent)
        active = graph.active(np.maximum(0.0, found - own))
        pool = await base.reached(search, active, weight=options.w_activation + options.w_bridge)
        carried = options.damping * arcs.weights * found[arcs.tails()]
        stuck = np.flatnonzero((start > 0.0) & (raw.row_sums() == 0.0))
        graph.describe(
            arcs,
            carried,
            active=int((found > 0.0).sum()),
            marked=marks(
                ((graph.ids[node], float(start[node])) for node in stuck),
                "sends back to the seeds: no edges",
            ),
        )
        gate = graph.bridge_gate(arcs, carried)
        return ranked_by_walk(pool, pool.read(active), options, graph, gate)


def _level(search: Search, options: PprOptions) -> Callable[[FoundConcept], float]:
    """Share one unit among the named concepts, rare ones getting more."""
    named = search.seeding.concepts
    if not options.specificity:
        return lambda _: 1.0 / len(named)
    total = sum(_rarity(one) for one in named)
    return lambda concept: _rarity(concept) / total


def _rarity(concept: FoundConcept) -> float:
    return 1.0 / max(1, concept.mentions + concept.abouts)


def _weighted(taken: tuple[SeedRecord, ...], prior: float) -> tuple[SeedRecord, ...]:
    """Lower the weight of memories if concepts are named, which are the better entry."""
    if not any(seed.kind == "concept" for seed in taken):
        return taken
    return tuple(
        seed if seed.kind == "concept" else replace(seed, energy=prior * seed.energy)
        for seed in taken
    )


def _walk(raw: Adjacency) -> Adjacency:
    leaving = raw.row_sums()
    return Adjacency(
        indptr=raw.indptr,
        indices=raw.indices,
        weights=raw.weights / np.where(leaving > 0.0, leaving, 1.0)[raw.tails()],
    )
