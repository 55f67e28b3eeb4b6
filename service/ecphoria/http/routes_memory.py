"""Routes of memories and of their graph: append, list, recall, look around."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import StreamingResponse
from fastapi.sse import format_sse_event
from starlette.status import HTTP_200_OK, HTTP_201_CREATED, HTTP_204_NO_CONTENT

from ecphoria import wire
from ecphoria.errors import (
    BadVector,
    Conflict,
    EcphoriaError,
    EncoderUnavailable,
    Erased,
    InvalidInput,
    ModelMissing,
    ModelUnavailable,
    TooLarge,
    UnknownStrategy,
)
from ecphoria.http.auth import Caller, GuardedRoute, Reader, Served, Writer
from ecphoria.http.problems import guarded, invalid_problem, problem_of, report
from ecphoria.http.traits import having
from ecphoria.records.answered import to_json
from ecphoria.records.ask import CitedAnswer, CitedSentence
from ecphoria.records.episode import Episode, Extracted, NewEpisode, Outcome, Receipt
from ecphoria.records.graph import ConceptView, Neighbourhood
from ecphoria.records.ids import EpisodeId, TraceId
from ecphoria.records.recall import AskRequest, Cue, RecallRequest, RecallResult, Trace
from ecphoria.records.start_context import StartContext
from ecphoria.records.tenant import Scope, TenantStats
from ecphoria.telemetry import Metrics
from ecphoria.wire.base import Problem, code_of, place_of

episodes_routes = APIRouter(prefix="/v1/episodes", tags=["episodes"], route_class=GuardedRoute)

_APPENDING = (BadVector, TooLarge, EncoderUnavailable)


@episodes_routes.post(
    "",
    status_code=HTTP_201_CREATED,
    responses={
        **guarded(*_APPENDING, Conflict, Erased),
        200: {"model": Receipt, "description": "It had been stored before"},
    },
)
@having(is_large=True)
async def append(
    body: NewEpisode,
    tenant: Writer,
    services: Served,
    response: Response,
    idempotency_key: Annotated[
        str | None, Header(description="The same as `idempotency_key` in the body.")
    ] = None,
) -> Receipt:
    """Append one episode; the next recall can find it."""
    receipt = await services.ingest.append(tenant, _keyed(body, idempotency_key))
    services.metrics.episodes(receipt.outcome)
    if receipt.outcome is Outcome.EXISTED:
        response.status_code = HTTP_200_OK
    return receipt


@episodes_routes.post(
    "/batch", response_model_exclude_none=True, responses=guarded(*_APPENDING, Conflict)
)
@having(is_bulk=True, is_large=True)
async def append_batch(
    body: wire.episodes.BatchRequest, tenant: Writer, services: Served
) -> wire.episodes.BatchAnswer:
    """Append up to 1,000 episodes; returns a result for each, and stores the valid ones.

    A batch of a first load is encoded while the batches before it are written.
    """
    readable = [item for item in body.episodes if isinstance(item, NewEpisode)]
    stored = iter(await services.ingest.append_batch(tenant, readable, body.load))
    results = [
        item if isinstance(item, wire.episodes.UnreadableItem) else next(stored)
        for item in body.episodes
    ]
    answer = await asyncio.to_thread(_batch_answer, results)
    _count(answer, services.metrics)
    return answer


@episodes_routes.get("/{episode}", responses=guarded())
async def get(episode: str, tenant: Reader, services: Served) -> Episode:
    """Fetch one episode."""
    return await services.archive.episode(tenant, EpisodeId(episode))


@episodes_routes.get("", responses=guarded(TooLarge))
async def list_episodes(
    tenant: Reader, services: Served, wanted: Annotated[wire.episodes.EpisodeQuery, Query()]
) -> wire.episodes.EpisodePage:
    """List episodes in the order they were recorded, or the newest first, a page at a time."""
    found = await services.archive.list_episodes(
        tenant,
        ids=[EpisodeId(one) for one in wanted.ids] or None,
        state=wanted.state,
        pinned=wanted.pinned,
        session=wanted.session,
        concept=wanted.concept,
        as_of=wanted.as_of,
        occurred_from=wanted.occurred_from,
        occurred_before=wanted.occurred_before,
        limit=wanted.limit + 1,
        speaker=wanted.speaker,
        role=wanted.role,
        kind=wanted.kind,
        metadata=wanted.metadata,
        newest=wanted.order == "newest",
        cursor=wanted.cursor or 0,
    )
    return wire.episodes.EpisodePage.cut(found, wanted.limit, lambda last: str(last.turn))


@episodes_routes.patch("/{episode}", responses=guarded(Conflict, TooLarge))
async def update(
    episode: str, body: wire.episodes.UpdateRequest, tenant: Writer, services: Served
) -> Episode:
    """Change metadata or the end of the life of an episode; its text never changes.

    Recalls and lists see it at once. The last write of an entry wins; updates of different
    entries do not undo each other. Repeating an update changes nothing.
    """
    return await services.ingest.update(tenant, EpisodeId(episode), body.to_model())


@episodes_routes.put(
    "/{episode}/extraction", status_code=HTTP_204_NO_CONTENT, responses=guarded(TooLarge)
)
@having(is_large=True)
async def set_extraction(episode: str, body: Extracted, tenant: Writer, services: Served) -> None:
    """Replace all names and facts of a live episode, those of a language model too."""
    await services.ingest.attach(tenant, EpisodeId(episode), body)


@episodes_routes.delete("/{episode}", status_code=HTTP_204_NO_CONTENT, responses=guarded())
async def delete(episode: str, tenant: Writer, services: Served) -> None:
    """Erase one episode with its vector and everything that only it supports."""
    await services.ingest.delete(tenant, EpisodeId(episode))


@episodes_routes.post(
    "/erase", response_model_exclude_none=True, responses=guarded(Conflict, TooLarge)
)
@having(is_bulk=True)
async def erase(
    body: wire.episodes.EraseRequest, tenant: Writer, services: Served
) -> wire.episodes.EraseAnswer:
    """Erase the episodes that pass filters, such as those of a session; the oldest first.

    A dry run erases nothing; it counts what would be erased, by kind.
    """
    ids = [EpisodeId(one) for one in body.ids]
    if body.dry_run:
        matched, removes = await services.ingest.preview_erasure(tenant, body.filters, ids=ids)
        return wire.episodes.EraseAnswer(matched=matched, erased=0, removes=removes)
    matched, erased = await services.ingest.erase(tenant, body.filters, limit=body.limit, ids=ids)
    return wire.episodes.EraseAnswer(matched=matched, erased=erased)


def _keyed(body: NewEpisode, header: str | None) -> NewEpisode:
    if header is None or header == body.idempotency_key:
        return body
    if body.idempotency_key is not None:
        raise InvalidInput(
            "The header Idempotency-Key and the body's `idempotency_key` differ; send one.",
            field="idempotency_key",
        )
    return replace(body, idempotency_key=header)


def _count(answer: wire.episodes.BatchAnswer, metrics: Metrics) -> None:
    metrics.episodes(Outcome.CREATED, answer.created)
    metrics.episodes(Outcome.EXISTED, answer.existed)
    refusals = Counter(code_of(item.problem) for item in answer.results if item.problem)
    for code, count in refusals.items():
        metrics.refusal(code, count)


def _batch_answer(
    results: Sequence[Receipt | EcphoriaError | wire.episodes.UnreadableItem],
) -> wire.episodes.BatchAnswer:
    items = tuple(_item_answer(index, result) for index, result in enumerate(results))
    outcomes = Counter(item.outcome for item in items)
    return wire.episodes.BatchAnswer(
        created=outcomes[Outcome.CREATED],
        existed=outcomes[Outcome.EXISTED],
        refused=outcomes[None],
        results=items,
    )


def _item_answer(
    index: int, result: Receipt | EcphoriaError | wire.episodes.UnreadableItem
) -> wire.episodes.BatchItemAnswer:
    if isinstance(result, Receipt):
        return wire.episodes.BatchItemAnswer(index=index, id=result.id, outcome=result.outcome)
    root = f"#/episodes/{index}"
    problem = (
        problem_of(result, root)
        if isinstance(result, EcphoriaError)
        else _unreadable(result, root)
    )
    return wire.episodes.BatchItemAnswer(index=index, problem=problem)


def _unreadable(item: wire.episodes.UnreadableItem, root: str) -> Problem:
    faults = tuple(
        fault.model_copy(update={"pointer": root + fault.pointer.removeprefix("#")})
        for fault in item.errors
    )
    return invalid_problem(faults)


recall_routes = APIRouter(prefix="/v1", tags=["recall"], route_class=GuardedRoute)


@recall_routes.post(
    "/recall", responses=guarded(UnknownStrategy, BadVector, TooLarge, ModelMissing)
)
@having(is_read=True)
async def recall(
    body: RecallRequest, tenant: Reader, services: Served, caller: Caller
) -> RecallResult:
    """Recall memories for a cue, and judge whether they answer it."""
    if body.wake:
        services.access.permit(caller, Scope.WRITE)
    cue = Cue(text=body.cue, vector=body.vector)
    result = await services.recalls.recall(tenant, cue, body, record=body.record)
    services.metrics.recall(result.strategy, result.verdict, result.timings_ms)
    return result


@recall_routes.post(
    "/ask", responses=guarded(UnknownStrategy, TooLarge, ModelMissing, ModelUnavailable)
)
async def ask(body: AskRequest, tenant: Reader, services: Served) -> CitedAnswer:
    """Answer a question in words, with a quote for each sentence; needs a language model."""
    return await services.ask.ask(
        tenant, Cue(text=body.question), body.to_options(), brief=body.brief, record=body.record
    )


class _Events(StreamingResponse):
    """Server-sent events; the framework's own class can not fail with a status of its own."""

    media_type = "text/event-stream"


_EVENT = {
    "type": "object",
    "properties": {
        "event": {"enum": ["sentence", "answer", "problem"]},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "required": ["event", "data"],
}


@recall_routes.post(
    "/ask/stream",
    response_class=_Events,
    responses={
        **guarded(UnknownStrategy, TooLarge, ModelMissing, ModelUnavailable),
        200: {"description": "Events", "content": {_Events.media_type: {"schema": _EVENT}}},
    },
)
async def stream_answer(body: AskRequest, tenant: Reader, services: Served) -> Response:
    """Answer like `POST /v1/ask`, as server-sent events.

    An event `sentence` for each sentence as soon as its quotes are found in the memories, then
    one event `answer` with the whole answer, which counts; or one event `problem`.
    """
    said = services.ask.stream(
        tenant, Cue(text=body.question), body.to_options(), brief=body.brief, record=body.record
    )
    first = await anext(said)  # what fails before it is answered with a status of its own
    return _Events(_events(first, said))


async def _events(
    first: CitedSentence | CitedAnswer, said: AsyncGenerator[CitedSentence | CitedAnswer]
) -> AsyncIterator[bytes]:
    async with aclosing(said):
        try:
            yield _event(first)
            async for each in said:
                yield _event(each)
        except EcphoriaError as error:
            report(error)
            problem = problem_of(error).model_dump_json(exclude_defaults=True)
            yield format_sse_event(event="problem", data_str=problem)


def _event(said: CitedSentence | CitedAnswer) -> bytes:
    name = "answer" if isinstance(said, CitedAnswer) else "sentence"
    return format_sse_event(event=name, data_str=to_json(said))


@recall_routes.get("/context", responses=guarded())
async def get_context(
    tenant: Reader, services: Served, wanted: Annotated[wire.episodes.StartQuery, Query()]
) -> StartContext:
    """Get the context that a session starts with: current facts, last summaries, latest turns."""
    return await services.starts.read(tenant, **wanted.model_dump())


@recall_routes.get("/traces/{trace}", responses=guarded())
async def get_trace(trace: str, tenant: Reader, services: Served) -> Trace:
    """Replay a recall: seeds, waves, hits, and the Cypher that shows it."""
    return await services.recall.trace(tenant, TraceId(trace))


@recall_routes.get("/strategies", responses=guarded())
async def list_strategies(_: Reader, services: Served) -> wire.episodes.StrategyList:
    """List strategies with their options, the default first."""
    return wire.episodes.StrategyList(items=tuple(services.recall.strategies()))


overview_routes = APIRouter(prefix="/v1", tags=["overview"], route_class=GuardedRoute)


@overview_routes.get("/sessions", responses=guarded())
async def list_sessions(
    tenant: Reader, services: Served, wanted: Annotated[wire.admin.SessionQuery, Query()]
) -> wire.admin.SessionPage:
    """List sessions by name, a page at a time."""
    found = await services.archive.list_sessions(
        tenant, after=wanted.cursor, limit=wanted.limit + 1
    )
    return wire.admin.SessionPage.cut(found, wanted.limit, lambda last: last.name)


@overview_routes.get("/engrams", responses=guarded())
async def list_engrams(
    tenant: Reader, services: Served, wanted: Annotated[wire.upkeep.EngramQuery, Query()]
) -> wire.upkeep.EngramPage:
    """List summaries of sessions and of clusters, a page at a time."""
    found = await services.archive.list_engrams(
        tenant, kind=wanted.kind, after=wanted.cursor, limit=wanted.limit + 1
    )
    return wire.upkeep.EngramPage.cut(found, wanted.limit, lambda last: last.id)


@overview_routes.get("/stats", responses=guarded())
async def get_stats(tenant: Reader, services: Served) -> TenantStats:
    """Count the tenant's graph by kind."""
    return await services.archive.stats(tenant)


graph_routes = APIRouter(prefix="/v1", tags=["graph"], route_class=GuardedRoute)


@graph_routes.get("/traces", responses=guarded())
async def list_traces(
    tenant: Reader, services: Served, wanted: Annotated[wire.graph.TraceQuery, Query()]
) -> wire.graph.TracePage:
    """List the traces of recalls, the newest first, a page at a time."""
    found = await services.recall.traces(
        tenant,
        strategy=wanted.strategy,
        verdict=wanted.verdict,
        after=place_of(wanted.cursor),
        limit=wanted.limit + 1,
    )
    return wire.graph.TracePage.cut(found, wanted.limit, lambda last: last.cursor)


@graph_routes.get("/concepts", responses=guarded())
async def list_concepts(
    tenant: Reader, services: Served, wanted: Annotated[wire.graph.ConceptQuery, Query()]
) -> wire.graph.ConceptPage:
    """List concepts: the most mentioned, by name, or the last mentioned first."""
    found = await services.graph.concepts(
        tenant,
        search=wanted.q,
        sort=wanted.sort,
        after=place_of(wanted.cursor),
        limit=wanted.limit + 1,
    )
    return wire.graph.ConceptPage.cut(
        found, wanted.limit, lambda last: f"{last.place}.{last.normalised}"
    )


@graph_routes.get("/concepts/{concept}", responses=guarded())
async def get_concept(concept: str, tenant: Reader, services: Served) -> ConceptView:
    """Get a concept with its neighbours and its merges."""
    return await services.graph.concept(tenant, concept)


@graph_routes.get("/timeline", responses=guarded())
async def get_timeline(
    tenant: Reader, services: Served, wanted: Annotated[wire.graph.TimelineQuery, Query()]
) -> wire.graph.TimelinePage:
    """Count episodes by session, day or month, in the order of time."""
    found = await services.archive.timeline(
        tenant,
        by=wanted.by,
        speaker=wanted.speaker,
        after=place_of(wanted.cursor),
        limit=wanted.limit + 1,
    )
    return wire.graph.TimelinePage.cut(
        found, wanted.limit, lambda last: f"{last.place}.{last.bucket or ''}"
    )


@graph_routes.get("/graph", responses=guarded())
async def get_graph(
    tenant: Reader, services: Served, wanted: Annotated[wire.graph.GraphQuery, Query()]
) -> Neighbourhood:
    """Get the nodes and edges around a memory, a concept or a session."""
    return await services.graph.around(
        tenant,
        wanted.around,
        hops=wanted.hops,
        kinds=wanted.kinds,
        as_of=wanted.as_of,
        limit=wanted.limit,
    )
