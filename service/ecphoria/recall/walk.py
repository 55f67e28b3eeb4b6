"""The record of a walk: its nodes, where energy entered, and what each step moved.

A strategy fills a `Walk`; the trace's seeds and waves, and the path to each hit, are read from it.
Words that spread over NEXT have no walk: their path is read from the frame.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from ecphoria.maths.arrays import FloatArray, IntArray
from ecphoria.maths.lexical import BACK, FORTH, relative_frequency
from ecphoria.recall.frame import Frame
from ecphoria.recall.ports import StatedFacts
from ecphoria.recall.seeds import Seeding
from ecphoria.records.ids import EpisodeId
from ecphoria.records.recall import PathStep
from ecphoria.records.traced import Mark, SeedRecord, Stream, WaveArc

# A trace lists the best seeds of each index, and some marked nodes.
_TRACED_SEEDS = 10
_MARKED = 30

Pair = tuple[str, str]
"""The ids of the two ends of an arc."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Flow:
    """The energy that one step moved along m arcs.

    Attributes:
        tail, head: int [m], the numbers of the nodes at the ends.
        weight: [m], of the arcs.
        energy: [m].
    """

    tail: IntArray
    head: IntArray
    weight: FloatArray
    energy: FloatArray


STILL: Final = Flow(
    tail=np.empty(0, np.int64), head=np.empty(0, np.int64), weight=np.empty(0), energy=np.empty(0)
)
"""A step that moved nothing along an arc."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WaveRecord:
    """One step of spreading, of which a trace lists as many arcs as it has room for.

    Attributes:
        walk: Has the nodes and the types of the edges.
        flow: The arcs.
        active: Nodes awake after it.
        energy: Their energy.
        total: Arcs that carried energy; more than the flow has if it does not show all.
        marks: Remarks on nodes.
    """

    walk: "Walk"
    flow: Flow
    active: int
    energy: float
    total: int
    marks: tuple[Mark, ...] = ()

    def rows(self, pairs: Iterable[Pair]) -> dict[Pair, int]:
        """Find the arcs that carried energy between these nodes."""
        index, size = self.walk.index, len(self.walk.ids)
        wanted = {
            index[tail] * size + index[head]: (tail, head)
            for tail, head in pairs
            if tail in index and head in index
        }
        keys = self.flow.tail * size + self.flow.head
        found = np.flatnonzero(np.isin(keys, list(wanted)) & (self.flow.energy > 0.0))
        return {wanted[int(keys[row])]: row for row in found.tolist()}

    def strongest(self, count: int) -> list[int]:
        """List the arcs that carried most."""
        if count <= 0:
            return []
        carrying = np.flatnonzero(self.flow.energy > 0.0)
        order = np.argsort(-self.flow.energy[carrying], kind="stable")
        rows: list[int] = carrying[order[:count]].tolist()
        return rows

    def arc(self, row: int) -> WaveArc:
        """Describe an arc."""
        walk, flow = self.walk, self.flow
        tail, head = int(flow.tail[row]), int(flow.head[row])
        return WaveArc(
            tail=walk.ids[tail],
            head=walk.ids[head],
            edge=walk.edge(tail, head),
            weight=float(flow.weight[row]),
            energy=float(flow.energy[row]),
        )


@dataclass(slots=True, kw_only=True)
class Walk:
    """Nodes met on a walk, numbered once, and the steps between them.

    Attributes:
        ids, kinds, labels: By number.
        index: Number by id.
        joins: Type of the edge from one node to another.
        entries: What found a node where energy entered, and the energy it began with.
        flows: The steps that a path may take, in order.
        whole: Return a path only if it reaches an entry; energy may come from farther than the
            flows show.
        seeds, waves: For the trace.
        truncated: Whether a cap cut something.
    """

    ids: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    index: dict[str, int] = field(default_factory=dict)
    joins: dict[tuple[int, int], str] = field(default_factory=dict)
    entries: dict[int, tuple[str, float]] = field(default_factory=dict)
    flows: list[Flow] = field(default_factory=list)
    whole: bool = True
    seeds: tuple[SeedRecord, ...] = ()
    waves: list[WaveRecord] = field(default_factory=list)
    truncated: bool = False

    def add(self, node: str, kind: str, label: str = "") -> int:
        """Number a node; a known one keeps its number."""
        if node not in self.index:
            self.index[node] = len(self.ids)
            self.ids.append(node)
            self.kinds.append(kind)
            self.labels.append(label)
        return self.index[node]

    def edge(self, tail: int, head: int) -> str:
        """Name the type of the edge from one node to another."""
        return self.joins[tail, head]

    def wave(
        self,
        flow: Flow,
        *,
        active: int,
        energy: float | None = None,
        total: int | None = None,
        marks: tuple[Mark, ...] = (),
    ) -> None:
        """Add a wave to the trace: its arcs, the nodes awake after it, and remarks on nodes.

        If None, `energy` is that of all arcs, and `total` the number of arcs in the flow.
        """
        self.waves.append(
            WaveRecord(
                walk=self,
                flow=flow,
                active=active,
                energy=float(flow.energy.sum()) if energy is None else energy,
                total=int((flow.energy > 0.0).sum()) if total is None else total,
                marks=marks,
            )
        )

    def path(self, episode: EpisodeId) -> tuple[PathStep, ...]:
        """Follow the strongest step of each flow back to an entry; empty if no energy came."""
        if episode not in self.index:
            return ()
        node = self.index[episode]
        steps: list[PathStep] = []
        seen = set[int]()
        for flow in reversed(self.flows):
            seen.add(node)
            into = np.flatnonzero(flow.head == node)
            fresh = np.array([tail not in seen for tail in flow.tail[into].tolist()], np.bool_)
            carried = flow.energy[into] * fresh
            if not carried.any():
                continue
            tail = int(flow.tail[into[np.argmax(carried)]])
            steps.insert(0, self.step(node, self.edge(tail, node), float(carried.max())))
            node = tail
            if self._entry(node)[1] > 0.0:
                break
        found_by, energy = self._entry(node)
        if not steps or (self.whole and energy == 0.0):
            return ()
        return (self.step(node, found_by, energy), *steps)

    def step(self, node: int, edge: str, energy: float) -> PathStep:
        """Record that energy reached a node over an edge."""
        return PathStep(
            node=self.ids[node],
            kind=self.kinds[node],
            edge=edge,
            label=self.labels[node],
            energy=energy,
        )

    def _entry(self, node: int) -> tuple[str, float]:
        return self.entries.get(node, (Stream.RANK, 0.0))


def shares(seeds: Iterable[SeedRecord]) -> tuple[SeedRecord, ...]:
    """Scale the energies of seeds to sum 1, or 0 if they have none."""
    listed = tuple(seeds)
    total = sum(seed.energy for seed in listed) or 1.0
    return tuple(replace(seed, energy=seed.energy / total) for seed in listed)


def marks(nodes: Iterable[tuple[str, float]], says: str) -> tuple[Mark, ...]:
    """Mark some nodes with the same remark, the strongest first, up to a limit."""
    ordered = sorted(nodes, key=lambda one: (-one[1], one[0]))[:_MARKED]
    return tuple(Mark(node=node, says=says, value=value) for node, value in ordered)


def episode_seed(node: str, stream: Stream, energy: float) -> SeedRecord:
    """Record that energy entered at an episode."""
    return SeedRecord(node=node, kind="episode", stream=stream, label="", energy=energy)


def concept_seed(node: str, label: str, stream: Stream, energy: float) -> SeedRecord:
    """Record that energy entered at a concept."""
    return SeedRecord(node=node, kind="concept", stream=stream, label=label, energy=energy)


def seed_records(seeding: Seeding) -> tuple[SeedRecord, ...]:
    """List the entry nodes with the share of energy each stream gave them."""
    named = shares(concept_seed(one.id, one.name, Stream.NAME, 1.0) for one in seeding.concepts)
    by_text, by_vector = (
        shares(episode_seed(row.id, stream, max(0.0, row.score)) for row in rows[:_TRACED_SEEDS])
        for stream, rows in ((Stream.TEXT, seeding.by_text), (Stream.VECTOR, seeding.by_vector))
    )
    return (*named, *by_text, *by_vector)


def found_directly(frame: Frame, episode: EpisodeId) -> tuple[PathStep, ...]:
    """Explain a hit by the index that found it: no edge was walked."""
    row = frame.row[episode]
    by_text = frame.single[row] > 0.0
    stream = Stream.TEXT if by_text else Stream.VECTOR
    energy = float((frame.single if by_text else frame.cosine)[row])
    return (PathStep(node=episode, kind="episode", edge=stream, label="", energy=energy),)


def text_path(
    frame: Frame, episode: EpisodeId, *, words: float = 0.0, meaning: float = 0.0
) -> tuple[PathStep, ...]:
    """Explain a hit by what contributed most words: a turn over NEXT, itself, or its facts.

    Without a word, a fact that is nearer to the cue than the memory explains it. `words` is the
    weight of the words of facts, `meaning` the share of their cosine.
    """
    row = frame.row[episode]
    source, energy = max(
        ((source, _carried(frame, source, row, share)) for source, share in _sources(frame, row)),
        key=lambda reached: reached[1],
    )
    if frame.told is not None:
        stated = np.flatnonzero(frame.told.row == row)
        brought = words * _brought(frame, frame.told)[stated]
        near = meaning * frame.told.cosine[stated]
        if brought.max(initial=0.0) > energy:
            return _stated_path(
                frame.told, int(stated[np.argmax(brought)]), episode, brought.max()
            )
        if energy <= 0.0 and near.max(initial=-1.0) > frame.signals.sem[row]:
            return _stated_path(frame.told, int(stated[np.argmax(near)]), episode, near.max())
    if energy <= 0.0 or source == row:
        return found_directly(frame, episode)
    return (
        PathStep(node=frame.id[source], kind="episode", edge=Stream.TEXT, label="",
                 energy=_carried(frame, source, source, 1.0)),
        PathStep(node=episode, kind="episode", edge="NEXT", label="", energy=energy),
    )  # fmt: skip


def _stated_path(
    told: StatedFacts, place: int, episode: EpisodeId, energy: float
) -> tuple[PathStep, ...]:
    return (
        PathStep(node=told.fact[place], kind="fact", edge=Stream.FACT,
                 label=told.statement[place], energy=float(told.cosine[place])),
        PathStep(node=episode, kind="episode", edge="EVIDENCE", label="", energy=float(energy)),
    )  # fmt: skip


def _brought(frame: Frame, told: StatedFacts) -> FloatArray:
    """Measure the words that each statement adds to the memory that states it, [s]."""
    added = np.where(frame.counts[told.row] > 0.0, 0.0, told.counts)
    length, mean = frame.length[told.row], frame.mean_length
    mass: FloatArray = relative_frequency(added, length=length, mean_length=mean) @ frame.rarity
    return mass


def statement_wave(frame: Frame, told: StatedFacts, words: float) -> WaveRecord:
    """Describe how facts bring their words to the memories that state them."""
    facts = sorted(set(told.fact))
    size = len(facts)
    number = {fact: place for place, fact in enumerate(facts)}
    energy = words * _brought(frame, told)
    walk = Walk(ids=[*facts, *frame.id], joins=defaultdict(lambda: "EVIDENCE"))
    walk.index.update((node, place) for place, node in enumerate(walk.ids))
    flow = Flow(
        tail=np.array([number[fact] for fact in told.fact], dtype=np.int64),
        head=told.row + size,
        weight=np.ones(energy.size),
        energy=energy,
    )
    walk.wave(flow, active=len(set(told.row[energy > 0.0].tolist())))
    return walk.waves[0]


def next_wave(frame: Frame) -> WaveRecord:
    """Describe how the cue's words spread over NEXT to the memories that may be hits."""
    lent = frame.lent @ frame.rarity
    every = np.flatnonzero(frame.inside)
    tails, heads, weights = [], [], []
    for step, parts in ((frame.previous, BACK), (frame.following, FORTH)):
        at, head = every, every
        for share in parts:
            at = step[at]
            at, head = at[at >= 0], head[at >= 0]
            tails.append(at)
            heads.append(head)
            weights.append(np.full(at.size, share))
    tail, weight = np.concatenate(tails), np.concatenate(weights)
    flow = Flow(tail=tail, head=np.concatenate(heads), weight=weight, energy=weight * lent[tail])
    joins = defaultdict[tuple[int, int], str](lambda: "NEXT")
    walk = Walk(ids=list(frame.id), index=dict(frame.row), joins=joins)
    lex = frame.signals.lex
    walk.wave(flow, active=int((lex > 0.0).sum()), energy=float(lex.sum()))
    return walk.waves[0]


def _sources(frame: Frame, row: int) -> list[tuple[int, float]]:
    """Find the turns whose words reach a row, with their shares."""
    found = [(row, 1.0)]
    for step, shares in ((frame.previous, BACK), (frame.following, FORTH)):
        at = row
        for share in shares:
            at = int(step[at])
            if at < 0:
                break
            found.append((at, share))
    return found


def _carried(frame: Frame, source: int, row: int, share: float) -> float:
    """Measure the part that reaches a row from another row, or from itself."""
    words = frame.said if source == row else frame.lent
    return share * float(words[source] @ frame.rarity)
