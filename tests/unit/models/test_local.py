import asyncio
import json
from pathlib import Path

import numpy as np
import pytest

from ecphoria.errors import InvalidInput
from ecphoria.models.onnx import LocalEmbedder

REFERENCE = json.loads((Path(__file__).parent / "reference.json").read_text())
TEXTS = [entry["text"] * entry["repeat"] for entry in REFERENCE["texts"]]
TOLERANCE = 1e-5


async def test_vectors_are_unit_rows_of_float32(encoder: LocalEmbedder) -> None:
    vectors = await encoder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), encoder.dimension) == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=TOLERANCE)


async def test_vectors_equal_those_of_the_reference_implementation(encoder: LocalEmbedder) -> None:
    vectors = await encoder.embed(TEXTS)
    expected = [entry["first"] for entry in REFERENCE["texts"]]
    np.testing.assert_allclose(vectors[:, :8], expected, atol=TOLERANCE)


async def test_no_texts_give_no_vectors(encoder: LocalEmbedder) -> None:
    assert (await encoder.embed([])).shape == (0, 384)


async def test_a_text_alone_and_in_a_batch_have_the_same_vector(encoder: LocalEmbedder) -> None:
    together = await encoder.embed(TEXTS)
    alone = np.concatenate([await encoder.embed([text]) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=TOLERANCE)


async def test_order_of_texts_does_not_change_their_vectors(encoder: LocalEmbedder) -> None:
    texts = [f"{'word ' * (7 * i % 40)}number {i}" for i in range(80)]
    order = np.random.default_rng(7).permutation(len(texts))
    vectors = await encoder.embed(texts)
    shuffled = await encoder.embed([texts[i] for i in order])
    np.testing.assert_allclose(shuffled, vectors[order], atol=TOLERANCE)


async def test_what_follows_the_256th_token_does_not_count(encoder: LocalEmbedder) -> None:
    start = "lake house " * 200
    first, second = await encoder.embed([start, start + "and something else entirely"])
    np.testing.assert_allclose(first, second, atol=TOLERANCE)
    shorter = (await encoder.embed(["lake house " * 100 + "and something else entirely"]))[0]
    assert first @ shorter < 1 - TOLERANCE


async def test_case_does_not_count(encoder: LocalEmbedder) -> None:
    lower, upper = await encoder.embed(["anna went to berlin", "ANNA went to Berlin"])
    np.testing.assert_allclose(lower, upper, atol=TOLERANCE)


async def test_related_texts_are_nearer_than_unrelated(encoder: LocalEmbedder) -> None:
    cue, near, far = await encoder.embed(
        ["Where does Anna live?", "Anna moved to a house by the lake.", "Tax forms are due."]
    )
    assert cue @ near > cue @ far + 0.2


@pytest.mark.parametrize("text", ["\x00\x01", "\ufffd", " \n\t ", "\U0001f468\u200d\U0001f469"])
async def test_odd_characters_have_a_vector(encoder: LocalEmbedder, text: str) -> None:
    assert np.isfinite(await encoder.embed([text])).all()


async def test_lone_surrogates_are_refused_by_index(encoder: LocalEmbedder) -> None:
    with pytest.raises(InvalidInput, match="Text 1 ") as refusal:
        await encoder.embed(["fine", "half \ud83d of a pair"])
    assert refusal.value.fields == {"index": 1, "offset": 5}


async def test_a_question_overtakes_a_long_batch(encoder: LocalEmbedder) -> None:
    batch = asyncio.create_task(encoder.embed(["a rather long text " * 60] * 200))
    await asyncio.sleep(0.05)
    for _ in range(3):
        await encoder.embed(["Where does Anna live?"])
    assert not batch.done()
    batch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await batch


async def test_long_batches_take_turns(encoder: LocalEmbedder) -> None:
    long = ["a rather long text " * 60]
    first = asyncio.create_task(encoder.embed(long * 60))
    await asyncio.sleep(0.05)
    await encoder.embed(long * 8)
    assert not first.done()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
