"""Calls of the shadow, on the asynchronous client."""

from collections.abc import Mapping

from ecphoria.client.async_sending import AsyncSender
from ecphoria.client.exchange import Call, body_of
from ecphoria.model.recall import OptionValue
from ecphoria.wire.shadow import ShadowAnswer, ShadowRequest

__all__ = ["AsyncShadowing"]


class AsyncShadowing(AsyncSender):
    """What tries a second strategy beside the live one."""

    async def shadow(self) -> ShadowAnswer:
        """Show the default strategy, the one in its shadow, and how they compare.

        Needs the scope admin, as do the calls that change it.
        """
        return await self._get("/v1/shadow", ShadowAnswer)

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
        given = {"strategy": strategy, "options": dict(options or {}), "share": share}
        wanted = body_of(ShadowRequest, given)
        call = Call(method="PUT", path="/v1/shadow", repeatable=True, body=wanted)
        return ShadowAnswer.model_validate_json((await self._send(call)).content)

    async def end_shadow(self) -> None:
        """Run nothing in the shadow."""
        await self._send(Call(method="DELETE", path="/v1/shadow", repeatable=True))

    async def reset_shadow_report(self) -> None:
        """Begin to count and compare anew."""
        await self._send(Call(method="DELETE", path="/v1/shadow/report", repeatable=True))

    async def promote_shadow(self) -> ShadowAnswer:
        """Make the shadow's strategy the tenant's default, and end the shadow."""
        call = Call(method="POST", path="/v1/promotion", repeatable=False)
        return ShadowAnswer.model_validate_json((await self._send(call)).content)

    async def undo_promotion(self) -> ShadowAnswer:
        """Go back to the default before the latest promotion."""
        call = Call(method="DELETE", path="/v1/promotion", repeatable=False)
        return ShadowAnswer.model_validate_json((await self._send(call)).content)
