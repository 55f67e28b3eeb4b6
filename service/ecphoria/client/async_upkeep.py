"""Calls that look after a memory, of the asynchronous client."""

from ecphoria.client.async_sending import AsyncSender
from ecphoria.client.exchange import Call
from ecphoria.wire.doctor import CheckupAnswer

__all__ = ["AsyncUpkeep"]


class AsyncUpkeep(AsyncSender):
    """What keeps a memory sound."""

    async def doctor(self, *, timeout_s: float = 600.0) -> CheckupAnswer:
        """Check what must hold of every graph, and recount what is counted; changes nothing.

        Needs the scope admin.

        Args:
            timeout_s: Longest to wait for the end; it takes longer the larger the memory.
        """
        call = Call(method="GET", path="/v1/doctor", repeatable=True, timeout_s=timeout_s)
        return CheckupAnswer.model_validate_json((await self._send(call)).content)
