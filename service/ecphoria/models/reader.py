"""The reader: a cross-encoder that says how likely a memory holds the answer of a question.

It sees both texts together, so it tells apart what the vectors of an encoder do not: the topic is
there and the detail is missing. `reader.onnx` is the encoder's own stack with small changes of
rank 16 (decision 0056); the rest of the weights is read from the encoder's file.
"""

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final, cast

import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # ships no types
from numpy.typing import NDArray
from tokenizers import Tokenizer

from ecphoria.errors import EncoderUnavailable
from ecphoria.models.onnx import open_session
from ecphoria.models.weights import Weights
from ecphoria.runtime import Lane, require_encodable

GRAPH: Final = Path(__file__).with_name("reader.onnx")
"""Changes of the weights; `scripts/build_reader_graph.py` writes it."""
# As in the training (`scripts/train_reader.py`).
_LONGEST: Final = 112
"""Pieces of a pair."""
_QUESTION: Final = 32
"""Pieces of a question."""
_FIRST, _BETWEEN = 101, 102
"""The tokenizer's `[CLS]` and `[SEP]`."""
_WINDOW: Final = 420
"""Characters of a memory that are read; of a longer one the part with most words of the cue."""
_WORD: Final = re.compile(r"\w+")


class CrossEncoder:
    """Reads pairs of question and memory in one thread."""

    def __init__(self, weights: Weights, *, threads: int, graph: Path = GRAPH) -> None:
        """Prepare; the graph and the weights (90 MB) are loaded by the first reading."""
        self._weights, self._graph = weights, graph
        self._threads = threads
        self._lane = Lane("read")
        self._loaded: tuple[onnxruntime.InferenceSession, Tokenizer] | None = None

    async def read(self, question: str, memories: Sequence[str]) -> NDArray[np.float32]:
        """Give a logit a memory, [n]: above 0 it rather holds the answer.

        About 6 ms of processor time a memory of 20 pieces.

        Raises:
            InvalidInput: A text holds a lone surrogate.
            EncoderUnavailable: The reader's file is missing or damaged, or the service stops.
        """
        if not memories:
            return np.zeros(0, dtype=np.float32)
        require_encodable([question, *memories])
        return await self._lane.run(partial(self._read, question, memories))

    async def close(self) -> None:
        """Finish the current reading, end the thread, free the model; waiting work is refused."""
        self._lane.close()
        await self._lane.ended()
        self._loaded = None

    def _read(self, question: str, memories: Sequence[str]) -> NDArray[np.float32]:
        session, tokenizer = self._loaded = self._loaded or self._load()
        asked = tokenizer.encode(question, add_special_tokens=False).ids[:_QUESTION]
        head = [_FIRST, *asked, _BETWEEN]
        room = _LONGEST - len(head) - 1
        told = [
            [*tokenizer.encode(part, add_special_tokens=False).ids[:room], _BETWEEN]
            for part in (nearest_part(question, memory) for memory in memories)
        ]
        shape = (len(told), len(head) + max(map(len, told)))
        ids, kinds = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        mask = np.zeros(shape, dtype=np.float32)
        for row, pieces in enumerate(told):
            end = len(head) + len(pieces)
            ids[row, :end], kinds[row, len(head) : end], mask[row, :end] = [*head, *pieces], 1, 1
        (logits,) = session.run(["logits"], {"ids": ids, "mask": mask, "kinds": kinds})
        return cast("NDArray[np.float32]", logits)

    def _load(self) -> tuple[onnxruntime.InferenceSession, Tokenizer]:
        try:
            graph = self._graph.read_bytes()
            session = open_session(graph, self._weights, threads=self._threads)
        # onnxruntime's own errors have no common class below `Exception`.
        except Exception as error:
            raise EncoderUnavailable(
                f"The reader's file {self._graph.name} is missing or damaged; reinstall ecphoria."
            ) from error
        tokenizer = Tokenizer.from_file(str(self._weights.tokenizer))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return session, tokenizer


def nearest_part(question: str, memory: str) -> str:
    """Cut a long memory to the part that has most words of the question.

    >>> nearest_part("Where is the key?", "A short one.")
    'A short one.'
    """
    if len(memory) <= _WINDOW:
        return memory
    asked = {word.lower() for word in _WORD.findall(question) if len(word) > 2}
    starts = range(0, len(memory), _WINDOW // 2)
    parts = [memory[start : start + _WINDOW] for start in starts]
    return max(parts, key=lambda part: len(asked & {w.lower() for w in _WORD.findall(part)}))
