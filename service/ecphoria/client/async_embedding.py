"""The calls of the asynchronous client that change the embedding model of a store."""

import asyncio
from collections.abc import Callable

from ecphoria.client.async_items import AsyncItems
from ecphoria.client.exchange import body_of
from ecphoria.records.embedding import ENDED, Provider, Reembedding
from ecphoria.wire.embedding import EmbeddingRequest

_PATH = "/v1/embedding"


class AsyncEmbedding(AsyncItems):
    """Change the embedding model of the whole store; needs an operator's key."""

    async def change_embedding(
        self,
        model: str,
        *,
        provider: Provider = "openai",
        dimension: int | None = None,
        request_dimension: bool = False,
        base_url: str | None = None,
    ) -> Reembedding:
        """Start to make the vectors of another model; the service switches when all are made.

        Args:
            model: Its name.
            provider: Maker of the vectors; `openai` is any endpoint with its API.
            dimension: Length of the vectors; needed for `openai`.
            request_dimension: Ask the endpoint for this dimension.
            base_url: Address of the endpoint; the service's setting if absent.
        """
        wanted = body_of(
            EmbeddingRequest,
            model=model,
            provider=provider,
            dimension=dimension,
            request_dimension=request_dimension,
            base_url=base_url,
        )
        return await self._ask(Reembedding, "POST", _PATH, wanted, repeatable=False)

    async def embedding_change(self) -> Reembedding:
        """Show the change of the model that is under way, or was the last."""
        return await self._ask(Reembedding, "GET", _PATH)

    async def cancel_embedding_change(self) -> Reembedding:
        """Cancel the change before the switch; the store goes on with its old vectors."""
        return await self._ask(Reembedding, "DELETE", _PATH)

    async def wait_for_embedding(
        self, *, watch: Callable[[Reembedding], object] | None = None, poll_s: float = 0.5
    ) -> Reembedding:
        """Wait for the end of the change, and return how it ended.

        Args:
            watch: Told at each look how it stands.
            poll_s: Seconds between two looks.
        """
        while True:
            found = await self.embedding_change()
            if watch is not None:
                watch(found)
            if found.state in ENDED:
                return found
            await asyncio.sleep(poll_s)
