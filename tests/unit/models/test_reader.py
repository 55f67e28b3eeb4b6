"""The reader against the training's own code, and its bad input."""

from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from ecphoria.errors import EncoderUnavailable, InvalidInput
from ecphoria.models.reader import GRAPH, CrossEncoder, nearest_part
from ecphoria.models.weights import Weights

QUESTION = "Where did Anna put the key?"
FILLER = "Anna: " + "The garden needs water. " * 40
MEMORIES = {
    "Anna: I put the key under the mat yesterday.": 3.5987,
    "Bob: The key was on my mind all day, Anna.": -4.8628,
    "Anna: Where did I put my bag?": -2.0988,
    "Bob: We had pasta.": -4.635,
    FILLER + "I put the key under the mat.": 5.4811,
}
"""Logits of the model in torch, as `scripts/train_reader.py` computes them."""


@pytest.fixture(scope="module")
async def reader(weights: Weights) -> AsyncIterator[CrossEncoder]:
    made = CrossEncoder(weights, threads=1)
    yield made
    await made.close()


async def test_logits_equal_those_of_the_training(reader: CrossEncoder) -> None:
    found = await reader.read(QUESTION, list(MEMORIES))
    np.testing.assert_allclose(found, list(MEMORIES.values()), atol=0.01)


async def test_a_memory_has_the_same_logit_alone_and_beside_longer_ones(
    reader: CrossEncoder,
) -> None:
    together = await reader.read(QUESTION, list(MEMORIES))
    alone = [float((await reader.read(QUESTION, [memory]))[0]) for memory in MEMORIES]
    np.testing.assert_allclose(together, alone, atol=1e-4)


async def test_odd_texts_have_a_logit(reader: CrossEncoder) -> None:
    texts = ["", " ", "\u4f60\u597d", "x" * 100_000, "\U0001f468\u200d\U0001f469"]
    assert np.isfinite(await reader.read(QUESTION * 100, texts)).all()
    assert (await reader.read(QUESTION, [])).shape == (0,)
    with pytest.raises(InvalidInput):
        await reader.read("half \ud83d of a pair", ["fine"])


@pytest.mark.parametrize("kept", [0, 1_000, 500_000])
async def test_a_truncated_file_is_told(weights: Weights, tmp_path: Path, kept: int) -> None:
    part = tmp_path / "reader.onnx"
    part.write_bytes(GRAPH.read_bytes()[:kept])
    broken = CrossEncoder(weights, threads=1, graph=part)
    with pytest.raises(EncoderUnavailable, match=r"reader\.onnx is missing or damaged"):
        await broken.read(QUESTION, ["a text"])
    await broken.close()


async def test_a_missing_file_is_told(weights: Weights, tmp_path: Path) -> None:
    broken = CrossEncoder(weights, threads=1, graph=tmp_path / "none.onnx")
    with pytest.raises(EncoderUnavailable, match=r"none\.onnx is missing or damaged"):
        await broken.read(QUESTION, ["a text"])
    await broken.close()


def test_a_long_memory_is_read_where_it_speaks_of_the_question() -> None:
    part = nearest_part(QUESTION, FILLER + "I put the key under the mat." + FILLER)
    assert "I put the key under the mat." in part
    assert len(part) <= 420
