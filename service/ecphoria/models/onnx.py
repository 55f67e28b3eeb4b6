"""The default embedder: all-MiniLM-L6-v2 under onnxruntime, without torch.

The graph (`minilm.onnx`, built by `scripts/build_encoder_graph.py`) holds no weights; they are
read from the model's own `model.safetensors`.
"""

from collections.abc import Sequence
from functools import partial
from importlib import resources
from typing import Final, cast

import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # ships no types
from numpy.typing import NDArray
from tokenizers import Tokenizer

from ecphoria.models.weights import MODEL, Weights
from ecphoria.runtime import Lanes, groups, require_encodable, usable_cores

DIMENSION = 384
# Longer texts are cut into passages (docs/explanation/encoder.md).
LONGEST_TEXT = 256
"""Tokens of a text that count; the model was trained no further."""
BATCH_TOKENS = 1024
"""Padded tokens of one run of the graph; more of them no longer speed it up."""
WINDOW = 1024
"""Texts that are sorted together; bounds the memory of a large request."""
TOKENISED = 64
"""Texts that are tokenised in one turn; about as long as one run of the graph."""
SHORT_REQUEST = 4096
"""Characters up to which a request counts as short: about one run of the graph."""


def open_session(graph: bytes, weights: Weights, *, threads: int) -> onnxruntime.InferenceSession:
    """Load a graph whose weights stand in the model's own file."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Threads that spin between operators would take the cores from Neo4j beside us.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", str(weights.model.parent)
    )
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


class LocalEmbedder:
    """Encodes in two worker threads, so that a question never waits behind a long batch.

    Short requests (up to 4,096 characters) share one thread, long ones the other, in runs of
    about 1,024 tokens that callers take in turn. The graph's own threads are shared.
    """

    model: Final = MODEL
    """The name that a store keeps beside its vectors."""
    dimension: Final = DIMENSION
    """Numbers of a vector."""

    def __init__(self, weights: Weights, *, threads: int | None = None) -> None:
        """Load the graph and the tokenizer (0.1 to 0.2 s); `threads` defaults to the cores."""
        self.weights, self.threads = weights, threads or usable_cores()
        graph = resources.files(__package__).joinpath("minilm.onnx").read_bytes()
        self._session = open_session(graph, weights, threads=self.threads)
        self._tokenizer = Tokenizer.from_file(str(weights.tokenizer))
        self._tokenizer.enable_truncation(LONGEST_TEXT)
        self._tokenizer.no_padding()
        self._lanes = Lanes("encode", short=SHORT_REQUEST)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors [n, 384] in the order of the texts.

        The last bits depend on which texts share a run: compare with a tolerance.

        Raises:
            InvalidInput: A text holds a lone surrogate.
            EncoderUnavailable: The embedder was closed meanwhile.
        """
        require_encodable(texts)
        lane = self._lanes.of(texts)
        vectors = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for start in range(0, len(texts), WINDOW):
            window = list(texts[start : start + WINDOW])
            tokens: list[list[int]] = []
            for first in range(0, len(window), TOKENISED):
                part = window[first : first + TOKENISED]
                tokens += await lane.run(partial(self._tokenise, part))
            for group in groups([len(ids) for ids in tokens], BATCH_TOKENS):
                work = partial(self._encode, [tokens[index] for index in group])
                vectors[start + np.asarray(group)] = await lane.run(work)
        return vectors

    async def close(self) -> None:
        """Finish the current run, end the threads, and free the model; waiting work is refused."""
        await self._lanes.close()
        self._session = None

    def _tokenise(self, texts: list[str]) -> list[list[int]]:
        return [encoding.ids for encoding in self._tokenizer.encode_batch_fast(texts)]

    def _encode(self, tokens: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        shape = (len(tokens), max(map(len, tokens)))
        ids = np.zeros(shape, dtype=np.int64)
        mask = np.zeros(shape, dtype=np.float32)
        for row, text in enumerate(tokens):
            ids[row, : len(text)] = text
            mask[row, : len(text)] = 1
        (vectors,) = self._session.run(["vectors"], {"ids": ids, "mask": mask})
        return cast("NDArray[np.float32]", vectors)
