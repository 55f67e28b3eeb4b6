"""Google's Agent Development Kit: a memory service; needs the extra `google-adk`."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256

from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai import types

from ecphoria.client import Client
from ecphoria.errors import Conflict, Erased, NotFound
from ecphoria.integrations.shared import cue_of, details_of, hits_of, text_of
from ecphoria.records.episode import MetadataValue, NewEpisode
from ecphoria.runtime import in_parts
from ecphoria.wire.base import code_of, error_from

_PAGE = 500


def tenant_of(app_name: str, user_id: str) -> str:
    """Name the tenant of a user of an app: a hash, because tenants have plain names."""
    return "adk-" + sha256(f"{app_name}\0{user_id}".encode()).hexdigest()[:32]


class EcphoriaMemoryService(BaseMemoryService):
    """Keeps each user's memories of an app in a tenant of its own.

    A session may be added again and again: an event is stored once. Deleted memories do not come
    back with their session.

    Args:
        connect: Makes a client of a tenant. The default is `Client(tenant=...)`; it needs an
            operator's key, because it creates the tenants.
        tenant: Names the tenant of an app and a user.
        k: Number of memories of a search.
        abstain: Return nothing if the gate refuses the recall.
    """

    def __init__(
        self,
        connect: Callable[[str], Client] = lambda tenant: Client(tenant=tenant),
        *,
        tenant: Callable[[str, str], str] = tenant_of,
        k: int = 10,
        abstain: bool = False,
    ) -> None:
        # A tenant for each user of an app: with a filter instead, one missing filter would show
        # all memories (decision 0036).
        self._connect = connect
        self._tenant = tenant
        self._k = k
        self._abstain = abstain
        self._clients: dict[str, Client] = {}
        self._lock = threading.Lock()

    async def add_session_to_memory(self, session: Session) -> None:
        """Store the events of a session that have words."""
        await self.add_events_to_memory(
            app_name=session.app_name,
            user_id=session.user_id,
            events=session.events,
            session_id=session.id,
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store events that have words; plain values of `custom_metadata` go with each."""
        metadata = _plain_values(custom_metadata)
        episodes = [
            NewEpisode(
                text=words,
                role="user" if event.author == "user" else "assistant",
                speaker=user_id if event.author == "user" else event.author,
                session=session_id,
                occurred_at=datetime.fromtimestamp(event.timestamp, UTC),
                idempotency_key=f"adk:{session_id}:{event.id}",
                metadata=metadata,
            )
            for event in events
            if (words := _words_of(event.content))
        ]
        await asyncio.to_thread(self._append, app_name, user_id, episodes)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store memories without a session; plain values of `custom_metadata` go with each."""
        metadata = _plain_values(custom_metadata)
        episodes = [
            NewEpisode(
                text=words,
                speaker=memory.author,
                occurred_at=None if memory.timestamp is None else _instant(memory.timestamp),
                idempotency_key=None if memory.id is None else f"adk-memory:{memory.id}",
                metadata=metadata,
            )
            for memory in memories
            if (words := _words_of(memory.content))
        ]
        await asyncio.to_thread(self._append, app_name, user_id, episodes)

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """Recall the user's memories for a query."""
        if not query.strip():
            return SearchMemoryResponse()
        client = await asyncio.to_thread(self._client, app_name, user_id)
        result = await asyncio.to_thread(client.recall, cue_of(query), k=self._k)
        return SearchMemoryResponse(
            memories=[
                MemoryEntry(
                    id=hit.episode.id,
                    author=hit.episode.speaker,
                    timestamp=hit.episode.occurred_at.isoformat(),
                    content=types.Content(
                        role="user" if hit.episode.role == "user" else "model",
                        parts=[types.Part(text=text_of(hit))],
                    ),
                    custom_metadata=details_of(hit, result),
                )
                for hit in hits_of(result, abstain=self._abstain)
            ]
        )

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Erase a memory by the id that a search gave."""
        if memory_id:
            client = await asyncio.to_thread(self._client, app_name, user_id)
            with contextlib.suppress(NotFound):
                await asyncio.to_thread(client.delete, memory_id)

    def _append(self, app_name: str, user_id: str, episodes: Sequence[NewEpisode]) -> None:
        client = self._client(app_name, user_id)
        for part in in_parts(episodes, _PAGE):
            for result in client.append_batch(part).results:
                if result.problem is not None and code_of(result.problem) != Erased.code:
                    raise error_from(result.problem)

    def _client(self, app_name: str, user_id: str) -> Client:
        name = self._tenant(app_name, user_id)
        with self._lock:
            if name not in self._clients:
                client = self._connect(name)
                with contextlib.suppress(Conflict):
                    client.admin.create_tenant(name)
                self._clients[name] = client
            return self._clients[name]


def _words_of(content: types.Content | None) -> str:
    parts = (content.parts if content else None) or []
    # Thoughts of a model are nothing that was said.
    return "\n".join(part.text for part in parts if part.text and not part.thought).strip()


def _plain_values(given: Mapping[str, object] | None) -> dict[str, MetadataValue]:
    return {
        name: value
        for name, value in (given or {}).items()
        if isinstance(value, str | int | float | bool)
    }


def _instant(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
