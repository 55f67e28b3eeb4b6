import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from hypothesis import given, settings
from hypothesis import strategies as st

from ecphoria.errors import EncoderUnavailable, InvalidInput, Misconfigured
from ecphoria.models.embedders import create_embedder, embed_all
from ecphoria.models.openai import OpenAIEmbedder
from ecphoria.ports import TextsNotEmbedded
from ecphoria.settings import EmbedderSettings
from tests.local_server import local_server


@dataclass(slots=True)
class Endpoint:
    """A local server that speaks `/v1/embeddings`; tests say how it behaves."""

    url: str = ""
    statuses: list[int] = field(default_factory=list)
    delay: float = 0.0
    broken: dict[str, Any] = field(default_factory=dict)
    fails: dict[str, int] = field(default_factory=dict)
    most: int = 1_000
    indexed: bool = True
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    requests: list[dict[str, object]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)

    async def answer(self, request: Request) -> Response:
        self.requests.append(await request.json())
        self.keys.append(request.headers.get("authorization"))
        await asyncio.sleep(self.delay)
        if self.statuses:
            error = {"error": {"message": "the texts were: PRIVATE"}}
            return JSONResponse(error, status_code=self.statuses.pop(0), headers=self.headers)
        if self.body is not None:
            return Response(self.body, media_type="text/html")
        texts = self.requests[-1]["input"]
        assert isinstance(texts, list)
        failing = [self.fails[text] for text in texts if text in self.fails]
        if len(texts) > self.most or failing:
            return Response(status_code=failing[0] if failing else 413)
        rows = [
            {
                "object": "embedding",
                "index": index,
                "embedding": self.broken.get(text, [3.0, 4.0 * len(text), 0.0]),
            }
            for index, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        body: dict[str, Any] = {"object": "list", "model": "m", "data": rows[::-1], "usage": usage}
        if not self.indexed:
            body["data"] = [
                {name: value for name, value in row.items() if name != "index"} for row in rows
            ]
        return Response(json.dumps(body), media_type="application/json")


@pytest.fixture(scope="module")
def serving() -> Iterator[Endpoint]:
    endpoint = Endpoint()
    app = FastAPI()
    app.add_api_route("/v1/embeddings", endpoint.answer, methods=["POST"], response_model=None)
    with local_server(app) as url:
        endpoint.url = f"{url}/v1"
        yield endpoint


@pytest.fixture
def endpoint(serving: Endpoint) -> Endpoint:
    serving.__init__(url=serving.url)  # type: ignore[misc]  # back to its first state
    return serving


@pytest.fixture
async def embedder(endpoint: Endpoint) -> AsyncIterator[OpenAIEmbedder]:
    made = OpenAIEmbedder(
        "m", dimension=3, base_url=endpoint.url, api_key="k", batch_size=2, timeout=2, retries=1
    )
    yield made
    await made.close()


async def test_rows_are_in_order_of_the_texts_and_of_length_one(
    embedder: OpenAIEmbedder, endpoint: Endpoint
) -> None:
    vectors = await embedder.embed(["a", "bb", "ccc"])
    expected = np.array([[3, 4, 0], [3, 8, 0], [3, 12, 0]], dtype=np.float64)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
    assert vectors.dtype == np.float32
    assert [request["input"] for request in endpoint.requests] == [["a", "bb"], ["ccc"]]
    assert endpoint.keys == ["Bearer k", "Bearer k"]
    assert "dimensions" not in endpoint.requests[0]


async def test_no_texts_ask_nothing(embedder: OpenAIEmbedder, endpoint: Endpoint) -> None:
    assert (await embedder.embed([])).shape == (0, 3)
    assert endpoint.requests == []


async def test_an_empty_text_is_sent_as_a_blank(
    embedder: OpenAIEmbedder, endpoint: Endpoint
) -> None:
    await embedder.embed([""])
    assert endpoint.requests[0]["input"] == [" "]


async def test_the_dimension_is_asked_for_when_set(endpoint: Endpoint) -> None:
    embedder = OpenAIEmbedder("m", dimension=3, base_url=endpoint.url, request_dimension=True)
    await embedder.embed(["a"])
    await embedder.close()
    assert endpoint.requests[0]["dimensions"] == 3


async def test_the_factory_passes_everything_on(endpoint: Endpoint) -> None:
    options = EmbedderSettings(
        provider="openai", model="m", dimension=3, base_url=endpoint.url, batch_size=1
    )
    embedder = create_embedder(options, Path())
    await embedder.embed(["a", "b"])
    await embedder.close()
    assert (embedder.model, embedder.dimension, len(endpoint.requests)) == ("m", 3, 2)


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_failure_that_passes_is_retried(
    embedder: OpenAIEmbedder, endpoint: Endpoint, status: int
) -> None:
    endpoint.statuses = [status]
    assert (await embedder.embed(["a"])).shape == (1, 3)
    assert len(endpoint.requests) == 2


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_a_refusal_is_told_without_what_the_endpoint_said(
    embedder: OpenAIEmbedder, endpoint: Endpoint, status: int
) -> None:
    endpoint.statuses = [status]
    with pytest.raises(EncoderUnavailable, match=str(status)) as refusal:
        await embedder.embed(["a"])
    assert "PRIVATE" not in str(refusal.value)
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_refused_texts_are_the_callers_to_change(
    embedder: OpenAIEmbedder, endpoint: Endpoint, status: int
) -> None:
    endpoint.statuses = [status]
    with pytest.raises(InvalidInput, match="longer than m takes"):
        await embedder.embed(["a"])


async def test_a_slow_endpoint_is_unavailable(endpoint: Endpoint) -> None:
    endpoint.delay = 0.5
    embedder = OpenAIEmbedder("m", dimension=3, base_url=endpoint.url, timeout=0.1, retries=0)
    with pytest.raises(EncoderUnavailable, match="does not answer"):
        await embedder.embed(["a"])
    await embedder.close()


async def test_an_absent_endpoint_is_unavailable() -> None:
    embedder = OpenAIEmbedder("m", dimension=3, base_url="http://127.0.0.1:9/v1", retries=0)
    with pytest.raises(EncoderUnavailable, match="does not answer"):
        await embedder.embed(["a"])
    await embedder.close()


@pytest.mark.parametrize("body", [b"<html>welcome</html>", b"", b"{}"])
async def test_an_answer_that_is_no_vector_is_unavailable(
    embedder: OpenAIEmbedder, endpoint: Endpoint, body: bytes
) -> None:
    endpoint.body = body
    with pytest.raises(EncoderUnavailable, match="something else"):
        await embedder.embed(["a"])


async def test_another_dimension_is_refused_with_both_numbers(
    embedder: OpenAIEmbedder, endpoint: Endpoint
) -> None:
    endpoint.broken = {"a": [1.0, 0.0]}
    with pytest.raises(Misconfigured, match="vectors of 2 numbers, the setting says 3"):
        await embedder.embed(["a"])


async def test_a_vector_without_direction_is_refused(
    embedder: OpenAIEmbedder, endpoint: Endpoint
) -> None:
    endpoint.broken = {"a": [0.0, 0.0, 0.0]}
    with pytest.raises(EncoderUnavailable, match="without direction"):
        await embedder.embed(["a"])


async def test_lone_surrogates_are_refused_before_anything_is_sent(
    embedder: OpenAIEmbedder, endpoint: Endpoint
) -> None:
    with pytest.raises(InvalidInput):
        await embedder.embed(["\udc00"])
    assert endpoint.requests == []


def expected(text: str) -> list[float]:
    row = np.array([3.0, 4.0 * len(text), 0.0])
    return list(row / np.linalg.norm(row))


BROKEN = st.sampled_from(
    [500, 503, 400, 413, 422, None, [], [float("nan"), 1.0, 0.0], [float("inf"), 0.0, 0.0],
     [1.0, 2.0], [1.0] * 4, [0.0] * 3, "vector", ["a", "b", "c"], {"a": 1}, [None, 1.0, 2.0],
     [[1.0, 2.0, 3.0]]]
)  # fmt: skip


@settings(max_examples=30)
@given(faults=st.lists(st.one_of(st.none(), BROKEN.map(lambda fault: (fault,))), max_size=12))
def test_a_text_at_which_the_endpoint_fails_costs_only_itself(
    serving: Endpoint, faults: list[tuple[Any] | None]
) -> None:
    serving.__init__(url=serving.url)  # type: ignore[misc]  # back to its first state
    texts = ["good", *(f"text {place}" for place in range(len(faults)))]
    bad = {place: fault[0] for place, fault in enumerate(faults, 1) if fault is not None}
    for place, fault in bad.items():
        if isinstance(fault, int):
            serving.fails[texts[place]] = fault
        else:
            serving.broken[texts[place]] = fault

    async def embed() -> tuple[Any, set[int]]:
        embedder = OpenAIEmbedder("m", dimension=3, base_url=serving.url, batch_size=5, retries=0)
        try:
            return await embedder.embed(texts), set()
        except TextsNotEmbedded as some:
            return some.vectors, {*some.faults}
        finally:
            await embedder.close()

    vectors, refused = asyncio.run(embed())
    assert refused == bad.keys()
    for place, text in enumerate(texts):
        if place not in bad:
            np.testing.assert_allclose(vectors[place], expected(text), atol=1e-6)
    assert len(serving.requests) <= 4 + 8 * len(bad)


async def test_an_endpoint_that_takes_fewer_texts_is_sent_fewer(endpoint: Endpoint) -> None:
    endpoint.most = 3
    embedder = OpenAIEmbedder("m", dimension=3, base_url=endpoint.url, batch_size=8)
    texts = ["a" * number for number in range(1, 9)]
    for _ in range(2):
        np.testing.assert_allclose(
            await embedder.embed(texts), [expected(text) for text in texts], atol=1e-6
        )
    sizes = [len(list(request["input"])) for request in endpoint.requests]  # type: ignore[call-overload]
    assert sizes[-4:] == [2, 2, 2, 2]
    await embedder.close()


async def test_an_outage_asks_little_and_blames_no_text(endpoint: Endpoint) -> None:
    endpoint.statuses = [503] * 1_000
    embedder = OpenAIEmbedder("m", dimension=3, base_url=endpoint.url, retries=0)
    with pytest.raises(EncoderUnavailable, match="503"):
        await embedder.embed(["a"] * 100)
    assert len(endpoint.requests) == 2
    await embedder.close()


async def test_vectors_without_an_index_are_in_order(
    embedder: OpenAIEmbedder, endpoint: Endpoint
) -> None:
    endpoint.indexed = False
    vectors = await embedder.embed(["a", "bb"])
    np.testing.assert_allclose(vectors, [expected("a"), expected("bb")], atol=1e-6)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_told_and_not_followed(
    embedder: OpenAIEmbedder, endpoint: Endpoint, status: int
) -> None:
    endpoint.statuses = [status]
    endpoint.headers = {"location": f"{endpoint.url}/embeddings"}
    with pytest.raises(EncoderUnavailable, match="ECPHORIA_EMBEDDER__BASE_URL"):
        await embedder.embed(["a"])
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("texts", [["bad"], ["bad", "good"]])
async def test_stored_texts_get_a_neutral_vector_if_they_have_none(
    embedder: OpenAIEmbedder, endpoint: Endpoint, texts: list[str]
) -> None:
    endpoint.fails["bad"] = 400
    vectors = await embed_all(embedder, texts)
    wanted = [expected("." if text == "bad" else text) for text in texts]
    np.testing.assert_allclose(vectors, wanted, atol=1e-6)
