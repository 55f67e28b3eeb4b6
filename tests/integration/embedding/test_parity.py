import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ecphoria.errors import EncoderUnavailable, InvalidInput
from ecphoria.models.embedders import create_embedder
from ecphoria.models.weights import find_weights
from ecphoria.ports import Embedder
from ecphoria.settings import EmbedderSettings

pytestmark = pytest.mark.reference

REFERENCE = Path(__file__).parents[2] / "unit" / "models" / "reference.json"
KNOWN = json.loads(REFERENCE.read_text())["texts"]
TEXTS = {
    "short": "Where did Anna move to?",
    "long": "The boat left the harbour late and came back long after dark. " * 60,
    "empty": "",
    "blank": " \n\t ",
    "emoji": "We got the flat 🎉🚀 so happy 😀👩‍👩‍👧",
    "mixed case": "tHe QUICK Brown fOX JUMPS oVeR bErLiN",
    "chinese": "我昨天在北京吃了烤鸭。味道非常好。",
    "accents": "Zoë brûlée naïve Łódź straße",
    "control": "a\x00b\x07c\u200bd",
    "one long word": "x" * 5_000,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    weights = find_weights(cache_dir=tmp_path_factory.mktemp("cache"))
    assert weights is not None
    return weights.model.parent


@pytest.fixture(scope="module")
def reference(folder: Path) -> Iterator[Embedder]:
    options = EmbedderSettings(provider="sentence-transformers", weights_dir=folder, threads=2)
    embedder = create_embedder(options, folder)
    yield embedder
    asyncio.run(embedder.close())


@pytest.fixture(scope="module")
def light(folder: Path) -> Iterator[Embedder]:
    embedder = create_embedder(EmbedderSettings(weights_dir=folder), folder)
    yield embedder
    asyncio.run(embedder.close())


def test_both_have_one_name_and_dimension(reference: Embedder, light: Embedder) -> None:
    assert (reference.model, reference.dimension) == (light.model, light.dimension)


@pytest.mark.parametrize("kind", TEXTS)
async def test_the_light_encoder_gives_the_vectors_of_the_reference(
    reference: Embedder, light: Embedder, kind: str
) -> None:
    (expected,) = await reference.embed([TEXTS[kind]])
    (found,) = await light.embed([TEXTS[kind]])
    assert expected @ found >= 0.99999


async def test_batches_agree_too(reference: Embedder, light: Embedder) -> None:
    texts = [f"{text[: 40 * i]} {i}" for i, text in enumerate(list(TEXTS.values()) * 8)]
    expected, found = await reference.embed(texts), await light.embed(texts)
    assert (np.sum(expected * found, axis=1) >= 0.99999).all()


async def test_the_committed_reference_is_what_the_reference_gives(reference: Embedder) -> None:
    vectors = await reference.embed([entry["text"] * entry["repeat"] for entry in KNOWN])
    np.testing.assert_allclose(vectors[:, :8], [entry["first"] for entry in KNOWN], atol=1e-5)


async def test_the_reference_refuses_lone_surrogates(reference: Embedder) -> None:
    with pytest.raises(InvalidInput, match="Text 0 "):
        await reference.embed(["\ud800"])


async def test_the_reference_takes_no_texts(reference: Embedder) -> None:
    assert (await reference.embed([])).shape == (0, 384)


async def test_a_question_overtakes_a_long_batch(reference: Embedder) -> None:
    batch = asyncio.create_task(reference.embed([TEXTS["long"]] * 400))
    await asyncio.sleep(0.05)
    await reference.embed([TEXTS["short"]])
    assert not batch.done()
    batch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await batch


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    options = EmbedderSettings(provider="sentence-transformers", weights_dir=tmp_path)
    with pytest.raises(EncoderUnavailable, match="cannot load"):
        create_embedder(options, tmp_path)
