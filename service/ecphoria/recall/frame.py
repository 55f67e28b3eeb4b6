"""The frame of a recall: the seeds, the turns around them, and the raw signals of each, by row.

A long memory is read by passages: words count if they stand together, and a reply of a thousand
words does not outweigh a short message that states the fact.

Cost follows the candidates, not the store: at most two index lists, two NEXT steps around them,
and the few further turns whose words spread into those.

A short memory is one unit; a long one has a unit for each of its passages.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import chain

import numpy as np

from ecphoria.maths.arrays import BoolArray, FloatArray, IntArray
from ecphoria.maths.fusion import TextSignals
from ecphoria.maths.lexical import (
    REACH_AHEAD,
    REACH_BACK,
    bm25,
    context_norms,
    context_similarity,
    count_terms,
    counting_work,
    idf,
    lending_share,
    length_weight,
    relative_frequency,
    saturate,
    share_held,
    spread_next,
)
from ecphoria.recall.ports import (
    Around,
    Columns,
    PassageColumns,
    SeedRow,
    StatedFacts,
    StatementColumns,
    TermCount,
    Window,
)
from ecphoria.recall.scope import RecallStore
from ecphoria.recall.seeds import Seeding, Subject, find_subject
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import Filters, Required
from ecphoria.runtime import run_off_loop
from ecphoria.text.cue import CueAnalysis, as_meant
from ecphoria.text.dates import date_affinities
from ecphoria.text.matching import holds
from ecphoria.text.terms import Related
from ecphoria.text.tokens import stems as stems_of


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
    also: Related,
) -> Units:
    """Divide the n rows into units: each passage of a long row, and each other row.

    `counts` [n, q] has the stems of whole rows; `also` has further terms that stand for a stem.
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


# NEXT steps around a seed that are candidates too. Turns whose words reach those are read as well,
# but cannot be hits.
# Seeds get two turns around them as candidates; three more back and two ahead only lend their
# words (decision 0005).
REACH = 2
_CODE = 0.05
"""Words of code a stem from which on a document is code: nearly all functions have .04 and more,
texts of prose have none (decision 0093)."""


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
        mean_length: Of the units of the whole store, in stems.
        signals: Raw evidence of the recipe, by the rows' own words.
        told: The facts that rows which may be hits state; None without any.
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
    mean_length: float
    signals: TextSignals
    told: StatedFacts | None
    row: Mapping[str, int]

    def holds(self, episode: str) -> bool:
        """Tell whether an episode may be a hit; rows that only lend their words may not."""
        row = self.row.get(episode)
        return row is not None and bool(self.inside[row])

    @property
    def covered(self) -> float:
        """The largest share of the cue that one candidate has in its own words, by rarity."""
        return float(share_held(self.counts[self.inside], self.rarity).max(initial=0.0))

    @property
    def shares(self) -> FloatArray:
        """The same for each row, or for its best passage, [n]."""
        return self.units.best(share_held(self.units.counts, self.rarity))

    def with_statements(self, words: float, meaning: float) -> TextSignals:
        """Compute the signals as if each row also said what its facts say.

        `words` is the weight of a stem of a fact that the row lacks, beside one of its own;
        `meaning` the share of a fact's cosine that counts where it is above the row's own.
        """
        if self.told is None:
            return self.signals
        counts = self.units.counts + words * self.told.added(self.counts)[self.units.row]
        *_, lex = _spread(
            self.units,
            counts,
            length=self.length,
            rarity=self.rarity,
            mean_length=self.mean_length,
            previous=self.previous,
            following=self.following,
        )
        return replace(self.signals, lex=lex, sem=self.told.nearest(self.signals.sem, meaning))


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
    every = chain(
        seeding.by_text,
        seeding.by_vector,
        seeding.by_passage,
        seeding.by_statement,
        seeding.by_date,
    )
    seeds = {seed.id: seed for seed in every}
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
    """Weigh further episodes that spreading reached, each with the turns around it."""
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
    kept = set(await store.figures.with_metadata(tenant, columns.id, filters))
    allowed = np.array([episode in kept for episode in columns.id], dtype=np.bool_)
    named = ((filters.sessions, columns.session), (filters.speakers, columns.speaker))
    for wanted, values in named:
        if wanted:
            allowed &= np.array([value in wanted for value in values], dtype=np.bool_)
    alone = ((filters.session, columns.session), (filters.role, columns.role))
    for one, values in alone:
        if one is not None:
            allowed &= np.array([value == one for value in values], dtype=np.bool_)
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
    read: tuple[PassageColumns | None, StatementColumns | None],
    stems: Sequence[str],
    analysis: CueAnalysis,
    subject: Subject | None,
) -> tuple[Units, FloatArray, StatedFacts | None]:
    (passages, stated), also = read, analysis.also
    counts = count_terms(columns.terms, stems, also)
    if analysis.asks_name or analysis.own:
        mine = subject.speaks(columns) if subject else np.ones(len(columns.id), np.bool_)
        spoken = [one.text if of else "" for one, of in zip(columns.spoken, mine, strict=True)]
        counts = as_meant(counts, stems, spoken, analysis, (subject and subject.speaker) or "")
    counts = with_whole_days(counts, stems, analysis.days)
    units = units_of(columns, counts, passages, stems, also)
    units = replace(units, counts=with_whole_days(units.counts, stems, analysis.days))
    return units, counts, _told(columns, stated, stems, also)


def with_whole_days(
    counts: FloatArray, stems: Sequence[str], days: Sequence[frozenset[str]]
) -> FloatArray:
    """Count the words of a stated day, [n, q], only where all of them are.

    "4" and "August" alone are of other days: "24 August", "4) update the board".
    """
    if not days:
        return counts
    named = np.array([any(stem in day for day in days) for stem in stems], dtype=np.bool_)
    whole = np.zeros(counts.shape, dtype=np.bool_)
    for day in days:
        of_day = np.array([stem in day for stem in stems], dtype=np.bool_)
        there = (counts[:, of_day] > 0.0).all(axis=1, keepdims=True)
        whole |= there & of_day
    return np.where(named & ~whole, 0.0, counts)


def _told(
    columns: Columns, stated: StatementColumns | None, stems: Sequence[str], also: Related
) -> StatedFacts | None:
    """Count the stems of statements; None if there is no statement."""
    if stated is None or not stated.fact:
        return None
    place = {episode: row for row, episode in enumerate(columns.id)}
    terms = [" ".join(stems_of(statement)) for statement in stated.statement]
    return StatedFacts(
        row=np.array([place[episode] for episode in stated.episode], dtype=np.int64),
        fact=stated.fact,
        subject=stated.subject,
        statement=stated.statement,
        cosine=stated.cosine,
        counts=count_terms(terms, stems, also),
    )


async def _read(
    store: RecallStore,
    tenant: TenantId,
    columns: Columns,
    seeding: Seeding,
    *,
    inside: BoolArray,
    stems: Sequence[str],
    subject: Subject | None,
) -> tuple[Units, FloatArray, StatedFacts | None]:
    """Read the passages and facts of the rows that may be hits, and count stems in all texts."""
    profile, passages, stated = seeding.profile, None, None
    wanted = [episode for episode, may in zip(columns.id, inside, strict=True) if may]
    if profile.passages:
        passages = await store.passages_of(tenant, wanted, seeding.vector)
    if profile.stated:
        stated = await store.statements_of(tenant, wanted, seeding.vector)
    more = passages.terms if passages else ()
    said = stated.statement if stated else ()
    return await run_off_loop(
        partial(_count, columns, (passages, stated), stems, seeding.analysis, subject),
        counting_work(chain(columns.terms, more, said), stems),
    )


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
    previous, following = neighbours(columns)
    mine = np.zeros(len(columns.id), np.bool_) if subject is None else subject.speaks(columns)
    units, counts, told = await _read(
        store, tenant, columns, seeding, inside=inside, stems=stems, subject=subject
    )
    often = np.array([asked[stem] for stem in stems], dtype=np.float64)
    rarity = _rarity(stems, analysis.also, seeding.terms, profile.items) * often
    mean = profile.mean_length * profile.items / max(1, profile.items + profile.passages)
    said, lent, lex = _spread(
        units,
        units.counts,
        length=columns.length,
        rarity=rarity,
        mean_length=mean,
        previous=previous,
        following=following,
    )
    single = bm25(
        units.counts, qtf=often, idf=rarity / often, length=units.length, mean_length=mean
    )
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
        mean_length=mean,
        signals=TextSignals(
            lex=lex,
            sem=0.5 * (columns.cosine + units.mean(units.cosine)),
            ctx=_context(columns, previous, following),
            **_circumstances(columns, analysis, mine, by_user),
            prose=prose_of(columns),
        ),
        told=told,
        row={episode: row for row, episode in enumerate(columns.id)},
    )


def _spread(
    units: Units,
    counts: FloatArray,
    *,
    length: FloatArray,
    rarity: FloatArray,
    mean_length: float,
    previous: IntArray,
    following: IntArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Let each row lend its words, [u, q] by unit, to the turns around it.

    Return `said` and `lent` [n, q] as in `Frame`, and the signal `lex` [n].
    """
    relative = relative_frequency(counts, length=units.length, mean_length=mean_length)
    said = units.most(relative)
    lent = said * lending_share(length)[:, None]
    borrowed = spread_next(lent, previous=previous, following=following) - lent
    return said, lent, units.best(saturate(relative + borrowed[units.row], weight=rarity))


def _context(columns: Columns, previous: IntArray, following: IntArray) -> FloatArray:
    """Compare the cue with each turn and its neighbours among the candidates."""
    norm = context_norms(columns.vector, joined=following[:-1] >= 0)
    return context_similarity(columns.cosine, norm=norm, previous=previous, following=following)


def prose_of(columns: Columns) -> BoolArray:
    """Tell which rows are documents of prose, [n]: all documents or none (decision 0111).

    Most of them must have few words of code, `os.path` and `get_user`, which stand behind the
    stems as further terms; an `@` marks those of another language.
    """
    document = np.array([session is None for session in columns.session], dtype=np.bool_)
    plain = sum(
        terms.count(" ") + 1 - terms.count(" @") < (1 + _CODE) * length
        for session, terms, length in zip(
            columns.session, columns.terms, columns.length.tolist(), strict=True
        )
        if session is None
    )
    return document & bool(2 * plain >= document.sum())


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
        # A note's own time is what "yesterday" asks for, but seldom the date that a cue states
        # beside other words. If a cue asks for a time alone, words and meaning say little, so the
        # time counts twice.
        "date": (1.0 if analysis.told or analysis.asks_of_time else turn)
        * (1.0 + analysis.asks_of_time)
        * _closeness(analysis, columns.local_ms),
    }


def neighbours(columns: Columns) -> tuple[IntArray, IntArray]:
    """Find each row's NEXT neighbours, which are the rows beside it.

    Rows are ordered by session and ordinal.
    """
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
    stems: Sequence[str], also: Related, terms: Mapping[str, TermCount], items: int
) -> FloatArray:
    held = {stem: count.items for stem, count in terms.items()}
    df = [max(held.get(one, 0) for one in (stem, *also.get(stem, ()))) for stem in stems]
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
