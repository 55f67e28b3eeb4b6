"""The start context: what an agent should know before the first question of a session.

Source: the start bundle of CLS-M (3.2). Identity comes first, here as the facts that hold now
about the leading concepts; then the last sessions, as their summaries; then the latest turns.
What a question activates is the part of a recall.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from ecphoria.facts.store import FactStore, KeyRow, to_key
from ecphoria.facts.timelines import lay_out
from ecphoria.neo4j_store.filters import named
from ecphoria.neo4j_store.rows import StoredEpisode, to_episode
from ecphoria.neo4j_store.session import Graph, Statement
from ecphoria.ports import Clock
from ecphoria.recall.answer import (
    MARKS_TOKENS,
    TOKEN_COUNTER,
    count_tokens,
    fitted,
    one_line,
    share_of,
)
from ecphoria.recall.as_of import superseded_by
from ecphoria.recall.as_of_store import AsOfReader
from ecphoria.recall.engrams import EngramRow
from ecphoria.records.episode import Engram, Episode, fenced
from ecphoria.records.fact import FactView
from ecphoria.records.ids import EpisodeId, FactId, TenantId
from ecphoria.records.recall import Filters, Hit
from ecphoria.records.start_context import LineKind, LineSource, StartContext, StartOptions
from ecphoria.runtime import run_off_loop

_FACTS_SHARE, _TURNS_SHARE, _OF = 5, 4, 13
"""CLS-M has 5 kB of identity and 8 kB of memories; turns and summaries share the latter."""

_SCANNED = 2_000
"""Latest turns in which the last sessions are looked for."""

_SESSIONS, _TURNS = 20, 30
_SUBJECTS, _FACTS_READ, _FACTS_SHOWN = 50, 100, 8
"""Limits: leading subjects, facts read of each, and facts shown."""

_EMPTY = "nothing is stored that a session could start with"
_NO_ROOM = "no line fits; ask for more tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Session:
    session: str
    last_occurred_at: datetime
    ids: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _LeadingFact(KeyRow):
    fact: str
    episodes: list[str]


_LIST_LAST_SESSIONS = Statement("recall.list_last_sessions", _Session)
_LIST_LATEST_TURNS = Statement("recall.list_latest_turns", _Turn)
_LIST_ENGRAMS_OF_SESSIONS = Statement("recall.list_engrams_of_sessions", EngramRow)
_LIST_LEADING_FACTS = Statement("recall.list_leading_facts", _LeadingFact)
_LIST_EPISODES = Statement("recall.list_episodes", StoredEpisode)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fact:
    """A fact that holds, and the live memories that state it."""

    view: FactView
    since: datetime
    episodes: tuple[EpisodeId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Summary:
    """The summary of a session, and the time of its latest turn."""

    engram: Engram
    last: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """All that may be shown: each kind in the order in which it enters; turns newest first."""

    facts: tuple[_Fact, ...] = ()
    summaries: tuple[_Summary, ...] = ()
    turns: tuple[Episode, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A line without its number; `tokens` includes number and line break."""

    text: str
    tokens: int
    source: LineSource


class StartContexts:
    """Reads what a session starts with, and writes it within a budget."""

    def __init__(self, graph: Graph, clock: Clock) -> None:
        self._graph = graph
        self._facts = FactStore(graph)
        self._standings = AsOfReader(graph)
        self._clock = clock

    async def read(self, tenant: TenantId, options: StartOptions) -> StartContext:
        """Give the context of a session that starts now.

        Raises:
            NotFound: There is no such tenant.
        """
        now = self._clock.now()
        wanted = Filters(session=options.session, speaker=options.speaker)
        filters, unknown = await named(self._graph, tenant, wanted)
        speakers = None if options.speaker is None else list(filters.speakers)
        sessions = await self._graph.run(
            _LIST_LAST_SESSIONS,
            tenant=tenant, speakers=speakers, scanned=_SCANNED, limit=_SESSIONS, turns=_TURNS,
        )  # fmt: skip
        turns = await self._turns(tenant, options.session, sessions)
        summaries = await self._summaries(tenant, sessions)
        quoted = [one for summary in summaries for one in summary.engram.evidence]
        outdated = superseded_by(
            await self._standings.standings(
                tenant, list(dict.fromkeys([*quoted, *(turn.id for turn in turns)])), now
            )
        )
        found = _Found(
            facts=await self._leading(tenant, speakers, now),
            summaries=tuple(
                summary
                for summary in summaries
                if outdated.keys().isdisjoint(summary.engram.evidence)
            ),
            turns=tuple(turn for turn in turns if turn.id not in outdated),
        )
        size = sum(len(turn.text) for turn in found.turns)
        written = await run_off_loop(partial(_write, found, options.token_budget), size)
        return replace(written, reasons=(*unknown, *written.reasons))

    async def _turns(
        self, tenant: TenantId, session: str | None, sessions: Sequence[_Session]
    ) -> Sequence[Episode]:
        """Fetch the latest turns of the session, or else of the last one, newest first."""
        if session is not None:
            rows = await self._graph.run(
                _LIST_LATEST_TURNS, tenant=tenant, session=session, limit=_TURNS
            )
            ids = [row.id for row in rows]
        else:
            ids = sessions[0].ids if sessions else []
        stored = await self._graph.run(_LIST_EPISODES, tenant=tenant, ids=ids, dormant=False)
        found = {row.id: to_episode(row) for row in stored}
        return [found[one] for one in ids if one in found]

    async def _summaries(
        self, tenant: TenantId, sessions: Sequence[_Session]
    ) -> Sequence[_Summary]:
        last = {row.session: row.last_occurred_at for row in sessions}
        rows = await self._graph.run(
            _LIST_ENGRAMS_OF_SESSIONS, tenant=tenant, sessions=[name for name in last if name]
        )
        return [
            _Summary(engram=row.to_engram(), last=last[row.session])
            for row in rows
            if row.session is not None
        ]

    async def _leading(
        self, tenant: TenantId, speakers: Sequence[str] | None, now: datetime
    ) -> tuple[_Fact, ...]:
        """List the facts that hold now about the leading subjects, best evidenced first each."""
        rows = await self._graph.run(
            _LIST_LEADING_FACTS,
            tenant=tenant, speakers=speakers, subjects=_SUBJECTS, facts=_FACTS_READ,
        )  # fmt: skip
        own, records = await self._facts.read(tenant, sorted({to_key(row) for row in rows}))
        views = {
            view.fact.id: view
            for record in records
            for view in lay_out(record, own).history(now).facts
            if view.valid and not view.fact.negated
        }
        by_subject: dict[str, list[_Fact]] = {}
        for row in rows:
            view = views.get(FactId(row.fact))
            if view is not None:
                stated = tuple(EpisodeId(one) for one in row.episodes)
                by_subject.setdefault(row.subject, []).append(
                    _Fact(view=view, since=_since(view, now), episodes=stated)
                )
        return tuple(
            fact
            for facts in by_subject.values()
            for fact in sorted(facts, key=_by_evidence)[:_FACTS_SHOWN]
        )


def _since(view: FactView, now: datetime) -> datetime:
    return max(one.valid_from for one in view.intervals if one.valid_from <= now)


def _by_evidence(fact: _Fact) -> tuple[float, FactId]:
    return -fact.view.confidence, fact.view.fact.id


def _write(found: _Found, budget: int) -> StartContext:
    """Write what was found within a budget.

    Facts may take 5/13 of it, turns 4/13, summaries the rest. What one kind does not need goes
    to the next; what then is left goes to facts and turns that had no place.
    """
    room, most = budget - MARKS_TOKENS, share_of(budget)
    facts = [_fact_line(fact) for fact in found.facts]
    first = _taken(facts, _FACTS_SHARE * room // _OF)
    latest = _turn_lines(
        found.turns, most, (_FACTS_SHARE + _TURNS_SHARE) * room // _OF - _size(first)
    )
    shown = {line.source.id for line in latest}
    summaries = [
        _summary_line(summary)
        for summary in found.summaries
        if not shown.issuperset(summary.engram.evidence)
    ]
    middle = _taken(summaries, room - _size(first) - _size(latest))
    first = _taken(facts, room - _size(middle) - _size(latest))
    latest = _turn_lines(found.turns, most, room - _size(first) - _size(middle))
    lines = [*first, *middle, *reversed(latest)]
    left_out = len(facts) + len(summaries) + len(found.turns) - len(lines)
    text = _block(lines)
    return StartContext(
        context=text,
        context_tokens=count_tokens([text])[0],
        token_counter=TOKEN_COUNTER,
        references=tuple(
            replace(line.source, number=number) for number, line in enumerate(lines, 1)
        ),
        left_out=left_out,
        reasons=() if lines else (_NO_ROOM if left_out else _EMPTY,),
    )


def _taken(lines: Sequence[_Line], limit: int) -> Sequence[_Line]:
    """Take the lines that fit, in order."""
    taken: list[_Line] = []
    for line in lines:
        if line.tokens <= limit:
            taken.append(line)
            limit -= line.tokens
    return taken


def _size(lines: Sequence[_Line]) -> int:
    return sum(line.tokens for line in lines)


def _turn_lines(turns: Sequence[Episode], most: int, limit: int) -> Sequence[_Line]:
    """Write the latest turns that fit, without a gap; long ones are cut only if not all fit."""
    lines = _cut_lines(turns, limit, limit)
    return lines if len(lines) == len(turns) else _cut_lines(turns, most, limit)


def _cut_lines(turns: Sequence[Episode], most: int, limit: int) -> Sequence[_Line]:
    lines: list[_Line] = []
    for turn in turns:
        hit = Hit(rank=1, score=0.0, parts={}, path=(), episode=turn)
        line = fitted(hit, min(most, limit))
        if line is None:
            break
        limit -= line.tokens
        source = LineSource(
            number=0, kind=LineKind.TURN, id=turn.id, episodes=(turn.id,),
            start=line.start, end=line.end,
        )  # fmt: skip
        text = line.text.removeprefix(_numbered(1, ""))
        lines.append(_Line(text=text, tokens=line.tokens, source=source))
    return lines


def _fact_line(fact: _Fact) -> _Line:
    said = fact.view.fact
    parts = [said.subject, said.predicate, said.object, said.qualifier and f"({said.qualifier})"]
    return _counted(
        f"since {fact.since:%Y-%m-%d}: {' '.join(part for part in parts if part)}",
        LineSource(number=0, kind=LineKind.FACT, id=said.id, episodes=fact.episodes),
    )


def _summary_line(summary: _Summary) -> _Line:
    engram = summary.engram
    return _counted(
        f"{summary.last:%Y-%m-%d} summary of {engram.session}: {engram.summary}",
        LineSource(number=0, kind=LineKind.SUMMARY, id=engram.id, episodes=engram.evidence),
    )


def _counted(text: str, source: LineSource) -> _Line:
    flat = one_line(text)
    # Every number of up to three digits is one token.
    (tokens,) = count_tokens([_numbered(1, flat) + "\n"])
    return _Line(text=flat, tokens=tokens, source=source)


def _numbered(number: int, text: str) -> str:
    return f"[{number}] {text}"


def _block(lines: Sequence[_Line]) -> str:
    if not lines:
        return ""
    written = (_numbered(number, line.text) for number, line in enumerate(lines, 1))
    return fenced("memories", "\n".join(written))
