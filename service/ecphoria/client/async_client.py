"""The asynchronous client: the calls that an agent needs, and the namespaces of the others."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Self, Unpack

import httpx

from ecphoria import records, wire
from ecphoria.client.async_connection import AsyncCalls, AsyncConnection
from ecphoria.client.async_contents import AsyncArchive, AsyncFacts, AsyncGraph, AsyncItems
from ecphoria.client.async_upkeep import AsyncAdmin, AsyncJobs, AsyncSettings
from ecphoria.client.defaults import DEFAULT_URL, target
from ecphoria.client.exchange import (
    Call,
    Retries,
    address_of,
    body_of,
    body_with,
    check_timeout,
    checked_tenant,
    converted,
    header_text,
    keyed,
    segment,
)
from ecphoria.client.filters import (
    AskOptions,
    EpisodeFields,
    EpisodeFilters,
    RecallFilters,
    RecallOptions,
    asked_of,
    episode_of,
    erasure_of,
)
from ecphoria.errors import InvalidInput
from ecphoria.hosts import is_loopback
from ecphoria.records.asked import to_body

_BYTES_A_SECOND = 2_000
"""The least that a slow machine encodes; a busy one took a minute for 1 MB."""
_ERASURE_S = 300.0


class AsyncClient(AsyncCalls):
    """One connection to an Ecphoria service, asynchronous.

    A problem is raised as its class in `ecphoria.errors`. Calls that may be sent twice, also
    appends, are sent again when the service does not answer for a moment.

    Attributes:
        facts: Facts, decisions about them, predicates, and merges of concepts.
        items: JSON objects that are replaced.
        graph: Traces of recalls, concepts, and the nodes around a node.
        jobs: Background jobs.
        settings: The tenant's settings, and the strategy on trial.
        archive: Dormant and archived memories.
        admin: Tenants, keys, the embedding model, the integrity check and the calibration.

    Args:
        base_url: Address of the service; `ECPHORIA_URL` or this machine's if absent.
        api_key: Secret of a key; if absent `ECPHORIA_API_KEY`, or the key in this machine's home.
        tenant: Tenant to act for, with an operator's key; `ECPHORIA_TENANT` if neither a key nor
            a tenant is given.
        timeout: Seconds to wait for an answer; for an append one more for each 2,000 bytes of it.
        retries: How often, and after how long, a call is sent again.
        transport: Another way to the service than the network, such as `httpx.ASGITransport`.

    Raises:
        InvalidInput: `base_url` is no address, `timeout` is not above 0, the tenant is empty, or
            no header can carry it or the key.
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
        about_key = ""
        check_timeout(timeout)
        if tenant is not None:
            checked_tenant(tenant)
        if transport is None:
            wanted = target(base_url, api_key, tenant)
            base_url, api_key, tenant = wanted.url, wanted.key, wanted.tenant
            about_key = wanted.about_key
        address = address_of(DEFAULT_URL if base_url is None else base_url)
        headers = {}
        if api_key:
            headers["Authorization"] = f"Bearer {header_text('api_key', api_key)}"
        if tenant is not None:
            headers["Ecphoria-Tenant"] = checked_tenant(tenant)
        connection = AsyncConnection(
            address,
            lambda: httpx.AsyncClient(
                base_url=address,
                headers=headers,
                timeout=timeout,
                transport=transport,
                # To read the certificates takes longer than a recall, and HTTP needs none.
                verify=address.startswith("https:"),
                trust_env=not is_loopback(httpx.URL(address).host),
            ),
            retries or Retries(),
            about_key,
        )
        super().__init__(connection)
        self._timeout_s = timeout
        self.facts = AsyncFacts(connection)
        self.items = AsyncItems(connection)
        self.graph = AsyncGraph(connection)
        self.jobs = AsyncJobs(connection)
        self.settings = AsyncSettings(connection)
        self.archive = AsyncArchive(connection)
        self.admin = AsyncAdmin(connection)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections; also done at the end of an `async with` block."""
        await self._connection.aclose()

    async def remember(
        self, text: str, **fields: Unpack[EpisodeFields]
    ) -> records.episode.Receipt:
        """Append one episode; the next recall can find it.

        Args:
            text: What was said or written, without speaker or date in front.
            **fields: See `EpisodeFields`.
        """
        return await self.append(episode_of(text, fields))

    async def append(self, episode: records.episode.NewEpisode) -> records.episode.Receipt:
        """Append one episode that is already in the shape of the API."""
        content, timeout_s = self._encoded(keyed(episode))
        return await self._post(
            records.episode.Receipt, "/v1/episodes", content, timeout_s=timeout_s
        )

    async def append_batch(
        self,
        episodes: Sequence[records.episode.NewEpisode],
        load: records.episode.Load | None = None,
    ) -> wire.episodes.BatchAnswer:
        """Append up to 1,000 episodes; the valid ones are stored.

        Each item has a result, in order: look at `refused`. `load` is its place in a first load.
        """
        wanted = body_of(
            wire.episodes.BatchRequest, episodes=tuple(keyed(item) for item in episodes), load=load
        )
        # A batch of a load waits for the one before it, which takes as long.
        content, timeout_s = self._encoded(wanted, times=2 if load else 1)
        kind, path = wire.episodes.BatchAnswer, "/v1/episodes/batch"
        return await self._post(kind, path, content, timeout_s=timeout_s)

    async def get(self, episode: str) -> records.episode.Episode:
        """Fetch one episode by its id."""
        return await self._get(records.episode.Episode, f"/v1/episodes/{segment(episode)}")

    def list(
        self, *, page_size: int = 100, **filters: Unpack[EpisodeFilters]
    ) -> AsyncIterator[records.episode.Episode]:
        """Iterate over episodes in the order of their append, page by page.

        Args:
            page_size: Episodes fetched at a time.
            **filters: See `EpisodeFilters`.
        """
        return self._each(wire.episodes.EpisodePage, "/v1/episodes", limit=page_size, **filters)

    async def page(
        self, cursor: str | None = None, *, limit: int = 100, **filters: Unpack[EpisodeFilters]
    ) -> wire.episodes.EpisodePage:
        """Fetch one page of `list`; its `next_cursor` is the `cursor` of the next page.

        Args:
            cursor: `next_cursor` of the page before.
            limit: Size of the page.
            **filters: See `EpisodeFilters`.
        """
        return await self._get(
            wire.episodes.EpisodePage, "/v1/episodes", cursor=cursor, limit=limit, **filters
        )

    async def last_turns(self, session: str, count: int = 10) -> Sequence[records.episode.Episode]:
        """Fetch the turns of a session that were appended last, in chronological order.

        Args:
            session: Name of the session.
            count: Number of turns, at most 1,000.
        """
        page = await self.page(session=session, order="newest", limit=count)
        # Old turns may be appended after new ones, and turns of one time have positions.
        return sorted(page.items, key=lambda one: (one.occurred_at, one.ordinal or 0, one.turn))

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

        Raises:
            InvalidInput: Both a new end and none are asked for.
        """
        if never_expires and expires_at is not None:
            raise InvalidInput("Give `expires_at` or `never_expires`, not both.")
        change = {} if metadata is None else {"metadata": converted(dict, metadata)}
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
        self, cue: str | None = None, *, query: str | None = None, **options: Unpack[RecallOptions]
    ) -> records.recall.RecallResult:
        """Recall memories for a cue; check `answerable` before you trust the hits.

        Args:
            cue: What is asked, in words.
            query: Another name of `cue`.
            **options: See `RecallOptions` and `RecallFilters`.
        """
        wanted = asked_of(records.recall.RecallRequest, options, cue=cue, query=query)
        return await self._post(records.recall.RecallResult, "/v1/recall", wanted)

    async def ask(
        self,
        question: str,
        *,
        brief: bool = False,
        wait_s: float = 150.0,
        watch: Callable[[records.ask.CitedSentence], object] | None = None,
        **options: Unpack[AskOptions],
    ) -> records.ask.CitedAnswer:
        """Answer a question in words, with a quote for each sentence.

        The service needs a language model; without one `ModelMissing` is raised.

        Args:
            question: What is asked, in words.
            brief: Give only the words that answer the question, instead of sentences.
            wait_s: Longest to wait for the answer, in seconds; with `watch` for its next sentence.
            watch: Called with each sentence as it comes; the returned answer may lack one.
            **options: See `AskOptions` and `RecallFilters`.
        """
        wanted = asked_of(records.recall.AskRequest, options, question=question, brief=brief)
        if watch is None:
            return await self._post(records.ask.CitedAnswer, "/v1/ask", wanted, timeout_s=wait_s)
        call = Call("POST", "/v1/ask/stream", body=wanted, repeatable=False, timeout_s=wait_s)
        return await self._connection.answered(call, watch)

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
            speaker: Only sessions in which this speaker took part lately, and facts of theirs.
        """
        return await self._get(
            records.start_context.StartContext,
            "/v1/context",
            token_budget=token_budget,
            session=session,
            speaker=speaker,
        )

    async def consolidate(
        self,
        *,
        steps: Sequence[str] = (),
        dry_run: bool = False,
        timeout_s: float = 600.0,
        watch: Callable[[records.job.Job], object] | None = None,
    ) -> records.job.ConsolidationReport:
        """Run a consolidation cycle, wait for it, and return its report.

        Running it again changes nothing, so a call that was cut short can simply be repeated.

        Args:
            steps: Which steps to run; all if empty.
            dry_run: Tell what would change, and write nothing.
            timeout_s: Longest to wait for the end; it takes longer the larger the memory.
            watch: Called with the job each time its state is fetched.
        """
        queued = await self.jobs.start_consolidation(steps=steps, dry_run=dry_run)
        done = await self.jobs.wait(queued.id, timeout_s=timeout_s, watch=watch)
        assert done.report is not None, "a job that is done has a report"
        return done.report

    async def preview_erasure(
        self, *, ids: Sequence[str] = (), **filters: Unpack[RecallFilters]
    ) -> wire.episodes.EraseAnswer:
        """Count what `erase` would erase: the episodes, and by kind what goes with them."""
        wanted, path = erasure_of(ids, filters, dry_run=True), "/v1/episodes/erase"
        return await self._post(wire.episodes.EraseAnswer, path, wanted, timeout_s=_ERASURE_S)

    async def erase(
        self,
        *,
        ids: Sequence[str] = (),
        watch: Callable[[int, int], object] = lambda _erased, _matched: None,
        **filters: Unpack[RecallFilters],
    ) -> int:
        """Erase the episodes that pass all filters given, and return their number.

        If it fails halfway, what was erased stays so; call it again for the rest.

        Args:
            ids: Only these episodes, at most 1,000.
            watch: Called with the number erased so far, and the number in all.
            **filters: See `RecallFilters`; without ids at least one besides `exclude`.
        """
        erased, wanted, path = 0, erasure_of(ids, filters), "/v1/episodes/erase"
        while True:
            answer = await self._post(
                wire.episodes.EraseAnswer, path, wanted, timeout_s=_ERASURE_S
            )
            watch(erased + answer.erased, erased + answer.matched)
            erased += answer.erased
            if answer.erased in {0, answer.matched}:
                return erased

    def engrams(
        self, *, kind: records.episode.EngramKind | str | None = None, page_size: int = 100
    ) -> AsyncIterator[records.episode.Engram]:
        """Iterate over the summaries of sessions and clusters, page by page.

        Args:
            kind: Only those of `session` or `cluster`.
            page_size: How many to ask for at once.
        """
        return self._each(wire.upkeep.EngramPage, "/v1/engrams", kind=kind, limit=page_size)

    async def set_extraction(self, episode: str, extraction: records.episode.Extracted) -> None:
        """Replace all names and facts of a live episode, those of a language model too.

        Args:
            episode: Its id.
            extraction: The names and facts; an empty one removes all but those of the rules.
        """
        path = f"/v1/episodes/{segment(episode)}/extraction"
        content, timeout_s = self._encoded(extraction)
        await self._send(Call("PUT", path, body=content, timeout_s=timeout_s))

    async def pin(self, episode: str, *, pinned: bool = True) -> None:
        """Pin or unpin a memory; pinned memories never become dormant."""
        method = "PUT" if pinned else "DELETE"
        await self._send(Call(method, f"/v1/episodes/{segment(episode)}/pin"))

    async def feedback(
        self, trace: str, *, useful: Sequence[str] = (), not_useful: Sequence[str] = ()
    ) -> wire.facts.FeedbackAnswer:
        """Mark hits of a recall as useful or not; needs the scope write.

        Each hit of a recall is judged once. The same judgement again changes nothing, the opposite
        one is a conflict.

        Args:
            trace: `trace_id` of the recall.
            useful: Ids of hits that were useful.
            not_useful: Ids of hits that were not.
        """
        wanted = body_of(wire.facts.FeedbackRequest, useful=useful, not_useful=not_useful)
        path = f"/v1/traces/{segment(trace)}/feedback"
        return await self._post(wire.facts.FeedbackAnswer, path, wanted)

    async def trace(self, trace: str) -> records.recall.Trace:
        """Fetch the replay of one recall by its `trace_id`."""
        return await self._get(records.recall.Trace, f"/v1/traces/{segment(trace)}")

    def sessions(self, *, page_size: int = 100) -> AsyncIterator[records.episode.Session]:
        """Iterate over sessions by name, page by page."""
        return self._each(wire.admin.SessionPage, "/v1/sessions", limit=page_size)

    async def stats(self) -> records.tenant.TenantStats:
        """Count the tenant's graph by kind."""
        return await self._get(records.tenant.TenantStats, "/v1/stats")

    async def strategies(self) -> Sequence[records.strategy.StrategyInfo]:
        """List the recall strategies with their options."""
        return (await self._get(wire.episodes.StrategyList, "/v1/strategies")).items

    async def ready(self) -> wire.admin.ReadinessAnswer:
        """Report whether the service is ready, and list missing parts."""
        return await self._get(wire.admin.ReadinessAnswer, "/readyz")

    def _encoded(self, body: object, times: int = 1) -> tuple[bytes, float | None]:
        """Spell a body, and limit the time in which the service encodes it; None for no limit."""
        content = to_body(body)
        usual: float | None = self._timeout_s
        longest = None if usual is None else usual + times * len(content) / _BYTES_A_SECOND
        return content, longest
