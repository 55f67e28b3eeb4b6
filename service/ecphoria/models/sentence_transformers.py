"""An embedder for any model of sentence-transformers; needs torch."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch  # type: ignore[import-not-found]  # an extra, absent where types are checked
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found]  # the same extra

from ecphoria.errors import EncoderUnavailable
from ecphoria.runtime import Lane, groups, require_encodable

GROUP = 4_096
"""Characters that are encoded before another request gets its turn. A stop waits for a group, and
a process that ends while torch computes is aborted."""
CHARACTERS_A_TOKEN = 4


class SentenceTransformersEmbedder:
    """Encodes in one worker thread, in groups of texts that requests take in turn.

    One thread only: the library's tokenizers change their own state while they work.
    """

    def __init__(
        self, model: str, *, weights_dir: Path | None = None, threads: int | None = None
    ) -> None:
        """Load the model (seconds, and a download when it is not on this machine).

        Args:
            model: A name on the model hub, kept beside the vectors.
            weights_dir: The model's folder, when it is not to be taken from the hub.
            threads: Cores that torch may use in this process; its own choice by default.

        Raises:
            EncoderUnavailable: The model cannot be found, fetched or read.
        """
        if threads is not None:
            torch.set_num_threads(threads)
        source = model if weights_dir is None else str(weights_dir)
        try:
            self._encoder = SentenceTransformer(source)
        except (OSError, ValueError) as error:
            raise EncoderUnavailable(
                f"sentence-transformers cannot load {source}; check the name, the network, or "
                "set the weights directory to the model's folder.",
                model=model,
            ) from error
        self.model = model.removeprefix("sentence-transformers/")
        self.dimension = int(self._encoder.encode([""]).shape[1])
        self._lane = Lane("encode")

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors [n, dimension] in the order of the texts.

        Raises:
            InvalidInput: A text holds a lone surrogate.
            EncoderUnavailable: The embedder was closed meanwhile.
        """
        require_encodable(texts)
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        counted = CHARACTERS_A_TOKEN * (self._encoder.max_seq_length or GROUP)
        for group in groups([min(len(text), counted) for text in texts], GROUP):
            work = partial(self._encode, [texts[place] for place in group])
            # A cue is urgent: a caller waits for it, and it takes a fraction of a group.
            vectors[group] = await self._lane.run(work, is_urgent=len(texts) == 1)
        return vectors

    async def close(self) -> None:
        """Finish the current group and end the thread; waiting work is refused."""
        self._lane.close()
        await self._lane.ended()

    def _encode(self, texts: list[str]) -> NDArray[np.float32]:
        vectors = self._encoder.encode(
            texts, batch_size=len(texts), normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)
