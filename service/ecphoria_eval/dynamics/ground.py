"""Tenants and vectors with known cosines, on which every generated task stands."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecphoria.client import AsyncClient
from ecphoria.errors import EcphoriaError
from ecphoria.records.episode import NewEpisode
from ecphoria_eval.run import Connect, own_tenant

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The service that is measured.

    Attributes:
        name: Prefix of the tenants' names, which must be new.
        dimension: Length of a vector.
        seed: Of whatever is drawn.
    """

    connect: Connect
    name: str
    dimension: int
    seed: int

    def tenant(self, task: str) -> AbstractAsyncContextManager[AsyncClient]:
        """Have a tenant for a task, erased at the end however that comes."""
        return own_tenant(self.connect, f"{self.name}-{task}")


def axis(place: int, dimension: int) -> Floats:
    """Give the direction of one coordinate; any two are orthogonal."""
    direction = np.zeros(dimension)
    direction[place] = 1.0
    return direction


def lean(towards: Floats, aside: Floats, cosine: float) -> Floats:
    """Give the unit vector at a cosine to one direction, the rest of it along another.

    >>> lean(axis(0, 2), axis(1, 2), 0.6)
    array([0.6, 0.8])
    """
    return cosine * towards + float(np.sqrt(1.0 - cosine**2)) * aside


async def remember(client: AsyncClient, items: Sequence[NewEpisode]) -> list[str]:
    """Append all of them; give their ids in order.

    Raises:
        EcphoriaError: The service refuses one of them.
    """
    answer = await client.append_batch(items)
    ids = [result.id for result in answer.results]
    if None in ids:
        raise EcphoriaError("The service refused generated memories; this is a bug.")
    return [one for one in ids if one is not None]


_PAUSE_S, _WAITS = 0.2, 600


async def drained(client: AsyncClient) -> None:
    """Wait until all recalls were learned from.

    Raises:
        EcphoriaError: They were not within two minutes.
    """
    for _ in range(_WAITS):
        if (await client.stats()).recalls_pending == 0:
            return
        await asyncio.sleep(_PAUSE_S)
    raise EcphoriaError("The service did not learn from its recalls within two minutes.")
