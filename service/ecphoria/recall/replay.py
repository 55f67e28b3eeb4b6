"""The trace of a recall: enough to explain it and to replay it wave by wave."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from itertools import pairwise
from typing import Final

from ecphoria.recall.gate import Judgement
from ecphoria.recall.pipeline import Ranked, Search
from ecphoria.recall.walk import Pair, WaveRecord
from ecphoria.records.ids import TraceId
from ecphoria.records.recall import Cue, Filters, Hit, PathStep, RecallOptions, Trace, TracedHit
from ecphoria.records.traced import SeedRecord, Stream, TracedFilters, Wave, WaveArc

_STREAMS: Final = frozenset(Stream)
MOST_ARCS: Final = 2_000
"""Arcs that a trace lists with `explain`, beside those on the paths of the hits."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recalled:
    """The findings of a recall.

    Attributes:
        cue: As it was sent.
        unknown: Says which names in the filters are unknown.
        told: Reasons besides these and the gate's.
    """

    cue: Cue
    options: RecallOptions
    search: Search
    strategy: str
    ranked: Ranked
    hits: Sequence[Hit]
    judgement: Judgement
    unknown: tuple[str, ...]
    told: tuple[str, ...]

    @property
    def reasons(self) -> tuple[str, ...]:
        """All reasons: the gate's and the others."""
        read = (f"{told}: read as {word}" for told, word in self._respelt.items())
        return (*self.unknown, *read, *self.judgement.reasons, *self.told)

    @property
    def kept_reasons(self) -> tuple[str, ...]:
        """The reasons without stored names and words, which could be erased later."""
        unknown = (one.partition("; known: ")[0] for one in self.unknown)
        return (*unknown, *self._respelt, *self.judgement.reasons, *self.told)

    @property
    def _respelt(self) -> Mapping[str, str]:
        read = self.search.seeding.respelt
        return {f"no memory has the word {written}": word for written, word in read.items()}


def trace_of(found: Recalled, trace: TraceId, at: datetime, cypher: str) -> Trace:
    """Write the trace of a recall, without labels."""
    options, search, ranked, judgement = found.options, found.search, found.ranked, found.judgement
    about, reading = search.frame.subject, search.seeding.reading
    paths = [hit.path for hit in found.hits]
    return Trace(
        id=trace,
        cue=found.cue.text or "(vector)",
        strategy=found.strategy,
        options=options.options,
        created_at=at,
        seeds=with_first_steps(ranked.walk.seeds, paths),
        waves=waves_of(ranked.walk.waves, paths, MOST_ARCS if options.explain else 0),
        hits=tuple(map(_traced, found.hits)),
        truncated=ranked.walk.truncated,
        about="" if about is None else about.label,
        names=reading.names,
        expansions=reading.expansions,
        verdict=judgement.verdict,
        confidence=judgement.confidence,
        judged_by=judgement.judged_by,
        evidence=judgement.evidence,
        reasons=found.kept_reasons,
        k=options.k,
        filters=_sent(options.filters),
        as_of=options.as_of,
        known_at=options.known_at,
        # Not the asker: a name of a speaker would stay after an erasure of all that they said.
        match=options.match,
        include_dormant=options.include_dormant,
        rerank=options.rerank,
        cypher=cypher,
        speakers=_named(
            found.kept_reasons, (about.speaker if about else None, *search.frame.speaker)
        ),
        stimulation=ranked.stimulation,
        without=judgement.without,
    )


def _traced(hit: Hit) -> TracedHit:
    return TracedHit(
        episode=hit.episode.id, rank=hit.rank, score=hit.score, parts=hit.parts, path=hit.path
    )


def _sent(filters: Filters) -> TracedFilters:
    given = {one.name: getattr(filters, one.name) for one in fields(TracedFilters)}
    return TracedFilters(
        **given | {"exclude": tuple(sorted(filters.exclude)), "metadata": dict(filters.metadata)}
    )


def _named(reasons: Iterable[str], speakers: Iterable[str | None]) -> tuple[str, ...]:
    told = "\n".join(reasons)
    return tuple(sorted({name for name in speakers if name and name in told}))


def with_first_steps(
    seeds: Sequence[SeedRecord], paths: Iterable[Sequence[PathStep]]
) -> tuple[SeedRecord, ...]:
    """Add the first node of each path to the seeds, without energy."""
    listed = {seed.node for seed in seeds}
    first = {path[0].node: path[0] for path in paths if path and path[0].node not in listed}
    return (*seeds, *map(_silent_seed, first.values()))


def _silent_seed(step: PathStep) -> SeedRecord:
    # A later hop of `ecphory` finds concepts near a vector of its own.
    stream = Stream(step.edge) if step.edge in _STREAMS else Stream.VECTOR
    return SeedRecord(node=step.node, kind=step.kind, stream=stream, label=step.label, energy=0.0)


def waves_of(
    waves: Sequence[WaveRecord], paths: Sequence[Sequence[PathStep]], room: int
) -> tuple[Wave, ...]:
    """List the arcs on paths, and the strongest others while there is room, wave by wave."""
    listed: list[Wave] = []
    for number, (wave, on_paths) in enumerate(zip(waves, _placed(waves, paths), strict=True), 1):
        known = set(wave.rows(on_paths).values())
        others = [row for row in wave.strongest(room) if row not in known]
        room -= len(others)
        arcs = (*on_paths.values(), *map(wave.arc, others))
        listed.append(
            Wave(
                number=number,
                active=wave.active,
                energy=wave.energy,
                arcs=tuple(sorted(arcs, key=lambda arc: -arc.energy)),
                arcs_left_out=max(0, wave.total - len(known) - len(others)),
                marks=wave.marks,
            )
        )
    return tuple(listed)


def _placed(
    waves: Sequence[WaveRecord], paths: Sequence[Sequence[PathStep]]
) -> list[dict[Pair, WaveArc]]:
    """Place each step of a path in the last wave that may have carried it."""
    placed: list[dict[Pair, WaveArc]] = [{} for _ in waves]
    pairs = {(one.node, other.node) for path in paths for one, other in pairwise(path)}
    rows = [wave.rows(pairs) for wave in waves]
    for path in paths if waves else ():
        last = latest = len(waves) - 1
        for one, other in reversed(list(pairwise(path))):
            pair = one.node, other.node
            # A step that no wave lists belongs to the wave of the step after it.
            last = next((at for at in range(latest, -1, -1) if pair in rows[at]), last)
            latest = last - 1
            placed[last].setdefault(pair, _arc(waves[last], rows[last], one, other))
    return placed


def _arc(wave: WaveRecord, rows: Mapping[Pair, int], one: PathStep, other: PathStep) -> WaveArc:
    row = rows.get((one.node, other.node))
    if row is not None:
        return wave.arc(row)
    return WaveArc(
        tail=one.node, head=other.node, edge=other.edge, weight=1.0, energy=other.energy
    )
