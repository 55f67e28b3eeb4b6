"""Bodies of the change of the embedding model."""

from pydantic import ConfigDict, Field

from ecphoria.records.embedding import EmbedderChoice, Provider
from ecphoria.wire.base import Request, StrictBool, StrictInt


class EmbeddingRequest(Request):
    """An embedding model to change to."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"provider": "openai", "model": "text-embedding-3-small", "dimension": 1536}
            ]
        }
    )

    model: str = Field(min_length=1, max_length=200)
    """Name of the model."""
    provider: Provider = "openai"
    """Maker of the vectors; `openai` is any endpoint with its API."""
    dimension: StrictInt | None = Field(default=None, ge=1, le=4_096)
    """Length of the vectors; needed for `openai`."""
    request_dimension: StrictBool = False
    """Ask the endpoint for this dimension (`openai`)."""
    base_url: str | None = Field(default=None, min_length=1, max_length=2_000)
    """Address of the endpoint, up to and without `/embeddings`; the setting if absent."""

    def to_model(self) -> EmbedderChoice:
        """Convert it to what the service takes."""
        return EmbedderChoice(**self.model_dump())
