"""The asynchronous client: every call of the REST API as a typed method."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from typing import Literal
from uuid import uuid4

import httpx

from ecphoria import records, wire
from ecphoria.client.async_facts import AsyncFacts
from ecphoria.client.async_settings import AsyncSettings
from ecphoria.client.defaults import DEFAULT_URL, target
from ecphoria.client.exchange import (
    Call,
    Parameter,
    Retries,
    address_of,
    body_of,
    body_with,
    filters_of,
    header_text,
    instant_text,
    is_loopback,
    json_text,
    segment,
)
from ecphoria.errors import Unavailable
from ecphoria.records.answered import adapter

_CHARACTERS_A_SECOND = 2_000
"""The least that a slow and busy machine encodes."""


class AsyncClient(AsyncFacts):
    """One connection to an Ecphoria service, asynchronous.

    A problem the service answers with is raised as the error class of `ecphoria.errors` it stands
    for. Calls that may safely be sent twice are sent again when the service does not answer for a
    moment; an append counts as one, because it carries a key.

    Attributes:
        settings: The tenant's settings, and the strategy on trial.

    Args:
        base_url: Address of the service; `ECPHORIA_URL` or this machine's if absent.
        api_key: Secret of a key. If absent, `ECPHORIA_API_KEY`, or the key that a service on this
            machine left in its home, for the tenant `default`.
        tenant: Tenant to act for, with an operator's key; `ECPHORIA_TENANT` if neither a key nor
            a tenant is given.
        timeout: Seconds to wait for an answer; an append of long texts may take a second more for
            each 2,000 characters, because every part of them is encoded.
        retries: How often, and after how long, a call is sent again.
        transport: Another way to the service than the network, such as `httpx.ASGITransport`.

    Raises:
        InvalidInput: `base_url` is no address, or no header can carry the key or the tenant.
        BadFile: The key in the home of the local service cannot be read.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        tenant: str | None = None,
        timeout: float = 30.0,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        if transport is None:
            wanted = target(base_url, api_key, tenant)
            base_url, api_key, tenant = wanted.url, wanted.key, wanted.tenant
        address = address_of(DEFAULT_URL if base_url is None else base_url)
        headers = {}
        if api_key:
            headers["Authorization"] = f"Bearer {header_text('api_key', api_key)}"
        if tenant is not None:
            headers["Ecphoria-Tenant"] = header_text("tenant", tenant)
        super().__init__(
            address,
            lambda: httpx.AsyncClient(
                base_url=address,
                headers=headers,
                timeout=timeout,
                transport=transport,
                # To read the certificates takes longer than a recall, and HTTP needs none.
                verify=address.startswith("https:"),
                trust_env=not is_loopback(address),
            ),
            retries or Retries(),
        )
        self._timeout_s = timeout
        self.settings = AsyncSettings(self)

    async def remember(
        self,
        text: str,
        *,
        title: str | None = None,
        speaker: str | None = None,
        role: str | None = None,
        session: str | None = None,
        position: int | None = None,
        occurred_at: datetime | None = None,
        source: str | None = None,
        metadata: Mapping[str, records.episode.MetadataValue] | None = None,
        importance: float | None = None,
        expires_at: datetime | None = None,
        idempotency_key: str | None = None,
        vector: Sequence[float] | None = None,
        extraction: wire.episodes.Extraction | None = None,
    ) -> records.episode.Receipt:
        """Append one episode; the next recall can find it.

        Args:
            text: What was said or written, without speaker or date in front.
            title: Title of a document.
            speaker: Who said it.
            role: The speaker's role for an agent: user, assistant, tool, system.
            session: The stream of turns it belongs to.
            position: Order among turns of one session with the same `occurred_at`.
            occurred_at: When it was so, with a time zone; now if absent.
            source: Where it came from.
            metadata: Your own flat values, stored and returned.
            importance: 0 to 1.
            expires_at: End of its life, with a time zone: from then on it is never shown, and is
                erased. By the tenant's default life if absent.
            idempotency_key: Sending the same key and body again changes nothing.
            vector: Embedding of the text by the store's own model.
            extraction: Names and facts that the text holds.
        """
        return await self.append(
            body_of(
                wire.episodes.AppendRequest,
                text=text,
                title=title,
                speaker=speaker,
                role=role,
                session=session,
                position=position,
                occurred_at=occurred_at,
                source=source,
                metadata=None if metadata is None else dict(metadata),
                importance=importance,
                expires_at=expires_at,
                idempotency_key=idempotency_key,
                vector=None if vector is None else tuple(map(float, vector)),
                extraction=extraction,
            )
        )

    async def append(self, episode: wire.episodes.AppendRequest) -> records.episode.Receipt:
        """Append one episode that is already in the shape of the API."""
        wanted, timeout_s = _keyed(episode), self._append_timeout_s([episode])
        return await self._ask(
            records.episode.Receipt, "POST", "/v1/episodes", wanted, timeout_s=timeout_s
        )

    async def append_batch(
        self, episodes: Sequence[wire.episodes.AppendRequest]
    ) -> wire.episodes.BatchAnswer:
        """Append up to 1,000 episodes; the valid ones are stored.

        The answer has a result for every item, in order: look at `refused`.
        """
        wanted = body_of(
            wire.episodes.BatchRequest, episodes=tuple(_keyed(item) for item in episodes)
        )
        timeout_s, path = self._append_timeout_s(episodes), "/v1/episodes/batch"
        return await self._ask(
            wire.episodes.BatchAnswer, "POST", path, wanted, timeout_s=timeout_s
        )

    async def get(self, episode: str) -> records.episode.Episode:
        """Fetch one episode by its id."""
        return await self._ask(records.episode.Episode, "GET", f"/v1/episodes/{segment(episode)}")

    async def list(
        self,
        *,
        session: str | None = None,
        concept: str | None = None,
        speaker: str | None = None,
        role: str | None = None,
        metadata: Mapping[str, records.episode.MetadataCondition] | None = None,
        occurred_from: datetime | None = None,
        occurred_before: datetime | None = None,
        order: Literal["oldest", "newest"] = "oldest",
        page_size: int = 100,
    ) -> AsyncIterator[records.episode.Episode]:
        """Iterate over episodes in the order of their append, page by page.

        Args:
            session: Only this session.
            concept: Only what mentions this concept, in any spelling of its name.
            speaker: Only what this speaker said, named in any case.
            role: Only what a speaker of this role said.
            metadata: Only episodes whose metadata meet these conditions: values to
                equal, or comparisons such as `{"$gte": 4}`.
            occurred_from: Nothing earlier.
            occurred_before: Nothing at or after this instant.
            order: The oldest first, or the newest.
            page_size: Episodes fetched at a time.
        """
        async for page in self._pages(
            wire.episodes.EpisodePage,
            "/v1/episodes",
            session=session,
            concept=concept,
            speaker=speaker,
            role=role,
            metadata=json_text(metadata),
            occurred_from=instant_text(occurred_from),
            occurred_before=instant_text(occurred_before),
            order=None if order == "oldest" else order,
            limit=page_size,
        ):
            for episode in page.items:
                yield episode

    async def page(
        self,
        cursor: str | None = None,
        *,
        metadata: Mapping[str, records.episode.MetadataCondition] | None = None,
        **wanted: Parameter,
    ) -> wire.episodes.EpisodePage:
        """Fetch one page of `list`, with the parameters of `GET /v1/episodes`.

        Its `next_cursor` is the `cursor` of the next page.
        """
        parameters = {"cursor": cursor, "metadata": json_text(metadata), **wanted}
        return await self._ask(
            wire.episodes.EpisodePage, "GET", "/v1/episodes", parameters=parameters
        )

    async def last_turns(self, session: str, count: int = 10) -> Sequence[records.episode.Episode]:
        """Fetch the last turns of a session, at most 1,000, in chronological order."""
        page = await self.page(session=session, order="newest", limit=count)
        return page.items[::-1]

    async def update(
        self,
        episode: str,
        *,
        metadata: Mapping[str, records.episode.MetadataValue | None] | None = None,
        expires_at: datetime | None = None,
        never_expires: bool = False,
    ) -> records.episode.Episode:
        """Change metadata or the end of the life of an episode; its text never changes.

        Args:
            episode: Its id.
            metadata: Entries to set, and with None to remove; others stay.
            expires_at: New end of its life, with a time zone.
            never_expires: Take the end of its life away.
        """
        change: dict[str, object] = {} if metadata is None else {"metadata": dict(metadata)}
        if never_expires or expires_at is not None:
            change["expires_at"] = None if never_expires else expires_at
        wanted = body_with(wire.episodes.UpdateRequest, change)
        return await self._ask(
            records.episode.Episode, "PATCH", f"/v1/episodes/{segment(episode)}", wanted
        )

    async def delete(self, episode: str) -> None:
        """Delete one episode with everything that depended on it."""
        # Not repeated: if only the first answer was lost, the second would be "not found".
        await self._send(Call("DELETE", f"/v1/episodes/{segment(episode)}", repeatable=False))

    async def recall(
        self,
        cue: str | None = None,
        *,
        query: str | None = None,
        vector: Sequence[float] | None = None,
        strategy: str | None = None,
        options: Mapping[str, records.recall.OptionValue] | None = None,
        k: int | None = None,
        limit: int | None = None,
        session: str | None = None,
        speaker: str | None = None,
        occurred_from: datetime | None = None,
        occurred_before: datetime | None = None,
        exclude: Sequence[str] = (),
        sessions: Sequence[str] = (),
        role: str | None = None,
        metadata: Mapping[str, records.episode.MetadataCondition] | None = None,
        token_budget: int | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        explain: bool = False,
        record: bool = True,
        include_dormant: bool = False,
        wake: bool = False,
        asker: str | None = None,
        collapse: bool = True,
        read_cue: bool = False,
        min_score: float | None = None,
        min_confidence: float | None = None,
        match: records.recall.Match | str | None = None,
        engrams: int | None = None,
    ) -> records.recall.RecallResult:
        """Recall memories for a cue; check `answerable` before you trust the hits.

        Args:
            cue: What is asked, in words.
            query: Another name of `cue`.
            vector: Embedding of the cue by the store's own model, if you have it already.
            strategy: Name of the mechanism; the service's default if absent.
            options: The strategy's own parameters.
            k: Number of hits, 1 to 200; 10 if absent.
            limit: Another name of `k`.
            session: Wake only this session.
            speaker: Wake only what this speaker said, named in any case.
            occurred_from: Wake nothing earlier.
            occurred_before: Wake nothing at or after this instant.
            exclude: Ids of episodes to leave out, as if they were not stored; at most 1,000.
            sessions: Wake only these sessions; at most 100.
            role: Wake only what speakers of this role said.
            metadata: Wake only episodes whose metadata meet these conditions: values to
                equal, or comparisons such as `{"$gte": 4}`.
            token_budget: Greatest size of `context`, in tokens; 2,000 if absent.
            as_of: Recall as of then: only what had happened, and facts as they stood.
            known_at: Only what had been recorded by then.
            explain: List the arcs of each wave in the trace, not only their number.
            record: Leave a trace; false only looks, so that nothing is learned or compared.
            include_dormant: Search dormant memories too, one by one.
            wake: Make dormant memories live again that are among the first hits of an answer.
            asker: Who says "I" in the cue: a speaker or a role; the role `user` if absent.
            collapse: Join memories in which the same speaker says the same words into one hit.
            read_cue: Have the language model read the cue; the service needs one.
            min_score: Leave out hits with a lower score.
            min_confidence: Refuse an answer with a lower confidence, 0 to 1.
            match: Words that each hit must have: `all` of the cue's, or its `phrase`s.
            engrams: Number of summaries to recall too, each with its evidence; at most 50.
        """
        wanted = body_of(
            wire.recall.RecallRequest,
            cue=cue,
            query=query,
            vector=None if vector is None else tuple(map(float, vector)),
            strategy=strategy,
            options=None if options is None else dict(options),
            k=k,
            limit=limit,
            filters=filters_of(
                session=session,
                speaker=speaker,
                occurred_from=occurred_from,
                occurred_before=occurred_before,
                exclude=exclude,
                sessions=sessions,
                role=role,
                metadata=metadata,
            ),
            token_budget=token_budget,
            as_of=as_of,
            known_at=known_at,
            explain=explain,
            record=record,
            include_dormant=include_dormant,
            wake=wake,
            asker=asker,
            collapse=collapse,
            read_cue=read_cue,
            min_score=None if min_score is None else float(min_score),
            min_confidence=None if min_confidence is None else float(min_confidence),
            match=match,
            engrams=engrams,
        )
        return await self._ask(records.recall.RecallResult, "POST", "/v1/recall", wanted)

    async def ask(
        self,
        question: str,
        *,
        strategy: str | None = None,
        k: int | None = None,
        limit: int | None = None,
        session: str | None = None,
        speaker: str | None = None,
        occurred_from: datetime | None = None,
        occurred_before: datetime | None = None,
        exclude: Sequence[str] = (),
        sessions: Sequence[str] = (),
        role: str | None = None,
        metadata: Mapping[str, records.episode.MetadataCondition] | None = None,
        token_budget: int | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        asker: str | None = None,
        min_confidence: float | None = None,
        brief: bool = False,
        record: bool = True,
        wait_s: float = 150.0,
        watch: Callable[[records.ask.CitedSentence], object] | None = None,
    ) -> records.ask.CitedAnswer:
        """Answer a question in words, with a quote for each sentence.

        The service needs a language model; without one `ModelMissing` is raised.

        Args:
            question: What is asked, in words.
            strategy: Name of the recall strategy; the service's default if absent.
            k: Number of memories to recall, 1 to 200; 10 if absent.
            limit: Another name of `k`.
            session: Recall only this session.
            speaker: Recall only what this speaker said, named in any case.
            occurred_from: Recall nothing earlier.
            occurred_before: Recall nothing at or after this instant.
            exclude: Ids of episodes to leave out, as if they were not stored; at most 1,000.
            sessions: Recall only these sessions; at most 100.
            role: Recall only what speakers of this role said.
            metadata: Recall only episodes whose metadata meet these conditions: values to
                equal, or comparisons such as `{"$gte": 4}`.
            token_budget: Greatest size of what the model reads, in tokens; 2,000 if absent.
            as_of: Answer as of then: only what had happened, and facts as they stood.
            known_at: Only what had been recorded by then.
            asker: Who says "I" in the question: a speaker or a role; the role `user` if absent.
            min_confidence: Ask the model only at this confidence or more, 0 to 1.
            brief: Give only the words that answer the question, instead of sentences.
            record: Leave a trace; false only looks.
            wait_s: Longest to wait for the answer, in seconds; with `watch` for its next sentence.
            watch: Told each sentence as soon as it is there. The answer that is returned counts:
                it may lack a sentence if the model had to be asked again.
        """
        wanted = body_of(
            wire.recall.AskRequest,
            question=question,
            strategy=strategy,
            k=k,
            limit=limit,
            filters=filters_of(
                session=session,
                speaker=speaker,
                occurred_from=occurred_from,
                occurred_before=occurred_before,
                exclude=exclude,
                sessions=sessions,
                role=role,
                metadata=metadata,
            ),
            token_budget=token_budget,
            as_of=as_of,
            known_at=known_at,
            asker=asker,
            min_confidence=None if min_confidence is None else float(min_confidence),
            brief=brief,
            record=record,
        )
        if watch is None:
            return await self._ask(
                records.ask.CitedAnswer, "POST", "/v1/ask", wanted, timeout_s=wait_s
            )
        call = Call("POST", "/v1/ask/stream", body=wanted, repeatable=False, timeout_s=wait_s)
        async for name, data in self._events(call):
            if name == "answer":
                answer: records.ask.CitedAnswer = adapter(records.ask.CitedAnswer).validate_json(
                    data
                )
                return answer
            watch(adapter(records.ask.CitedSentence).validate_json(data))
        raise Unavailable("The service ended the answer before its end; ask again.")

    async def context(
        self,
        *,
        token_budget: int | None = None,
        session: str | None = None,
        speaker: str | None = None,
    ) -> records.start_context.StartContext:
        """Give the context that a session starts with, before there is a question.

        Args:
            token_budget: Its greatest size, in tokens; 3,250 if absent.
            session: The session whose latest turns are shown; the last one if absent.
            speaker: Only sessions in which this speaker took part lately, and facts that the
                speaker stated.
        """
        parameters = {"token_budget": token_budget, "session": session, "speaker": speaker}
        return await self._ask(
            records.start_context.StartContext, "GET", "/v1/context", parameters=parameters
        )

    async def trace(self, trace: str) -> records.recall.Trace:
        """Fetch the replay of one recall by its `trace_id`."""
        return await self._ask(records.recall.Trace, "GET", f"/v1/traces/{segment(trace)}")

    async def sessions(self, *, page_size: int = 100) -> AsyncIterator[records.episode.Session]:
        """Iterate over sessions by name, page by page."""
        async for page in self._pages(wire.admin.SessionPage, "/v1/sessions", limit=page_size):
            for session in page.items:
                yield session

    async def stats(self) -> records.tenant.TenantStats:
        """Count the tenant's graph by kind."""
        return await self._ask(records.tenant.TenantStats, "GET", "/v1/stats")

    async def strategies(self) -> Sequence[records.strategy.StrategyInfo]:
        """List the recall strategies with their options."""
        return (await self._ask(wire.recall.StrategyList, "GET", "/v1/strategies")).items

    async def ready(self) -> wire.admin.ReadinessAnswer:
        """Report whether the service is ready, and list missing parts."""
        return await self._ask(wire.admin.ReadinessAnswer, "GET", "/readyz")

    def _append_timeout_s(self, episodes: Sequence[wire.episodes.AppendRequest]) -> float | None:
        """Add the time that the service needs to encode long texts; None for no limit."""
        usual: float | None = self._timeout_s
        characters = sum(len(episode.text) for episode in episodes)
        return None if usual is None else usual + characters / _CHARACTERS_A_SECOND


def _keyed(episode: wire.episodes.AppendRequest) -> wire.episodes.AppendRequest:
    """Give an episode a key, so that sending it again is safe.

    A document or a dated turn needs none: its content is its key. Anything else may be said
    twice, and only a key can tell a repetition from a second sending.
    """
    settled = episode.idempotency_key or episode.title or episode.occurred_at
    return episode if settled else episode.model_copy(update={"idempotency_key": uuid4().hex})
