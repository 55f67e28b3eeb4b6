"""An embedder without a model, for tests of long texts that judge no ranking by meaning."""

import re
from collections.abc import Sequence
from zlib import crc32

import numpy as np

from ecphoria.ports import Vectors

__all__ = ["HashingEmbedder"]


class HashingEmbedder:
    """Gives a text the axes of its words: two texts are near if they share words.

    It takes the name and the dimension of the model whose store it writes to. The real one takes
    20 s for a text of 350,000 characters.
    """

    def __init__(self, model: str, dimension: int) -> None:
        self.model, self.dimension = model, dimension

    async def embed(self, texts: Sequence[str]) -> Vectors:
        made = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            words = set(re.findall(r"\w+", text.lower())) or {""}
            made[row, [crc32(word.encode()) % self.dimension for word in words]] = 1.0
        unit: Vectors = made / np.linalg.norm(made, axis=1, keepdims=True)
        return unit

    async def close(self) -> None:
        """Do nothing: it holds nothing."""
