"""Remembers the vectors of recent cues: the same question is often asked twice."""

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from ecphoria.ports.world import Embedder

__all__ = ["CachingEmbedder"]


class CachingEmbedder:
    """Answers single texts from the last `capacity` ones; longer requests pass through.

    It keeps hashes, not texts. Vectors of single texts are read-only, as they are shared.

    Attributes:
        hits: Answers given without the embedder behind.
    """

    def __init__(self, embedder: Embedder, *, capacity: int = 1_000) -> None:
        self.hits = 0
        self._embedder = embedder
        self._capacity = capacity
        self._vectors: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()

    @property
    def model(self) -> str:
        """The name of the model behind."""
        return self._embedder.model

    @property
    def dimension(self) -> int:
        """Numbers of a vector."""
        return self._embedder.dimension

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors [n, dimension] in the order of the texts."""
        if len(texts) != 1:
            return await self._embedder.embed(texts)
        key = blake2b(texts[0].encode(errors="surrogatepass"), digest_size=16).digest()
        if (known := self._vectors.get(key)) is not None:
            self.hits += 1
            self._vectors.move_to_end(key)
            return known
        vectors = await self._embedder.embed(texts)
        vectors.setflags(write=False)
        self._vectors[key] = vectors
        if len(self._vectors) > self._capacity:
            self._vectors.popitem(last=False)
        return vectors

    async def close(self) -> None:
        """Close the embedder behind."""
        await self._embedder.close()
