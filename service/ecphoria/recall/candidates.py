"""Candidates: the seeds, the turns around them, and every raw signal about each.

Cost follows the candidates, not the store: at most two index lists, two NEXT steps around them,
and the few further turns whose words spread into those.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecphoria.kernels.fusion import TextSignals
from ecphoria.kernels.lexical import bm25, context_similarity, idf, spread_next
from ecphoria.language.cue import CueAnalysis
from ecphoria.language.dates import date_affinities
from ecphoria.model.ids import EpisodeId, TenantId
from ecphoria.model.recall import Filters
from ecphoria.ports.recall import Around, Columns, RecallStore, SeedRow, TermCount, Window
from ecphoria.recall.seeding import Seeding

__all__ = ["Candidates", "gather", "gather_more"]

REACH = 2
"""NEXT steps around a seed that are candidates too."""

_BACK, _AHEAD = 3, 2
"""How far words spread over NEXT; turns that far outside are read but cannot be hits."""

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidates:
    """One cue's bounded subgraph as columns; n rows, q distinct stems of the cue.

    Attributes:
        inside: Which rows may be hits; the rest only lend their words and vectors.
        previous, following: Row of the neighbour over NEXT, -1 for none.
        stems: The cue's distinct stems.
        counts: [n, q] how often each row has each stem.
        rarity: [q] idf times count in the cue, for single items.
        near_rarity: [q] the same with the frequencies of spread stems.
        single: [n] BM25 of the item alone.
        signals: Raw evidence of the recipe.
    """

    columns: Columns
    inside: BoolArray
    previous: IntArray
    following: IntArray
    stems: tuple[str, ...]
    counts: FloatArray
    rarity: FloatArray
    near_rarity: FloatArray
    single: FloatArray
    signals: TextSignals
    row: Mapping[str, int]


async def gather(
    store: RecallStore, tenant: TenantId, seeding: Seeding, filters: Filters
) -> Candidates:
    """Fetch the columns of all seeds and of the turns around them, and weigh them."""
    seeds = {seed.id: seed for seed in (*seeding.by_text, *seeding.by_vector)}
    columns = await store.columns(
        tenant,
        sorted(seed.id for seed in seeds.values() if seed.session is None),
        _windows(seeds.values(), REACH + _BACK, REACH + _AHEAD),
        seeding.vector,
    )
    near = _places(seeds.values())
    inside = np.array(
        [
            episode in seeds or (session, ordinal) in near
            for episode, session, ordinal in zip(
                columns.id, columns.session, columns.ordinal.tolist(), strict=True
            )
        ],
        dtype=np.bool_,
    )
    return _weigh(columns, inside & _allowed(columns, filters), seeding)


async def gather_more(
    store: RecallStore,
    tenant: TenantId,
    seeding: Seeding,
    filters: Filters,
    ids: Sequence[EpisodeId],
) -> Candidates:
    """Weigh further episodes that spreading reached, each with the turns around it."""
    around = Around(ids=tuple(ids), back=_BACK, ahead=_AHEAD)
    columns = await store.columns(tenant, ids, (), seeding.vector, around)
    wanted = set(ids)
    inside = np.array([one in wanted for one in columns.id], dtype=np.bool_)
    return _weigh(columns, inside & _allowed(columns, filters), seeding)


def _windows(seeds: Iterable[SeedRow], back: int, ahead: int) -> list[Window]:
    """Cover all seeds of a session by as few runs of turns as possible."""
    places = sorted(
        (seed.session, seed.ordinal)
        for seed in seeds
        if seed.session is not None and seed.ordinal is not None
    )
    windows: list[Window] = []
    for session, ordinal in places:
        first, last = max(0, ordinal - back), ordinal + ahead
        if windows and windows[-1].session == session and first <= windows[-1].last + 1:
            windows[-1] = Window(session=session, first=windows[-1].first, last=last)
        else:
            windows.append(Window(session=session, first=first, last=last))
    return windows


def _places(seeds: Iterable[SeedRow]) -> set[tuple[str | None, int]]:
    return {
        (seed.session, seed.ordinal + step)
        for seed in seeds
        if seed.session is not None and seed.ordinal is not None
        for step in range(-REACH, REACH + 1)
    }


def _allowed(columns: Columns, filters: Filters) -> BoolArray:
    """Apply the filters to turns that came in as neighbours."""
    allowed = np.ones(len(columns.id), dtype=np.bool_)
    if filters.session is not None:
        allowed &= np.array([one == filters.session for one in columns.session], dtype=np.bool_)
    if filters.speaker is not None:
        allowed &= np.array([one == filters.speaker for one in columns.speaker], dtype=np.bool_)
    if filters.occurred_from is not None:
        allowed &= columns.occurred_ms >= 1e3 * filters.occurred_from.timestamp()
    if filters.occurred_before is not None:
        allowed &= columns.occurred_ms < 1e3 * filters.occurred_before.timestamp()
    return allowed


def _weigh(columns: Columns, inside: BoolArray, seeding: Seeding) -> Candidates:
    analysis, profile = seeding.analysis, seeding.profile
    asked = Counter(analysis.stems)
    stems = tuple(asked)
    previous, following = _neighbours(columns)
    counts = _counts(columns.terms, stems)
    rarity = _rarity(stems, seeding.terms, profile.items, near=False)
    near_rarity = _rarity(stems, seeding.terms, profile.items, near=True)
    often = np.array([asked[stem] for stem in stems], dtype=np.float64)
    single = bm25(
        counts, qtf=often, idf=rarity, length=columns.length, mean_length=profile.mean_length
    )
    near = bm25(
        spread_next(counts, previous=previous, following=following),
        qtf=often,
        idf=near_rarity,
        length=columns.near_length,
        mean_length=profile.mean_near_length,
    )
    return Candidates(
        columns=columns,
        inside=inside,
        previous=previous,
        following=following,
        stems=stems,
        counts=counts,
        rarity=rarity * often,
        near_rarity=near_rarity * often,
        single=single,
        signals=_signals(columns, near, analysis, previous, following),
        row={episode: row for row, episode in enumerate(columns.id)},
    )


def _neighbours(columns: Columns) -> tuple[IntArray, IntArray]:
    """Find each row's NEXT neighbours; rows are ordered by session and ordinal."""
    size = len(columns.id)
    joined = np.array(
        [
            one is not None and one == other
            for one, other in zip(columns.session, columns.session[1:], strict=False)
        ],
        dtype=np.bool_,
    )
    joined &= np.diff(columns.ordinal) == 1
    rows = np.arange(size, dtype=np.int64)
    previous, following = np.full(size, -1), np.full(size, -1)
    previous[1:][joined] = rows[:-1][joined]
    following[:-1][joined] = rows[1:][joined]
    return previous, following


def _counts(terms: Sequence[str], stems: Sequence[str]) -> FloatArray:
    counts = np.zeros((len(terms), len(stems)))
    closed = [f" {joined} " for joined in terms]
    for column, stem in enumerate(stems):
        sought = f" {stem} "
        for row, text in enumerate(closed):
            if sought in text:
                counts[row, column] = text.split().count(stem)
    return counts


def _rarity(
    stems: Sequence[str], terms: Mapping[str, TermCount], items: int, *, near: bool
) -> FloatArray:
    found = (terms.get(stem) for stem in stems)
    df = [0 if one is None else one.near if near else one.items for one in found]
    # A count may lag one write behind the profile, which was read first.
    return idf(np.minimum(np.array(df, dtype=np.float64), items), items)


def _signals(
    columns: Columns,
    near: FloatArray,
    analysis: CueAnalysis,
    previous: IntArray,
    following: IntArray,
) -> TextSignals:
    turn = np.array([one is not None for one in columns.session], dtype=np.float64)
    subject = analysis.subject
    spoken = [subject is not None and speaker == subject for speaker in columns.speaker]
    return TextSignals(
        lex=near,
        sem=columns.cosine,
        ctx=context_similarity(
            columns.cosine, norm=columns.context_norm, previous=previous, following=following
        ),
        spk=np.array(spoken, dtype=np.float64),
        len=columns.length_prior,
        isq=columns.is_question.astype(np.float64),
        texp=columns.time_expression.astype(np.float64) * float(analysis.is_when),
        date=turn * _closeness(analysis, columns.occurred_ms),
    )


def _closeness(analysis: CueAnalysis, occurred_ms: IntArray) -> FloatArray:
    days = occurred_ms.astype("datetime64[ms]").astype("datetime64[D]")
    months, years = days.astype("datetime64[M]"), days.astype("datetime64[Y]")
    return date_affinities(
        analysis.dates,
        years.astype(np.int64) + 1970,
        months.astype(np.int64) % 12 + 1,
        (days - months.astype("datetime64[D]")).astype(np.int64) + 1,
    )
