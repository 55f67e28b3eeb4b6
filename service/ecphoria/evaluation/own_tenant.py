"""A tenant that an evaluation has for itself."""

import contextlib
from collections.abc import AsyncIterator, Callable

from ecphoria.client import AsyncClient
from ecphoria.errors import NotFound

__all__ = ["Connect", "own_tenant"]

Connect = Callable[[str | None], AsyncClient]
"""Opens a client that acts for the tenant of this name, or for none."""


@contextlib.asynccontextmanager
async def own_tenant(
    connect: Connect, name: str, *, keep: bool = False
) -> AsyncIterator[AsyncClient]:
    """Make a tenant of a new name, and erase it at the end however that comes, unless kept."""
    async with connect(None) as operator, connect(name) as client:
        await operator.create_tenant(name)
        try:
            yield client
        finally:
            if not keep:
                with contextlib.suppress(NotFound):
                    await operator.erase_tenant(name)
