"""CLS-M: activation hops from the seeds, damped at nodes of high degree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ecphoria.maths.adjacency import Adjacency
from ecphoria.maths.arrays import FloatArray
from ecphoria.maths.spreading import HopOptions, Hops, damped, edge_decay, spread_hops
from ecphoria.mechanisms.base import (
    WALK_MECHANISMS,
    WalkOptions,
    anchors,
    cosine_anchors,
    gains_of,
    near_anchors,
    part_of,
    ranked_by_walk,
    text_pool,
    walk_limits,
)
from ecphoria.mechanisms.subgraph import EDGES, Subgraph, enter
from ecphoria.recall.pipeline import Pool, Ranked, Search, parameter
from ecphoria.recall.ports import NamedConcept
from ecphoria.recall.walk import concept_seed, marks
from ecphoria.records.history import DAY_MS
from ecphoria.records.ids import EpisodeId
from ecphoria.records.strategy import Mechanisms
from ecphoria.records.traced import SeedRecord, Stream
from ecphoria.text.english import STOP_WORDS
from ecphoria.text.names import normalised_words

_LEAST_LETTERS = 3
"""Letters of a word that is sought inside names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClsOptions(WalkOptions):
    """Options of the hops and of their weights."""

    w_bridge: float = parameter(
        0.9, "Weight of activation among documents.", low=0, high=5,
        source="measured on titled passages",
    )  # fmt: skip
    hops: int = parameter(3, "Farthest hop.", unit="hops", low=1, high=6, source="CLS-M 4.2")
    decay: float = parameter(
        0.5, "What survives a hop.", unit="share a hop", low=0.01, high=1, source="CLS-M 4.2"
    )
    # At the fans of a real graph the paper's .1 stops nearly everything. It applies to the sum of
    # the arrivals, because three weak hints are one strong hint
    # (docs/explanation/mechanisms/cls.md).
    threshold: float = parameter(
        0.01, "Least activation that travels on and counts.", low=0, high=1,
        source="measured; the paper's .1 stops nearly all",
    )  # fmt: skip
    # The paper's text sums, its code takes the best way only; a sum needs the echo removed
    # (docs/explanation/mechanisms/cls.md).
    aggregation: str = parameter(
        "sum", "All that arrives, or the best way only.", choices=("sum", "max"),
        source="CLS-M, text and code",
    )  # fmt: skip
    # The paper gives a factor and no formula (docs/explanation/mechanisms/cls.md).
    degree_power: float = parameter(
        0.2, "Damping of busy nodes; 1 is the fan of ACT-R.", low=0, high=1, source="CLS-M 5.3"
    )
    # The boost of the paper's text for exact matches (docs/explanation/mechanisms/cls.md).
    exact_boost: float = parameter(
        1.2, "Level of a concept that the cue names.", low=0, high=2, source="CLS-M"
    )
    # The paper's code starts seeds at 1, its text at their cosine
    # (docs/explanation/mechanisms/cls.md).
    seeding: str = parameter(
        "names", "Where hops begin: at memories with their base score and concepts by `names`, or"
        " `hybrid`: at memories with their cosine and also at concepts whose name holds a word of"
        " the cue, at most `concept_seeds`.", choices=("names", "hybrid"), source="CLS-M 5.3",
    )  # fmt: skip
    # In the paper edges fade by a power of their age, and a use resets it
    # (docs/explanation/mechanisms/cls.md).
    edge_decay: float = parameter(
        0.0, "Exponent of the fading of edges since both ends were last used; 0 is none.",
        low=0, high=2, source="CLS-M 3.2",
    )  # fmt: skip
    # The paper's budget of 8 kB; by default the token budget of the recall limits the answer
    # (docs/explanation/mechanisms/cls.md).
    characters: int = parameter(
        0, "Most characters of all hits together; the last hits are left out. 0 is no bound.",
        unit="characters", low=0, high=1_000_000, source="8,192 in CLS-M 5.3",
    )  # fmt: skip


_PAPER = ClsOptions(
    threshold=0.1,
    aggregation="max",
    received_only=False,
    seeding="hybrid",
    edge_decay=0.2,
    characters=8_192,
    seeds=10,
    concept_seeds=10,
    mention_back=1.0,
    similar=1.0,
    associated=1.0,
    related=1.0,
    merged=1.0,
    w_base=0.0,
    w_activation=1.0,
    w_bridge=0.0,
)


class Cls:
    """Let activation hop over the graph until it falls below a threshold (CLS-M)."""

    name: ClassVar[str] = "cls"
    seeds: ClassVar[int] = 50
    options: ClassVar[type[Any]] = ClsOptions
    presets: ClassVar[Mapping[str, Any]] = {
        "default": ClsOptions(),
        "paper": _PAPER,
        "paper-text": replace(_PAPER, aggregation="sum"),
    }
    mechanisms: ClassVar[Mechanisms] = {
        **WALK_MECHANISMS,
        "damping": {"degree_power": 0.0},
        "threshold": {"threshold": 0.0},
        "exact boost": {"exact_boost": 1.0},
    }

    async def rank(self, search: Search, options: ClsOptions) -> Ranked:
        """Hop from the best seeds, then add the received activation to the base."""
        base = text_pool(search, options.base)
        taken = await _entries(search, base, options)
        graph, start = await enter(search, taken, walk_limits(options, options.hops))
        arcs = _arcs(graph, options, await _kept(search, graph, options))
        run = spread_hops(arcs, start, options=part_of(HopOptions, options))
        graph.begin(start)
        _describe(graph, arcs, run, options.threshold)
        active = graph.active(_counted(run, options))
        pool = await base.reached(search, active, weight=options.w_activation + options.w_bridge)
        lit = pool.read(active)
        if options.w_base == 0.0 and lit.any():
            # If the text has no weight, a memory below the threshold is no hit.
            pool, lit = pool.kept(np.flatnonzero(lit)), lit[lit > 0.0]
        gate = graph.bridge_gate(arcs, run.carried.sum(axis=0))
        ranked = ranked_by_walk(pool, lit, options, graph, gate)
        return replace(ranked, characters=options.characters)


async def _entries(search: Search, base: Pool, options: ClsOptions) -> Sequence[SeedRecord]:
    """Choose the seeds and their levels: an exact name, then part of a name, then the cosine."""
    if options.seeding == "names":
        taken = anchors(search, base, options.seeds, lambda _: options.exact_boost)
        return (*taken, *await near_anchors(search, options.concept_seeds))
    words = set(normalised_words(search.seeding.analysis.stripped)) - STOP_WORDS
    long = sorted(word for word in words if len(word) >= _LEAST_LETTERS)
    holding: Sequence[NamedConcept] = ()
    if long and options.concept_seeds:
        holding = await search.store.concepts_with(search.tenant, long, options.concept_seeds)
    by_name = {
        **{concept.id: (concept.name, 1.0) for concept in holding},
        **{one.id: (one.name, options.exact_boost) for one in search.seeding.concepts},
    }
    named = (
        concept_seed(node, name, Stream.NAME, level) for node, (name, level) in by_name.items()
    )
    near = await near_anchors(search, options.concept_seeds)
    return (
        *cosine_anchors(search, options.seeds),
        *named,
        *(seed for seed in near if seed.node not in by_name),
    )


async def _kept(search: Search, graph: Subgraph, options: ClsOptions) -> FloatArray:
    """Compute the share of its weight that each edge keeps, [m].

    A memory was active when it was last recalled, else when it happened; a concept with the
    latest memory that mentions it. An edge was active when both ends were.
    """
    seen = graph.relations()
    if options.edge_decay == 0.0 or not seen.tail.size:
        return np.ones(seen.tail.size)
    place = graph.index
    ids = [EpisodeId(graph.ids[node]) for node in np.flatnonzero(graph.episodes())]
    now_ms = 1e3 * search.now.timestamp()
    used_ms = np.full(len(graph.ids), -np.inf)
    for episode, use in (await search.store.figures.uses(search.tenant, ids)).items():
        used_ms[place[episode]] = min(now_ms, use.recent_ms[-1])
    for one, other in ((seen.tail, seen.head), (seen.head, seen.tail)):
        mentioned = ~graph.episodes()[one]
        np.maximum.at(used_ms, one[mentioned], used_ms[other[mentioned]])
    both_ms = np.minimum(used_ms[seen.tail], used_ms[seen.head])
    age_days = np.where(np.isfinite(both_ms), (now_ms - both_ms) / DAY_MS, 0.0)
    # The store has already faded the learned part of SIMILAR.
    learned = seen.kind == EDGES.index("SIMILAR")
    return np.where(learned, 1.0, edge_decay(age_days, options.edge_decay))


def _arcs(graph: Subgraph, options: ClsOptions, kept: FloatArray) -> Adjacency:
    seen = graph.relations()
    return damped(
        seen.tail,
        seen.head,
        seen.kind,
        seen.weight * kept,
        degree=seen.degree,
        gain=gains_of(options, about_back=options.mention_back),
        power=options.degree_power,
    )


def _counted(run: Hops, options: ClsOptions) -> FloatArray:
    """Read the activation, with the seeds' own or only from the hops."""
    if not options.received_only:
        return run.activation
    hops = run.waves[1:]
    together = options.aggregation == "sum"
    brought: FloatArray = hops.sum(axis=0) if together else hops.max(axis=0, initial=0.0)
    return np.minimum(1.0, brought)


def _describe(graph: Subgraph, arcs: Adjacency, run: Hops, threshold: float) -> None:
    """Record each hop and the nodes that the threshold cut."""
    for carried, before, after, arrived, stopped in zip(
        run.carried, run.waves, run.waves[1:], run.arrived, run.cut(), strict=False
    ):
        graph.send(arcs, before)
        cut = ((graph.ids[node], float(arrived[node])) for node in np.flatnonzero(stopped))
        graph.describe(
            arcs,
            carried,
            active=int((after > 0.0).sum()),
            marked=marks(cut, f"cut: below the threshold {threshold:g}"),
        )
