from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from ecphoria.models.embedders import CachingEmbedder


class CountingEmbedder:
    """Gives each text a vector of its length, and counts the requests."""

    model = "counting"
    dimension = 2

    def __init__(self) -> None:
        self.requests = 0
        self.closed = False

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.requests += 1
        return np.array([[len(text), 1] for text in texts], dtype=np.float32)

    async def close(self) -> None:
        self.closed = True


async def test_the_second_time_a_cue_is_answered_from_memory() -> None:
    inner = CountingEmbedder()
    cached = CachingEmbedder(inner)
    first = await cached.embed(["cue"])
    second = await cached.embed(["cue"])
    np.testing.assert_array_equal(first, second)
    assert inner.requests == 1


async def test_longer_requests_pass_through() -> None:
    inner = CountingEmbedder()
    cached = CachingEmbedder(inner)
    await cached.embed(["cue"])
    assert (await cached.embed(["cue", "text"])).shape == (2, 2)
    assert inner.requests == 2


async def test_the_cue_unused_for_longest_is_forgotten_first() -> None:
    inner = CountingEmbedder()
    cached = CachingEmbedder(inner, capacity=2)
    for cue in ("a", "b", "a", "c"):
        await cached.embed([cue])
    assert inner.requests == 3
    await cached.embed(["a"])
    assert inner.requests == 3
    await cached.embed(["b"])
    assert inner.requests == 4


async def test_a_shared_vector_cannot_be_changed() -> None:
    vectors = await CachingEmbedder(CountingEmbedder()).embed(["cue"])
    with pytest.raises(ValueError, match="read-only"):
        vectors[0, 0] = 0


async def test_it_names_and_closes_the_embedder_behind() -> None:
    inner = CountingEmbedder()
    cached = CachingEmbedder(inner)
    await cached.close()
    assert (cached.model, cached.dimension, inner.closed) == ("counting", 2, True)
