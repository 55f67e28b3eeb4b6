"""Every method of both clients calls an operation of the API, and every operation has a method."""

import asyncio
import inspect
import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, get_type_hints

import httpx
import pytest

from ecphoria import AsyncClient, Client, Retries
from ecphoria.client.filters import EpisodeFilters, RecallFilters
from ecphoria.errors import EcphoriaError, InvalidInput
from ecphoria.records.asked import named
from ecphoria.records.calibration import Sample
from ecphoria.records.episode import Extracted, NewEpisode
from ecphoria.records.fact import PredicateClass
from ecphoria.records.item import ItemKey, ItemWrite
from ecphoria.records.recall import Filters
from ecphoria.records.tenant import EVIDENCE_NAMES, Scope
from ecphoria.wire.episodes import EpisodeQuery

OPENAPI = Path(__file__).parents[2] / "architecture" / "openapi.json"
WITHOUT_A_METHOD = {
    ("post", "/explorer/redeem"): "called by the explorer's page",
    ("get", "/browser-guide/{file}"): "a page for Neo4j Browser",
    ("get", "/errors/{code}"): "a page for people",
    ("get", "/healthz"): "asked by supervisors",
    ("get", "/metrics"): "read by Prometheus",
    ("get", "/v1/browser"): "asked by the command line",
    ("delete", "/v1/episodes/{episode}/pin"): "`pin(pinned=False)`",
    ("post", "/v1/ask/stream"): "`ask(watch=...)`",
}
"""Operations that no method calls, each with the reason."""
NO_CALL = frozenset({"close", "aclose"})
ONCE = Retries(limit=0)
SAMPLES: dict[str, object] = {
    "Sequence[records.episode.NewEpisode]": [NewEpisode(text="The kettle is green.")],
    "NewEpisode": NewEpisode(text="The kettle is green."),
    "ItemWrite": [ItemWrite(namespace=("n",), key="k", value={})],
    "ItemKey": [ItemKey(namespace=("n",), key="k")],
    "Extracted": Extracted(),
    "Scope": [Scope.READ],
    "PredicateClass": PredicateClass.MULTI,
    "retract": "retract",
    "accepted": "accepted",
    "calibration.Sample": [Sample(evidence=dict.fromkeys(EVIDENCE_NAMES, 0.5), answerable=True)],
    "Sequence": ["a" * 32],
    "Mapping": {"a": 1},
    "datetime": datetime(2026, 3, 1, tzinfo=UTC),
    "bool": True,
    "int": 1,
    "float": 1.0,
}
"""Values of required parameters by a part of their types; others are texts."""
MORE: dict[str, dict[str, object]] = {"update": {"metadata": {"a": 1}}, "erase": {"session": "s"}}
"""Optional arguments without which a method asks for nothing."""


def operations() -> list[tuple[str, str]]:
    paths = json.loads(OPENAPI.read_text(encoding="utf-8"))["paths"]
    return [(method, path) for path, methods in paths.items() for method in methods]


def operation_of(method: str, path: str) -> tuple[str, str] | None:
    """Find the operation of a request: of those that fit, the one with the fewest parameters."""
    fitting = [
        (name, template)
        for name, template in operations()
        if name == method.lower()
        and re.fullmatch(re.sub(r"\\\{\w+\\\}|\{\w+(:path)?\}", "[^/]+", template), path)
    ]
    return min(fitting, key=lambda each: each[1].count("{"), default=None)


class Noting:
    """Notes what it is asked, and answers nothing."""

    def __init__(self) -> None:
        self.seen: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        raise httpx.ConnectError("noted")


def methods() -> Iterator[str]:
    """Name the methods of the client and of its namespaces: `recall`, `facts.list`."""
    client = Client("http://memory.test", transport=httpx.MockTransport(Noting()))
    for name, found in inspect.getmembers(client):
        if name.startswith("_") or name in NO_CALL:
            continue
        if callable(found):
            yield name
            continue
        for below, _ in inspect.getmembers(found, callable):
            if not below.startswith("_"):
                yield f"{name}.{below}"


def sample(parameter: inspect.Parameter) -> object:
    told = (
        parameter.annotation.__name__
        if isinstance(parameter.annotation, type)
        else str(parameter.annotation)
    )
    return next((value for sign, value in SAMPLES.items() if sign in told), "a" * 32)


def arguments(call: Callable[..., object], method: str) -> tuple[list[object], dict[str, object]]:
    """Give a method every argument that it needs."""
    needed = [
        parameter
        for parameter in inspect.signature(call).parameters.values()
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
    ]
    places = [sample(each) for each in needed if each.kind is not each.KEYWORD_ONLY]
    names = {each.name: sample(each) for each in needed if each.kind is each.KEYWORD_ONLY}
    return places, names | MORE.get(method, {})


def requests_of(method: str) -> list[httpx.Request]:
    noting = Noting()
    client = Client("http://memory.test", transport=httpx.MockTransport(noting), retries=ONCE)
    call = attrgetter(method)(client)
    places, names = arguments(call, method)
    with suppress(EcphoriaError):
        answer = call(*places, **names)
        if inspect.isgenerator(answer):
            next(answer, None)
    return noting.seen


def requests_of_async(method: str) -> list[httpx.Request]:
    noting = Noting()

    async def run() -> None:
        client = AsyncClient(
            "http://memory.test", transport=httpx.MockTransport(noting), retries=ONCE
        )
        call = attrgetter(method)(client)
        places, names = arguments(call, method)
        answer: Any = call(*places, **names)
        with suppress(EcphoriaError):
            if inspect.isasyncgen(answer):
                await anext(answer, None)
            else:
                await answer

    asyncio.run(run())
    return noting.seen


@pytest.mark.parametrize("method", list(methods()))
def test_a_method_calls_an_operation_that_exists(method: str) -> None:
    told, told_async = requests_of(method), requests_of_async(method)
    assert told, f"{method} asked for nothing"
    first, twin = told[0], told_async[0]
    assert (first.method, first.url) == (twin.method, twin.url)
    assert operation_of(first.method, first.url.path), f"{first.method} {first.url.path}"


def test_every_operation_has_a_method_or_a_reason() -> None:
    reached = {
        operation_of(request.method, request.url.path)
        for method in methods()
        for request in requests_of(method)
    }
    left = set(operations()) - reached
    assert sorted(left) == sorted(WITHOUT_A_METHOD)


def test_the_filters_are_those_of_the_api() -> None:
    assert get_type_hints(RecallFilters).keys() == set(named(Filters))
    others = {"concept", "order", "cursor", "limit"}
    assert get_type_hints(EpisodeFilters).keys() | others == EpisodeQuery.model_fields.keys()


def test_a_misspelled_filter_is_refused() -> None:
    noting = Noting()
    client = Client("http://memory.test", transport=httpx.MockTransport(noting), retries=ONCE)
    with pytest.raises(InvalidInput, match="sesion"):
        client.erase(sesion="s", role="user")  # type: ignore[call-arg]  # the misspelling
    assert not noting.seen
