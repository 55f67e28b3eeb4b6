"""The chat adapter against a real server on this machine."""

from collections.abc import AsyncIterator, Iterator

import pytest

from ecphoria.models.openai import OpenAIChat
from ecphoria.ports import NoAnswer, Reply, TextRefused
from tests.chat_endpoint import ChatEndpoint, chat_endpoint


@pytest.fixture
def endpoint() -> Iterator[ChatEndpoint]:
    with chat_endpoint() as endpoint:
        endpoint.says = lambda _: "So it was."
        yield endpoint


@pytest.fixture
def counted() -> list[tuple[str, str, int]]:
    return []


@pytest.fixture
async def chat(
    endpoint: ChatEndpoint, counted: list[tuple[str, str, int]]
) -> AsyncIterator[OpenAIChat]:
    made = OpenAIChat(
        "small", base_url=endpoint.url, api_key="k", timeout=2, retries=1,
        counted=lambda *told: counted.append(told),
    )  # fmt: skip
    yield made
    await made.close()


async def test_it_asks_and_counts(
    chat: OpenAIChat, endpoint: ChatEndpoint, counted: list[tuple[str, str, int]]
) -> None:
    assert await chat.ask("session", "Be short.", "[1] Hello") == Reply(
        text="So it was.", tokens=77
    )
    assert chat.model == "small"
    assert endpoint.requests == [
        {
            "model": "small",
            "messages": [
                {"role": "system", "content": "Be short."},
                {"role": "user", "content": "[1] Hello"},
            ],
        }
    ]
    assert endpoint.keys == ["Bearer k"]
    assert counted == [("session", "read", 70), ("session", "written", 7)]


async def test_an_endpoint_need_not_count(chat: OpenAIChat, endpoint: ChatEndpoint) -> None:
    endpoint.counts = False
    assert (await chat.ask("session", "i", "t")).tokens == 0


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_failure_that_passes_is_retried(
    chat: OpenAIChat, endpoint: ChatEndpoint, status: int
) -> None:
    endpoint.statuses = [status]
    assert (await chat.ask("session", "i", "t")).text == "So it was."
    assert len(endpoint.requests) == 2


@pytest.mark.parametrize(
    ("status", "raised"), [(400, TextRefused), (413, TextRefused), (422, TextRefused),
                           (401, NoAnswer), (404, NoAnswer), (500, NoAnswer)]
)  # fmt: skip
async def test_a_refusal_is_told_and_quotes_nothing(
    chat: OpenAIChat, endpoint: ChatEndpoint, status: int, raised: type[Exception]
) -> None:
    endpoint.statuses = [status, status]
    with pytest.raises(raised, match=str(status)) as caught:
        await chat.ask("session", "i", "PRIVATE")
    assert "PRIVATE" not in str(caught.value)


@pytest.mark.parametrize("body", [b"<html>", b"{}", b'{"choices": []}'])
async def test_something_else_than_an_answer_is_none(
    chat: OpenAIChat, endpoint: ChatEndpoint, body: bytes
) -> None:
    endpoint.body = body
    with pytest.raises(NoAnswer, match="something else than text"):
        await chat.ask("session", "i", "t")


async def test_an_answer_without_text_is_none(chat: OpenAIChat, endpoint: ChatEndpoint) -> None:
    endpoint.says = lambda _: None
    with pytest.raises(NoAnswer, match="something else than text"):
        await chat.ask("session", "i", "t")


async def test_nobody_there_is_no_answer() -> None:
    nobody = OpenAIChat("m", base_url="http://127.0.0.1:9/v1", retries=0, timeout=2)
    with pytest.raises(NoAnswer, match="check its address"):
        await nobody.ask("session", "i", "t")
    await nobody.close()


async def test_who_is_too_slow_gives_no_answer(endpoint: ChatEndpoint) -> None:
    endpoint.delay = 0.5
    hasty = OpenAIChat("m", base_url=endpoint.url, retries=0, timeout=0.1)
    with pytest.raises(NoAnswer):
        await hasty.ask("session", "i", "t")
    await hasty.close()
