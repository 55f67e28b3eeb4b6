"""The common parts of mechanisms: options, the score of the text, and the seeds.

The cue enters the graph at the seeds. The best memory and a lone named concept have level 1.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from ecphoria.maths.arrays import FloatArray
from ecphoria.maths.concept_channel import boost
from ecphoria.maths.fusion import TextWeights, adapted, bounds_of, recipe_score, share_of_largest
from ecphoria.mechanisms.subgraph import SIMILAR, Subgraph, WalkLimits, gains
from ecphoria.recall.baselines import plain_fusion
from ecphoria.recall.pipeline import Pool, Ranked, Search, parameter
from ecphoria.recall.ports import FoundConcept
from ecphoria.recall.walk import concept_seed, episode_seed
from ecphoria.records.history import Use
from ecphoria.records.ids import EpisodeId
from ecphoria.records.strategy import Mechanisms
from ecphoria.records.traced import SeedRecord, Stream

Part = TypeVar("Part")


def same_as(options: type[Any], name: str) -> Any:
    """Declare an option with the declaration of another class of options."""
    (declared,) = (one for one in fields(options) if one.name == name)
    return field(default=declared.default, metadata=declared.metadata)


def part_of(part: type[Part], options: Any, **more: object) -> Part:
    """Make the options of a part, such as a kernel, from a mechanism's options of the same names.

    The part is a dataclass. A field without an option of its name keeps its default. `more` are
    fields that are no options, or have another form there.
    """
    names = {one.name for one in fields(part)} & {one.name for one in fields(options)}  # type: ignore[arg-type]  # a dataclass
    return part(**{name: getattr(options, name) for name in names} | more)


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseOptions:
    """The text score that a mechanism joins."""

    base: str = parameter(
        "recipe", "Score that activation joins.", choices=("recipe", "fusion"), source="measured"
    )
    w_base: float = parameter(
        1.0, "Weight of that score; 0 ranks by the mechanism alone.", low=0, high=2, source="3.3"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkOptions(BaseOptions):
    """Options of a mechanism that walks the graph: its weights and its reach."""

    # At the weight .3 of the design, activation costs several points in conversations and is too
    # weak among titled documents, so there are two parts (decision 0013).
    w_activation: float = parameter(
        0.05, "Weight of activation.", low=0, high=5, source="measured on conversations"
    )
    w_bridge: float = parameter(
        1.2, "Weight of activation among documents.", low=0, high=5,
        source="measured on titled passages",
    )  # fmt: skip
    # Two memories of each index, not ten, start the walk (decision 0013).
    seeds: int = parameter(
        2, "Memories taken from each index.", unit="memories", low=1, high=50, source="measured"
    )
    # Off by default, because it did not help (docs/evaluation/strategies.md).
    concept_seeds: int = parameter(
        0, "Concepts taken by meaning, beside those the cue names; they have vectors after a"
        " consolidation.", unit="concepts", low=0, high=50, source="SYNAPSE 3.2; off by default",
    )  # fmt: skip
    received_only: bool = parameter(
        default=True, doc="Count what a node received, not what it began with."
    )
    mention_back: float = parameter(
        0.1, "Gain from a concept to what mentions it, and from a document to its title.",
        low=0, high=1, source="as in the concept channel",
    )  # fmt: skip
    # A cycle changes R@10 by +.4 and +.1, within chance (docs/evaluation/consolidation.md).
    similar: float = parameter(
        SIMILAR, "Gain of SIMILAR: what is near in meaning, or was recalled together.",
        low=0, high=1, source="2.0",
    )  # fmt: skip
    # Off by default: changes of R@10 were within chance (docs/evaluation/consolidation.md).
    associated: float = parameter(
        0.0, "Gain of ASSOCIATED: concepts that are mentioned together.", low=0, high=1,
        source="off by default; the papers 1",
    )  # fmt: skip
    related: float = parameter(
        0.0, "Gain of RELATED: concepts that a fact joins, by the weight of its evidence.", low=0,
        high=1, source="off by default; CLS-M and SYNAPSE 1",
    )  # fmt: skip
    # An experiment: without a model nothing states kinds (decision 0068).
    kinds: float = parameter(
        0.0, "Gain of RELATED where the fact says what something is a kind of; while it is 0,"
        " `related` counts for these facts too.", low=0, high=1, source="off by default",
    )  # fmt: skip
    merged: float = parameter(
        0.0, "Gain of SAME_AS: concepts that were accepted as the same.", low=0, high=1,
        source="off by default; the papers merge them",
    )  # fmt: skip
    fan: int = parameter(32, "Edges fetched per node and type.", unit="edges", low=1, high=64)
    floor: float = parameter(0.05, "Lightest edge fetched.", unit="weight", low=0, high=1)
    max_nodes: int = parameter(2_000, "Nodes in all.", unit="nodes", low=10, high=10_000)


_OPTIONAL = ("associated", "related", "kinds", "merged")
"""Families of edges between concepts that are fetched only with a gain."""


def walk_limits(options: Any, waves: int) -> WalkLimits:
    """Read the bounds of a walk from the options of a mechanism."""
    fetched = {name: getattr(options, name) > 0.0 for name in _OPTIONAL}
    return part_of(WalkLimits, options, waves=waves, **fetched)


_GAINS = ("mention_back", "similar", "associated", "related", "kinds", "merged")


def gains_of(options: Any, **more: float) -> FloatArray:
    """Read the gains of a mechanism's options; `more` are gains that have another name there."""
    return gains(**{name: getattr(options, name) for name in _GAINS} | more)


BASE_MECHANISM: Mechanisms = {"text score": {"w_base": 0.0}}

EDGE_MECHANISMS: Mechanisms = {
    "concept seeds": {"concept_seeds": 0},
    "mentions back": {"mention_back": 0.0},
    "similar": {"similar": 0.0},
    "associated": {"associated": 0.0},
    "related": {"related": 0.0},
    "merged": {"merged": 0.0},
}
"""The mechanisms of seeds and gains."""

WALK_MECHANISMS: Mechanisms = {
    "activation": {"w_activation": 0.0, "w_bridge": 0.0},
    "bridge": {"w_bridge": 0.0},
    **EDGE_MECHANISMS,
    **BASE_MECHANISM,
}
"""The mechanisms of `WalkOptions`."""


def text_pool(search: Search, base: str) -> Pool:
    """Score the candidates by the default's text score, by plain fusion, or by the cosine.

    Plain fusion ranks only memories that the indexes list: no words spread over NEXT.
    """
    frame = search.frame
    if base == "recipe":
        bounds = bounds_of(frame.signals, frame.inside)
        weights = adapted(
            TextWeights(), frame.signals, frame.inside,
            covered=frame.covered, unread=search.seeding.unread,
        )  # fmt: skip
        return Pool.of(
            frame,
            lambda more: recipe_score(more.signals, weights=weights, bounds=bounds).sum(
                axis=1, keepdims=True
            ),
        )
    if base == "cosine":
        return Pool.of(frame, lambda more: more.cosine[:, None])
    found, fused = plain_fusion(search)
    return Pool.of(frame, lambda more: fused(more).sum(axis=1, keepdims=True), found)


def activation_parts(
    lit: FloatArray, *, weight: float, bridge: float, gate: float, power: float = 1.0 / 3.0
) -> dict[str, FloatArray]:
    """Turn activation into two parts: one that always counts, one that counts over ABOUT.

    `activation = weight n(a)` and `bridge = w g n(a)^power`, n = a / max a, a = `lit` [n] >= 0,
    w = `bridge`, g the gate: about 1 among titled documents and 0 in a chat, where no turn is
    about anything. The power flattens, so that distant memories count.
    """
    return {
        "activation": weight * share_of_largest(lit),
        "bridge": boost(lit, gate, weight=bridge, power=power),
    }


def ranked_by_walk(
    pool: Pool, lit: FloatArray, options: WalkOptions, graph: Subgraph, gate: float
) -> Ranked:
    """Rank by the text score and by activation, [n], that a walk brought to the pool."""
    activation = activation_parts(
        lit, weight=options.w_activation, bridge=options.w_bridge, gate=gate
    )
    return pool.ranked({"base": options.w_base * pool.score, **activation}, graph)


async def uses_of(search: Search, pool: Pool) -> Sequence[Use]:
    """Read the uses of the memories; one that was never recalled was used when it happened."""
    known: Mapping[EpisodeId, Use] = {}
    if search.seeding.profile.learned:
        known = await search.store.figures.uses(search.tenant, pool.ids)
    rows = zip(pool.ids, pool.occurred_ms.tolist(), strict=True)
    return [known.get(episode) or Use.fresh(ms) for episode, ms in rows]


async def near_anchors(search: Search, count: int) -> tuple[SeedRecord, ...]:
    """Find the concepts nearest to the cue in meaning, without those that it names.

    The level of each is its cosine (SYNAPSE, Eq. 1).
    """
    vector = search.seeding.vector
    if not count or vector is None:
        return ()
    known = {concept.id for concept in search.seeding.concepts}
    found = await search.store.near_concepts(search.tenant, vector, count + len(known))
    near = [concept for concept in found if concept.id not in known and concept.cosine > 0.0]
    return tuple(
        concept_seed(concept.id, concept.name, Stream.VECTOR, concept.cosine)
        for concept in near[:count]
    )


def cosine_anchors(search: Search, count: int) -> list[SeedRecord]:
    """Take the first memories of each index, in the order of the index, with their cosine.

    A negative cosine counts as 0, because activation is never negative.
    """
    streams = ((Stream.TEXT, search.seeding.by_text), (Stream.VECTOR, search.seeding.by_vector))
    first = {row.id: stream for stream, rows in reversed(streams) for row in rows[:count]}
    row, cosine = search.frame.row, search.frame.cosine
    return [
        episode_seed(one, stream, float(cosine[row[one]]))
        for one, stream in first.items()
        if one in row and cosine[row[one]] > 0.0
    ]


def anchors(
    search: Search, pool: Pool, count: int, level: Callable[[FoundConcept], float]
) -> tuple[SeedRecord, ...]:
    """Take the best `count` of each index, and the concepts the cue names with their `level`."""
    chosen: dict[str, tuple[Stream, float]] = {}
    streams = ((Stream.TEXT, search.seeding.by_text), (Stream.VECTOR, search.seeding.by_vector))
    for stream, rows in streams:
        for episode, score in pool.best((row.id for row in rows), count):
            chosen.setdefault(episode, (stream, score))
    top = max((score for _, score in chosen.values()), default=0.0) or 1.0
    episodes = (episode_seed(one, stream, score / top) for one, (stream, score) in chosen.items())
    named = (
        concept_seed(concept.id, concept.name, Stream.NAME, level(concept))
        for concept in search.seeding.concepts
    )
    return (*episodes, *named)
