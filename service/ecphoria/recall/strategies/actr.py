"""ACT-R (NeuromemoryAI): relevance, priming by the cue, recent use, importance."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ecphoria.maths.actr import base_level, fan_share, prime, probabilities, squash
from ecphoria.maths.adjacency import Adjacency
from ecphoria.maths.concept_channel import boost
from ecphoria.recall.explain import WalkedPath, describe_wave, found_directly
from ecphoria.recall.history import Uses
from ecphoria.recall.pipeline import (
    BaseOptions,
    Pool,
    Ranked,
    Search,
    active_episodes,
    anchors,
    bridge_gate,
    enter,
    parameter,
    seed_shares,
    text_pool,
)
from ecphoria.recall.subgraph import SIMILAR, Limits, Subgraph, gains
from ecphoria.records.history import Use
from ecphoria.records.ids import EpisodeId
from ecphoria.records.recall import Mark

FloatArray = NDArray[np.float64]
_DAY_S = 86_400.0
_TRACED_HITS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ActrOptions(BaseOptions):
    """Options of the terms beside relevance."""

    decay: float = parameter(0.5, "Exponent d of forgetting.", low=0.05, high=0.95, source="ACT-R")
    midpoint_days: float = parameter(
        7.0, "Age at which a memory used once is half present.", unit="days",
        low=0.01, high=3650, source="N2: presence squashed around a week",
    )  # fmt: skip
    w_context: float = parameter(
        0.3, "Weight of what the cue primes.", low=0, high=2, source="2.3a"
    )
    w_bridge: float = parameter(
        1.2, "Weight of what it primes among documents.", low=0, high=5,
        source="measured on titled passages",
    )  # fmt: skip
    w_presence: float = parameter(
        0.02, "Weight of how present a memory is.", low=0, high=0.2, source="measured; .1 in 2.3a"
    )
    w_importance: float = parameter(
        0.1, "Weight of the importance its author gave.", low=0, high=1, source="2.3a"
    )
    w_retrievability: float = parameter(
        0.0, "Weight of how well it can be called back since its last use.", low=0, high=0.2,
        source="2.3d; 0 as in the score of 2.3a",
    )  # fmt: skip
    similar: float = parameter(
        SIMILAR, "Gain of SIMILAR: what is near in meaning, or was recalled together.",
        low=0, high=1, source="2.0",
    )  # fmt: skip
    fan_log: bool = parameter(
        default=False, doc="Let association fall with the logarithm of the fan.", source="ACT-R"
    )
    slots: bool = parameter(
        default=True,
        doc="Let the concepts of the best memories prime too.",
        source="ACT-R: the slots of a retrieved chunk",
    )
    temperature: float = parameter(
        0.25, "Of the retrieval probability in the trace.", low=0.01, high=10, source="ACT-R"
    )
    seeds: int = parameter(
        2, "Memories from each index that are on one's mind.", unit="memories", low=1, high=50,
        source="measured",
    )  # fmt: skip
    fan: int = parameter(32, "Edges fetched per node and type.", unit="edges", low=1, high=64)
    floor: float = parameter(0.05, "Lightest edge fetched.", unit="weight", low=0, high=1)


_DEFAULT = ActrOptions()
_PAPER = ActrOptions(w_presence=0.1, w_bridge=0.0, fan_log=True, slots=False, seeds=10)


class Actr:
    """Add priming by the cue and presence by use to relevance (NeuromemoryAI, ACT-R)."""

    name: ClassVar[str] = "actr"
    seeds: ClassVar[int] = 50
    options: ClassVar[type[Any]] = ActrOptions
    presets: ClassVar[Mapping[str, Any]] = {
        "default": _DEFAULT,
        "paper": _PAPER,
        "chatbot": replace(_DEFAULT, midpoint_days=14.0),
        "task_agent": replace(_DEFAULT, midpoint_days=3.5),
        "personal_assistant": _DEFAULT,
        "researcher": replace(_DEFAULT, midpoint_days=70.0),
    }

    async def rank(self, search: Search, options: ActrOptions) -> Ranked:
        """Prime the neighbours of the anchors, and add the presence of each memory."""
        base = text_pool(search, options.base)
        named = max(1, len(search.seeding.concepts))
        taken = anchors(search, base, options.seeds, lambda _: 1.0 / named)
        limits = Limits(waves=1 + options.slots, fan=options.fan, floor=options.floor)
        graph, start = await enter(search, taken, limits)
        arcs = _associations(graph, options)
        start = start / (start.sum() or 1.0)
        minds = _minds(graph, arcs, start, options)
        primed = prime(arcs, minds[-1])
        active = active_episodes(graph, primed)
        pool = await base.reached(search, active, weight=options.w_context + options.w_bridge)
        carried = arcs.weights * minds[-1][arcs.tails()]
        gate = bridge_gate(graph, arcs, carried)
        uses = await _uses(search, pool, options)
        walked = WalkedPath(
            graph=graph,
            arcs=arcs,
            sent=minds,
            start=start,
            streams={anchor.node: anchor.stream for anchor in taken},
        )
        ranked = pool.ranked(
            _parts(pool, pool.read(active), gate, uses, options),
            seeds=seed_shares(taken),
            waves=(),
            path=pool.explain(walked, found_directly),
            truncated=graph.truncated,
        )
        waves = [
            describe_wave(
                graph,
                arcs,
                arcs.weights * mind[arcs.tails()],
                number=number,
                active=int((arcs.push(mind) > 0.0).sum()),
                marked=_likely(ranked, options.temperature) if number == len(minds) else (),
            )
            for number, mind in enumerate(minds, 1)
        ]
        return replace(ranked, waves=tuple(waves))


def _minds(
    graph: Subgraph, arcs: Adjacency, start: FloatArray, options: ActrOptions
) -> list[FloatArray]:
    """Compute the focus: the anchors of the cue, then the concepts they mention too."""
    if not options.slots:
        return [start]
    concept = np.array([kind == "concept" for kind in graph.kinds], dtype=np.bool_)
    filled = start + np.where(concept, prime(arcs, start), 0.0)
    return [start, filled / (filled.sum() or 1.0)]


def _associations(graph: Subgraph, options: ActrOptions) -> Adjacency:
    """Give the arcs their associative strength S."""
    gain = gains(similar=options.similar)
    if not options.fan_log:
        return graph.adjacency(gain, 1.0, guard=True)
    seen = graph.relations()
    tail = np.concatenate((seen.tail, seen.head))
    kind = np.concatenate((seen.kind, seen.kind))
    share = fan_share(seen.degree[tail, kind])
    head = np.concatenate((seen.head, seen.tail))
    weight = np.concatenate((seen.weight, seen.weight))
    return Adjacency.from_arcs(tail, head, share * weight * gain[kind, 0], size=len(graph.ids))


def _parts(
    pool: Pool, primed: FloatArray, gate: float, uses: Uses, options: ActrOptions
) -> dict[str, FloatArray]:
    level = base_level(
        uses.age_s, uses.owner, size=len(pool.ids), decay=options.decay, beyond=uses.beyond
    )
    present = squash(level, midpoint_s=options.midpoint_days * _DAY_S, decay=options.decay)
    parts = {
        "base": options.w_base * pool.score,
        "context": options.w_context * primed,
        "bridge": boost(primed, gate, weight=options.w_bridge),
        "presence": options.w_presence * present,
        "importance": options.w_importance * uses.important(pool.importance),
    }
    if options.w_retrievability:
        parts["retrievability"] = options.w_retrievability * uses.recalled
    return parts


async def _uses(search: Search, pool: Pool, options: ActrOptions) -> Uses:
    """Read how the memories were used, where recalls leave that behind."""
    if not search.seeding.profile.learned:
        return Uses.of(pool.occurred_ms, search.now)
    known = await search.store.uses(search.tenant, pool.ids)
    told = [
        known.get(episode) or Use.fresh(ms)
        for episode, ms in zip(pool.ids, pool.occurred_ms.tolist(), strict=True)
    ]
    return Uses.told(told, search.now, options.decay)


def _likely(ranked: Ranked, temperature: float) -> tuple[Mark, ...]:
    """Say how likely each of the best is the one retrieved."""
    chance = probabilities(ranked.score, temperature=temperature)
    best: list[EpisodeId] = list(ranked.ids[:_TRACED_HITS])
    return tuple(
        Mark(node=episode, says="retrieval probability", value=float(likely))
        for episode, likely in zip(best, chance, strict=False)
    )
