"""What a step of consolidation is."""

from collections.abc import Mapping
from typing import Protocol

from ecphoria.model.ids import TenantId

__all__ = ["Skipped", "Step"]


class Skipped(Exception):
    """A step cannot be done here; the message tells why and what would help."""


class Step(Protocol):
    """One pass over a tenant's graph; running it again changes nothing."""

    name: str

    async def run(self, tenant: TenantId, cycle: str) -> Mapping[str, int]:
        """Do it, and tell what was touched, by kind.

        Raises:
            Skipped: It cannot be done here.
        """
        ...
