"""Seams with more than one implementation: clock, embedder, chat model, archive, recall."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ecphoria.errors import EcphoriaError
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import Cue, RecallOptions, RecallResult
from ecphoria.records.upkeep import Restored

Vector = NDArray[np.float32]
Vectors = NDArray[np.float32]


class Clock(Protocol):
    """The time, aware UTC."""

    def now(self) -> datetime:
        """Tell the present instant."""
        ...


class Embedder(Protocol):
    """A model that turns texts into unit vectors."""

    @property
    def model(self) -> str:
        """Name the model; a store is bound to one."""
        ...

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts, off the event loop.

        Returns:
            Float32 array [len(texts), dimension] of unit rows.

        Raises:
            EncoderUnavailable: The model does not answer.
            TextsNotEmbedded: Some of several texts have no vector.
        """
        ...

    async def close(self) -> None:
        """Free the model."""
        ...


class Reader(Protocol):
    """A model that reads a question beside memories; it is an optional extra."""

    async def read(self, question: str, memories: Sequence[str]) -> Vectors:
        """Give a float32 logit a memory, [n]: above 0 it rather holds the answer.

        Raises:
            InvalidInput: A text holds a lone surrogate.
            EncoderUnavailable: The model cannot be loaded, or the service stops.
        """
        ...

    async def close(self) -> None:
        """Finish the current reading; waiting work is refused."""
        ...


class TextsNotEmbedded(Exception):
    """Some texts of a request have no vector; those of the others are here.

    Args:
        vectors: Unit rows [n, dimension] in the order of the texts, zeros where there is none.
        faults: Why a text has none, by its place.
    """

    def __init__(self, vectors: Vectors, faults: Mapping[int, EcphoriaError]) -> None:
        first = min(faults)
        super().__init__(f"{len(faults)} of {len(vectors)} texts have no vector: {faults[first]}")
        self.vectors = vectors
        self.faults = faults


class NothingUsable(Exception):
    """A language model was asked, and gave nothing that can be used.

    Attributes:
        calls: Number of requests that were made.
        tokens: Their tokens, read and written together.
        written: Tokens that the model wrote, of these.
    """

    calls: int = 1
    tokens: int = 0
    written: int = 0


class NoAnswer(NothingUsable):
    """The model cannot be asked now; the message gives the remedy, and quotes nothing.

    Attributes:
        is_of_text: Whether the text may be the reason, as for a failure of the endpoint or an
            answer that does not end; not where a key, an address or a budget is at fault.
    """

    def __init__(self, message: str, *, calls: int = 1, is_of_text: bool = False) -> None:
        super().__init__(message)
        self.calls = calls
        self.is_of_text = is_of_text


class TextRefused(NothingUsable):
    """The model's endpoint does not take this text; another it may."""


class Form(StrEnum):
    """The form of an answer, as the endpoint enforces it."""

    SCHEMA = "json_schema"
    JSON = "json_object"
    TEXT = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonSchema:
    """A named JSON schema, for `Form.SCHEMA`."""

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer of a chat model.

    Attributes:
        tokens: Read and written together; 0 where the endpoint does not count.
        written: Tokens that the model wrote.
        is_cut: Whether the endpoint stopped at its limit of tokens.
        is_enough: Whether the caller stopped the stream.
    """

    text: str
    tokens: int
    written: int = 0
    is_cut: bool = False
    is_enough: bool = False


class Chat(Protocol):
    """A language model that answers one message at a time."""

    @property
    def model(self) -> str:
        """Its name."""
        ...

    async def ask(
        self,
        purpose: str,
        instruction: str,
        text: str,
        *,
        form: Form = Form.TEXT,
        schema: JsonSchema | None = None,
        heard: Callable[[str], bool | None] | None = None,
    ) -> Reply:
        """Ask it, for a purpose that is counted.

        Args:
            purpose: Label of the tokens in the metrics.
            instruction: The system message.
            text: The user's message.
            form: The form that the endpoint is to enforce.
            schema: The schema of `Form.SCHEMA`.
            heard: Told each piece of the answer as it comes, where the endpoint streams; an
                endpoint that does not stream is heard once, at the end. It returns whether it
                has heard enough; the stream is then closed.

        Raises:
            NoAnswer: It does not answer, or with no answer of a model.
            TextRefused: It does not take this text, or not this form.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


class ArchiveReader(Protocol):
    """The reads of the archive that a write needs."""

    async def restore(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Restored:
        """Put archived episodes back into the graph; return the damaged records."""
        ...

    async def forget(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> None:
        """Wipe the records of archived episodes that are about to be deleted."""
        ...


class Recalls(Protocol):
    """Answers cues."""

    async def recall(
        self, tenant: TenantId, cue: Cue, options: RecallOptions, *, record: bool = True
    ) -> RecallResult:
        """Recall a cue, without a trace if `record` is false."""
        ...
