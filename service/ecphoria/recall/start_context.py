"""The start context: what an agent should know before the first question of a session.

Source: the start bundle of CLS-M (3.2). Identity comes first, here as what users told about
themselves, found by rules, and as the facts that hold now about the leading concepts; then the
last sessions, as their summaries; then the latest turns. What a question activates is the part of
a recall.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import zip_longest

from ecphoria.facts.store import FactStore
from ecphoria.facts.timelines import lay_out
from ecphoria.neo4j_store.filters import named
from ecphoria.neo4j_store.queries import any_phrase
from ecphoria.neo4j_store.session import Graph, Statement
from ecphoria.ports import Clock
from ecphoria.recall.about_users import AboutUser, about_users
from ecphoria.recall.answer import (
    MARKS_TOKENS,
    TOKEN_COUNTER,
    count_tokens,
    fitted,
    name_of,
    share_of,
)
from ecphoria.recall.outdated import superseded_by
from ecphoria.recall.store import EpisodeReader
from ecphoria.records.episode import Engram, Episode, SessionPoint, fenced
from ecphoria.records.fact import FactKey, FactView
from ecphoria.records.ids import EpisodeId, FactId, TenantId
from ecphoria.records.recall import Filters, Hit
from ecphoria.records.start_context import LineKind, LineSource, StartContext
from ecphoria.runtime import run_off_loop
from ecphoria.text.asking import only_acknowledges
from ecphoria.text.code_blocks import one_line
from ecphoria.text.languages import QUESTION_MARKS
from ecphoria.text.self_statements import PHRASES_OF_CHANGE, Topic, phrases_of

_FACTS_SHARE, _TURNS_SHARE, _OF = 5, 4, 13
"""CLS-M has 5 kB of identity and 8 kB of memories; turns and summaries share the latter."""

_SCANNED = 2_000
"""Latest turns in which the last sessions are looked for."""

_SESSIONS, _TURNS = 20, 30
_SUBJECTS, _FACTS_READ, _FACTS_SHOWN = 50, 100, 8
"""Limits: leading subjects, facts read of each, and facts shown."""

_FETCHED, _NEWEST = 1_000, 60
"""Messages with a phrase of a topic that the text index gives, and the newest ones that are read.
The index gives the best matches first, and short messages match best."""

_EMPTY = "nothing is stored that a session could start with"
_NO_ROOM = "no line fits; ask for more tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Session:
    session: str
    last_occurred_at: datetime
    ids: list[EpisodeId]


@dataclass(frozen=True, slots=True, kw_only=True)
class _LeadingFact:
    fact: FactId
    key: FactKey
    episodes: tuple[EpisodeId, ...]


_LIST_LAST_SESSIONS = Statement("recall.list_last_sessions", _Session)
_LIST_SELF_STATEMENTS = Statement("recall.list_self_statements", EpisodeId)
_LIST_ENGRAMS_OF_SESSIONS = Statement("recall.list_engrams_of_sessions", Engram)
_LIST_LEADING_FACTS = Statement("recall.list_leading_facts", _LeadingFact)


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

    about: tuple[AboutUser, ...] = ()
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
        self._episodes = EpisodeReader(graph)
        self._facts = FactStore(graph)
        self._clock = clock

    async def read(
        self, tenant: TenantId, *, token_budget: int, session: str | None, speaker: str | None
    ) -> StartContext:
        """Give the context of a session that starts now; NotFound without the tenant.

        The latest turns are those of `session`, or of the last one. With a speaker, in any case,
        only sessions in which this speaker took part lately count, and facts and statements of
        this speaker.
        """
        now = self._clock.now()
        wanted = Filters(session=session, speaker=speaker)
        filters, unknown = await named(self._graph, tenant, wanted)
        speakers = None if speaker is None else list(filters.speakers)
        sessions = await self._graph.run(
            _LIST_LAST_SESSIONS,
            tenant=tenant, speakers=speakers, scanned=_SCANNED, limit=_SESSIONS, turns=_TURNS,
        )  # fmt: skip
        turns = await self._turns(tenant, session, sessions)
        messages = await self._messages(tenant, speakers)
        summaries = await self._summaries(tenant, sessions)
        quoted = [one for summary in summaries for one in summary.engram.evidence]
        shown = dict.fromkeys([*quoted, *(one.id for one in (*turns, *messages))])
        outdated = superseded_by(await self._episodes.standings(tenant, list(shown), now))
        current = [message for message in messages if message.id not in outdated]
        size = sum(len(one.text) for one in (*turns, *current))
        found = _Found(
            about=await run_off_loop(partial(about_users, current), size),
            facts=await self._leading(tenant, speakers, now),
            summaries=tuple(
                summary
                for summary in summaries
                if outdated.keys().isdisjoint(summary.engram.evidence)
            ),
            turns=tuple(turn for turn in _telling(turns) if turn.id not in outdated),
        )
        written = await run_off_loop(partial(_write, found, token_budget), size)
        return replace(written, reasons=(*unknown, *written.reasons))

    async def _messages(
        self, tenant: TenantId, speakers: Sequence[str] | None
    ) -> Sequence[Episode]:
        """Fetch the messages in which users tell about themselves or a change, newest first."""
        rows = await self._graph.run(
            _LIST_SELF_STATEMENTS,
            tenant=tenant, speakers=speakers, fetch=_FETCHED, limit=_NEWEST,
            queries=[
                any_phrase(tenant, phrases)
                for phrases in (*map(phrases_of, Topic), PHRASES_OF_CHANGE)
            ],
        )  # fmt: skip
        found = await self._episodes.episodes(tenant, rows)
        return sorted(found, key=lambda one: (one.occurred_at, one.turn), reverse=True)

    async def _turns(
        self, tenant: TenantId, session: str | None, sessions: Sequence[_Session]
    ) -> Sequence[Episode]:
        """Fetch the latest turns of the session, or else of the last one, newest first."""
        if session is not None:
            ids = await self._episodes.latest_turns(tenant, session, _TURNS)
        else:
            ids = sessions[0].ids if sessions else []
        return await self._episodes.episodes(tenant, ids)

    async def _summaries(
        self, tenant: TenantId, sessions: Sequence[_Session]
    ) -> Sequence[_Summary]:
        last = {row.session: row.last_occurred_at for row in sessions}
        rows = await self._graph.run(
            _LIST_ENGRAMS_OF_SESSIONS, tenant=tenant, sessions=[name for name in last if name]
        )
        return [
            _Summary(engram=engram, last=last[engram.session])
            for engram in rows
            if engram.session is not None
        ]

    async def _leading(
        self, tenant: TenantId, speakers: Sequence[str] | None, now: datetime
    ) -> tuple[_Fact, ...]:
        """List the facts that hold now about the leading subjects, best evidenced first each."""
        rows = await self._graph.run(
            _LIST_LEADING_FACTS,
            tenant=tenant, speakers=speakers, subjects=_SUBJECTS, facts=_FACTS_READ,
        )  # fmt: skip
        own, records = await self._facts.read(tenant, sorted({row.key for row in rows}))
        views = {
            view.id: view
            for record in records
            for view in lay_out(record, own).history(now).facts
            if view.valid and view.polarity == "positive"
        }
        by_subject: dict[str, list[_Fact]] = {}
        for row in rows:
            view = views.get(row.fact)
            if view is not None:
                by_subject.setdefault(row.key.subject, []).append(
                    _Fact(view=view, since=_since(view, now), episodes=row.episodes)
                )
        return tuple(
            fact
            for facts in by_subject.values()
            for fact in sorted(facts, key=_by_evidence)[:_FACTS_SHOWN]
        )


def _telling(turns: Sequence[Episode]) -> Iterator[Episode]:
    """Leave out "ok" and "thanks", but for an answer to a question; newest first."""
    for turn, before in zip_longest(turns, turns[1:]):
        answers = before is not None and before.text.rstrip().endswith(QUESTION_MARKS)
        if answers or not only_acknowledges(turn.text):
            yield turn


def _since(view: FactView, now: datetime) -> datetime:
    return max(one.valid_from for one in view.intervals if one.valid_from <= now)


def _by_evidence(fact: _Fact) -> tuple[float, FactId]:
    return -fact.view.confidence, fact.view.id


def _write(found: _Found, budget: int) -> StartContext:
    """Write what was found within a budget.

    Statements about the user and facts may take 5/13 of it, but one of them enters if it fits at
    all; turns may take 4/13, summaries the rest. What one kind does not need goes to the next;
    what then is left goes to statements, facts and turns that had no place. What the turns show
    stands among them only.
    """
    room, most = budget - MARKS_TOKENS, share_of(budget)
    identity: Sequence[_Line] = [*map(_about_line, found.about), *map(_fact_line, found.facts)]
    first = _taken(identity, _FACTS_SHARE * room // _OF) or _taken(identity, room)[:1]
    latest = _turn_lines(
        found.turns, most, (_FACTS_SHARE + _TURNS_SHARE) * room // _OF - _size(first)
    )
    identity, first = _besides(latest, identity), _besides(latest, first)
    summaries = _besides(latest, [*map(_summary_line, found.summaries)])
    middle = _taken(summaries, room - _size(first) - _size(latest))
    first = _taken(identity, room - _size(middle) - _size(latest))
    latest = _turn_lines(found.turns, most, room - _size(first) - _size(middle))
    identity, summaries = _besides(latest, identity), _besides(latest, summaries)
    lines = [*_besides(latest, first), *_besides(latest, middle), *reversed(latest)]
    left_out = len(identity) + len(summaries) + len(found.turns) - len(lines)
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


def _besides(turns: Sequence[_Line], lines: Sequence[_Line]) -> Sequence[_Line]:
    """Leave out statements and summaries all of whose words or memories the turns show."""
    shown = {turn.source.id: turn.source for turn in turns}
    return [line for line in lines if not _is_shown(line.source, shown)]


def _is_shown(source: LineSource, shown: Mapping[str, LineSource]) -> bool:
    if source.kind is LineKind.SUMMARY:
        return shown.keys() >= set(source.episodes)
    turn = shown.get(source.id)
    if turn is None:
        return False
    return (turn.start or 0) <= (source.start or 0) and (source.end or 0) <= (turn.end or 0)


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


def _about_line(about: AboutUser) -> _Line:
    episode, said = about.episode, about.said
    topic = f"{name_of(episode)}, {said.topic}" if episode.speaker else said.topic
    source = LineSource(
        number=0, kind=LineKind.ABOUT, id=episode.id, episodes=(episode.id,),
        start=said.start, end=said.end, topic=said.topic,
    )  # fmt: skip
    return _counted(f"{episode.occurred_at:%Y-%m-%d} {topic}: {said.sentence}", source)


def _fact_line(fact: _Fact) -> _Line:
    said = fact.view
    parts = [said.subject, said.predicate, said.object, said.qualifier and f"({said.qualifier})"]
    return _counted(
        f"since {fact.since:%Y-%m-%d}: {' '.join(part for part in parts if part)}",
        LineSource(number=0, kind=LineKind.FACT, id=said.id, episodes=fact.episodes),
    )


def _summary_line(summary: _Summary) -> _Line:
    engram = summary.engram
    points = [("decided", engram.decisions), ("still open", engram.open_questions)]
    said = [f"{word}: {_quotes(quoted)}" for word, quoted in points if quoted]
    return _counted(
        f"{summary.last:%Y-%m-%d} summary of {engram.session}:"
        f" {' | '.join((engram.summary, *said))}",
        LineSource(number=0, kind=LineKind.SUMMARY, id=engram.id, episodes=engram.evidence),
    )


def _quotes(points: Sequence[SessionPoint]) -> str:
    return "; ".join(f'"{point.text}"' for point in points)


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
