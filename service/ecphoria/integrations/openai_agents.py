"""OpenAI Agents SDK: a session; needs the extra `openai-agents`."""

import asyncio
import contextlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from uuid import uuid4

from agents.items import TResponseInputItem
from agents.memory.session import SessionABC
from agents.memory.session_settings import SessionSettings, resolve_session_limit

from ecphoria.client import Client
from ecphoria.errors import EcphoriaError, NotFound
from ecphoria.integrations.shared import in_pages
from ecphoria.records.episode import NewEpisode
from ecphoria.records.item import Item, ItemWrite
from ecphoria.runtime import in_parts
from ecphoria.wire.base import error_from

_ROOM: Final = "openai-agents"
_PAGE: Final = 500


class EcphoriaSession(SessionABC):
    """Keeps the history of a session, and remembers its messages.

    The history is given back as it was added. The words of users and assistants are episodes of
    the session besides, so that `Client.recall` finds them in every later session. What `pop_item`
    and `clear_session` remove is erased from both.

    Args:
        session_id: Name of the session.
        client: The memory: a `Client`, or a `Memory` in this process.
        user: Name of the user, as the speaker of the user's messages.
        session_settings: Settings of the SDK, such as the number of items to give back.
    """

    def __init__(
        self,
        session_id: str,
        client: Client | None = None,
        *,
        user: str | None = None,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._client = client or Client()
        self._user = user
        self._namespace = (_ROOM, session_id)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Give the history in chronological order; its last items if a limit is set."""
        most = resolve_session_limit(limit, self.session_settings)
        found = await asyncio.to_thread(lambda: list(self._newest(most)))
        return [item.value["item"] for item in reversed(found)]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items to the history, and remember the messages among them."""
        if items:
            await asyncio.to_thread(self._add, items)

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the last item, and erase what was remembered of it."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        """Remove the history, and erase what was remembered of it."""
        await asyncio.to_thread(self._clear)

    def _newest(self, limit: int | None) -> Iterator[Item]:
        return in_pages(
            lambda most, seen: self._client.items.search(self._namespace, limit=most, offset=seen),
            most=_PAGE,
            limit=limit,
        )

    def _add(self, items: Sequence[TResponseInputItem]) -> None:
        # The names sort like the items: the history is ordered by time of writing, then by name.
        begun = f"{time.time_ns():020d}-{uuid4().hex[:8]}"
        names = [f"{begun}-{number:06d}" for number in range(len(items))]
        told = [_told(item) for item in items]
        episodes = [
            NewEpisode(
                text=words,
                role=role,
                speaker=self._user if role == "user" else None,
                session=self.session_id,
                idempotency_key=f"{_ROOM}:{self.session_id}:{name}",
            )
            for name, (role, words) in zip(names, told, strict=True)
            if words
        ]
        ids = self._remember(episodes)
        remembered = iter(ids)
        writes = [
            ItemWrite(
                namespace=self._namespace,
                key=name,
                value={"item": _plain(item), "episode": next(remembered) if words else None},
                text="",
            )
            for name, item, (_, words) in zip(names, items, told, strict=True)
        ]
        try:
            for part in in_parts(writes, _PAGE):
                self._client.items.write(part)
        except EcphoriaError:
            self._forget(ids)
            raise

    def _remember(self, episodes: Sequence[NewEpisode]) -> list[str]:
        kept: list[str] = []
        for part in in_parts(episodes, _PAGE):
            results = self._client.append_batch(part).results
            kept += (result.id for result in results if result.id)
            for result in results:
                if result.problem is not None:
                    self._forget(kept)
                    raise error_from(result.problem)
        return kept

    def _pop(self) -> TResponseInputItem | None:
        while last := next(self._newest(1), None):
            # Of several callers that see the same item, it belongs to the one that deletes it.
            if not self._client.items.delete(self._namespace, last.key):
                continue
            try:
                self._forget([last.value["episode"]])
            except EcphoriaError:
                self._client.items.put(self._namespace, last.key, last.value, text="")
                raise
            item: TResponseInputItem = last.value["item"]
            return item
        return None

    def _clear(self) -> None:
        found = list(self._newest(None))
        self._forget([item.value["episode"] for item in found])
        gone = [ItemWrite(namespace=self._namespace, key=item.key, value=None) for item in found]
        for part in in_parts(gone, _PAGE):
            self._client.items.write(part)

    def _forget(self, episodes: Sequence[str | None]) -> None:
        for episode in episodes:
            if episode is not None:
                with contextlib.suppress(NotFound):  # erased by another call
                    self._client.delete(episode)


def _told(item: Mapping[str, Any]) -> tuple[str | None, str]:
    """Read role and words of a message; no words of anything else, such as a call of a tool."""
    if item.get("type", "message") != "message" or item.get("role") not in {"user", "assistant"}:
        return None, ""
    content = item.get("content")
    if isinstance(content, str):
        return item["role"], content.strip()
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, Mapping))
    return item["role"], "\n".join(text for text in texts if isinstance(text, str)).strip()


def _plain(item: TResponseInputItem) -> Any:
    """Give an item as JSON; the SDK also adds objects of pydantic."""
    return json.loads(json.dumps(item, default=lambda value: value.model_dump(mode="json")))
