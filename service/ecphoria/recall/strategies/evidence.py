"""What every strategy says about the memories it did not need to spread to."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ecphoria.maths.fusion import Scored, rank
from ecphoria.maths.lexical import BACK, FORTH
from ecphoria.recall.candidates import Candidates
from ecphoria.recall.seeding import Seeding
from ecphoria.recall.strategies.strategy import Ranked
from ecphoria.records.ids import EpisodeId
from ecphoria.records.recall import PathStep, SeedRecord, Stream, Wave, WaveArc

_TRACED = 10
"""Seeds of each index that a trace lists."""

FloatArray = NDArray[np.float64]


def rank_rows(
    candidates: Candidates,
    scored: Scored,
    part_names: Sequence[str],
    *,
    among: NDArray[np.bool_],
    seeds: tuple[SeedRecord, ...],
    waves: tuple[Wave, ...],
    path: Callable[[EpisodeId], tuple[PathStep, ...]],
    truncated: bool = False,
) -> Ranked:
    """Order some rows by score, ties by turn."""
    rows = np.flatnonzero(among)
    best = rows[rank(scored.parts[rows], candidates.columns.turn[rows], rows.size).index]
    return Ranked(
        ids=tuple(candidates.columns.id[row] for row in best),
        score=scored.score[best],
        parts=scored.parts[best],
        part_names=tuple(part_names),
        seeds=seeds,
        waves=waves,
        path=path,
        truncated=truncated,
    )


def seed_records(seeding: Seeding) -> tuple[SeedRecord, ...]:
    """List the entry nodes with the share of energy each stream gave them."""
    records = [
        SeedRecord(node=concept.id, kind="concept", stream=Stream.NAME, label=concept.name,
                   energy=1.0 / len(seeding.concepts))
        for concept in seeding.concepts
    ]  # fmt: skip
    for stream, rows in ((Stream.TEXT, seeding.by_text), (Stream.VECTOR, seeding.by_vector)):
        top = rows[:_TRACED]
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
    """Explain a hit by the turn whose words reached it most over NEXT, itself included."""

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
    """Find the turns whose words reach a row, with the share that arrives."""
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
    """Measure what reaches a row from another one, or what it has itself."""
    words = candidates.said if source == row else candidates.lent
    return share * float(words[source] @ candidates.rarity)
