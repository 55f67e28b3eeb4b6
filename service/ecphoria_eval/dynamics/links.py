"""Generated tasks: bridges over learned links.

The directions are those of the worked example in `maths.clustering`: documents A, B and X near
the cue, G far from it and near to the centre of these, and beside them decoys nearer to the cue
than G that lead nowhere.

The stream has topics, each with pairs of memories and fillers, and a hub near to every topic.
Cues that name both of a pair are replayed while the tenant learns; then cues never asked before
name one of a pair, and the other counts as right too. Source: NeuromemoryAI's Hebbian links.
"""

from dataclasses import dataclass
from statistics import mean
from typing import ClassVar

import numpy as np

from ecphoria.client import AsyncClient
from ecphoria.records.episode import NewEpisode
from ecphoria_eval.datasets.dataset import Question
from ecphoria_eval.datasets.locomo import load_mini
from ecphoria_eval.dynamics.firing import share_found
from ecphoria_eval.dynamics.ground import Floats, Ground, axis, drained, lean, remember

_DECOYS, _DECOY_COSINE, _LISTED = 12, 0.4, 10
_PLACES = {
    "Amber Quay": (0.8, 0.6, 0.0),
    "Birch Quay": (0.6, 0.8, 0.0),
    "Xylem Quay": (0.5, 0.0, 0.75**0.5),
    "Glass Quay": (0.2, 0.96**0.5, 0.0),
}
_GOLD = "Glass Quay"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bridge:
    """Tell whether the far document is among the first ten.

    Attributes:
        nearest_hit: By cosine.
        depth0_hit: By the traces that the cue wakes itself.
        depth1_hit: By one hop from the centre of these.
    """

    nearest_hit: bool
    depth0_hit: bool
    depth1_hit: bool

    bound: ClassVar[str] = "found with a hop, not without"

    @property
    def holds(self) -> bool:
        """Tell whether the hop alone finds the document."""
        return self.depth1_hit and not (self.depth0_hit or self.nearest_hit)


async def bridge(ground: Ground) -> Bridge:
    """Ask for the far document without a hop, and with one."""
    size = ground.dimension
    cue = axis(0, size)
    async with ground.tenant("bridge") as client:
        documents = [_document(name, _spread(place, size)) for name, place in _PLACES.items()]
        documents += [
            _document(f"Decoy {place}", lean(cue, axis(10 + place, size), _DECOY_COSINE))
            for place in range(_DECOYS)
        ]
        ids = await remember(client, documents)
        gold = ids[list(_PLACES).index(_GOLD)]
        return Bridge(
            nearest_hit=gold in await _found(client, cue, "dense"),
            depth0_hit=gold in await _found(client, cue, "ecphory", 0),
            depth1_hit=gold in await _found(client, cue, "ecphory", 1),
        )


def _document(title: str, vector: Floats) -> NewEpisode:
    return NewEpisode(text=f"A quay called {title}.", title=title, vector=tuple(vector))


def _spread(place: tuple[float, ...], dimension: int) -> Floats:
    vector = np.zeros(dimension)
    vector[: len(place)] = place
    return vector


async def _found(
    client: AsyncClient, cue: Floats, strategy: str, depth: int | None = None
) -> list[str]:
    options = {} if depth is None else {"w_base": 0.0, "k_init": 3, "depth": depth}
    answer = await client.recall(
        vector=tuple(cue),
        strategy=strategy,
        options=options,
        k=_LISTED,
        record=False,
        collapse=False,
    )
    return [hit.episode.id for hit in answer.hits if hit.score > 0.0]


_TOPICS, _PAIRS, _FILLERS, _REPLAYS = 6, 3, 14, 4
_HUB = "hub"
_IN_COMMON, _ON_TOPIC, _ON_CUE = 0.7, 0.6, 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """The figures of learned links.

    Attributes:
        gain_recall_at_10: Recall at 10 of unseen cues after the replay, less that before it.
        recall_at_10: After the replay.
        cross_topic_share: Share of the links whose ends are of two topics, the hub being of none.
        links: Links learned.
    """

    gain_recall_at_10: float
    recall_at_10: float
    cross_topic_share: float
    links: int

    bound: ClassVar[str] = "a gain on unseen cues; under 5 % of the links across topics"

    @property
    def holds(self) -> bool:
        """Tell whether learning helps and stays on topic."""
        return self.gain_recall_at_10 > 0.0 and self.links > 0 and self.cross_topic_share < 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class _Memory:
    """One of the stream: its topic, and the pair it is of if it is of one."""

    name: str
    topic: str
    pair: int | None
    vector: Floats


async def links(ground: Ground) -> Links:
    """Replay cues on a stream of mixed topics."""
    stream = _stream(ground.dimension, np.random.default_rng(ground.seed))
    async with ground.tenant("hebbian") as client:
        items = [NewEpisode(text=memory.name, vector=tuple(memory.vector)) for memory in stream]
        known = dict(zip(await remember(client, items), stream, strict=True))
        pairs = _pairs(known)
        aside = axis(ground.dimension - 1, ground.dimension)
        before = [await _share_found(client, known, pair, aside) for pair in pairs]
        await client.settings.change(learning={"on": True})
        for pair in pairs * _REPLAYS:
            await _replay(client, known, pair)
        await drained(client)
        await client.settings.change(learning={"on": False})
        after = [await _share_found(client, known, pair, aside) for pair in pairs]
        learned = await _learned(client, known)
    across = sum(known[one].topic != known[other].topic for one, other in learned)
    return Links(
        gain_recall_at_10=mean(after) - mean(before),
        recall_at_10=mean(after),
        cross_topic_share=across / len(learned) if learned else 0.0,
        links=len(learned),
    )


def _stream(dimension: int, random: np.random.Generator) -> list[_Memory]:
    """Make the memories, in an order in which topics are mixed."""
    common = axis(0, dimension)
    made = [_Memory(name=_HUB, topic=_HUB, pair=None, vector=common)]
    place = 1 + _TOPICS
    for topic in range(_TOPICS):
        centre = lean(common, axis(1 + topic, dimension), _IN_COMMON)
        for number in range(2 * _PAIRS + _FILLERS):
            pair = number // 2 if number < 2 * _PAIRS else None
            vector = lean(centre, axis(place, dimension), _ON_TOPIC)
            name = f"t{topic}m{number}"
            made.append(_Memory(name=name, topic=f"t{topic}", pair=pair, vector=vector))
            place += 1
    return [made[row] for row in random.permutation(len(made))]


def _pairs(known: dict[str, _Memory]) -> list[tuple[str, str]]:
    """Give the ids of each pair, in the order of topics and pairs."""
    by_pair: dict[tuple[str, int], list[str]] = {}
    for ident, memory in sorted(known.items(), key=lambda one: one[1].name):
        if memory.pair is not None:
            by_pair.setdefault((memory.topic, memory.pair), []).append(ident)
    return [(one, other) for one, other in by_pair.values()]


async def _replay(client: AsyncClient, known: dict[str, _Memory], pair: tuple[str, str]) -> None:
    one, other = (known[ident] for ident in pair)
    middle = one.vector + other.vector
    vector = tuple(middle / np.linalg.norm(middle))
    await client.recall(
        f"{one.name} {other.name}", vector=vector, strategy="fusion", collapse=False
    )


async def _share_found(
    client: AsyncClient, known: dict[str, _Memory], pair: tuple[str, str], aside: Floats
) -> float:
    """Ask for a pair by one of it; give the share found."""
    one = known[pair[0]]
    vector = tuple(lean(one.vector, aside, _ON_CUE))
    answer = await client.recall(
        one.name, vector=vector, strategy="synapse", k=10, record=False, collapse=False
    )
    return share_found([hit.episode.id for hit in answer.hits], pair)


async def _learned(client: AsyncClient, known: dict[str, _Memory]) -> set[tuple[str, str]]:
    """List the links: wake every memory, and see which edges its activation takes."""
    found: set[tuple[str, str]] = set()
    for memory in known.values():
        answer = await client.recall(
            memory.name,
            vector=tuple(memory.vector),
            strategy="synapse",
            options={"steps": 1},
            explain=True,
            collapse=False,
        )
        trace = await client.trace(answer.trace_id)
        found.update(
            (min(arc.tail, arc.head), max(arc.tail, arc.head))
            for wave in trace.waves
            for arc in wave.arcs
            if arc.edge == "SIMILAR"
        )
    return found


_ASKED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Settling:
    """The figures of a second cycle.

    Attributes:
        changes: What it would have changed, by a dry run before it.
        second_run_identical: Whether it changed nothing, and recalls found the same after it.
    """

    changes: int
    second_run_identical: bool

    bound: ClassVar[str] = "a second cycle changes nothing"

    @property
    def holds(self) -> bool:
        """Tell whether the second cycle changed nothing."""
        return self.second_run_identical


async def settling(ground: Ground) -> Settling:
    """Consolidate the shipped conversation twice."""
    part = load_mini()[0].collections[0]
    asked = part.questions[:_ASKED]
    async with ground.tenant("consolidation") as client:
        await remember(client, list(part.memories.values()))
        await client.consolidate()
        before = [await _ranking(client, question) for question in asked]
        planned = await client.consolidate(dry_run=True)
        await client.consolidate()
        after = [await _ranking(client, question) for question in asked]
    changes = sum(len(step.changes) for step in planned.steps)
    return Settling(changes=changes, second_run_identical=changes == 0 and before == after)


async def _ranking(client: AsyncClient, question: Question) -> list[str]:
    answer = await client.recall(question.text, strategy="synapse", record=False, collapse=False)
    return [hit.episode.id for hit in answer.hits]
