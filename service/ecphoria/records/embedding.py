"""The change of a store's embedding model."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from ecphoria.records.answered import answered
from ecphoria.records.asked import StrictBool, StrictInt, asked

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


@asked({"provider": "openai", "model": "text-embedding-3-small", "dimension": 1536})
@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderChoice:
    """An embedding model to change to."""

    model: Annotated[str, Field(min_length=1, max_length=200)]
    """Name of the model."""
    provider: Provider = "openai"
    """Maker of the vectors; `openai` is any endpoint with its API."""
    dimension: Annotated[StrictInt, Field(ge=1, le=4_096)] | None = None
    """Length of the vectors; needed for `openai`."""
    request_dimension: StrictBool = False
    """Ask the endpoint for this dimension (`openai`)."""
    base_url: Annotated[str, Field(min_length=1, max_length=2_000)] | None = None
    """Address of the endpoint, up to and without `/embeddings`; the setting if absent."""


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
    request_dimension: bool = False
    """Whether the endpoint is asked for this dimension."""
    base_url: str | None = None
    """Address of the endpoint; absent if it is that of the setting."""
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
