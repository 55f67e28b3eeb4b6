import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest
from prometheus_client import CollectorRegistry
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ecphoria.errors import Conflict
from ecphoria.http.middleware import BodyLimit, RequestEdge
from ecphoria.http.traits import SMALL
from ecphoria.telemetry import Metrics, Spans

Endpoint = Callable[[Request], Awaitable[Response]]


def app(endpoint: Endpoint, limit: int = 10) -> tuple[ASGIApp, Metrics]:
    async def inner(scope: Scope, receive: Receive, send: Send) -> None:
        await (await endpoint(Request(scope, receive)))(scope, receive, send)

    metrics = Metrics(CollectorRegistry())
    return RequestEdge(
        BodyLimit(inner, limit=limit, seconds=5), metrics=metrics, spans=Spans()
    ), metrics


async def ask(endpoint: Endpoint, **request: Any) -> httpx.Response:
    transport = httpx.ASGITransport(app(endpoint)[0])
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        return await client.post("/somewhere", **request)


async def echo(request: Request) -> Response:
    return Response(await request.body())


@pytest.mark.parametrize("size", [0, 9, 10])
async def test_a_body_within_the_bound_passes(size: int) -> None:
    assert (await ask(echo, content=b"x" * size)).content == b"x" * size


async def test_the_route_is_asked_for_long_bodies_only() -> None:
    asked: list[str] = []

    async def inner(scope: Scope, receive: Receive, send: Send) -> None:
        await (await echo(Request(scope, receive)))(scope, receive, send)

    def is_large(scope: Scope) -> bool:
        asked.append(scope["method"])
        return True

    made = BodyLimit(inner, limit=400_000, seconds=5, is_large=is_large)
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(made), base_url="http://test"
    ) as client:
        await client.get("/somewhere")
        await client.post("/somewhere", content=b"x" * SMALL)
        assert asked == []
        long = b"x" * (SMALL + 1)
        assert (await client.put("/somewhere", content=long)).content == long
        assert (await client.patch("/somewhere", content=chunks(long))).content == long
    assert asked == ["PUT", "PATCH"]


async def chunks(body: bytes) -> AsyncIterator[bytes]:
    yield body


async def test_a_body_over_the_bound_is_refused_by_its_length() -> None:
    async def never(_: Request) -> Response:
        raise AssertionError("the body was accepted")

    answer = await ask(never, content=b"x" * 11)
    assert answer.status_code == 413
    assert answer.json()["fields"] == {"limit": 10}


async def test_a_body_over_the_bound_is_refused_by_its_bytes() -> None:
    async def pieces() -> Any:
        for _ in range(4):
            yield b"xxx"

    assert (await ask(echo, content=pieces())).status_code == 413


async def test_the_unexpected_is_answered_without_its_inside(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def broken(_: Request) -> Response:
        raise ValueError("the secret word is marmalade")

    answer = await ask(broken, headers={"X-Request-Id": "r-1"})
    assert answer.status_code == 500
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.headers["X-Request-Id"] == answer.json()["request_id"] == "r-1"
    assert answer.json()["type"] == "/errors/internal"
    assert "marmalade" not in answer.text
    assert "ValueError" not in answer.text
    capsys.readouterr()


async def test_our_errors_are_answered_wherever_they_are_raised() -> None:
    async def refused(_: Request) -> Response:
        raise Conflict

    assert (await ask(refused)).status_code == 409


async def test_an_answer_that_breaks_off_is_not_mended() -> None:
    async def pieces() -> Any:
        yield b"half"
        raise ValueError("the rest is lost")

    async def half(_: Request) -> Response:
        return StreamingResponse(pieces())

    with pytest.raises(ValueError, match="the rest"):
        await ask(half)


async def test_other_protocols_pass_untouched() -> None:
    seen: list[str] = []

    async def inner(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["type"])

    async def receive() -> Any:
        return {}

    async def send(_: Any) -> None:
        return

    made = RequestEdge(
        BodyLimit(inner, limit=1, seconds=1), metrics=Metrics(CollectorRegistry()), spans=Spans()
    )
    await made({"type": "lifespan"}, receive, send)
    assert seen == ["lifespan"]


async def test_figures_name_no_path() -> None:
    made, metrics = app(echo)
    transport = httpx.ASGITransport(made)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        await client.post("/private-path")
    labels = [s.labels for family in metrics.registry.collect() for s in family.samples]
    assert "private-path" not in json.dumps(labels)
