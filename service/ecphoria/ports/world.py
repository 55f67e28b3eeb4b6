"""Time and vectors."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Clock", "Embedder", "Vector", "Vectors"]

Vector = NDArray[np.float32]
Vectors = NDArray[np.float32]


class Clock(Protocol):
    """The time, aware UTC."""

    def now(self) -> datetime:
        """Tell the present instant."""
        ...


class Embedder(Protocol):
    """A model that turns texts into unit vectors."""

    @property
    def model(self) -> str:
        """Name the model; a store is bound to one."""
        ...

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts, off the event loop.

        Returns:
            Float32 array [len(texts), dimension] of unit rows.

        Raises:
            EncoderUnavailable: The model does not answer.
        """
        ...

    async def close(self) -> None:
        """Free the model."""
        ...
