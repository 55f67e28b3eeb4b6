"""Echoes: earlier turns that only ask, or only say that nobody knows, and tell nothing more.

An agent stores the questions of its user. Asked again, a question would be its own best answer. So
these turns are removed before the ranking: words, vectors, positions in a session and statistics
are those of a store without them. They are returned below all other hits, with a mark.

One kind of echo still lends its words: a question to which another person replied with a
statement. The reply often has no word of the question ("It is Dune"). The question itself is
ranked like other echoes.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ecphoria.ports import Vector
from ecphoria.recall.candidates import Candidates, Echo, gather
from ecphoria.recall.pipeline import Ranked, Search
from ecphoria.recall.ports import Around, Columns, RecallStore, SeedRow, Window
from ecphoria.recall.scope import Scope, ScopedStore, keep_rows
from ecphoria.recall.seeds import Seeding, searched_stems
from ecphoria.records.episode import Episode
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import Filters, PathStep, Stream
from ecphoria.text.asking import Asking, Saying, asks_openly
from ecphoria.text.tokens import stems, words

# A question that was stored is nearest to itself: without this rule, storing an unanswered
# question turned a refusal into an answer (decision 0044).
PART: Final = "echo"
"""The part of a score that puts an echo below all other hits."""

# The cosine alone cannot decide: a memory that answers is often as near to the question as a
# paraphrase of it (decision 0044).
NEAR: Final = 0.8
"""Cosine from which a turn that only asks is an echo, in any words."""

# A longer request to an assistant states a need, so it stays evidence (decision 0044).
_FEW_WORDS = 3
"""Largest number of own words of an echo that only asks."""

_ROUNDS = 4
"""Largest number of further searches, if echoes fill the results of the indexes."""

_ABOUT_QUESTIONS = re.compile(
    r"\b(?:did|have|had)\s+\w+\s+(?:\w+\s+)?ask(?:ed)?\b|\basked\b|\bquestions\b|\bgefragt\b"
    r"|\bfragte\w?\b|\bfragen habe\b",
    re.IGNORECASE,
)
"""A cue about what was asked: for this cue questions are evidence."""


def find_echoes(cue: str, candidates: Candidates) -> tuple[Echo, ...]:
    """Find the candidates that only ask, or only say that nobody knows."""
    if _ABOUT_QUESTIONS.search(cue):
        return ()
    asked = frozenset((*stems(cue), *words(cue)))
    openly = asks_openly(cue)
    columns = candidates.columns
    return tuple(
        Echo(
            id=columns.id[row],
            session=columns.session[row],
            ordinal=int(columns.ordinal[row]),
            terms=frozenset(columns.terms[row].split()),
            length=float(columns.length[row]),
            cosine=float(columns.cosine[row]),
            visible=bool(candidates.inside[row]),
            lends=_answered(row, candidates),
        )
        for row, asking in enumerate(columns.asking)
        if _is_echo(asking, asked, float(columns.cosine[row]), openly=openly)
    )


def _is_echo(asking: Asking, asked: frozenset[str], cosine: float, *, openly: bool) -> bool:
    """Tell whether a turn has no name, and only few words, that the cue lacks.

    A turn that states something is an echo only if it has no own word, speaks of asking or
    knowing, and the cue asks for a value. This finds forms without a rule: "Asked about the
    wedding date, nothing on file."
    """
    # Where the cue asks yes or no, or who does something, its words are the answer, so such a turn
    # stays evidence (decision 0044).
    if asking.saying is Saying.STATES:
        return openly and bool(asking.content) and asking.content | asking.told <= asked
    if not asking.content:
        return asking.saying is Saying.DOES_NOT_KNOW
    few = len(asking.content - asked) <= _FEW_WORDS
    return asking.told <= asked and (few or cosine >= NEAR)


def _answered(row: int, candidates: Candidates) -> bool:
    """Tell whether another person replied to a question with a statement.

    Replies of an assistant to its user do not count: they repeat the matter, or do not answer.
    """
    columns, reply = candidates.columns, int(candidates.following[row])
    saying = columns.asking[row].saying
    asks = saying is Saying.ASKS or (saying is Saying.STATES and bool(columns.is_question[row]))
    if not asks or candidates.by_user[row] or reply < 0:
        return False
    who = columns.role[row], columns.speaker[row]
    other = columns.role[reply], columns.speaker[reply]
    known = any(who) and any(other) and who != other
    return known and columns.asking[reply].saying is Saying.STATES


class WithoutEchoes(ScopedStore):
    """A store as if some of its turns had never been stored.

    The turns before and after them become neighbours. Their whole texts can still be read.
    """

    def __init__(self, store: RecallStore, echoes: Collection[Echo]) -> None:
        # A penalty would leave the bounds of the signals, the lead of the first hit and the
        # statistics distorted (decision 0044).
        super().__init__(store, Scope(hidden=frozenset(echo.id for echo in echoes)))
        self._gone: dict[str, list[int]] = {}
        for echo in sorted(echoes, key=lambda one: one.ordinal):
            if echo.session is not None:
                self._gone.setdefault(echo.session, []).append(echo.ordinal)

    def moved(self, rows: Sequence[SeedRow]) -> list[SeedRow]:
        """Drop the echoes from seeds, and renumber the other turns."""
        return [
            row
            if row.session is None or row.ordinal is None
            else replace(row, ordinal=self._place(row.session, row.ordinal))
            for row in rows
            if row.id not in self._scope.hidden
        ]

    async def seeds_by_vector(
        self, tenant: TenantId, vector: Vector, limit: int, filters: Filters
    ) -> Sequence[SeedRow]:
        """Search the vector index."""
        return self.moved(await super().seeds_by_vector(tenant, vector, limit, filters))

    async def seeds_by_text(
        self, tenant: TenantId, stems: Sequence[str], limit: int, filters: Filters
    ) -> Sequence[SeedRow]:
        """Search the text index."""
        return self.moved(await super().seeds_by_text(tenant, stems, limit, filters))

    async def episodes(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Sequence[Episode]:
        """Fetch whole episodes, echoes too."""
        return await self._store.episodes(tenant, ids)

    async def columns(
        self,
        tenant: TenantId,
        ids: Sequence[EpisodeId],
        windows: Sequence[Window],
        vector: Vector | None,
        around: Around | None = None,
    ) -> Columns:
        """Fetch episodes by id, by place in their session, and near others."""
        wider = [
            replace(window, last=window.last + len(self._gone.get(window.session, ())))
            for window in windows
        ]
        if around is not None:
            most = max(map(len, self._gone.values()), default=0)
            around = replace(around, back=around.back + most, ahead=around.ahead + most)
        found = await self._store.columns(tenant, ids, wider, vector, around)
        found = keep_rows(found, [episode not in self._scope.hidden for episode in found.id])
        places = [
            ordinal if session is None else self._place(session, ordinal)
            for session, ordinal in zip(found.session, found.ordinal.tolist(), strict=True)
        ]
        return replace(found, ordinal=np.array(places, dtype=np.int64))

    def _place(self, session: str, ordinal: int) -> int:
        return ordinal - bisect_left(self._gone.get(session, ()), ordinal)


async def leave_out_echoes(search: Search, cue: str, limit: int) -> Search:
    """Search again as if the cue's echoes were not stored; unchanged if there is none.

    Args:
        search: The recall, before its strategy ranks.
        cue: The text of the cue.
        limit: Seeds taken from each index.
    """
    whole, known = search, dict[EpisodeId, Echo]()
    for _ in range(_ROUNDS):
        found = [echo for echo in find_echoes(cue, search.candidates) if echo.id not in known]
        if not found:
            break
        known.update((echo.id, echo) for echo in found)
        silent = [echo for echo in known.values() if not echo.lends]
        view = WithoutEchoes(whole.store, silent)
        seeding = await _seeded(whole, view, silent, limit)
        candidates = await gather(view, search.tenant, seeding, search.filters)
        search = replace(search, store=view, seeding=seeding, candidates=candidates)
    if not known:
        return search
    lending = {echo.id for echo in known.values() if echo.lends}
    heard = [episode not in lending for episode in search.candidates.columns.id]
    return replace(
        search,
        candidates=replace(
            search.candidates, inside=search.candidates.inside & np.array(heard, dtype=np.bool_)
        ),
        echoes=tuple(sorted(known.values(), key=lambda echo: (-echo.cosine, echo.id))),
    )


async def _seeded(
    search: Search, view: WithoutEchoes, echoes: Sequence[Echo], limit: int
) -> Seeding:
    """Take the echoes out of the seeds and of the statistics; fill the seeds up again."""
    seeding, tenant, filters = search.seeding, search.tenant, search.filters
    by_text, by_vector = view.moved(seeding.by_text), view.moved(seeding.by_vector)
    if len(by_text) < len(seeding.by_text) >= limit:
        wanted = searched_stems(seeding.analysis, seeding.reading)
        by_text = list(await view.seeds_by_text(tenant, wanted, limit, filters))
    if seeding.vector is not None and len(by_vector) < len(seeding.by_vector) >= limit:
        by_vector = list(await view.seeds_by_vector(tenant, seeding.vector, limit, filters))
    profile = seeding.profile
    items = max(1, profile.items - len(echoes))
    length = profile.mean_length * profile.items - sum(echo.length for echo in echoes)
    return replace(
        seeding,
        by_text=by_text,
        by_vector=by_vector,
        terms={
            stem: replace(
                count, items=max(0, count.items - sum(stem in echo.terms for echo in echoes))
            )
            for stem, count in seeding.terms.items()
        },
        profile=replace(profile, items=items, mean_length=max(1.0, length / items)),
    )


def put_last(search: Search, ranked: Ranked) -> Ranked:
    """Put the cue's echoes below all other memories, nearest first."""
    if not search.echoes:
        return ranked
    by_id = {echo.id: echo for echo in search.echoes}
    kept = [row for row, episode in enumerate(ranked.ids) if episode not in by_id]
    shown = [echo for echo in search.echoes if echo.visible]
    lowest = float(ranked.score[kept[-1]]) if kept else 0.0
    parts = np.zeros((len(kept) + len(shown), len(ranked.part_names) + 1))
    parts[: len(kept), :-1] = ranked.parts[kept]
    parts[len(kept) :, -1] = min(0.0, lowest)

    def path(episode: EpisodeId) -> tuple[PathStep, ...]:
        echo = by_id.get(episode)
        if echo is None:
            return ranked.path(episode)
        step = PathStep(
            node=episode, kind="episode", edge=Stream.VECTOR, label="", energy=echo.cosine
        )
        return (step,)

    return replace(
        ranked,
        ids=(*(ranked.ids[row] for row in kept), *(echo.id for echo in shown)),
        score=np.append(ranked.score[kept], parts[len(kept) :, -1]),
        parts=parts,
        part_names=(*ranked.part_names, PART),
        path=path,
    )
