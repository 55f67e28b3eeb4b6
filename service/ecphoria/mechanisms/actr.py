"""ACT-R (NeuromemoryAI): relevance, priming by the cue, recent use, importance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ecphoria.maths.actr import base_level, fan_share, prime, probabilities, squash
from ecphoria.maths.adjacency import Adjacency
from ecphoria.maths.arrays import FloatArray
from ecphoria.maths.concept_channel import boost
from ecphoria.mechanisms.base import (
    BASE_MECHANISM,
    BaseOptions,
    WalkOptions,
    anchors,
    part_of,
    same_as,
    text_pool,
    uses_of,
)
from ecphoria.mechanisms.history import DAY_S, Uses
from ecphoria.mechanisms.subgraph import EDGES, Subgraph, WalkLimits, enter, gains
from ecphoria.recall.pipeline import Pool, Ranked, Search, parameter
from ecphoria.recall.walk import episode_seed
from ecphoria.records.ids import EpisodeId
from ecphoria.records.strategy import Mechanisms
from ecphoria.records.traced import Mark, SeedRecord, Stream

_TRACED_HITS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """A kind of agent (NeuromemoryAI, table 1), as the paper's published code sets it.

    Attributes:
        decay: d, the exponent of forgetting.
        context: Factor on the weight of the context.
        importance: Factor on the weight of importance.
    """

    decay: float
    context: float = 1.0
    importance: float = 1.0


PERSONAS: Mapping[str, Persona] = {
    "chatbot": Persona(decay=0.4, context=4 / 3),
    "task_agent": Persona(decay=0.6),
    "personal_assistant": Persona(decay=0.45, importance=1.4),
    "researcher": Persona(decay=0.35, context=4 / 3, importance=0.6),
}
"""From the slowest to the fastest to forget: researcher, chatbot, assistant, task agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActrOptions(BaseOptions):
    """Options of the terms beside relevance."""

    decay: float = parameter(0.5, "Exponent d of forgetting.", low=0.05, high=0.95, source="ACT-R")
    midpoint_days: float = parameter(
        7.0, "Age at which a memory used once is half present.", unit="days",
        low=0.01, high=3650, source="N2: presence squashed around a week",
    )  # fmt: skip
    # The paper's links are learned by use; a new store has learned nothing, so edges of the graph
    # prime too (docs/explanation/mechanisms/actr.md).
    w_context: float = parameter(
        0.3, "Weight of what the cue primes.", low=0, high=2, source="2.3a"
    )
    w_bridge: float = parameter(
        1.2, "Weight of what it primes among documents.", low=0, high=5,
        source="measured on titled passages",
    )  # fmt: skip
    # The paper's logarithm runs from 0 to -7.4 within a month and drowns relevance, so the default
    # squashes it to 0..1 (docs/explanation/mechanisms/actr.md).
    level: str = parameter(
        "squashed", "How presence counts: `squashed` to 0 to 1, or `printed`, the logarithm B.",
        choices=("squashed", "printed"), source="N2; NeuromemoryAI, Eq. 7",
    )  # fmt: skip
    # Recency is worth little if the cue does not ask for it: .1 cost a point
    # (docs/explanation/mechanisms/actr.md).
    w_presence: float = parameter(
        0.02, "Weight of how present a memory is.", low=0, high=1, source="measured; .1 in 2.3a"
    )
    w_importance: float = parameter(
        0.1, "Weight of the importance its author gave.", low=0, high=1, source="2.3a"
    )
    # The paper lowers the confidence of a contradicted memory; here feedback moves the reliability
    # (docs/explanation/mechanisms/actr.md).
    w_reliability: float = parameter(
        0.0, "Weight of what feedback changed of a memory's reliability.", low=0, high=2,
        source="NeuromemoryAI 3.6; off by default",
    )  # fmt: skip
    # In the paper the probability of retrieval decides; ranking does not need it, so the trace
    # shows it (docs/explanation/mechanisms/actr.md).
    w_retrievability: float = parameter(
        0.0, "Weight of how well it can be called back since its last use.", low=0, high=0.2,
        source="2.3d; 0 as in the score of 2.3a",
    )  # fmt: skip
    # With a tenth, crammed and spaced recalls are worth the same, so it is no default
    # (docs/explanation/mechanisms/actr.md).
    growth: str = parameter(
        "spaced", "How stability grows with a use: `spaced`, more after a longer pause, or"
        " `printed`, by a tenth. It counts with `w_retrievability`.",
        choices=("spaced", "printed"), source="NeuromemoryAI, Eq. 9",
    )  # fmt: skip
    # A `SIMILAR` edge primes like any other, whether it was learned or is by nearness
    # (docs/explanation/mechanisms/actr.md).
    similar: float = same_as(WalkOptions, "similar")
    links: str = parameter(
        "all", "Edges that prime: `all` under the fan effect, or `similar` alone, by weight.",
        choices=("all", "similar"), source="NeuromemoryAI 3.2: Hebbian links",
    )  # fmt: skip
    # The paper's context is a working memory; without a session the context is what the cue calls
    # up (docs/explanation/mechanisms/actr.md).
    session: str = parameter(
        "",
        "Session whose latest turns are the context; empty for what the cue calls up.",
        source="NeuromemoryAI 3.2: the context set C",
    )
    working: int = parameter(
        7, "Turns of the session that are on one's mind.", unit="turns", low=1, high=50,
        source="span of working memory",
    )  # fmt: skip
    # In the paper keyword search finds and activation ranks (docs/explanation/mechanisms/actr.md).
    words_only: bool = parameter(
        default=False,
        doc="Rank only what the text index finds, and what the context primes.",
        source="NeuromemoryAI 4.2",
    )
    # The paper describes its agents by adjectives; the numbers are those of its published code
    # (docs/explanation/mechanisms/actr.md).
    persona: str = parameter(
        "", "Agent whose decay, context and importance replace `decay` and scale the weights.",
        choices=("", *PERSONAS), source="NeuromemoryAI 4.3; numbers of its published code",
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
    fan: int = same_as(WalkOptions, "fan")
    floor: float = same_as(WalkOptions, "floor")


_DEFAULT = ActrOptions()
_PAPER = ActrOptions(
    base="fusion",
    w_base=0.0,
    level="printed",
    w_presence=1.0,
    w_context=1.0,
    w_bridge=0.0,
    w_importance=0.5,
    links="similar",
    similar=1.0,
    words_only=True,
    slots=False,
    seeds=10,
    fan=64,
    floor=0.0,
)
"""NeuromemoryAI, Eq. 7; gamma is from the published code, because the paper prints none."""


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
    mechanisms: ClassVar[Mechanisms] = {
        "context": {"w_context": 0.0, "w_bridge": 0.0},
        "bridge": {"w_bridge": 0.0},
        "presence": {"w_presence": 0.0},
        "importance": {"w_importance": 0.0},
        "similar": {"similar": 0.0},
        "slots": {"slots": False},
        **BASE_MECHANISM,
    }

    async def rank(self, search: Search, options: ActrOptions) -> Ranked:
        """Prime the neighbours of the anchors, and add the presence of each memory."""
        options = _as_persona(options)
        base = _candidates(search, options)
        taken = await _on_mind(search, base, options)
        graph, start = await enter(
            search, taken, part_of(WalkLimits, options, waves=1 + options.slots)
        )
        arcs = _associations(graph, options)
        start = start / (start.sum() or 1.0)
        graph.begin(start)
        minds = _minds(graph, arcs, start, options)
        active = graph.active(prime(arcs, minds[-1]))
        pool = await base.reached(search, active, weight=options.w_context + options.w_bridge)
        gate = graph.bridge_gate(arcs, arcs.weights * minds[-1][arcs.tails()])
        for mind in minds:
            graph.send(arcs, mind)
        uses = await _uses(search, pool, options)
        ranked = pool.ranked(_parts(pool, pool.read(active), gate, uses, options), graph)
        for number, mind in enumerate(minds, 1):
            graph.describe(
                arcs,
                arcs.weights * mind[arcs.tails()],
                active=int((arcs.push(mind) > 0.0).sum()),
                marked=_likely(ranked, options.temperature) if number == len(minds) else (),
            )
        return ranked


def _as_persona(options: ActrOptions) -> ActrOptions:
    """Let a persona replace the decay and scale the weights."""
    persona = PERSONAS.get(options.persona)
    if persona is None:
        return options
    return replace(
        options,
        decay=persona.decay,
        w_context=options.w_context * persona.context,
        w_importance=options.w_importance * persona.importance,
    )


def _candidates(search: Search, options: ActrOptions) -> Pool:
    pool = text_pool(search, options.base)
    if not options.words_only:
        return pool
    listed = {seed.id for seed in search.seeding.by_text}
    return replace(pool, found=np.array([one in listed for one in pool.ids], dtype=np.bool_))


async def _on_mind(search: Search, base: Pool, options: ActrOptions) -> Sequence[SeedRecord]:
    """Choose the context: the latest turns of the session, else the anchors of the cue."""
    if options.session:
        turns = await search.store.latest_turns(search.tenant, options.session, options.working)
        return [episode_seed(turn, Stream.SESSION, 1.0) for turn in turns]
    named = max(1, len(search.seeding.concepts))
    taken = anchors(search, base, options.seeds, lambda _: 1.0 / named)
    if options.links == "all":
        return taken
    # Only memories have links; the paper gives each of the context the same weight.
    return [replace(one, energy=1.0) for one in taken if one.kind == "episode"]


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
    if options.links == "similar":
        gain[[place for place, edge in enumerate(EDGES) if edge != "SIMILAR"]] = 0.0
        return graph.adjacency(gain, 0.0, guard=False)
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
    present = level
    if options.level == "squashed":
        present = squash(level, midpoint_s=options.midpoint_days * DAY_S, decay=options.decay)
    parts = {
        "base": options.w_base * pool.score,
        "context": options.w_context * primed,
        "bridge": boost(primed, gate, weight=options.w_bridge),
        "presence": options.w_presence * present,
        "importance": options.w_importance * uses.important(pool.importance),
    }
    if options.w_reliability and uses.trust_change is not None:
        parts["reliability"] = options.w_reliability * uses.trust_change
    if options.w_retrievability:
        parts["retrievability"] = options.w_retrievability * uses.recalled
    return parts


async def _uses(search: Search, pool: Pool, options: ActrOptions) -> Uses:
    """Read the uses of the memories, if the tenant learns."""
    if not search.seeding.profile.learned:
        return Uses.of(pool.occurred_ms, search.now)
    told = await uses_of(search, pool)
    return Uses.told(told, search.now, options.decay, evenly=options.growth == "printed")


def _likely(ranked: Ranked, temperature: float) -> tuple[Mark, ...]:
    """Compute the probability that each of the best is the retrieved one."""
    chance = probabilities(ranked.score, temperature=temperature)
    best: list[EpisodeId] = list(ranked.ids[:_TRACED_HITS])
    return tuple(
        Mark(node=episode, says="retrieval probability", value=float(likely))
        for episode, likely in zip(best, chance, strict=False)
    )
