"""LlamaIndex: a memory block; needs the extra `llama-index`."""

import asyncio
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemoryBlock
from pydantic import Field

from ecphoria.client import Client
from ecphoria.integrations.shared import cue_of
from ecphoria.records.episode import NewEpisode
from ecphoria.runtime import in_parts
from ecphoria.wire.base import error_from

_PAGE = 500
_ROLES = {MessageRole.USER: "user", MessageRole.ASSISTANT: "assistant"}


class EcphoriaMemoryBlock(BaseMemoryBlock[str]):
    """Remembers the messages that leave the short-term memory, and recalls what a question needs.

    Only words of users and assistants are remembered. The block's content is the context of the
    recall for the last message of the user.

    Attributes:
        client: The memory: a `Client`, or a `Memory` in this process.
        user: Name of the user, as the speaker of the user's messages.
        token_budget: Greatest size of the content, in tokens.
        abstain: Give no content if the gate refuses the recall.
        options: Further arguments of `Client.recall`, such as `strategy`.
    """

    name: str = "ecphoria"
    client: Client = Field(default_factory=Client, exclude=True)
    user: str | None = None
    token_budget: int = 2_000
    abstain: bool = False
    options: dict[str, Any] = Field(default_factory=dict)

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        del block_kwargs
        cue = next(
            (words for one in reversed(messages or []) if (words := _words_of(one, {"user"}))),
            None,
        )
        if cue is None:
            return ""
        asked = {**self.options, "token_budget": self.token_budget}
        result = await asyncio.to_thread(self.client.recall, cue_of(cue), **asked)
        return "" if self.abstain and result.verdict.refused else result.context

    async def _aput(self, messages: list[ChatMessage]) -> None:
        episodes = [
            NewEpisode(
                text=words,
                role=_ROLES[message.role],
                speaker=self.user if message.role == MessageRole.USER else None,
                session=message.additional_kwargs.get("session_id"),
            )
            for message in messages
            if (words := _words_of(message, set(_ROLES.values())))
        ]
        for part in in_parts(episodes, _PAGE):
            answer = await asyncio.to_thread(self.client.append_batch, part)
            for result in answer.results:
                if result.problem is not None:
                    raise error_from(result.problem)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Leave out lines from the end; about four characters count as a token."""
        left = len(content) - 4 * tokens_to_truncate
        if left <= 0:
            return None
        return content[:left].rpartition("\n")[0] or None


def _words_of(message: ChatMessage, roles: set[str]) -> str:
    role = _ROLES.get(message.role)
    return (message.content or "").strip() if role in roles else ""
