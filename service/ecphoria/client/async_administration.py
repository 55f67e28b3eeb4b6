"""The calls of the asynchronous client that administer tenants, keys, gates and strategies."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from ecphoria.client.async_upkeep import AsyncUpkeep
from ecphoria.client.exchange import Call, body_of, segment
from ecphoria.records.embedding import ENDED, Provider, Reembedding
from ecphoria.records.recall import OptionValue
from ecphoria.records.tenant import Scope, Tenant
from ecphoria.wire.admin import (
    ErasureAnswer,
    GateAnswer,
    GateRequest,
    IssuedKeyAnswer,
    KeyAnswer,
    KeyList,
    KeyRequest,
    ShadowAnswer,
    ShadowRequest,
    TenantList,
    TenantRequest,
)
from ecphoria.wire.embedding import EmbeddingRequest

_EMBEDDING = "/v1/embedding"


class AsyncAdministration(AsyncUpkeep):
    """Tenants, keys, gates, shadows, and the embedding model of the store."""

    async def tenants(self) -> Sequence[Tenant]:
        """List the tenants by name; needs an operator's key."""
        return (await self._ask(TenantList, "GET", "/v1/tenants")).items

    async def create_tenant(self, name: str) -> Tenant:
        """Create a tenant; needs an operator's key."""
        wanted = body_of(TenantRequest, name=name)
        return await self._ask(Tenant, "POST", "/v1/tenants", wanted, repeatable=False)

    async def erase_tenant(self, name: str) -> ErasureAnswer:
        """Erase a tenant with everything it owns; returns the counts."""
        path = f"/v1/tenants/{segment(name)}"
        return await self._ask(ErasureAnswer, "DELETE", path, repeatable=False)

    async def keys(self) -> Sequence[KeyAnswer]:
        """List the tenant's keys, without their secrets."""
        return (await self._ask(KeyList, "GET", "/v1/keys")).items

    async def issue_key(self, name: str, scopes: Sequence[Scope]) -> IssuedKeyAnswer:
        """Issue a key of the tenant; only this answer holds its secret."""
        wanted = body_of(KeyRequest, name=name, scopes=frozenset(scopes))
        return await self._ask(IssuedKeyAnswer, "POST", "/v1/keys", wanted, repeatable=False)

    async def revoke_key(self, key: str) -> None:
        """Revoke a key by its id; it is refused within seconds."""
        await self._send(Call("DELETE", f"/v1/keys/{segment(key)}", repeatable=False))

    async def gate(self) -> GateAnswer:
        """Show the gate of the tenant's recalls; needs the scope admin."""
        return await self._ask(GateAnswer, "GET", "/v1/gate")

    async def set_gate(self, gate: GateRequest) -> GateAnswer:
        """Set the tenant's own gate; it applies from the next recall."""
        return await self._ask(GateAnswer, "PUT", "/v1/gate", gate)

    async def reset_gate(self) -> None:
        """Go back to the shipped gate."""
        await self._send(Call("DELETE", "/v1/gate"))

    async def shadow(self) -> ShadowAnswer:
        """Show the default strategy, the one in its shadow, and how they compare.

        Needs the scope admin, as do the calls that change it.
        """
        return await self._ask(ShadowAnswer, "GET", "/v1/shadow")

    async def set_shadow(
        self,
        strategy: str,
        *,
        options: Mapping[str, OptionValue] | None = None,
        share: float = 0.1,
    ) -> ShadowAnswer:
        """Run a strategy in the shadow of the live one; answers stay as they are.

        Args:
            strategy: Name of the strategy to try.
            options: Its parameters, `preset` among them.
            share: Share of the cues, 0 to 1.
        """
        wanted = body_of(
            ShadowRequest, strategy=strategy, options=dict(options or {}), share=share
        )
        return await self._ask(ShadowAnswer, "PUT", "/v1/shadow", wanted)

    async def end_shadow(self) -> None:
        """Stop the shadow strategy."""
        await self._send(Call("DELETE", "/v1/shadow"))

    async def reset_shadow_report(self) -> None:
        """Reset the report of the comparison."""
        await self._send(Call("DELETE", "/v1/shadow/report"))

    async def promote_shadow(self) -> ShadowAnswer:
        """Make the shadow's strategy the tenant's default, and end the shadow."""
        return await self._ask(ShadowAnswer, "POST", "/v1/promotion", repeatable=False)

    async def undo_promotion(self) -> ShadowAnswer:
        """Undo the latest promotion."""
        return await self._ask(ShadowAnswer, "DELETE", "/v1/promotion", repeatable=False)

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
        return await self._ask(Reembedding, "POST", _EMBEDDING, wanted, repeatable=False)

    async def embedding_change(self) -> Reembedding:
        """Show the change of the model that is under way, or was the last."""
        return await self._ask(Reembedding, "GET", _EMBEDDING)

    async def cancel_embedding_change(self) -> Reembedding:
        """Cancel the change before the switch; the store goes on with its old vectors."""
        return await self._ask(Reembedding, "DELETE", _EMBEDDING)

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
