"""The client against a scripted service behind httpx's own transport seam."""

import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from math import inf, nan
from typing import Any

import httpx
import pytest

from ecphoria import AsyncClient, Client, EcphoriaError, NewEpisode, Retries, Scope
from ecphoria.client.exchange import Bookmarks
from ecphoria.errors import (
    Conflict,
    InvalidInput,
    NotFound,
    StoreUnavailable,
    Timeout,
    Unauthenticated,
    Unavailable,
)
from ecphoria.records.episode import Outcome
from ecphoria.records.item import ItemWrite
from ecphoria.wire.base import error_classes, problem_type

AT_ONCE = Retries(limit=2, first_pause_s=0.0)
RECEIPT = {"id": "a" * 32, "outcome": "created"}
Script = Sequence[httpx.Response | httpx.TransportError]


def problem(code: str, status: int, **members: object) -> httpx.Response:
    body = {"type": problem_type(code), "title": code, "status": status, "detail": "Do so."}
    return httpx.Response(
        status, json=body | members, headers={"Content-Type": "application/problem+json"}
    )


class Service:
    """Answers with a script and keeps what it was sent."""

    def __init__(self, *script: httpx.Response | httpx.TransportError) -> None:
        self.script = list(script)
        self.seen: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        answer = self.script.pop(0)
        if isinstance(answer, httpx.TransportError):
            raise answer
        return answer

    def client(self, **settings: str) -> AsyncClient:
        return AsyncClient(
            "http://memory.test/",
            transport=httpx.MockTransport(self),
            retries=AT_ONCE,
            **settings,  # type: ignore[arg-type]  # only api_key and tenant are ever given
        )

    def body(self, place: int = 0) -> dict[str, object]:
        content = json.loads(self.seen[place].content)
        assert isinstance(content, dict)
        return content


def episode(turn: int) -> dict[str, object]:
    return {
        "id": f"{turn:032x}",
        "turn": turn,
        "text": f"turn {turn}",
        "occurred_at": "2025-01-12T09:04:00Z",
        "recorded_at": "2025-01-12T09:04:01Z",
        "importance": 0.5,
        "kind": "episodic",
        "state": "live",
    }


async def test_remember_sends_only_what_was_given() -> None:
    service = Service(httpx.Response(201, json=RECEIPT))
    async with service.client(api_key="secret", tenant="demo") as client:
        receipt = await client.remember(
            "The drum kit is loud.",
            speaker="Tobias",
            occurred_at=datetime(2025, 1, 12, 10, 10, tzinfo=timezone(timedelta(hours=1))),
            importance=1,
            metadata={"page": 3},
        )
    assert receipt.outcome is Outcome.CREATED
    sent = service.seen[0]
    assert (sent.method, str(sent.url)) == ("POST", "http://memory.test/v1/episodes")
    assert sent.headers["Authorization"] == "Bearer secret"
    assert sent.headers["Ecphoria-Tenant"] == "demo"
    assert sent.headers["Content-Type"] == "application/json"
    assert service.body() == {
        "text": "The drum kit is loud.",
        "speaker": "Tobias",
        "occurred_at": "2025-01-12T10:10:00+01:00",
        "importance": 1.0,
        "metadata": {"page": 3},
    }


@pytest.mark.parametrize("address", ["http://memory.test/v1", "http://memory.test/v1/"])
async def test_an_address_may_end_with_the_version(address: str) -> None:
    service = Service(httpx.Response(201, json=RECEIPT))
    async with AsyncClient(address, transport=httpx.MockTransport(service)) as client:
        await client.remember("a note")
    assert str(service.seen[0].url) == "http://memory.test/v1/episodes"


async def test_a_timeout_advises_on_the_call_that_was_made() -> None:
    late = httpx.ReadTimeout("slow")
    service = Service(late, late, late)
    told: list[str] = []
    async with service.client() as client:
        for call in (client.recall("kettle"), client.remember("a note"), client.delete("a" * 32)):
            with pytest.raises(Timeout) as caught:
                await call
            told.append(caught.value.message)
    recalled, appended, deleted = told
    assert "idempotency_key" in appended
    assert "idempotency_key" not in recalled + deleted
    assert ["may still do" in each for each in told] == [False, True, True]


async def test_without_a_key_none_is_sent() -> None:
    service = Service(httpx.Response(201, json=RECEIPT))
    async with service.client() as client:
        await client.remember("a note")
    assert "Authorization" not in service.seen[0].headers
    assert "Ecphoria-Tenant" not in service.seen[0].headers


async def test_a_note_gets_one_key_for_all_its_sendings() -> None:
    service = Service(httpx.ConnectError("refused"), httpx.Response(201, json=RECEIPT))
    async with service.client() as client:
        await client.remember("a note")
    first, second = service.body(0), service.body(1)
    assert first == second
    assert isinstance(first["idempotency_key"], str)
    assert len(first["idempotency_key"]) == 32


async def test_two_notes_get_different_keys() -> None:
    service = Service(*(httpx.Response(201, json=RECEIPT) for _ in range(2)))
    async with service.client() as client:
        await client.remember("a note")
        await client.remember("a note")
    assert service.body(0)["idempotency_key"] != service.body(1)["idempotency_key"]


@pytest.mark.parametrize("odd", ["佐藤", "Zoë", "key\n", "\x00", "“key”", "\ud83d"])
@pytest.mark.parametrize("where", ["api_key", "tenant"])
def test_a_key_or_tenant_that_no_header_carries_is_refused(where: str, odd: str) -> None:
    with pytest.raises(InvalidInput, match=f"`{where}` holds a character") as refused:
        Service().client(**{where: odd})
    assert odd not in str(refused.value)


async def test_a_cue_and_the_number_of_hits_have_two_names() -> None:
    service = Service(problem("not-found", 404), problem("not-found", 404))
    async with service.client() as client:
        with pytest.raises(NotFound):
            await client.recall(query="where", limit=3)
        with pytest.raises(NotFound):
            await client.ask("where", limit=3)
        for given in ({"cue": "who", "query": "where"}, {"query": "x", "k": 1, "limit": 2}):
            with pytest.raises(InvalidInput, match="are names of one field; send one of them"):
                await client.recall(**given)
        with pytest.raises(InvalidInput, match="`k` and `limit` are names of one field"):
            await client.ask("where", k=1, limit=2)
    assert service.body(0) == {"cue": "where", "k": 3}
    assert service.body(1) == {"question": "where", "k": 3}


async def test_a_document_and_an_own_key_are_left_alone() -> None:
    service = Service(*(httpx.Response(201, json=RECEIPT) for _ in range(2)))
    async with service.client() as client:
        await client.remember("10 to 18", title="Opening hours")
        await client.remember("a note", idempotency_key="mine")
    assert "idempotency_key" not in service.body(0)
    assert service.body(1)["idempotency_key"] == "mine"


async def test_batch_keeps_every_result() -> None:
    refused = problem("invalid-input", 422).json()
    answer = {
        "created": 1,
        "existed": 0,
        "refused": 1,
        "results": [
            {"index": 0, "id": "a" * 32, "outcome": "created"},
            {"index": 1, "problem": refused},
        ],
    }
    service = Service(httpx.Response(200, json=answer))
    async with service.client() as client:
        got = await client.append_batch([NewEpisode(text="one"), NewEpisode(text=" ")])
    assert got.refused == 1
    assert got.results[1].problem is not None
    items = service.body()["episodes"]
    assert isinstance(items, list)
    assert [set(item) for item in items] == [{"text", "idempotency_key"}] * 2


async def test_list_walks_all_pages() -> None:
    service = Service(
        httpx.Response(200, json={"items": [episode(1), episode(2)], "next_cursor": "2"}),
        httpx.Response(200, json={"items": [episode(3)]}),
    )
    since = datetime(2025, 1, 1, tzinfo=UTC)
    async with service.client() as client:
        turns = [e.turn async for e in client.list(session="s", occurred_from=since, page_size=2)]
    assert turns == [1, 2, 3]
    first, second = (dict(request.url.params) for request in service.seen)
    assert first == {"session": "s", "occurred_from": "2025-01-01T00:00:00+00:00", "limit": "2"}
    assert second == first | {"cursor": "2"}


@pytest.mark.parametrize("make", [set, iter, tuple])
async def test_ids_of_any_collection_filter_every_page(
    make: Callable[[list[str]], Sequence[str]],
) -> None:
    service = Service(
        httpx.Response(200, json={"items": [episode(1)], "next_cursor": "1"}),
        httpx.Response(200, json={"items": [episode(2)]}),
    )
    async with service.client() as client:
        found = [each.turn async for each in client.list(ids=make(["a" * 32]))]
    assert found == [1, 2]
    assert [request.url.params["ids"] for request in service.seen] == ["a" * 32] * 2


async def test_the_last_turns_are_in_the_order_of_time() -> None:
    late, early = "2025-01-12T10:00:00Z", "2025-01-12T09:00:00Z"
    newest_first = [
        episode(3) | {"occurred_at": late, "ordinal": 1},
        episode(2) | {"occurred_at": early, "ordinal": 0},
        episode(1) | {"occurred_at": late, "ordinal": 2},
    ]
    service = Service(httpx.Response(200, json={"items": newest_first}))
    async with service.client() as client:
        assert [one.turn for one in await client.last_turns("s", 3)] == [2, 3, 1]


async def test_ids_cannot_leave_their_path() -> None:
    service = Service(problem("not-found", 404))
    async with service.client() as client:
        with pytest.raises(NotFound):
            await client.get("../tenants?x=1")
    assert service.seen[0].url.raw_path == b"/v1/episodes/..%2Ftenants%3Fx%3D1"


@pytest.mark.parametrize("ident", ["", ".", "..", None])
async def test_an_id_that_is_no_step_of_a_path_is_refused_here(ident: Any) -> None:
    service = Service()
    async with service.client() as client:
        for call in (client.get(ident), client.delete(ident), client.trace(ident)):
            with pytest.raises(InvalidInput, match="An id or a name is no text, is empty"):
                await call
    assert service.seen == []


@pytest.mark.parametrize(
    ("text", "told"), [("\udce9", "half of a surrogate pair"), ("x" * 70_000, "is too long")]
)
async def test_a_text_that_no_address_can_have_is_refused_here(text: str, told: str) -> None:
    service = Service()
    async with service.client() as client:
        for call in (client.get(text), client.page(session=text)):
            with pytest.raises(InvalidInput, match=told):
                await call
    assert service.seen == []


async def test_a_problem_becomes_its_error_class() -> None:
    service = Service(
        problem(
            "conflict",
            409,
            request_id="r1",
            fields={"key": "k"},
            errors=[{"pointer": "#/idempotency_key", "detail": "used"}],
        )
    )
    async with service.client() as client:
        with pytest.raises(Conflict, match="Do so") as caught:
            await client.remember("x")
    assert caught.value.fields == {"request_id": "r1", "key": "k", "field": "#/idempotency_key"}


@pytest.mark.parametrize("kind", list(error_classes()), ids=lambda kind: kind.code)
def test_every_error_comes_back_as_itself(kind: type[EcphoriaError]) -> None:
    service = Service(*(problem(kind.code, 400) for _ in range(3)))
    transport = httpx.MockTransport(service)
    with (
        Client("http://memory.test", transport=transport, retries=AT_ONCE) as client,
        pytest.raises(EcphoriaError) as caught,
    ):
        client.stats()
    assert type(caught.value) is kind


async def test_an_unknown_problem_is_still_ours() -> None:
    service = Service(problem("from-the-future", 418))
    async with service.client() as client:
        with pytest.raises(EcphoriaError, match="Do so") as caught:
            await client.stats()
    assert type(caught.value) is EcphoriaError


async def test_an_answer_of_something_else_is_named() -> None:
    service = Service(httpx.Response(404, text="<h1>nginx</h1>"))
    async with service.client() as client:
        with pytest.raises(EcphoriaError, match="is it the address of an Ecphoria service"):
            await client.stats()


@pytest.mark.parametrize("content", ["", "<h1>Sign in</h1>", '{"bolt_direct": "bolt://x"}'])
async def test_a_success_of_something_else_is_named(content: str) -> None:
    service = Service(httpx.Response(200, text=content))
    async with service.client() as client:
        with pytest.raises(EcphoriaError, match="is it the address of an Ecphoria service"):
            await client.stats()


async def test_why_nothing_answers_is_told() -> None:
    service = Service(*(httpx.ConnectError("certificate verify failed") for _ in range(3)))
    async with service.client() as client:
        with pytest.raises(Unavailable, match="certificate verify failed"):
            await client.stats()


@pytest.mark.parametrize(
    "passing",
    [
        httpx.ConnectError("refused"),
        httpx.ConnectTimeout("slow"),
        httpx.ReadError("reset"),
        httpx.RemoteProtocolError("closed"),
        problem("store-unavailable", 503),
        httpx.Response(502, text="bad gateway"),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_a_passing_failure_is_sent_again(
    passing: httpx.Response | httpx.TransportError,
) -> None:
    service = Service(passing, passing, httpx.Response(201, json=RECEIPT))
    async with service.client() as client:
        assert (await client.remember("x")).id == "a" * 32
    assert len(service.seen) == 3


async def test_after_the_last_try_the_remedy_is_told() -> None:
    service = Service(*(httpx.ConnectError("refused") for _ in range(3)))
    async with service.client() as client:
        with pytest.raises(Unavailable, match="start one with `ecphoria serve`") as caught:
            await client.recall("x")
    assert caught.value.fields == {"url": "http://memory.test"}
    assert isinstance(caught.value.__cause__, httpx.ConnectError)


async def test_a_store_that_stays_away_is_told_as_such() -> None:
    service = Service(*(problem("store-unavailable", 503) for _ in range(3)))
    async with service.client() as client:
        with pytest.raises(StoreUnavailable):
            await client.recall("x")


async def test_a_long_text_has_more_time_to_be_encoded() -> None:
    service = Service(*(httpx.Response(201, json=RECEIPT) for _ in range(2)))
    async with service.client() as client:
        await client.remember("x" * 350_000)
        await client.remember("x")
    waited = [request.extensions["timeout"]["read"] for request in service.seen]
    assert waited == [pytest.approx(30 + 175, abs=0.1), pytest.approx(30, abs=0.1)]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (httpx.ReadTimeout("slow"), Timeout),
        (problem("timeout", 504), Timeout),
        (problem("unauthenticated", 401), Unauthenticated),
        (problem("invalid-input", 422), InvalidInput),
    ],
    ids=["read-timeout", "store-timeout", "unauthenticated", "invalid"],
)
async def test_what_would_fail_again_is_sent_once(
    answer: httpx.Response | httpx.TransportError, kind: type[EcphoriaError]
) -> None:
    service = Service(answer)
    async with service.client() as client:
        with pytest.raises(kind):
            await client.recall("x")


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.delete("a" * 32),
        lambda client: client.admin.create_tenant("demo"),
        lambda client: client.admin.erase_tenant("demo"),
        lambda client: client.admin.issue_key("agent", [Scope.READ]),
        lambda client: client.admin.revoke_key("k"),
    ],
)
def test_what_must_happen_once_is_sent_once(call: Callable[[Client], object]) -> None:
    service = Service(httpx.ReadError("reset"))
    transport = httpx.MockTransport(service)
    with (
        Client("http://memory.test", transport=transport, retries=AT_ONCE) as client,
        pytest.raises(Unavailable),
    ):
        call(client)
    assert len(service.seen) == 1


def test_pauses_grow_and_heed_the_service() -> None:
    retries = Retries(first_pause_s=0.25)
    assert [retries.pause_s(attempt, None) for attempt in range(3)] == [0.25, 0.5, 1.0]
    assert retries.pause_s(0, httpx.Response(503, headers={"Retry-After": "3"})) == 3.0
    assert retries.pause_s(0, httpx.Response(503, headers={"Retry-After": "900"})) == 8.0
    assert retries.pause_s(0, httpx.Response(503, headers={"Retry-After": "soon"})) == 0.25


@pytest.mark.parametrize(
    ("arguments", "saying"),
    [
        ({"occurred_at": datetime(2025, 1, 1)}, "`occurred_at`: Add an offset"),  # noqa: DTZ001
        ({"metadata": {"a": ["nested"]}}, "`metadata/a`"),
        ({"metadata": {"a": nan}}, "`metadata/a`: Is no finite number"),
        ({"metadata": ["a"]}, "`metadata`: Send a JSON object"),
        ({"vector": 3}, "`vector`: Send a list"),
        ({"position": "first"}, "`position`"),
    ],
)
async def test_what_cannot_be_sent_is_refused_here(
    arguments: dict[str, object], saying: str
) -> None:
    service = Service()
    async with service.client() as client:
        with pytest.raises(InvalidInput, match=saying):
            await client.remember("x", **arguments)  # type: ignore[arg-type]  # wrong on purpose
    assert service.seen == []


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.erase(ids="a" * 32),
        lambda client: client.preview_erasure(ids="a" * 32),
        lambda client: client.recall("x", sessions="talk"),
        lambda client: client.feedback("b" * 32, useful="a" * 32),
        lambda client: client.archive.sleep("a" * 32),
        lambda client: client.archive.wake("a" * 32),
        lambda client: client.archive.restore("a" * 32),
        lambda client: client.items.put("users", "food", {}),
        lambda client: client.items.search("users"),
        lambda client: client.items.namespaces("users"),
        lambda client: client.jobs.start_consolidation(steps="extract"),
        lambda client: client.admin.issue_key("chat", "read"),
    ],
)
async def test_a_text_is_no_list_of_its_letters(
    call: Callable[[AsyncClient], Awaitable[object]],
) -> None:
    service = Service()
    async with service.client() as client:
        with pytest.raises(InvalidInput, match=r"Send a list\."):
            await call(client)
    assert service.seen == []


@pytest.mark.parametrize(
    ("given", "saying"),
    [
        ({"top_k": 3}, "`top_k`: There is no such field; did you mean `k`?"),
        ({"run_id": "x"}, "`run_id`: There is no such field; did you mean `session`?"),
        ({"user_id": "ana"}, "`user_id`: There is no such field; each user has a tenant"),
        ({"filters": {"session": "x"}}, "`filters`: Give each filter as an argument of its own"),
    ],
)
async def test_the_words_of_other_products_are_answered_with_ours(
    given: dict[str, Any], saying: str
) -> None:
    service = Service()
    async with service.client() as client:
        calls: Sequence[Callable[..., Awaitable[object]]] = (client.recall, client.ask)
        for call in calls:
            with pytest.raises(InvalidInput) as refused:
                await call("x", **given)
            assert refused.value.message.startswith(saying)
    assert service.seen == []


@pytest.mark.parametrize(
    ("call", "saying"),
    [
        (lambda items: items.put(("n",), "k", ["a"]), "`value`: Send a JSON object"),
        (lambda items: items.put(("n",), "k", None), "`value`"),
        (lambda items: items.put(("n",), "k", {"a": [inf]}), "`value`: Holds a number"),
        (
            lambda items: items.write([ItemWrite(namespace=("n",), key="k", value={"a": nan})]),
            "`items/0/value`: Holds a number",
        ),
        (lambda items: items.search(where={"a": nan}), "`filter`: Holds a number"),
        (lambda items: items.put((), "k", {}), "`namespace`: Send at least 1."),
        (lambda items: items.put(("",), "k", {}), "`namespace/0`"),
    ],
)
async def test_an_item_that_cannot_be_stored_is_refused_here(
    call: Callable[[Any], Awaitable[object]], saying: str
) -> None:
    service = Service()
    async with service.client() as client:
        with pytest.raises(InvalidInput) as refused:
            await call(client.items)
    assert refused.value.message.startswith(saying)
    assert refused.value.message.count("`") == 2
    assert service.seen == []


@pytest.mark.parametrize("timeout", [0, -1.5, nan, inf])
def test_a_time_limit_that_ends_no_call_is_refused_here(timeout: float) -> None:
    with pytest.raises(InvalidInput, match=f"`timeout` is {timeout}; give the seconds to wait"):
        Client("http://x", timeout=timeout)
    with closing(Client("http://x", timeout=None)):  # type: ignore[arg-type]  # waits without end
        pass


def test_an_empty_tenant_is_not_the_default_one() -> None:
    with pytest.raises(InvalidInput, match="`tenant` is empty"):
        Client(tenant="")


async def test_a_dictionary_is_no_episode() -> None:
    service = Service()
    async with service.client() as client:
        with pytest.raises(InvalidInput, match="NewEpisode"):
            await client.append({"text": "x"})  # type: ignore[arg-type]  # wrong on purpose
        with pytest.raises(InvalidInput, match="NewEpisode"):
            await client.append_batch([{"text": "x"}])  # type: ignore[list-item]  # the same
    assert service.seen == []


async def test_half_a_surrogate_pair_is_refused_here() -> None:
    async with Service().client() as client:
        with pytest.raises(InvalidInput, match="surrogate"):
            await client.remember("\ud800")


async def test_recall_sends_filters_and_options() -> None:
    service = Service(problem("unknown-strategy", 422))
    async with service.client() as client:
        with pytest.raises(InvalidInput):
            await client.recall(
                "Where?", strategy="x", k=3, speaker="Mara", options={"steps": 2}, explain=True
            )
    assert service.body() == {
        "cue": "Where?",
        "strategy": "x",
        "options": {"steps": 2},
        "k": 3,
        "filters": {"speaker": "Mara"},
        "explain": True,
    }


async def test_ask_sends_the_filters_of_recall() -> None:
    service = Service(problem("unknown-strategy", 422))
    start = datetime(2025, 1, 1, tzinfo=UTC)
    async with service.client() as client:
        with pytest.raises(InvalidInput):
            await client.ask(
                "Who?", session="s", sessions=["a"], speaker="ana", role="user",
                exclude=["0" * 32], metadata={"n": 1}, occurred_from=start, k=3,
            )  # fmt: skip
    assert service.body() == {
        "question": "Who?", "k": 3,
        "filters": {
            "session": "s", "sessions": ["a"], "speaker": "ana", "role": "user",
            "exclude": ["0" * 32], "metadata": {"n": 1}, "occurred_from": "2025-01-01T00:00:00Z",
        },
    }  # fmt: skip


async def test_update_sends_only_what_changes() -> None:
    service = Service(httpx.Response(200, json=episode(1)), httpx.Response(200, json=episode(1)))
    async with service.client() as client:
        await client.update("e1", metadata={"a": 1, "b": None})
        assert service.body() == {"metadata": {"a": 1, "b": None}}
        await client.update("e1", never_expires=True)
        with pytest.raises(InvalidInput, match="not both"):
            await client.update(
                "e1", never_expires=True, expires_at=datetime(2027, 1, 1, tzinfo=UTC)
            )
        assert service.body(1) == {"expires_at": None}
        with pytest.raises(InvalidInput):
            await client.update("e1")


def test_the_synchronous_twin_does_the_same() -> None:
    service = Service(
        httpx.ConnectError("refused"),
        httpx.Response(201, json=RECEIPT),
        httpx.Response(200, json={"items": [episode(1)], "next_cursor": "1"}),
        httpx.Response(200, json={"items": [episode(2)]}),
    )
    transport = httpx.MockTransport(service)
    with Client("http://memory.test", transport=transport, retries=AT_ONCE) as client:
        assert client.remember("a note").outcome is Outcome.CREATED
        assert [found.turn for found in client.list()] == [1, 2]


@pytest.mark.parametrize(
    "given", ["eck_0123456789abcdef", "127.0.0.1:8765", "ftp://x", "", "http://"]
)
def test_what_is_no_address_is_refused_and_not_repeated(given: str) -> None:
    for kind in (Client, AsyncClient):
        with pytest.raises(InvalidInput, match="address of the service") as refused:
            kind(given)
        assert "eck_" not in str(refused.value)


async def test_calls_name_the_writes_that_earlier_answers_told() -> None:
    def answer(bookmarks: str = "") -> httpx.Response:
        headers = {"Ecphoria-Bookmarks": bookmarks} if bookmarks else {}
        return httpx.Response(200, json=RECEIPT, headers=headers)

    service = Service(
        answer("FB:a,FB:b"), answer(), answer("FB:c"), problem("internal", 500), answer()
    )
    async with service.client() as client:
        for _ in range(3):
            await client.remember("The ferry leaves at nine.")
        with pytest.raises(EcphoriaError):
            await client.remember("The ferry leaves at nine.")
        await client.remember("The ferry leaves at nine.")
    sent = [request.headers.get("Ecphoria-Bookmarks") for request in service.seen]
    assert sent == [None, "FB:a,FB:b", "FB:a,FB:b", "FB:c", "FB:c"]


def test_writes_of_calls_at_the_same_time_are_both_named() -> None:
    known = Bookmarks()
    one, other = (httpx.Request("POST", "http://memory.test", headers=known.sent()) for _ in "ab")
    for request, told in ((one, "FB:a"), (other, "FB:b")):
        known.learn(httpx.Response(200, headers={"Ecphoria-Bookmarks": told}, request=request))
    assert known.sent() == {"Ecphoria-Bookmarks": "FB:a,FB:b"}


async def test_a_wait_for_a_change_of_the_embedding_model_ends() -> None:
    change = {
        "state": "filling", "provider": "openai", "model": "m-2", "dimension": 8,
        "done": 3, "total": 9, "started_at": "2025-01-12T09:04:00Z",
    }  # fmt: skip
    service = Service(*(httpx.Response(200, json=change) for _ in range(2)))
    async with service.client() as client:
        with pytest.raises(Timeout, match="change to m-2 is filling, 3 of 9 vectors after 0 s"):
            await client.admin.wait_for_embedding(timeout_s=0.001, poll_s=0.002)
