"""The change of a store's embedding model."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

from ecphoria.records.answered import answered

Provider = Literal["local", "sentence-transformers", "openai"]


class ReembeddingState(StrEnum):
    """The state of a change of the embedding model."""

    FILLING = "filling"
    CLEANING = "cleaning"
    DONE = "done"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"
    FAILED = "failed"


ENDED = frozenset({ReembeddingState.DONE, ReembeddingState.CANCELLED, ReembeddingState.FAILED})
"""States that nothing but a caller changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderChoice:
    """An embedder to change to.

    Attributes:
        dimension: Numbers of a vector; needed by `openai`.
        request_dimension: Ask the endpoint for this dimension (`openai`).
        base_url: Address of the endpoint; the service's setting if None (`openai`).
    """

    provider: Provider
    model: str
    dimension: int | None = None
    request_dimension: bool = False
    base_url: str | None = None


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Reembedding:
    """A change of the store's embedding model, under way or the last one."""

    state: ReembeddingState
    """`filling` makes the vectors, `cleaning` removes those of the old model after the switch."""
    provider: Provider
    """Provider of the new model."""
    model: str
    """Name of the new model."""
    dimension: int
    """Length of its vectors."""
    done: int
    """Number of vectors that are made."""
    total: int
    """Number of vectors in the store; 0 before they are counted."""
    eta_s: float | None = None
    """Expected time until the switch, in seconds; absent if it is not known."""
    started_at: datetime
    """When the change was asked for."""
    switched_at: datetime | None = None
    """When the store began to use the new model."""
    finished_at: datetime | None = None
    """When it ended."""
    code: str | None = None
    """Error code of the last failed attempt."""
    message: str | None = None
    """The failure and its remedy."""
