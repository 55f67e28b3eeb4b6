"""Explain a ranking: the waves of a trace, and the path that energy took to each hit."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecphoria.maths.adjacency import Adjacency
from ecphoria.maths.lexical import BACK, FORTH
from ecphoria.recall.candidates import Candidates
from ecphoria.recall.seeds import Seeding
from ecphoria.recall.subgraph import Subgraph
from ecphoria.records.ids import EpisodeId
from ecphoria.records.recall import Mark, PathStep, SeedRecord, Stream, Wave, WaveArc

FloatArray = NDArray[np.float64]
# A trace lists the best seeds of each index, the arcs that carry most, and some marked nodes.
_TRACED_SEEDS = 10
_WAVE_SHARE = 0.01
_MARKED = 30


def seed_records(seeding: Seeding) -> tuple[SeedRecord, ...]:
    """List the entry nodes with the share of energy each stream gave them."""
    records = [
        SeedRecord(node=concept.id, kind="concept", stream=Stream.NAME, label=concept.name,
                   energy=1.0 / len(seeding.concepts))
        for concept in seeding.concepts
    ]  # fmt: skip
    for stream, rows in ((Stream.TEXT, seeding.by_text), (Stream.VECTOR, seeding.by_vector)):
        top = rows[:_TRACED_SEEDS]
        total = sum(max(0.0, row.score) for row in top) or 1.0
        records += [
            SeedRecord(node=row.id, kind="episode", stream=stream, label="",
                       energy=max(0.0, row.score) / total)
            for row in top
        ]  # fmt: skip
    return tuple(records)


def found_directly(candidates: Candidates) -> Callable[[EpisodeId], tuple[PathStep, ...]]:
    """Explain a hit by the index that found it: no edge was walked."""

    def path(episode: EpisodeId) -> tuple[PathStep, ...]:
        row = candidates.row[episode]
        by_text = candidates.single[row] > 0.0
        stream = Stream.TEXT if by_text else Stream.VECTOR
        found = candidates.single if by_text else candidates.columns.cosine
        energy = float(found[row])
        return (PathStep(node=episode, kind="episode", edge=stream, label="", energy=energy),)

    return path


def text_path(candidates: Candidates) -> Callable[[EpisodeId], tuple[PathStep, ...]]:
    """Explain a hit by the turn that contributed most words over NEXT, itself included."""

    def path(episode: EpisodeId) -> tuple[PathStep, ...]:
        row = candidates.row[episode]
        source, energy = max(
            ((source, _carried(candidates, source, row, share))
             for source, share in _sources(candidates, row)),
            key=lambda reached: reached[1],
        )  # fmt: skip
        if energy <= 0.0 or source == row:
            return found_directly(candidates)(episode)
        origin = candidates.columns.id[source]
        return (
            PathStep(node=origin, kind="episode", edge=Stream.TEXT, label="",
                     energy=_carried(candidates, source, source, 1.0)),
            PathStep(node=episode, kind="episode", edge="NEXT", label="", energy=energy),
        )  # fmt: skip

    return path


def next_wave(candidates: Candidates, hits: Sequence[EpisodeId]) -> Wave:
    """Describe how the cue's words spread over NEXT, arc by arc for the hits."""
    arcs = [
        WaveArc(tail=candidates.columns.id[source], head=hit, edge="NEXT", weight=share,
                energy=_carried(candidates, source, row, share))
        for hit, row in ((hit, candidates.row[hit]) for hit in hits)
        for source, share in _sources(candidates, row)
        if source != row and _carried(candidates, source, row, share) > 0.0
    ]  # fmt: skip
    lit = candidates.signals.lex > 0.0
    return Wave(
        number=1,
        active=int(lit.sum()),
        energy=float(candidates.signals.lex.sum()),
        arcs=tuple(arcs),
        arcs_left_out=max(0, int((lit & (candidates.single <= 0.0)).sum()) - len(arcs)),
    )


def _sources(candidates: Candidates, row: int) -> list[tuple[int, float]]:
    """Find the turns whose words reach a row, with their shares."""
    found = [(row, 1.0)]
    for step, shares in ((candidates.previous, BACK), (candidates.following, FORTH)):
        at = row
        for share in shares:
            at = int(step[at])
            if at < 0:
                break
            found.append((at, share))
    return found


def _carried(candidates: Candidates, source: int, row: int, share: float) -> float:
    """Measure the part that reaches a row from another row, or from itself."""
    words = candidates.said if source == row else candidates.lent
    return share * float(words[source] @ candidates.rarity)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WalkedPath:
    """Follow the strongest contribution of each wave back to a seed.

    Attributes:
        sent: What each node sent in each wave, the seeds' first.
        start: What each seed began with.
        streams: The stream that found each seed.
        whole: Return a path only if it reaches a seed; energy may come from farther than the waves
            show.
    """

    graph: Subgraph
    arcs: Adjacency
    sent: Sequence[FloatArray]
    start: FloatArray
    streams: Mapping[str, Stream]
    whole: bool = True

    def __call__(self, episode: EpisodeId) -> tuple[PathStep, ...]:
        """Return the path to an episode; empty if no energy came over an edge."""
        node = self.graph.index.get(episode)
        return () if node is None else tuple(self._back(node))

    def _back(self, node: int) -> list[PathStep]:
        tails = self.arcs.tails()
        steps: list[PathStep] = []
        seen = {node}
        for wave in reversed(self.sent):
            into = np.flatnonzero(self.arcs.indices == node)
            fresh = np.array([int(tails[one]) not in seen for one in into], dtype=np.bool_)
            carried = self.arcs.weights[into] * wave[tails[into]] * fresh
            if not carried.any():
                continue
            best = int(np.argmax(carried))
            source = int(tails[into[best]])
            steps.insert(0, self._step(node, self.graph.edge_name(source, node), carried[best]))
            seen.add(source)
            node = source
            if self.start[node] > 0.0:
                break
        if not steps or (self.whole and self.start[node] == 0.0):
            return []
        stream = self.streams.get(self.graph.ids[node], Stream.RANK)
        return [self._step(node, stream, self.start[node]), *steps]

    def _step(self, node: int, edge: str, energy: float) -> PathStep:
        return PathStep(
            node=self.graph.ids[node],
            kind=self.graph.kinds[node],
            edge=edge,
            label=self.graph.labels[node],
            energy=float(energy),
        )


def describe_wave(
    graph: Subgraph,
    arcs: Adjacency,
    carried: FloatArray,
    *,
    number: int,
    active: int,
    marked: tuple[Mark, ...] = (),
) -> Wave:
    """Describe one step: the arcs that carried most, and the number of the others."""
    tails = arcs.tails()
    total = float(carried.sum())
    listed = np.flatnonzero(carried > _WAVE_SHARE * total) if total else np.array([], np.int64)
    listed = listed[np.argsort(-carried[listed], kind="stable")]
    return Wave(
        number=number,
        active=active,
        energy=total,
        arcs=tuple(
            WaveArc(
                tail=graph.ids[int(tails[one])],
                head=graph.ids[int(arcs.indices[one])],
                edge=graph.edge_name(int(tails[one]), int(arcs.indices[one])),
                weight=float(arcs.weights[one]),
                energy=float(carried[one]),
            )
            for one in listed
        ),
        arcs_left_out=int((carried > 0.0).sum()) - listed.size,
        marks=marked,
    )


def marks(nodes: Iterable[tuple[str, float]], says: str) -> tuple[Mark, ...]:
    """Mark some nodes with the same remark, the strongest first, up to a limit."""
    ordered = sorted(nodes, key=lambda one: (-one[1], one[0]))[:_MARKED]
    return tuple(Mark(node=node, says=says, value=value) for node, value in ordered)
