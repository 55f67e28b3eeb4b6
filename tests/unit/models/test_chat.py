"""Structured answers: the ladder of forms, the one retry, and the budget."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ecphoria.models.chat import BudgetedChat, StructuredChat, Truncated, Unusable, create_chat
from ecphoria.models.structure import Structure
from ecphoria.ports import Chat, NoAnswer, NothingUsable, TextRefused
from ecphoria.settings import LlmSettings
from tests.chat_endpoint import ChatEndpoint, chat_endpoint

GOOD = json.dumps({"name": "Oslo", "number": 3})
PRIVATE = "the treasure is under the walnut tree"


class Place(Structure):
    name: str
    number: int


@pytest.fixture
def endpoint() -> Iterator[ChatEndpoint]:
    with chat_endpoint() as endpoint:
        endpoint.says = lambda _: GOOD
        yield endpoint


@pytest.fixture
async def plain(endpoint: ChatEndpoint) -> AsyncIterator[Chat]:
    settings = LlmSettings(base_url=endpoint.url, timeout_s=2, retries=0)
    made = create_chat("m", settings, lambda *_: None)
    yield made
    await made.close()


@pytest.fixture
def chat(plain: Chat) -> StructuredChat:
    return StructuredChat(plain)


def forms(endpoint: ChatEndpoint) -> list[str]:
    wanted: list[Any] = [asked.get("response_format", {}) for asked in endpoint.requests]
    return [form.get("type", "text") for form in wanted]


def in_turn(*answers: str) -> Callable[[str], str]:
    left = list(answers)
    return lambda _: left.pop(0)


async def test_a_strict_schema_requires_every_field_and_no_other(
    chat: StructuredChat, endpoint: ChatEndpoint
) -> None:
    answer = await chat.ask("ask", "Be short.", "Where?", Place)
    assert (answer.value, answer.tokens, answer.calls) == (Place(name="Oslo", number=3), 77, 1)
    requests: list[Any] = endpoint.requests
    form = requests[0]["response_format"]["json_schema"]
    assert (form["name"], form["strict"]) == ("Place", True)
    assert form["schema"]["required"] == ["name", "number"]
    assert form["schema"]["additionalProperties"] is False


@pytest.mark.parametrize(
    ("refused", "tried"),
    [
        (set(), ["json_schema", "json_schema"]),
        ({"json_schema"}, ["json_schema", "json_object", "json_object"]),
        ({"json_schema", "json_object"}, ["json_schema", "json_object", "text", "text"]),
    ],
)
async def test_an_endpoint_is_probed_once(
    chat: StructuredChat, endpoint: ChatEndpoint, refused: set[str], tried: list[str]
) -> None:
    endpoint.refuses = frozenset(refused)
    for _ in range(2):
        await chat.ask("ask", "i", "t", Place)
    assert forms(endpoint) == tried


async def test_a_text_refused_in_every_form_gives_up_no_form(
    chat: StructuredChat, endpoint: ChatEndpoint
) -> None:
    endpoint.statuses = [400, 400, 400]
    with pytest.raises(TextRefused):
        await chat.ask("ask", "i", "t", Place)
    await chat.ask("ask", "i", "t", Place)
    assert forms(endpoint)[-1] == "json_schema"


@pytest.mark.parametrize(
    "said", [f"```json\n{GOOD}\n```", f"Here it is: {GOOD} I hope this helps.", f"\n{GOOD}\n"]
)
async def test_words_and_fences_around_the_object_do_not_count(
    chat: StructuredChat, endpoint: ChatEndpoint, said: str
) -> None:
    endpoint.says = lambda _: said
    assert (await chat.ask("ask", "i", "t", Place)).value.number == 3


@pytest.mark.parametrize(
    "bad",
    [
        json.dumps({"name": PRIVATE, "number": "many"}),
        json.dumps({"name": "x"}),
        json.dumps({"more": PRIVATE}),
        json.dumps(Place.model_json_schema()),
        "I cannot do that.",
        "{",
        "",
    ],
)
async def test_a_fault_is_told_once_without_the_values(
    chat: StructuredChat, endpoint: ChatEndpoint, bad: str
) -> None:
    endpoint.says = in_turn(bad, GOOD, bad, bad)
    answer = await chat.ask("ask", "i", "t", Place)
    assert (answer.calls, answer.tokens, answer.written) == (2, 154, 14)
    requests: list[Any] = endpoint.requests
    second = requests[1]["messages"][-1]["content"]
    assert second.startswith("t\n\nYour last answer did not fit the schema:\n- ")
    assert PRIVATE not in second
    with pytest.raises(Unusable) as raised:
        await chat.ask("ask", "i", "t", Place)
    assert PRIVATE not in repr(raised.getrepr(style="short"))


@pytest.mark.parametrize(("status", "calls"), [(401, 2), (400, 4)])
async def test_the_tokens_of_a_first_answer_count_if_the_second_call_fails(
    chat: StructuredChat, endpoint: ChatEndpoint, status: int, calls: int
) -> None:
    def say(_: object) -> str:
        endpoint.statuses = [status] * 3
        return "no"

    endpoint.says = say
    with pytest.raises(NothingUsable) as raised:
        await chat.ask("ask", "i", "t", Place)
    spent = raised.value
    assert (spent.calls, spent.tokens, spent.written) == (calls, 77, 7)


async def test_the_tokens_of_a_proof_count(chat: StructuredChat, endpoint: ChatEndpoint) -> None:
    def say(_: object) -> str:
        endpoint.statuses = [500]
        return "Hello."

    endpoint.statuses, endpoint.says = [500], say
    with pytest.raises(TextRefused) as raised:
        await chat.ask("ask", "i", "t", Place, blames_text=True)
    assert (raised.value.calls, raised.value.tokens) == (3, 77)


async def test_a_cut_answer_is_not_asked_for_again(
    chat: StructuredChat, endpoint: ChatEndpoint
) -> None:
    endpoint.finish = "length"
    with pytest.raises(Truncated):
        await chat.ask("ask", "i", "t", Place)
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("status", [401, 429, 500])
async def test_an_outage_is_no_answer(
    chat: StructuredChat, endpoint: ChatEndpoint, status: int
) -> None:
    endpoint.statuses = [status]
    with pytest.raises(NoAnswer, match=str(status)):
        await chat.ask("ask", "i", "t", Place)


class Days:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.time = datetime(2026, 1, 1, 23, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time


async def test_the_tokens_of_a_day_are_kept_to(endpoint: ChatEndpoint, plain: Chat) -> None:
    days = Days()
    chat = BudgetedChat(plain, tokens_a_day=100, clock=days)
    await chat.ask("ask", "i", "t")
    await chat.ask("ask", "i", "t")
    with pytest.raises(NoAnswer, match="ECPHORIA_LLM__TOKENS_A_DAY are used up"):
        await chat.ask("ask", "i", "t")
    days.time += timedelta(hours=1)
    await chat.ask("ask", "i", "t")
    assert len(endpoint.requests) == 3


async def test_a_call_above_the_rate_waits_for_the_minute_to_pass(plain: Chat) -> None:
    passed, slept = [0.0], list[float]()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        passed[0] += seconds

    chat = BudgetedChat(plain, calls_a_minute=2, monotonic=lambda: passed[0], sleep=sleep)
    for _ in range(5):
        await chat.ask("ask", "i", "t")
        passed[0] += 10
    assert slept == [40.0, 40.0]
