"""The asynchronous client: every call of the REST API as a typed method."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Self
from uuid import uuid4

import httpx

from ecphoria.client.async_facts import AsyncFacts
from ecphoria.client.async_jobs import AsyncJobs
from ecphoria.client.async_learning import AsyncLearner
from ecphoria.client.async_merges import AsyncMerger
from ecphoria.client.async_shadow import AsyncShadowing
from ecphoria.client.async_upkeep import AsyncUpkeep
from ecphoria.client.exchange import (
    Call,
    Retries,
    address_of,
    body_of,
    instant_text,
    is_loopback,
    segment,
)
from ecphoria.model.episode import MetadataValue
from ecphoria.model.recall import OptionValue
from ecphoria.model.tenant import Scope
from ecphoria.wire.administration import (
    ErasureAnswer,
    IssuedKeyAnswer,
    KeyAnswer,
    KeyRequest,
    ReadinessAnswer,
    SessionAnswer,
    SessionPage,
    StatsAnswer,
    StrategyAnswer,
    TenantAnswer,
    TenantRequest,
)
from ecphoria.wire.episodes import (
    AppendAnswer,
    AppendRequest,
    BatchAnswer,
    BatchRequest,
    EpisodeAnswer,
    EpisodePage,
    Extraction,
)
from ecphoria.wire.gate import GateAnswer, GateRequest
from ecphoria.wire.recall import FilterRequest, RecallAnswer, RecallRequest, TraceAnswer

__all__ = ["AsyncClient"]

_CHARACTERS_A_SECOND = 2_000
"""That are encoded at the least, on a slow and busy machine."""
_DEFAULT_URL = "http://127.0.0.1:8765"


class AsyncClient(AsyncFacts, AsyncJobs, AsyncLearner, AsyncMerger, AsyncShadowing, AsyncUpkeep):
    """One connection to an Ecphoria service, asynchronous.

    A problem the service answers with is raised as the error class of `ecphoria.errors` it stands
    for. Calls that may safely be sent twice are sent again when the service does not answer for a
    moment; an append counts as one, because it carries a key.

    Args:
        base_url: Address of the service.
        api_key: Secret of a key; not needed where authentication is off.
        tenant: Tenant to act for, with an operator's key.
        timeout: Seconds to wait for an answer; an append of long texts may take a second more for
            each 2,000 characters, because every part of them is encoded.
        retries: How often, and after how long, a call is sent again.
        transport: Another way to the service than the network, such as `httpx.ASGITransport`.

    Raises:
        InvalidInput: `base_url` is no address.
    """

    def __init__(
        self,
        base_url: str = _DEFAULT_URL,
        api_key: str | None = None,
        *,
        tenant: str | None = None,
        timeout: float = 30.0,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        address = address_of(base_url)
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        if tenant is not None:
            headers["Ecphoria-Tenant"] = tenant
        http = httpx.AsyncClient(
            base_url=address,
            headers=headers,
            timeout=timeout,
            transport=transport,
            trust_env=not is_loopback(address),
        )
        super().__init__(address, http, retries or Retries())

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
        await self._http.aclose()

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
        metadata: Mapping[str, MetadataValue] | None = None,
        importance: float | None = None,
        idempotency_key: str | None = None,
        vector: Sequence[float] | None = None,
        extraction: Extraction | None = None,
    ) -> AppendAnswer:
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
            idempotency_key: Sending the same key and body again changes nothing.
            vector: Embedding of the text by the store's own model.
            extraction: Names and facts that the text holds.
        """
        given = {
            "text": text,
            "title": title,
            "speaker": speaker,
            "role": role,
            "session": session,
            "position": position,
            "occurred_at": occurred_at,
            "source": source,
            "metadata": None if metadata is None else dict(metadata),
            "importance": importance,
            "idempotency_key": idempotency_key,
            "vector": None if vector is None else tuple(map(float, vector)),
            "extraction": extraction,
        }
        return await self.append(body_of(AppendRequest, given))

    async def append(self, episode: AppendRequest) -> AppendAnswer:
        """Append one episode that is already in the shape of the API."""
        return await self._post(
            "/v1/episodes",
            _keyed(episode),
            AppendAnswer,
            repeatable=True,
            longer_s=_encoding_s([episode]),
        )

    async def append_batch(self, episodes: Sequence[AppendRequest]) -> BatchAnswer:
        """Append up to 1,000 episodes; one that cannot be used does not sink the others.

        The answer has a result for every item, in order: look at `refused`.
        """
        batch = body_of(BatchRequest, {"episodes": tuple(_keyed(item) for item in episodes)})
        return await self._post(
            "/v1/episodes/batch",
            batch,
            BatchAnswer,
            repeatable=True,
            longer_s=_encoding_s(episodes),
        )

    async def get(self, episode: str) -> EpisodeAnswer:
        """Fetch one episode by its id."""
        return await self._get(f"/v1/episodes/{segment(episode)}", EpisodeAnswer)

    async def list(
        self,
        *,
        session: str | None = None,
        concept: str | None = None,
        occurred_from: datetime | None = None,
        occurred_before: datetime | None = None,
        page_size: int = 100,
    ) -> AsyncIterator[EpisodeAnswer]:
        """Walk through the episodes in the order they were recorded, a page at a time."""
        cursor: str | None = None
        while True:
            page = await self._get(
                "/v1/episodes",
                EpisodePage,
                session=session,
                concept=concept,
                occurred_from=instant_text(occurred_from),
                occurred_before=instant_text(occurred_before),
                cursor=cursor,
                limit=page_size,
            )
            for episode in page.episodes:
                yield episode
            cursor = page.next_cursor
            if cursor is None:
                return

    async def delete(self, episode: str) -> None:
        """Delete one episode with everything that depended on it."""
        # Not repeated: if only the first answer was lost, the second would be "not found".
        path = f"/v1/episodes/{segment(episode)}"
        await self._send(Call(method="DELETE", path=path, repeatable=False))

    async def recall(
        self,
        cue: str | None = None,
        *,
        vector: Sequence[float] | None = None,
        strategy: str | None = None,
        options: Mapping[str, OptionValue] | None = None,
        k: int | None = None,
        session: str | None = None,
        speaker: str | None = None,
        occurred_from: datetime | None = None,
        occurred_before: datetime | None = None,
        exclude: Sequence[str] = (),
        token_budget: int | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        explain: bool = False,
        record: bool = True,
        include_dormant: bool = False,
        wake: bool = False,
        asker: str | None = None,
        collapse: bool = True,
        min_score: float | None = None,
        min_confidence: float | None = None,
    ) -> RecallAnswer:
        """Wake what a cue reminds of; look at `answerable` before you trust the hits.

        Args:
            cue: What is asked, in words.
            vector: Embedding of the cue by the store's own model, if you have it already.
            strategy: Name of the mechanism; the service's default if absent.
            options: The strategy's own parameters.
            k: Number of hits, 1 to 200; 10 if absent.
            session: Wake only this session.
            speaker: Wake only what this speaker said.
            occurred_from: Wake nothing earlier.
            occurred_before: Wake nothing at or after this instant.
            exclude: Ids of episodes to leave out, as if they were not stored; at most 1,000.
            token_budget: Greatest size of `context`, in tokens; 2,000 if absent.
            as_of: Recall as of then: only what had happened, and facts as they stood.
            known_at: Only what had been recorded by then.
            explain: List the arcs of each wave in the trace, not only their number.
            record: Leave a trace; false only looks, so that nothing is learned or compared.
            include_dormant: Look among what sleeps too, one by one.
            wake: Make dormant memories live again that are among the first hits of an answer.
            asker: Who says "I" in the cue: a speaker or a role; the role `user` if absent.
            collapse: Join memories in which the same speaker says the same words into one hit.
            min_score: Leave out hits with a lower score.
            min_confidence: Refuse an answer with a lower confidence, 0 to 1.
        """
        filters = {
            "session": session,
            "speaker": speaker,
            "occurred_from": occurred_from,
            "occurred_before": occurred_before,
            "exclude": tuple(exclude) or None,
        }
        given = {
            "cue": cue,
            "vector": None if vector is None else tuple(map(float, vector)),
            "strategy": strategy,
            "options": None if options is None else dict(options),
            "k": k,
            "filters": body_of(FilterRequest, filters),
            "token_budget": token_budget,
            "as_of": as_of,
            "known_at": known_at,
            "explain": explain,
            "record": record,
            "include_dormant": include_dormant,
            "wake": wake,
            "asker": asker,
            "collapse": collapse,
            "min_score": None if min_score is None else float(min_score),
            "min_confidence": None if min_confidence is None else float(min_confidence),
        }
        asked = body_of(RecallRequest, given)
        return await self._post("/v1/recall", asked, RecallAnswer, repeatable=True)

    async def trace(self, trace: str) -> TraceAnswer:
        """Fetch the replay of one recall by its `trace_id`."""
        return await self._get(f"/v1/traces/{segment(trace)}", TraceAnswer)

    async def sessions(self, *, page_size: int = 100) -> AsyncIterator[SessionAnswer]:
        """Walk through the sessions by name, a page at a time."""
        cursor: str | None = None
        while True:
            page = await self._get("/v1/sessions", SessionPage, cursor=cursor, limit=page_size)
            for session in page.sessions:
                yield session
            cursor = page.next_cursor
            if cursor is None:
                return

    async def stats(self) -> StatsAnswer:
        """Count the tenant's graph by kind."""
        return await self._get("/v1/stats", StatsAnswer)

    async def strategies(self) -> Sequence[StrategyAnswer]:
        """List the recall strategies with their options."""
        return await self._get_all("/v1/strategies", StrategyAnswer)

    async def tenants(self) -> Sequence[TenantAnswer]:
        """List the tenants by name; needs an operator's key."""
        return await self._get_all("/v1/tenants", TenantAnswer)

    async def create_tenant(self, name: str) -> TenantAnswer:
        """Create an owner of memories; needs an operator's key."""
        wanted = body_of(TenantRequest, {"name": name})
        return await self._post("/v1/tenants", wanted, TenantAnswer, repeatable=False)

    async def erase_tenant(self, name: str) -> ErasureAnswer:
        """Remove a tenant with everything it owns, and tell how much that was."""
        call = Call(method="DELETE", path=f"/v1/tenants/{segment(name)}", repeatable=False)
        return ErasureAnswer.model_validate_json((await self._send(call)).content)

    async def keys(self) -> Sequence[KeyAnswer]:
        """List the tenant's keys, without their secrets."""
        return await self._get_all("/v1/keys", KeyAnswer)

    async def issue_key(self, name: str, scopes: Sequence[Scope]) -> IssuedKeyAnswer:
        """Issue a key of the tenant; the answer is the only place its secret ever appears."""
        wanted = body_of(KeyRequest, {"name": name, "scopes": frozenset(scopes)})
        return await self._post("/v1/keys", wanted, IssuedKeyAnswer, repeatable=False)

    async def revoke_key(self, key: str) -> None:
        """End a key by its id; it is refused within seconds."""
        call = Call(method="DELETE", path=f"/v1/keys/{segment(key)}", repeatable=False)
        await self._send(call)

    async def gate(self) -> GateAnswer:
        """Show by which gate the tenant's recalls are judged; needs the scope admin."""
        return await self._get("/v1/gate", GateAnswer)

    async def set_gate(self, gate: GateRequest) -> GateAnswer:
        """Give the tenant its own gate; the next recall is judged by it."""
        call = Call(method="PUT", path="/v1/gate", repeatable=True, body=gate)
        return GateAnswer.model_validate_json((await self._send(call)).content)

    async def reset_gate(self) -> None:
        """Go back to the shipped gate."""
        await self._send(Call(method="DELETE", path="/v1/gate", repeatable=True))

    async def ready(self) -> ReadinessAnswer:
        """Tell whether the service can serve, and what is missing for full service."""
        return await self._get("/readyz", ReadinessAnswer)


def _encoding_s(episodes: Sequence[AppendRequest]) -> float:
    """Tell how much longer an append may take because of the length of its texts."""
    return sum(len(one.text) for one in episodes) / _CHARACTERS_A_SECOND


def _keyed(episode: AppendRequest) -> AppendRequest:
    """Give an episode a key, so that sending it again is safe.

    A document or a dated turn needs none: its content is its key. Anything else may be said
    twice, and only a key can tell a repetition from a second sending.
    """
    settled = episode.idempotency_key or episode.title or episode.occurred_at
    return episode if settled else episode.model_copy(update={"idempotency_key": uuid4().hex})
