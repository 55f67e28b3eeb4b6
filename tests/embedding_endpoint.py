"""A local server that speaks OpenAI's `/v1/embeddings`: a second space of another dimension.

Its vectors are those of the local encoder, projected at random: texts that are near stay near,
and no number of one space has a meaning in the other.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from ecphoria.models.embedders import create_embedder
from ecphoria.settings import EmbedderSettings
from tests.conftest import CACHE
from tests.local_server import local_server

__all__ = ["EmbeddingEndpoint", "embedding_endpoint"]


@dataclass(slots=True)
class EmbeddingEndpoint:
    """How it answers, and how many texts it was sent.

    Attributes:
        statuses: Status codes of the next answers, before it answers well again.
        pause_s: Pause before each answer.
        fails: Gives the status of an answer to a request that has a text, None for a good one.
    """

    url: str = ""
    dimension: int = 256
    statuses: list[int] = field(default_factory=list)
    pause_s: float = 0.0
    texts: list[str] = field(default_factory=list)
    fails: Callable[[str], int | None] = lambda _: None


@contextmanager
def embedding_endpoint(dimension: int = 256) -> Iterator[EmbeddingEndpoint]:
    """Serve until the block ends."""
    endpoint = EmbeddingEndpoint(dimension=dimension)
    encoder = create_embedder(EmbedderSettings(), CACHE)
    into = np.random.default_rng(7).normal(size=(encoder.dimension, dimension))
    app = FastAPI()

    @app.post("/v1/embeddings")
    async def embeddings(request: Request) -> Response:
        if endpoint.statuses:
            return Response(status_code=endpoint.statuses.pop(0))
        texts = (await request.json())["input"]
        endpoint.texts += texts
        if failing := [status for text in texts if (status := endpoint.fails(text))]:
            return Response(status_code=failing[0])
        time.sleep(endpoint.pause_s)  # noqa: ASYNC251 (one after the other)
        vectors = (await encoder.embed(texts)) @ into
        data = [
            {"index": index, "embedding": vector.tolist()} for index, vector in enumerate(vectors)
        ]
        return JSONResponse({"data": data})

    with local_server(app) as url:
        endpoint.url = f"{url}/v1"
        yield endpoint
