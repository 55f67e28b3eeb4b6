"""No answer tells one tenant anything of another, whatever it asks and whosever ids it names.

Tenants lived the same life. The routes come from the published description, the strategies and
their options from the list that the service gives, the queries from their files: a new one
without a sample fails here.
"""

import json
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from ecphoria.settings import JobsSettings, LlmSettings
from tests.acceptance.conftest import Owner, RunningService, new_owner, running, settings_for
from tests.acceptance.lives import (
    CUE,
    OPERATORS,
    Body,
    Life,
    Route,
    live,
    samples,
    settled,
    without_question,
)
from tests.chat_endpoint import chat_endpoint, obliging
from tests.conftest import Cypher, Server
from tests.contract.canonical import canonical
from tests.cypher.tenancy import NO_TENANT, QUERIES, Pair, faults_of, noting, pair_of

MAY_CONFLICT = {("post", "/v1/jobs/{job}/cancel"), ("post", "/v1/jobs/{job}/retry")}
"""Whether a job can still be cancelled depends on its worker."""
REFUSED = {("delete", "/v1/me"): 409, ("post", "/explorer/redeem"): 401}
"""Calls that need a key that expires, or a ticket; tests/acceptance/test_explorer.py has both."""
ALL_RECORDED = "ECPHORIA_TEST_EXAMPLES" in os.environ  # noqa: TID251
"""Whether a recall with an option is learned from too; `make test-long` has it so."""


@pytest.fixture(scope="module")
def service(
    neo4j_server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """A service with a worker, an archive and a language model of its own."""
    jobs = JobsSettings(workers=1, schedule_s=60)
    home = tmp_path_factory.mktemp("home")
    with chat_endpoint() as model:
        model.says = obliging
        llm = LlmSettings(model="scripted", base_url=model.url, extract=True)
        with running(settings_for(neo4j_server, home, jobs=jobs, llm=llm)) as made:
            yield made


@dataclass(frozen=True)
class Two:
    """A tenant that asks, and the other, with all that must never be told of it."""

    asking: Life
    other: Life
    hidden: frozenset[str]


@pytest.fixture(scope="module")
def operator_here(service: RunningService) -> Iterator[httpx.Client]:
    with service.operator() as operator:
        yield operator


def born(operator: httpx.Client, stack: ExitStack) -> Life:
    """Let a tenant live until the stack is left."""
    return live(stack.enter_context(new_owner(operator)), f"zq{secrets.token_hex(4)}x")


@pytest.fixture(scope="module")
async def two(operator_here: httpx.Client, cypher: Cypher) -> Any:
    with ExitStack() as stack:
        asking, other = born(operator_here, stack), born(operator_here, stack)
        yield Two(asking, other, await everything_of(cypher, other.owner, other.mark))


@pytest.fixture(scope="module")
async def pair(two: Two, operator_here: httpx.Client, cypher: Cypher) -> Any:
    """The other tenant, with one that asks and never named the other's mark in a question."""
    with ExitStack() as stack:
        with noting() as noted:
            asking = born(operator_here, stack)
            made = await pair_of(cypher, noted, two.other, asking, operator_here)
        yield made


async def everything_of(cypher: Cypher, owner: Owner, mark: str) -> frozenset[str]:
    """List the ids of a tenant's nodes, its own id and name, and its mark."""
    rows = await cypher(
        "MATCH (t:Tenant {name: $name}) MATCH (n)"
        " WHERE (n.tenant = t.id OR n = t) AND n.id IS NOT NULL"
        " RETURN collect(n.id) AS ids",
        name=owner.name,
    )
    ids = frozenset(rows[0]["ids"])
    assert len(ids) > 40
    return ids | {mark, owner.name}


async def tenant_id(cypher: Cypher, owner: Owner) -> str:
    (row,) = await cypher("MATCH (t:Tenant {name: $name}) RETURN t.id AS id", name=owner.name)
    return str(row["id"])


ASKING = re.compile(r"/v1/(recall|ask|context|traces(/[^/]+)?)")
"""Paths whose answers repeat the question."""


def holds(answer: httpx.Response, hidden: frozenset[str]) -> list[str]:
    """Find what of another tenant an answer holds.

    A refusal may repeat what was asked for, and the reasons and traces of an answer the question.
    """
    text = answer.text
    if ASKING.fullmatch(answer.request.url.path) and answer.is_success:
        text = without_question(answer)
    if answer.request.url.path == "/v1/ask/stream" and answer.is_success:
        events = [line for line in text.splitlines() if line.startswith("data: ")]
        parts = [json.loads(event.removeprefix("data: ")) | {"reasons": []} for event in events]
        text = json.dumps(parts)
    said = (text + str(answer.headers)).lower()
    request = answer.request
    asked = (str(request.url) + request.content.decode()).lower()
    found = [one for one in hidden if one in said]
    return [one for one in found if answer.is_success or one not in asked]


def state_of(life: Life) -> dict[str, object]:
    """Everything the tenant can read of itself, without times of jobs that go on."""
    told: dict[str, object] = {}
    for (method, route), calls in samples(life).items():
        if method == "get" and route.startswith("/v1/") and (method, route) not in OPERATORS:
            for path, more in calls:
                answer = life.owner.request(method, path, **more)
                told[f"{path} {more}"] = (answer.status_code, stable(answer.json()))
    return told


def stable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: stable(inner) for name, inner in value.items() if name != "seconds"}
    return [stable(one) for one in value] if isinstance(value, list) else value


def routes_of(service: RunningService) -> set[Route]:
    document = httpx.get(f"{service.url}/openapi.json", timeout=60).json()
    return {(method, path) for path, methods in document["paths"].items() for method in methods}


def options_of(strategy: Body) -> Iterator[Body]:
    """Every option of a strategy at its farther bound and every word, and every preset."""
    yield {}
    for preset in strategy["presets"]:
        yield {"preset": preset}
    for option in strategy["parameters"]:
        if isinstance(option["default"], bool):
            values: list[Any] = [not option["default"]]
        elif option["choices"]:
            values = option["choices"]
        else:
            bounds = [each for each in (option["low"], option["high"]) if each is not None]
            usual = option["default"]
            values = [max(bounds, key=lambda bound: abs(bound - usual))] if bounds else []
        for value in values:
            yield {option["name"]: type(option["default"])(value)}


@pytest.mark.timeout(600)
async def test_no_strategy_wakes_anything_of_another_tenant(
    two: Two, cypher: Cypher, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant = await tenant_id(cypher, two.other.owner)
    before = await canonical(cypher, tenant)
    cue = f"{CUE} What does {two.other.mark} say, and {two.asking.mark}?"
    hows: list[Body] = [{}, {"include_dormant": True}, {"as_of": "2024-03-02T00:00:00Z"}]
    strategies = two.asking.owner.get("/v1/strategies").json()["items"]
    recalls = 0
    for strategy in strategies:
        for options in options_of(strategy):
            for how in hows if not options else hows[:1]:
                body = {"cue": cue, "strategy": strategy["name"], "options": options, "k": 50,
                        "explain": not options, "record": not options or ALL_RECORDED,
                        **how}  # fmt: skip
                answer = two.asking.owner.post("/v1/recall", json=body)
                recalls += 1
                assert answer.status_code == 200, (body, answer.text)
                assert holds(answer, two.hidden) == [], (body, answer.text)
                assert two.asking.mark in answer.text, "it finds its own"
                if not options:
                    trace = two.asking.owner.get(f"/v1/traces/{answer.json()['trace_id']}")
                    told = without_question(trace)
                    assert [one for one in two.hidden if one in told] == [], body
        theirs = two.other.owner.post(
            "/v1/recall", json={"cue": cue, "strategy": strategy["name"], "record": False}
        )
        assert holds(theirs, two.hidden), "the mark is there to be found"
    settled(two.asking.owner)
    assert await canonical(cypher, tenant) == before
    with capsys.disabled():
        print(f"\n{len(strategies)} strategies, {recalls} recalls")  # noqa: T201


@pytest.mark.timeout(600)
async def test_no_route_tells_anything_of_another_tenant(
    two: Two, service: RunningService, cypher: Cypher, capsys: pytest.CaptureFixture[str]
) -> None:
    # It erases memories of the tenant that asks, so tests that need them come before.
    mine, theirs = samples(two.asking), samples(two.other)
    assert set(mine) == routes_of(service), "give the new route a sample in lives.py"
    tenant = await tenant_id(cypher, two.other.owner)
    before, told_before = await canonical(cypher, tenant), state_of(two.other)
    assert any(holds(two.other.owner.get(path, **more), two.hidden)
               for path, more in theirs["get", "/v1/episodes"])  # fmt: skip
    asked = 0
    for named in (theirs, mine):
        for route, calls in named.items():
            for path, more in calls:
                answer = two.asking.owner.request(route[0], path, **more)
                asked += 1
                assert holds(answer, two.hidden) == [], (route, path, more, answer.text)
                assert answer.status_code < 500, (route, path, answer.text)
                if route in OPERATORS:
                    assert answer.status_code == 403, (route, answer.text)
                elif route in REFUSED:
                    assert answer.status_code == REFUSED[route], (route, answer.text)
                elif named is mine and not (route in MAY_CONFLICT and answer.status_code == 409):
                    # A sample that is refused would prove nothing.
                    assert answer.is_success, (route, path, more, answer.text)
    settled(two.asking.owner)
    assert await canonical(cypher, tenant) == before
    assert state_of(two.other) == told_before
    with capsys.disabled():
        print(f"\n{len(mine)} routes, {asked} calls with own and foreign ids")  # noqa: T201


@pytest.mark.timeout(900)
async def test_no_query_reaches_into_another_tenant(
    pair: Pair, neo4j_server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    faults, tried = await faults_of(pair, neo4j_server)
    with capsys.disabled():
        print(f"\n{tried}")  # noqa: T201
    assert faults == []


def test_every_query_names_its_tenant_or_has_a_reason() -> None:
    without = {name for name, query in QUERIES.items() if "tenant" not in query.params}
    assert without == NO_TENANT.keys()
