"""CLS-M: activation hops from the seeds, damped at nodes of high degree."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray

from ecphoria.maths.adjacency import Adjacency
from ecphoria.maths.spreading import HopOptions, Hops, damped, spread_hops
from ecphoria.recall.explain import WalkedPath, describe_wave, found_directly, marks
from ecphoria.recall.pipeline import (
    WALK_MECHANISMS,
    Ranked,
    Search,
    WalkOptions,
    activation_parts,
    active_episodes,
    anchors,
    bridge_gate,
    enter,
    near_anchors,
    parameter,
    seed_shares,
    text_pool,
)
from ecphoria.recall.subgraph import Subgraph
from ecphoria.records.recall import Wave
from ecphoria.records.strategy import Mechanisms

FloatArray = NDArray[np.float64]


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
    threshold: float = parameter(
        0.01, "Least activation that travels on and counts.", low=0, high=1,
        source="measured; the paper's .1 stops nearly all",
    )  # fmt: skip
    aggregation: str = parameter(
        "sum", "All that arrives, or the best way only.", choices=("sum", "max"),
        source="CLS-M, text and code",
    )  # fmt: skip
    degree_power: float = parameter(
        0.2, "Damping of busy nodes; 1 is the fan of ACT-R.", low=0, high=1, source="CLS-M 5.3"
    )
    exact_boost: float = parameter(
        1.2, "Level of a concept that the cue names.", low=0, high=2, source="CLS-M"
    )


_TEXT = ClsOptions(
    threshold=0.1,
    received_only=False,
    seeds=10,
    concept_seeds=10,
    mention_back=1.0,
    associated=1.0,
    w_base=0.0,
    w_activation=1.0,
    w_bridge=0.0,
)
_CODE = replace(_TEXT, aggregation="max", threshold=0.15)


class Cls:
    """Let activation hop over the graph until it falls below a threshold (CLS-M)."""

    name: ClassVar[str] = "cls"
    seeds: ClassVar[int] = 50
    options: ClassVar[type[Any]] = ClsOptions
    presets: ClassVar[Mapping[str, Any]] = {
        "default": ClsOptions(),
        "paper": _CODE,
        "paper-text": _TEXT,
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
        taken = anchors(search, base, options.seeds, lambda _: options.exact_boost)
        taken += await near_anchors(search, options.concept_seeds)
        graph, start = await enter(search, taken, options.limits(options.hops))
        arcs = _arcs(graph, options)
        run = spread_hops(arcs, start, options=_kernel_options(options))
        active = active_episodes(graph, _counted(run, options))
        pool = await base.reached(search, active, weight=options.w_activation + options.w_bridge)
        activation = activation_parts(
            pool.read(active),
            weight=options.w_activation,
            bridge=options.w_bridge,
            gate=bridge_gate(graph, arcs, run.carried.sum(axis=0)),
        )
        walked = WalkedPath(
            graph=graph,
            arcs=arcs,
            sent=list(run.waves[: len(run.carried)]),
            start=start,
            streams={anchor.node: anchor.stream for anchor in taken},
        )
        return pool.ranked(
            {"base": options.w_base * pool.score, **activation},
            seeds=seed_shares(taken),
            waves=_waves(graph, arcs, run, options.threshold),
            path=pool.explain(walked, found_directly),
            truncated=graph.truncated,
        )


def _arcs(graph: Subgraph, options: ClsOptions) -> Adjacency:
    seen = graph.relations()
    return damped(
        seen.tail,
        seen.head,
        seen.kind,
        seen.weight,
        degree=seen.degree,
        gain=options.gains(),
        power=options.degree_power,
    )


def _kernel_options(options: ClsOptions) -> HopOptions:
    return HopOptions(
        hops=options.hops,
        decay=options.decay,
        threshold=options.threshold,
        aggregation=cast("Literal['sum', 'max']", options.aggregation),
    )


def _counted(run: Hops, options: ClsOptions) -> FloatArray:
    """Read the activation, with the seeds' own or only from the hops."""
    if not options.received_only:
        return run.activation
    hops = run.waves[1:]
    together = options.aggregation == "sum"
    brought: FloatArray = hops.sum(axis=0) if together else hops.max(axis=0, initial=0.0)
    return np.minimum(1.0, brought)


def _waves(graph: Subgraph, arcs: Adjacency, run: Hops, threshold: float) -> tuple[Wave, ...]:
    stopped = run.cut()
    return tuple(
        describe_wave(
            graph,
            arcs,
            carried,
            number=hop + 1,
            active=int((run.waves[hop + 1] > 0.0).sum()),
            marked=marks(
                (
                    (graph.ids[node], float(run.arrived[hop, node]))
                    for node in np.flatnonzero(stopped[hop])
                ),
                f"cut: below the threshold {threshold:g}",
            ),
        )
        for hop, carried in enumerate(run.carried)
    )
