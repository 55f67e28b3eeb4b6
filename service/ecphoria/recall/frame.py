"""The frame of a recall: the seeds, the turns around them, and the raw signals of each, by row.

A long memory is read by passages: words count if they stand together, and a reply of a thousand
words does not outweigh a short message that states the fact.

Cost follows the candidates, not the store: at most two index lists, two NEXT steps around them,
and the few further turns whose words spread into those.

A short memory is one unit; a long one has a unit for each of its passages.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import chain

import numpy as np

from ecphoria.maths.checks import BoolArray, FloatArray, IntArray
from ecphoria.maths.fusion import TextSignals
from ecphoria.maths.lexical import (
    REACH_AHEAD,
    REACH_BACK,
    bm25,
    context_norms,
    context_similarity,
    idf,
    lending_share,
    length_weight,
    relative_frequency,
    saturate,
    spread_next,
)
from ecphoria.recall.ports import Around, Columns, PassageColumns, SeedRow, TermCount, Window
from ecphoria.recall.scope import RecallStore
from ecphoria.recall.seeds import Seeding, Subject, find_subject
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import Filters, Required
from ecphoria.runtime import run_off_loop
from ecphoria.text.cue import CueAnalysis, date_affinities
from ecphoria.text.matching import holds

_MANY = 100
"""Number of stems of a cue from which reading every word once is faster than one search a stem."""

_BETWEEN = " \n "
"""Separator of texts that are searched together; no stem has a line break."""


_SEARCHES = 100
"""Number of searches for a stem that take as long as finding the names of a text."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Units:
    """u units of n rows, at least one a row.

    Attributes:
        row: [u] the row each unit is a part of.
        rows: n.
        counts: [u, q] how often each unit has each stem of the cue.
        length: [u] stems.
        cosine: [u] to the cue.
    """

    row: IntArray
    rows: int
    counts: FloatArray
    length: FloatArray
    cosine: FloatArray

    def best(self, values: FloatArray) -> FloatArray:
        """Take each row's largest value, [n], of values [u]."""
        found = np.full(self.rows, -np.inf)
        np.maximum.at(found, self.row, values)
        return found

    def most(self, values: FloatArray) -> FloatArray:
        """Take each row's largest value a column, [n, q], of values [u, q] >= 0."""
        found = np.zeros((self.rows, values.shape[1]))
        np.maximum.at(found, self.row, values)
        return found

    def mean(self, values: FloatArray) -> FloatArray:
        """Average each row's values, [n], of values [u]."""
        total = np.bincount(self.row, weights=values, minlength=self.rows)
        return np.asarray(total / np.maximum(1, np.bincount(self.row, minlength=self.rows)))


def units_of(
    columns: Columns,
    counts: FloatArray,
    passages: PassageColumns | None,
    stems: Sequence[str],
    also: Mapping[str, str],
) -> Units:
    """Divide the rows into units: each passage of a long row, and each other row.

    Args:
        columns: The rows, n.
        counts: [n, q] stems of whole rows.
        passages: Of some of the rows; None where the store has none.
        stems: The cue's, q.
        also: Further terms of the cue that stand for a stem.
    """
    size = len(columns.id)
    whole = np.arange(size, dtype=np.int64)
    if passages is None or not passages.episode:
        return Units(
            row=whole, rows=size, counts=counts, length=columns.length, cosine=columns.cosine
        )
    place = {episode: row for row, episode in enumerate(columns.id)}
    of = np.array([place[episode] for episode in passages.episode], dtype=np.int64)
    kept = np.ones(size, np.bool_)
    kept[of] = False
    return Units(
        row=np.concatenate((whole[kept], of)),
        rows=size,
        counts=np.concatenate((counts[kept], count_terms(passages.terms, stems, also))),
        length=np.concatenate((columns.length[kept], passages.length)),
        cosine=np.concatenate((columns.cosine[kept], passages.cosine)),
    )


def count_stems(terms: Sequence[str], stems: Sequence[str]) -> FloatArray:
    """Count stems in texts, which are stems joined by blanks, [n, q]."""
    if len(stems) > _MANY:
        return _count_all(terms, stems)
    counts = np.zeros((len(terms), len(stems)))
    # One search through all texts is several times faster than one search a text.
    everything = f" {_BETWEEN.join(terms)} "
    starts = np.cumsum([0, *(len(joined) + len(_BETWEEN) for joined in terms)])
    for column, stem in enumerate(stems):
        rows = np.searchsorted(starts, _find_all(everything, f" {stem} "), side="right") - 1
        counts[:, column] = np.bincount(rows, minlength=len(terms))
    return counts


def count_terms(terms: Sequence[str], stems: Sequence[str], also: Mapping[str, str]) -> FloatArray:
    """Count stems, [n, q], or the terms that stand for them where those are more.

    The stems of a text's own language join more forms of a word than Porter's, so they are
    counted at least as often (decision 0051).
    """
    counts = count_stems(terms, stems)
    columns = [column for column, stem in enumerate(stems) if stem in also]
    if columns:
        own = count_stems(terms, [also[stems[column]] for column in columns])
        counts[:, columns] = np.maximum(counts[:, columns], own)
    return counts


def counting_work(terms: Iterable[str], stems: Sequence[str]) -> int:
    """Estimate the work of `count_stems`, in the characters that `loop.aside` expects."""
    return sum(map(len, terms)) * len(stems) // _SEARCHES


def _count_all(terms: Sequence[str], stems: Sequence[str]) -> FloatArray:
    """Count in one pass over each text, for any number of stems."""
    counts = np.zeros((len(terms), len(stems)))
    place = {stem: column for column, stem in enumerate(stems)}
    for row, joined in enumerate(terms):
        for stem, count in Counter(joined.split()).items():
            if stem in place:
                counts[row, place[stem]] = count
    return counts


def _find_all(text: str, sought: str) -> IntArray:
    """Find every place of `" stem "`; neighbours share the blank between them."""
    places = []
    at = text.find(sought)
    while at >= 0:
        places.append(at)
        at = text.find(sought, at + len(sought) - 1)
    return np.array(places, dtype=np.int64)


# NEXT steps around a seed that are candidates too. Turns whose words reach those are read as well,
# but cannot be hits.
# Seeds get two turns around them as candidates; three more back and two ahead only lend their
# words (decision 0005).
REACH = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Frame(Columns):
    """One cue's bounded subgraph as columns; n rows, q distinct stems of the cue.

    Attributes:
        inside: Which rows may be hits; the rest only lend their words and vectors.
        previous, following: Row of the neighbour over NEXT, -1 for none.
        subject: The speaker or role that the cue is about.
        subject_rows: Which rows the subject said.
        by_user: Which rows a user said to an assistant.
        stems: The cue's distinct stems.
        counts: [n, q] how often each row has each stem.
        rarity: [q] idf times count in the cue.
        lent: [n, q] relative frequency of each stem that a row lends to the rows around it.
        said: [n, q] the same as it counts in the row itself, before anything spreads.
        single: [n] BM25 of the item alone, of a long one its best passage.
        units: What each row's words and meaning were read from.
        signals: Raw evidence of the recipe.
        row: The row of an episode.
    """

    inside: BoolArray
    previous: IntArray
    following: IntArray
    subject: Subject | None
    subject_rows: BoolArray
    by_user: BoolArray
    stems: tuple[str, ...]
    counts: FloatArray
    rarity: FloatArray
    lent: FloatArray
    said: FloatArray
    single: FloatArray
    units: Units
    signals: TextSignals
    row: Mapping[str, int]

    def holds(self, episode: str) -> bool:
        """Tell whether an episode may be a hit; rows that only lend their words may not."""
        row = self.row.get(episode)
        return row is not None and bool(self.inside[row])


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo:
    """A turn that is no evidence for the cue; see `recall.echoes`.

    Attributes:
        terms: Its distinct stems.
        length: Stems, repeats counted.
        visible: Whether it may be a hit.
        lends: Whether its words still count in the reply to it.
    """

    id: EpisodeId
    session: str | None
    ordinal: int
    terms: frozenset[str]
    length: float
    cosine: float
    visible: bool
    lends: bool


def holder(frames: Iterable[Frame], episode: str) -> Frame:
    """Find the frame in which an episode was ranked.

    A neighbour of a candidate is in the first frame only to lend its words. If activation reaches
    it, a later frame ranks it, with passages and neighbours of its own.
    """
    return next(frame for frame in frames if frame.holds(episode))


async def gather(
    store: RecallStore, tenant: TenantId, seeding: Seeding, filters: Filters
) -> Frame:
    """Fetch the columns of all seeds and of the turns around them, and weigh them."""
    seeds = {seed.id: seed for seed in (*seeding.by_text, *seeding.by_vector, *seeding.by_passage)}
    columns = await store.columns(
        tenant,
        sorted(seed.id for seed in seeds.values() if seed.session is None),
        _windows(seeds.values(), REACH + REACH_BACK, REACH + REACH_AHEAD),
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
    inside &= await _allowed(store, tenant, columns, filters)
    subject = find_subject(seeding.subjects, columns)
    return await _weigh(store, tenant, columns, seeding, inside=inside, subject=subject)


async def gather_more(
    store: RecallStore,
    tenant: TenantId,
    seeding: Seeding,
    filters: Filters,
    ids: Sequence[EpisodeId],
    *,
    subject: Subject | None,
) -> Frame:
    """Weigh further episodes that spreading reached, each with the turns around it.

    Args:
        store: Where they are.
        tenant: Whose they are.
        seeding: What the cue found.
        filters: Which of them may be hits.
        ids: The episodes.
        subject: Of the candidates that were there before.
    """
    around = Around(ids=tuple(ids), back=REACH_BACK, ahead=REACH_AHEAD)
    columns = await store.columns(tenant, ids, (), seeding.vector, around)
    wanted = set(ids)
    inside = np.array([episode in wanted for episode in columns.id], dtype=np.bool_)
    inside &= await _allowed(store, tenant, columns, filters)
    return await _weigh(store, tenant, columns, seeding, inside=inside, subject=subject)


def _windows(seeds: Iterable[SeedRow], back: int, ahead: int) -> list[Window]:
    """Cover all seeds of a session by the fewest runs of turns."""
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


async def _allowed(
    store: RecallStore, tenant: TenantId, columns: Columns, filters: Filters
) -> BoolArray:
    """Apply the filters to turns that came in as neighbours."""
    kept = await store.figures.with_metadata(tenant, columns.id, filters)
    allowed = np.array([episode in kept for episode in columns.id], dtype=np.bool_)
    if filters.sessions:
        allowed &= np.array(
            [session in filters.sessions for session in columns.session], dtype=np.bool_
        )
    if filters.role is not None:
        allowed &= np.array([role == filters.role for role in columns.role], dtype=np.bool_)
    if filters.session is not None:
        allowed &= np.array(
            [session == filters.session for session in columns.session], dtype=np.bool_
        )
    if filters.speakers:
        allowed &= np.array(
            [speaker in filters.speakers for speaker in columns.speaker], dtype=np.bool_
        )
    if filters.occurred_from is not None:
        allowed &= columns.occurred_ms >= 1e3 * filters.occurred_from.timestamp()
    if filters.occurred_before is not None:
        allowed &= columns.occurred_ms < 1e3 * filters.occurred_before.timestamp()
    if filters.required != Required():
        allowed &= await _matching(store, tenant, columns, filters.required)
    return allowed


async def _matching(
    store: RecallStore, tenant: TenantId, columns: Columns, required: Required
) -> BoolArray:
    """Flag the rows that have the words and phrases that the cue requires."""
    words = await store.figures.words(tenant, columns.id) if required.phrases else {}
    found = [
        holds(required, words=words.get(episode, ""), terms=terms)
        for episode, terms in zip(columns.id, columns.terms, strict=True)
    ]
    return np.array(found, dtype=np.bool_)


def _count(
    columns: Columns,
    passages: PassageColumns | None,
    stems: Sequence[str],
    also: Mapping[str, str],
) -> tuple[Units, FloatArray]:
    counts = count_terms(columns.terms, stems, also)
    return units_of(columns, counts, passages, stems, also), counts


async def _weigh(
    store: RecallStore,
    tenant: TenantId,
    columns: Columns,
    seeding: Seeding,
    *,
    inside: BoolArray,
    subject: Subject | None,
) -> Frame:
    """Read the passages of long rows, then every signal of every row."""
    analysis, profile = seeding.analysis, seeding.profile
    asked = Counter(analysis.stems)
    stems = tuple(asked)
    passages = None
    if profile.passages:
        wanted = [episode for episode, may in zip(columns.id, inside, strict=True) if may]
        passages = await store.passages_of(tenant, wanted, seeding.vector)
    previous, following = neighbours(columns)
    units, counts = await run_off_loop(
        partial(_count, columns, passages, stems, analysis.also),
        counting_work(chain(columns.terms, passages.terms if passages else ()), stems),
    )
    often = np.array([asked[stem] for stem in stems], dtype=np.float64)
    rarity = _rarity(stems, analysis.also, seeding.terms, profile.items) * often
    mean = profile.mean_length * profile.items / max(1, profile.items + profile.passages)
    relative = relative_frequency(units.counts, length=units.length, mean_length=mean)
    said = units.most(relative)
    lent = said * lending_share(columns.length)[:, None]
    borrowed = spread_next(lent, previous=previous, following=following) - lent
    single = bm25(
        units.counts, qtf=often, idf=rarity / often, length=units.length, mean_length=mean
    )
    mine = np.zeros(len(columns.id), np.bool_) if subject is None else subject.speaks(columns)
    by_user = Subject(role="user").speaks(columns)
    return Frame(
        **{one.name: getattr(columns, one.name) for one in fields(columns)},
        inside=inside,
        previous=previous,
        following=following,
        subject=subject,
        subject_rows=mine,
        by_user=by_user,
        stems=stems,
        counts=counts,
        rarity=rarity,
        lent=lent,
        said=said,
        single=units.best(single),
        units=units,
        signals=TextSignals(
            lex=units.best(saturate(relative + borrowed[units.row], weight=rarity)),
            sem=0.5 * (columns.cosine + units.mean(units.cosine)),
            ctx=_context(columns, previous, following),
            **_circumstances(columns, analysis, mine, by_user),
        ),
        row={episode: row for row, episode in enumerate(columns.id)},
    )


def _context(columns: Columns, previous: IntArray, following: IntArray) -> FloatArray:
    """Compare the cue with each turn and its neighbours among the candidates."""
    norm = context_norms(columns.vector, previous=previous, following=following)
    return context_similarity(columns.cosine, norm=norm, previous=previous, following=following)


def _circumstances(
    columns: Columns, analysis: CueAnalysis, mine: BoolArray, by_user: BoolArray
) -> dict[str, FloatArray]:
    """Compute the signals of each row besides words and meaning; 0 for documents."""
    turn = np.array([session is not None for session in columns.session], dtype=np.float64)
    return {
        "spk": mine.astype(np.float64),
        # A long reply says little about each topic, but a summary needs it.
        "len": turn * length_weight(columns.length) * float(not analysis.asks_summary),
        # A user's question to an assistant states a need, unlike a question between friends.
        "isq": (columns.is_question & ~by_user).astype(np.float64),
        "texp": columns.time_expression.astype(np.float64) * float(analysis.is_when),
        "date": turn * _closeness(analysis, columns.local_ms),
    }


def neighbours(columns: Columns) -> tuple[IntArray, IntArray]:
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


def _rarity(
    stems: Sequence[str], also: Mapping[str, str], terms: Mapping[str, TermCount], items: int
) -> FloatArray:
    held = {stem: count.items for stem, count in terms.items()}
    df = [max(held.get(stem, 0), held.get(also.get(stem, ""), 0)) for stem in stems]
    # The profile was read first, so a count may already include a later write.
    return idf(np.minimum(np.array(df, dtype=np.float64), items), items)


def _closeness(analysis: CueAnalysis, local_ms: IntArray) -> FloatArray:
    days = local_ms.astype("datetime64[ms]").astype("datetime64[D]")
    months, years = days.astype("datetime64[M]"), days.astype("datetime64[Y]")
    return date_affinities(
        analysis.dates,
        years.astype(np.int64) + 1970,
        months.astype(np.int64) % 12 + 1,
        (days - months.astype("datetime64[D]")).astype(np.int64) + 1,
    )
