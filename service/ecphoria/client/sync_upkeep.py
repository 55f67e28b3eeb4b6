# Generated from async_upkeep.py by scripts/generate_sync_client.py; edit that one.
"""Calls that look after a memory, of the synchronous client."""

from ecphoria.client.exchange import Call
from ecphoria.client.sync_sending import Sender
from ecphoria.wire.doctor import CheckupAnswer

__all__ = ["Upkeep"]


class Upkeep(Sender):
    """What keeps a memory sound."""

    def doctor(self, *, timeout_s: float = 600.0) -> CheckupAnswer:
        """Check what must hold of every graph, and recount what is counted; changes nothing.

        Needs the scope admin.

        Args:
            timeout_s: Longest to wait for the end; it takes longer the larger the memory.
        """
        call = Call(method="GET", path="/v1/doctor", repeatable=True, timeout_s=timeout_s)
        return CheckupAnswer.model_validate_json((self._send(call)).content)
